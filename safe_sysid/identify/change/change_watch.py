"""ChangeWatch: samples of an identifier go to a `ChangeTest`, and what it notices gets stamps.

The test wants errors as they are, where an identifier wants bounds on them: bounds on velocities
that nobody stated are hundreds of times their scatter, and rows with such bounds show nothing. So
the watch makes rows of its own, with velocities within three deviations: `velocity_noise` where
it is stated, else as they are found to scatter (`velocity_scatter`). Errors promised of torques
count as new with every sample: what lasts of them is a gain, an offset, or torque that no model
has, which the test allows for. What else these rows leave out is taken for three deviations of
theirs, anew in every window; and it says how much dry friction may have had either sign, as joints
hardly moved.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import MeasurementError, SafeSysidError
from safe_sysid.identify.change.change_kinds import Explanation, Kind
from safe_sysid.identify.change.change_test import Change, ChangeSettings, ChangeTest
from safe_sysid.identify.change.impulse_noise import ROOM
from safe_sysid.identify.change.known_objects import KnownObject, recognised
from safe_sysid.identify.change.rigidity_watch import Batch, RigidityWatch, Stamps, Submit, at_once
from safe_sysid.identify.change.velocity_scatter import VelocityScatter
from safe_sysid.identify.momentum_observation import MomentumObserver, ObservationSettings
from safe_sysid.identify.observation import Observation
from safe_sysid.measure.joint_log import JointLog, JointMeasurement
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval

SLOW = 0.01  # [rad/s] of a joint whose friction may have either sign, beside what readings hide
DEVIATIONS = 3.0  # that a bound is taken for
OTHERWISE = 1.5  # times as much as rows are made for, or as little, from which on others are made
LEAST_SCATTER = 1e-6  # [rad/s] that is told from none
NOT_RIGID = (
    'assumption A1 does not hold: {}; bounds on a rigid body are none on it, and no plan is '
    'certified for it: keep it from moving in the hand, or hold something else'
)


class WatchEndedError(SafeSysidError):
    """The process that looks for changes has ended."""


@dataclass(frozen=True)
class NoticedChange:
    """What was noticed from torques, on the clock of the samples; statistics."""

    noticed: int  # [ns]
    after: int  # [ns] it happened after this
    before: int  # [ns] and before this
    explanations: tuple[Explanation, ...]  # that explain it about equally well, the best first
    is_explained: bool  # whether a load that stays explains all samples since
    not_rigid: str = ''  # what says that the body before, or the one since, is no rigid one
    is_undecided: bool = False  # whether that is yet to be looked at, once the arm rests

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """What it may have been, the likeliest first."""
        return tuple(each.kind for each in self.explanations)

    def __str__(self) -> str:
        kinds = ' or '.join(str(each) for each in self.explanations)
        rest = '' if self.is_explained else '; no load that stays explains all samples since'
        rest += self.not_rigid and f'; {self.not_rigid}'
        return (
            f'{kinds}, between {_seconds(self.after)} and {_seconds(self.before)}, noticed at '
            f'{_seconds(self.noticed)}{rest}'
        )


def _seconds(stamp: int) -> str:
    """Stamp in seconds, to the millisecond."""
    return f'{stamp // 1_000_000_000}.{stamp % 1_000_000_000 // 1_000_000:03d} s'


class LookedAt:
    """Rows of samples, and the test that looks at them."""

    def __init__(
        self,
        model: RobotModel,
        prior: ParameterEstimate,
        observation: ObservationSettings,
        settings: ChangeSettings,
        objects: Sequence[KnownObject] = (),
        submit: Submit = at_once,
    ) -> None:
        """`submit` tests what is held for being rigid, now or while other samples are taken."""
        self._model, self._prior = model, prior
        may_swing = any(observation.beyond_rigid)  # as somebody has promised
        self._rigidity = None if may_swing else RigidityWatch(model, prior, settings, submit)
        self._objects, self._body = objects, prior.end_effector_bounds
        self._bounds = observation.readings(model).velocity
        self._scatter = None if settings.velocity_noise is not None else VelocityScatter(model.n)
        self._observation = observation
        self._longest_step = round(observation.longest_step * 1e9)  # [ns]
        self._test = ChangeTest(model, prior, observation.window, settings)
        self._origin: int | None = None  # [ns] of the first sample of all
        friction = prior.bounds[model.layout.joint_entries('Fc')].magnitude
        self._torques = observation.torques(model, prior.bounds)
        self._friction = friction + self._torques.friction
        self._since = -1  # [ns] windows that began before are of the body before
        noise = settings.velocity_noise
        stated = self._bounds / DEVIATIONS if noise is None else np.full(model.n, noise)
        self._begin_rows(stated)

    def _begin_rows(self, deviation: Array) -> None:
        """Begin to make rows, of velocities that scatter so."""
        self._deviation = deviation
        error = DEVIATIONS * deviation
        self._expected = replace(self._observation, velocity_error=tuple(error.tolist()))
        self._observer = MomentumObserver(self._model, self._prior.bounds, self._expected)
        self._slow = error + SLOW
        self._begin: int | None = None  # [ns] that times of rows are counted from
        self._samples: list[JointMeasurement] = []  # of the window

    def add(self, batch: Batch) -> None:
        """Take some samples, in order."""
        stamps, samples = batch
        log, i = JointLog(stamps.astype(np.int64), samples[:, 0], samples[:, 1], samples[:, 2]), 0
        while i < len(log):
            count = self._observer.add_regular(log, i)
            self._samples += [log[k] for k in range(i, i + count)]
            i += count
            if i < len(log):
                self._take(log[i])
                i += 1
        if self._rigidity is not None:
            has_changed = self._test.change is not None
            self._rigidity.add(batch, self._expected, self._changed if has_changed else None)

    def _changed(self) -> Stamps:
        """Return stamps [ns] between which what is held has changed."""
        change = self.judged()
        assert change is not None
        return change.after, change.before

    def _take(self, measurement: JointMeasurement) -> None:
        """Take one sample, which may end a window."""
        try:
            rows = self._observer.add(measurement)
        except MeasurementError:
            self._begin_rows(self._deviation)
            return
        self._origin = measurement.stamp if self._origin is None else self._origin
        self._begin = measurement.stamp if self._begin is None else self._begin
        if self._samples and measurement.stamp - self._samples[-1].stamp > self._longest_step:
            self._samples = []  # a gap has ended the window
        self._samples.append(measurement)
        if rows is None:
            return
        later = (self._begin - self._origin) * 1e-9
        rows = replace(rows, start=rows.start + later, end=rows.end + later)
        if self._scatters_otherwise():
            self._begin_rows(self._scattering)
            return
        if self._origin + round(float(rows.start[0]) * 1e9) >= self._since:
            self._look(rows)
        self._samples = [measurement]

    def _scatters_otherwise(self) -> bool:
        """Whether velocities of a window scatter otherwise than rows are made for."""
        if self._scatter is None:
            return False
        self._scatter.take(np.array([each.velocity for each in self._samples]))
        self._scattering = self._scatter.deviation(self._bounds / DEVIATIONS)
        now, before = (np.maximum(x, LEAST_SCATTER) for x in (self._scattering, self._deviation))
        share = now / before
        return bool(np.any((share > OTHERWISE) | (share < 1.0 / OTHERWISE)))

    def _look(self, rows: Observation) -> None:
        """Give the test a window, with what is known of its errors."""
        samples, length = self._samples, float(rows.end[0] - rows.start[0])
        middle = samples[len(samples) // 2].position
        slowly = np.mean([np.abs(each.velocity) <= self._slow for each in samples], axis=0)
        dry = slowly * self._friction * length
        fresh = self._torque_bound(samples, length)[rows.joint]
        lasting = np.maximum(rows.delta - fresh, 0.0)
        variance = (lasting / DEVIATIONS) ** 2 + ROOM * fresh**2 / (3.0 * len(samples))
        self._test.add(rows, middle, dry[rows.joint], variance)

    def _torque_bound(self, samples: list[JointMeasurement], length: float) -> Array:
        """Bound on the impulse of what is promised of measured torques, (n,) [N m s]."""
        size = np.mean([np.abs(each.torque) for each in samples], axis=0)
        return np.asarray((self._torques.ratio * size + self._torques.absolute) * length)

    def found(self) -> NoticedChange | None:
        """Return the change, as it was judged then."""
        return self._stamped(self._test.change)

    def judged(self) -> NoticedChange | None:
        """Return the change, judged by all windows since."""
        return self._stamped(self._test.judged())

    def _stamped(self, change: Change | None) -> NoticedChange | None:
        if change is None or self._origin is None:
            return None
        noticed, after, before = (
            self._origin + round(t * 1e9) for t in (change.noticed, change.after, change.before)
        )
        undecided = self._rigidity is not None and self._rigidity.is_undecided
        said = (change.explanations, change.is_explained, self._not_rigid(), undecided)
        return NoticedChange(noticed, after, before, *said)

    @property
    def statistic(self) -> float:
        """Of the last window."""
        return self._test.statistic

    def recognised(self) -> Mapping[str, float]:
        """Return how probable each known object is, and none of them; nothing without any."""
        if not self._objects:
            return {}
        return recognised(self._test.belief, self._body, self._objects)

    def not_rigid(self) -> str:
        """Return what says that what is held all the time is no rigid body; empty: nothing."""
        found = '' if self._test.change is not None else self._not_rigid()
        return found and NOT_RIGID.format(found)

    def _not_rigid(self) -> str:
        found = None if self._rigidity is None else self._rigidity.found()
        return '' if found is None else str(found)

    def suspect(self) -> None:
        """Take it as proven that something has changed: less is enough to tell when and what."""
        self._test.suspect()

    def trust(self) -> None:
        """Forget samples that may be of a grasp that was called off."""
        self._begin_rigidity(-1)

    def new_payload(self, body: Interval, since: int) -> None:
        """Another body is in hand, in windows that begin at a stamp [ns] or later."""
        self._since, self._body = since, body
        self._test.new_payload(body)
        self._begin_rigidity(since)

    def _begin_rigidity(self, since: int) -> None:
        if self._rigidity is not None:
            self._rigidity.forget(since)


class Looks(Protocol):
    """Where samples are looked at."""

    def add(self, batch: Batch) -> None:
        """Take some samples."""

    def found(self) -> NoticedChange | None:
        """Return the change, if there is one, as it was judged first or later."""

    def judged(self) -> NoticedChange | None:
        """Return the change, judged by all windows since, as far as they were looked at."""

    def recognised(self) -> Mapping[str, float]:
        """Return how probable each known object is, as far as was looked; nothing without any."""

    def not_rigid(self) -> str:
        """Return what says that it is no rigid body, as far as was looked; empty: nothing."""

    def suspect(self) -> None:
        """Take it as proven that something has changed."""

    def trust(self) -> None:
        """Forget samples that may be of a grasp that was called off."""

    def new_payload(self, body: Interval, since: int) -> None:
        """Another body is in hand, in windows that begin at a stamp [ns] or later."""

    def close(self) -> None:
        """Release what is held."""


LooksFactory = Callable[
    [
        RobotModel,
        ParameterEstimate,
        ObservationSettings,
        ChangeSettings,
        Sequence[KnownObject],
    ],
    Looks,
]


class LooksAtOnce(LookedAt):
    """Looks at samples as they come, so that results do not depend on the machine."""

    def close(self) -> None:
        """Nothing is held."""


class ChangeWatch:
    """Takes every sample of an identifier, and hands on those of a window at a time."""

    def __init__(
        self,
        model: RobotModel,
        prior: ParameterEstimate,
        observation: ObservationSettings,
        settings: ChangeSettings,
        looks: LooksFactory,
        objects: Sequence[KnownObject] = (),
    ) -> None:
        self._looks = looks(model, prior, observation, settings, objects)
        self._stamps = np.zeros(observation.window, dtype=np.int64)
        self._values = np.zeros((observation.window, 3, model.n))
        self._count = 0
        self.not_rigid = ''  # what says that what is held is no rigid body

    def take(self, measurement: JointMeasurement) -> None:
        """Take a sample; one that is not complete is left out."""
        values = (measurement.position, measurement.velocity, measurement.torque)
        try:
            self._values[self._count] = values
        except ValueError:
            return
        if not np.isfinite(self._values[self._count]).all():
            return
        self._stamps[self._count] = measurement.stamp
        self._count += 1
        if self._count == len(self._stamps):
            self._count = 0
            self._looks.add((self._stamps.copy(), self._values.copy()))
            self.not_rigid = self._looks.not_rigid()

    @property
    def has_noticed(self) -> bool:
        """Whether what is held has changed, as far as torques tell."""
        return self._looks.found() is not None

    def suspect(self) -> None:
        """Take it as proven that something has changed: less is enough to tell when and what."""
        self._looks.suspect()

    def trust(self) -> None:
        """Forget samples that may be of a grasp that was called off."""
        self.not_rigid = ''
        self._looks.trust()

    def judged(self) -> NoticedChange | None:
        """Return what was noticed, judged by all samples since; None: nothing."""
        return self._looks.judged()

    def recognised(self) -> Mapping[str, float]:
        """Return how probable each known object is, and none of them; nothing without any."""
        return self._looks.recognised()

    def new_payload(self, body: Interval, since: int) -> None:
        """Another body is in hand, within these bounds, in windows that begin at a stamp [ns]."""
        self.not_rigid = ''
        self._looks.new_payload(body, since)

    def close(self) -> None:
        """End what runs in the background."""
        self._looks.close()
