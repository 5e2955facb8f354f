"""OnlineIdentifier.step: measurement in, ParameterEstimate out."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from safe_sysid.arrays import AnyArray, Array
from safe_sysid.config import Positive, Settings
from safe_sysid.errors import ConfigError, SafeSysidError
from safe_sysid.identify.calibrated_rows import calibrated_rows
from safe_sysid.identify.change.change_watch import ChangeWatch, NoticedChange, WatchEndedError
from safe_sysid.identify.change.held_next import HeldNext, either
from safe_sysid.identify.doubted_readings import DoubtedReadings
from safe_sysid.identify.last_motion import last_motion
from safe_sysid.identify.linear_programs import Ending
from safe_sysid.identify.momentum_observation import (
    MomentumObserver,
    ObservationSettings,
    StampError,
)
from safe_sysid.identify.observation import Observation, packed
from safe_sysid.identify.payload_estimator import Solution, SolveSettings
from safe_sysid.identify.solves import SolverProcessError, Solves
from safe_sysid.measure.joint_log import JointLog, JointMeasurement
from safe_sysid.model.inertia import LABELS as INERTIAL
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.promised_links import CalibratedArm
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval

LEAST_WINDOW = 5  # samples
ROUNDED = 1.0 + 1e-9  # room for how a decimal number is held
LONGEST_HELD = 1.5  # periods; two are a sample lost
STILL = 5e-3  # [rad] that no joint leaves while something is taken or put down
DOUBTED = 1.0  # [s] before that, whose rows may be of what is held next

SolvesFactory = Callable[[RobotModel, ParameterEstimate, SolveSettings], Solves]


@dataclass(frozen=True)
class IdentifierSettings(Settings):
    """Choices of the identifier."""

    observation: ObservationSettings = field(default_factory=ObservationSettings)
    solve: SolveSettings = field(default_factory=SolveSettings)
    solve_period: Positive = 0.5  # [s] of measurements between two solves

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.observation.window < LEAST_WINDOW:
            raise ConfigError(
                f'window is {self.observation.window}; online it has to be {LEAST_WINDOW} samples '
                'or more, because the work on a window is spread over the samples of the next'
            )

    def check_period(self, period: float) -> None:
        """Refuse samples so far apart [s] that nothing, or something false, would be learnt."""
        observation = self.observation
        longest, window = observation.longest_step, observation.window * period
        if longest < period:
            raise ConfigError(
                f'period is {period} s, and steps above longest_step = {longest} s count as gaps, '
                f'so that nothing could be learnt; 1.5 periods are {1.5 * period:g} s'
            )
        if observation.torque_signal != 'sampled' and longest > LONGEST_HELD * ROUNDED * period:
            raise ConfigError(
                f'longest_step is {longest} s, {longest / period:.3g} periods of {period} s; with '
                f'torque_signal {observation.torque_signal} at most {LONGEST_HELD} are allowed, '
                'because a lost sample would hide the torque that it carried'
            )
        if window > self.solve_period * ROUNDED:
            raise ConfigError(
                f'{observation.window} samples of window last {window:g} s at a period of '
                f'{period} s, longer than solve_period = {self.solve_period} s; give a shorter '
                'window or more time between two solves'
            )


class IdentificationFault(SafeSysidError):  # noqa: N818 - a fault is what it is
    """No bounds can be given; raised by every `step` until `new_payload`.

    `estimate` is the prior, which is all that is known then.
    """

    def __init__(self, cause: str, estimate: ParameterEstimate) -> None:
        super().__init__(f'{cause}. Bounds fall back to the prior until new_payload is called')
        self.cause = cause
        self.estimate = estimate


class OnlineIdentifier:
    """Learns what the arm holds from one measurement after the other.

    `step` returns the same object until the estimate improves. Between two calls of
    `new_payload` or `change` bounds only shrink.
    """

    def __init__(
        self,
        model: RobotModel,
        prior: ParameterEstimate,
        settings: IdentifierSettings,
        solves: SolvesFactory,
        watch: ChangeWatch | None = None,
        calibrated: CalibratedArm | None = None,
    ) -> None:
        """Begin with the prior, and what a calibration knows of the arm.

        `watch` takes every sample, None: nobody looks for changes.
        """
        self._model, self._watch = model, watch
        self._settings = settings
        self._prior = prior
        self._estimate = prior
        self._fault: IdentificationFault | None = None
        self._since = -1  # [ns] stamp after which samples are of the payload that there is
        self._is_in_doubt = False  # whether rows may be of more than one body
        self._before: ParameterEstimate | None = None  # while a change is announced
        self.ignored = 0  # samples that came later and are of the payload before
        self._solves = solves(
            model,
            prior,
            settings.solve,
        )
        if calibrated is not None:
            most, torques = settings.solve.earlier_rows, settings.observation.torques(model)
            self._solves.calibrate(calibrated_rows(calibrated, prior, torques, most))
        self._start_episode()
        self._warm_up()

    def _start_episode(self) -> None:
        self._observer = MomentumObserver(
            self._model, self._prior.bounds, self._settings.observation
        )
        self._readings = self._doubted_readings()
        self._place: Array | None = None  # where the arm was when it last moved
        self._first = self._moving = 0  # [ns] of its first sample, and of when it last moved
        self._next_solve = self._settings.solve_period
        self._closed: deque[Observation] = deque()  # windows that the solves have yet to get
        self._newest = 0.0  # [s] end of the newest rows that they have
        self._unsolved = 0  # rows that no solve has seen
        self._waiting = False  # for a solution
        self._solution: Solution | None = None  # that has yet to be learnt from
        self.solves_cut_short = 0  # by the clock: what they find depends on the load

    def _doubted_readings(self) -> DoubtedReadings:
        """Return what is to look at readings themselves."""
        model, bounds, observation = self._model, self._prior.bounds, self._settings.observation
        errors = observation.readings(model)
        armature = bounds.lower[model.layout.joint_entries('Ia')].min()
        coulomb = bounds[model.layout.joint_entries('Fc')].magnitude
        return DoubtedReadings(
            (errors.position, errors.velocity),
            float(armature),
            coulomb + observation.torques(model, bounds).friction,
            model.limits.acceleration,
        )

    @property
    def since(self) -> int:
        """Stamp up to which samples that come later count for no body [ns]; -1: none."""
        return self._since

    @property
    def longest_window(self) -> int:
        """Time that the samples of a window may take [ns]."""
        observation = self._settings.observation
        return round(observation.window * observation.longest_step * 1e9)

    @property
    def doubts(self) -> tuple[str, ...]:
        """What readings say against the errors promised of them; no proof."""
        return self._readings.sentences(self._model.layout.joint_names)

    def _warm_up(self) -> None:
        """Load what the first samples and windows would have to wait for, compiled code above all.

        Three samples at rest fill the shortest window.
        """
        settings = replace(self._settings.observation, window=2)
        observer = MomentumObserver(self._model, self._prior.bounds, settings)
        rest, step = np.zeros(self._model.n), round(0.5e9 * settings.longest_step)
        for stamp in range(0, 3 * step, step):
            rows = observer.add(JointMeasurement(stamp, rest, rest, rest))
            if rows is not None:
                packed(rows)
            self._doubted_readings().take(stamp + 1, np.zeros((3, self._model.n)))
        last = self._estimate
        ParameterEstimate(last.layout, last.theta.copy(), last.bounds)

    def step(self, measurement: JointMeasurement) -> ParameterEstimate:
        """Take a measurement; the best estimate so far, or the fault that ended it."""
        if self._watch is not None and measurement.stamp > self._since:
            try:
                self._watch.take(measurement)
            except WatchEndedError as error:
                raise self._fault or self._faulted(str(error)) from error
        if self._fault is not None:
            raise self._fault
        if self._watch is not None and self._watch.not_rigid and not self._is_in_doubt:
            raise self._faulted(self._watch.not_rigid)
        if measurement.stamp <= self._since:
            self.ignored += 1
            return self._estimate
        if self._place is None:
            self._first = measurement.stamp
        if self._place is None or np.abs(measurement.position - self._place).max() > STILL:
            self._moving, self._place = measurement.stamp, measurement.position
        try:
            rows = self._observer.add(measurement)
            self._readings.take(
                measurement.stamp,
                np.stack([measurement.position, measurement.velocity, measurement.torque]),
            )
            if rows is not None:
                self._closed.append(rows)
            else:
                self._do_one_thing()
        except (StampError, SolverProcessError) as error:
            raise self._faulted(str(error)) from error
        return self._estimate

    def take_regular(self, log: JointLog, first: int) -> int:
        """Take samples of a log as `step` takes them, from `first` on, and return how many.

        Nothing is due after them, and `estimate` is what it was; `step` has to take the next. The
        rows of windows that end before the next solve go to where bounds are computed.
        """
        if self._watch is not None or self._fault is not None or self._place is None:
            return 0
        if int(log.stamp[first]) <= self._since or self._is_due:
            return 0
        count, windows = self._observer.add_windows(log, first, self._next_solve)
        part = slice(first, first + count)
        moved = last_motion(log.position[part], self._place, STILL)
        if moved >= 0:
            self._moving, self._place = int(log.stamp[first + moved]), log.position[first + moved]
        for rows in windows:
            self._add(rows)
        samples = np.stack([log.position[part], log.velocity[part], log.torque[part]], axis=1)
        self._readings.take_all(log.stamp[part], samples)
        return count

    @property
    def _is_due(self) -> bool:
        """Whether there is anything to do before the next window ends."""
        if self._closed or self._is_in_doubt:
            return bool(self._closed)
        waits = self._waiting or self._solution is not None
        return waits or bool(self._unsolved and self._newest >= self._next_solve)

    @property
    def estimate(self) -> ParameterEstimate:
        """What is known now."""
        return self._estimate

    def doubt(self) -> None:
        """Learn nothing until `change`, `trust` or `new_payload`: rows may be of two bodies.

        Samples are kept meanwhile.
        """
        self._is_in_doubt = True

    def announce(self, held: HeldNext) -> ParameterEstimate:
        """Return bounds for both what is held and what may be held next, given from now on.

        Nothing is learnt from now on, until `change`, or `trust` where nothing changed.
        """
        self._refuse_beyond_prior(held)
        self.doubt()
        self._before, last = self._estimate, self._estimate
        place, bounds = last.layout.end_effector, last.bounds
        theta, lower, upper = last.theta.copy(), bounds.lower.copy(), bounds.upper.copy()
        both = either(last, held)
        theta[place] = both.nominal
        lower[place], upper[place] = both.bounds.lower, both.bounds.upper
        self._estimate = ParameterEstimate(last.layout, theta, Interval(lower, upper))
        return self._estimate

    def trust(self) -> None:
        """Go on as before: all samples are of the body that was held."""
        self._is_in_doubt = False
        if self._watch is not None:
            self._watch.trust()
        if self._before is not None:
            self._estimate, self._before = self._before, None

    @property
    def has_fault(self) -> bool:
        """Whether no bounds can be given until `new_payload`."""
        return self._fault is not None

    @property
    def has_noticed(self) -> bool:
        """Whether what is held has changed, as far as torques tell; statistics."""
        return self._watch is not None and self._watch.has_noticed

    def noticed(self) -> NoticedChange | None:
        """Return what was noticed so, judged by all samples since."""
        return None if self._watch is None else self._watch.judged()

    def recognised(self) -> Mapping[str, float]:
        """Return how probable each known object is, and none of them; statistics."""
        return {} if self._watch is None else self._watch.recognised()

    def _do_one_thing(self) -> None:
        """Do one of the things that are due; each has a sample of its own, so none waits long."""
        if self._closed:
            self._add(self._closed.popleft())
        elif self._is_in_doubt:
            return
        elif self._solution is not None:
            self._learn(self._solution)
        elif self._waiting:
            self._solution = self._solves.poll()
        elif self._unsolved and self._newest >= self._next_solve:
            self._next_solve = self._newest + self._settings.solve_period
            self._request()

    def finish(self) -> ParameterEstimate:
        """Return the estimate from everything taken so far, however long its computation takes."""
        if self._fault is not None:
            raise self._fault
        if self._waiting:
            self._learn(self._solution or self._solves.wait())
        rows = self._observer.finish()
        for part in [*self._closed, *([] if rows is None else [rows])]:
            self._add(part)
        self._closed.clear()
        if self._unsolved:
            self._request()
            self._learn(self._solves.wait())
        return self._estimate

    def new_payload(self, since: int = -1) -> None:
        """Forget everything about the payload; the way back from a fault as well.

        Samples stamped `since` [ns] or earlier, which may still be on their way, are of the
        payload before and never count. With `remembered_payloads` rows of it from before the arm
        last came to rest still tell of the arm; after a fault none do. Rows of a calibration stay,
        unless the fault is a contradiction.
        """
        moved = (self._moving - self._first) * 1e-9
        until = None if self._fault is not None else moved - DOUBTED
        self._fault, self._is_in_doubt, self._before = None, False, None
        self._since = since
        self._estimate = self._prior
        if self._watch is not None:
            self._watch.new_payload(self._prior.end_effector_bounds, since)
        self._solves.new_payload(until)
        self._start_episode()

    def change(self, after: int, before: int, held: HeldNext) -> None:
        """Take note that between two stamps [ns] what is held has become another body.

        Windows that ended by the first are of the body of then; with `remembered_payloads` they
        tell of the arm still. Windows that begin at the second or later are of the next one, those
        that were taken before this call too; `held` is all else that is known of it. Windows in
        between are of neither. After a fault it is what `new_payload` is, with the wider prior.
        """
        if after > before:
            raise ConfigError(
                f'the change is said to be after {after} ns and before {before} ns; the first has '
                'to be at most the second'
            )
        self._refuse_beyond_prior(held)
        if self._fault is not None:
            self.new_payload(before)
            return
        for part in self._closed:
            self._add(part)
        self._closed.clear()
        origin = self._first  # of the rows' times
        if self._place is None:  # they count from a sample that is yet to come
            origin, self._since = before, max(self._since, before)
        self._solves.change((after - origin) * 1e-9, (before - origin) * 1e-9, held)
        self._waiting, self._solution = False, None
        self._is_in_doubt, self._before = False, None
        if self._watch is not None:
            self._watch.new_payload(held.bounds, before)
        last, place = self._prior, self._model.layout.end_effector
        theta, lower, upper = last.theta.copy(), last.bounds.lower.copy(), last.bounds.upper.copy()
        theta[place] = held.nominal
        lower[place], upper[place] = held.bounds.lower, held.bounds.upper
        self._estimate = ParameterEstimate(last.layout, theta, Interval(lower, upper))

    def _refuse_beyond_prior(self, held: HeldNext) -> None:
        if not self._prior.end_effector_bounds.contains(held.bounds):
            i = int(np.argmin(self._within_prior(held)))
            raise ConfigError(
                f'{INERTIAL[i]} of what may be held next is {held.bounds.lower[i]:.6g} to '
                f'{held.bounds.upper[i]:.6g}, beyond the prior, which is '
                f'{self._prior.end_effector_bounds.lower[i]:.6g} to '
                f'{self._prior.end_effector_bounds.upper[i]:.6g}; errors of rows are known for '
                'bodies within the prior'
            )

    def _within_prior(self, held: HeldNext) -> AnyArray:
        """Say of each entry of theta_e whether the prior contains what may be held next."""
        prior = self._prior.end_effector_bounds
        inside: AnyArray = (prior.lower <= held.bounds.lower) & (held.bounds.upper <= prior.upper)
        return inside

    def close(self) -> None:
        """End what runs in the background."""
        self._solves.close()
        if self._watch is not None:
            self._watch.close()

    def _add(self, rows: Observation) -> None:
        self._solves.add(rows)
        self._unsolved += len(rows)
        self._newest = float(rows.end[0])

    def _request(self) -> None:
        self._waiting = True
        self._unsolved = 0
        self._solves.request()

    def _learn(self, solution: Solution) -> None:
        self._waiting, self._solution = False, None
        self.solves_cut_short += solution.ending is Ending.CLOCK
        cause = solution.refusal or solution.contradiction
        if cause is not None:
            doubts = f'. Readings speak for this: {"; ".join(self.doubts)}' if self.doubts else ''
            raise self._faulted(f'{cause}{doubts}')
        place = self._model.layout.end_effector
        last = self._estimate
        theta, lower, upper = last.theta.copy(), last.bounds.lower.copy(), last.bounds.upper.copy()
        theta[place] = solution.theta_e
        lower[place], upper[place] = solution.bounds.lower, solution.bounds.upper
        if not (
            np.array_equal(theta, last.theta)
            and np.array_equal(lower, last.bounds.lower)
            and np.array_equal(upper, last.bounds.upper)
        ):
            self._estimate = ParameterEstimate(last.layout, theta, Interval(lower, upper))

    def _faulted(self, cause: str) -> IdentificationFault:
        if self._watch is not None:
            self._watch.suspect()
        self._estimate, self._before = self._prior, None  # what was before a change is doubted too
        self._fault = IdentificationFault(cause, self._prior)
        return self._fault
