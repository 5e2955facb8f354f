"""Robust passivity controller that sees positions only, in steps, and acts late, on any plan.

Of every sample it takes the position. r is observed from the tracking errors of the last samples
(`error_observer`), de/dt = r - K_r e follows, and both count from the desired motion in the middle
of the time in which the torque will act: q = q_d - e, qd = qd_d - de/dt there, so that what is
desired does not age. The law is that of `robust_law` with the bounds of `invariance`, which belong
to a piece of a plan (`SeenLaw`).

From plan to plan. A torque that may act when another piece has begun is made with the law of that
piece: its bounds hold from one age before it begins. So `step` wants the plan that is in force
when the torque stops to act, one age after the sample; e of a sample counts from the plan in force
then. V <= V_M says of both plans the same r, as one goes on from the other without a jump, so V_M
has to be the same for all plans of a run. What was seen of the arm before stays known.

A plan that begins anew stands still where the arm is. Then V <= V_M has to be seen, errors of the
state included, and a history of the arm has to be there: `look` takes samples of an arm that is
held by something else. What held it has to be as gentle as this law, also for as long as it goes
on where drives follow slowly. Where the plan jumps to the arm, errors of all samples from then on
count from it, of those before it starts too, as the history does. A plan that begins anew need not
jump: it may stand where the one before does. So one that stands still where the one before is
over, or stands too, begins anew if its law was not made to go on from another one, or if it is too
late for that. What was seen under the law before counts only where the new one allows for how the
arm may have moved under that; a plan that goes on, too, has to, or is refused.

What is seen and cannot be is a `BrokenPromiseError`: V above V_M whatever is unknown, or readings
that no motion within its bounds fits. Who gets one brakes the arm (`brake`), which takes what is
seen as it comes.
"""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError, MeasurementError, SafeSysidError
from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval
from safe_sysid.track.counted_parameters import CountedParameters
from safe_sysid.track.error_observer import (
    COARSE,
    SEEN,
    UNSEEN,
    foresee_into,
    forget,
    history_for,
    newest,
    observe_into,
    record_error,
    record_rate,
    shift,
)
from safe_sysid.track.gains import Gains
from safe_sysid.track.robust_law import (
    FINITE,
    GAIN,
    ROBUST,
    TORQUE,
    Curve,
    Q,
    R,
    arm_of,
    curve_of,
    desired_into,
    law_into,
    seen_arm,
    work_for,
)
from safe_sysid.track.seen_law import Sampling, SeenLaw
from safe_sysid.track.seen_readings import SeenReadings
from safe_sysid.track.seen_start import UNSEEN as UNSEEN_YET
from safe_sysid.track.seen_start import refusal_to_begin
from safe_sysid.track.seen_state import damped_rate, differ, estimate_into
from safe_sysid.track.seen_torques import SeenTorques
from safe_sysid.track.tracking import shortest_turn
from safe_sysid.track.uncertified_law import uncertified
from safe_sysid.trajectory.plan import Plan

SAME = 1e-6  # [rad, rad/s, rad/s^2] between two states that are the same up to rounding
ROUNDING = 1e-9
OTHER_LAW = (
    'a plan was not certified to go on from the law of the one in force, under which the arm may '
    'move in another way; the arm stays on the one before'
)


class BrokenPromiseError(SafeSysidError):
    """What is seen of an arm cannot be if all assumptions of its certificate are true."""


class SensedPassivityController:
    """Keeps V <= V_M; samples have to come before it begins to act."""

    def __init__(self, model: RobotModel, gains: Gains, clock: Clock, sampling: Sampling) -> None:
        self._model, self._gains, self._clock = model, gains, clock
        self._sampling = sampling
        self._exact = arm_of(model, gains)
        self._work = work_for(model.n)
        self._history = history_for(model.n)
        record_rate(self._history, -np.inf, np.zeros(model.n))
        self._half, self._e, self._rate = np.zeros((3, model.n))
        self._r = np.zeros((2, model.n))  # of each joint by itself, and of all together
        self._expected = np.zeros((2, model.n))  # the same when the torque begins to act
        self._desired = np.zeros((2, model.n))
        self._curve: Curve  # of the plan
        self._at: Array | None = None  # desired position of an arm that has had no plan yet
        self._before: Plan | None = None
        self._plan: Plan | None = None
        self._law: SeenLaw | None = None
        self._begins = False  # anew, with the next torque
        self._jumped = False  # to where the arm was, when the plan began
        self._held: tuple[float, float] | None = None  # [s] from when to when by something else
        self._turns = model.limits.is_continuous.copy()
        self._readings = SeenReadings(sampling, model.limits.is_continuous)
        self._torques = SeenTorques(model, gains, sampling)
        self._uncertified = uncertified(model, gains, sampling)

    def look(self, measurement: JointMeasurement) -> None:
        """Take a sample of an arm that is held by something else, as gently as by this law."""
        t, _ = self._record(measurement)
        self._torques.forget()
        self._rate[:] = 0.0
        record_rate(self._history, t, self._rate)
        self._held = (t if self._held is None else self._held[0]), t

    def step(
        self, measurement: JointMeasurement, plan: Plan, estimate: ParameterEstimate
    ) -> Array:
        """Torque that acts from `delay` after the sample on, (n,) [N m].

        `plan` is the one in force one age after the sample.
        """
        if plan is not self._plan:
            laws, late = self._laws_of(plan), self._lateness(plan, measurement)
            begins = self._begins_anew(plan, laws[0], late)
            if not begins and late > 0.0:
                raise BoundError(self._too_late(late))
            if not begins and not self._allows(laws[0], plan):
                raise BoundError(OTHER_LAW)
            self._follow(plan, estimate, laws)
            self._begins = begins
        t, e = self._record(measurement)
        self._torques.take(t, measurement.torque)
        law = self._law_at(t + self._sampling.age)
        self._observe(law)
        self._act(t, e)
        if self._begins:
            self._refuse_start(law, e)
        self._refuse_broken_promise(law)
        torque = self._acting(t)
        self._torques.tell(torque)
        return torque

    def note(
        self, measurement: JointMeasurement, plan: Plan | None, estimate: ParameterEstimate
    ) -> None:
        """Take a sample whose torque is given by somebody else, by the same law or by brakes."""
        if plan is None:
            self.look(measurement)
        else:
            self.brake(measurement, plan, estimate)

    def brake(
        self, measurement: JointMeasurement, plan: Plan, estimate: ParameterEstimate
    ) -> Array:
        """Return a torque after a fault, when what is seen need not be as promised.

        Where no motion fits the readings the arm counts as on its way back, de/dt = -K_r e, and
        what was seen before as nothing. A plan without laws is followed with one that nobody
        certified, whose r_hat counts as exact. No torque is beyond its limit.
        """
        if plan is not self._plan:
            self._follow(plan, estimate, self._laws_to_brake(plan))
        t, e = self._record(measurement)
        self._torques.forget()
        law = self._law_at(t + self._sampling.age)
        seen = observe_into(self._history, law.observer, self._r, self._half)
        if seen not in (SEEN, COARSE):
            forget(self._history)
            record_rate(self._history, -np.inf, np.zeros(self._model.n))
            record_error(self._history, t, e)
            self._r[:] = 0.0
        self._act(t, e)
        self._begins, limit = False, self._model.limits.torque
        return np.clip(self._acting(t), -limit, limit)

    def forgets(self, plan: Plan) -> bool:
        """Whether what was seen of the arm says nothing any more once a plan is followed.

        So it is where the arm moved, or may have, other than the law of that plan allows for.
        """
        old = self._plan
        if old is None or self._was_held:
            return False
        rests_from = old.start_time if old.stands_still else old.end_time
        is_standing = plan.start_time >= rests_from + self._sampling.window + self._sampling.age
        if self._jumps(plan) and not (is_standing and _covers(old, plan)):
            return True
        laws = [law for law in plan.laws if isinstance(law, SeenLaw)]
        begins = bool(laws) and self._begins_anew(plan, laws[0], 0.0)
        return begins and not self._allows(laws[0], plan)

    def refusal_to_begin(
        self, plan: Plan, t: float, measurement: JointMeasurement, *_: object
    ) -> str:
        """Why a plan may not begin anew; empty if nothing that is seen so far speaks against it.

        The first `step` on it decides, with its own sample.
        """
        try:
            law = self._laws_of(plan)[0]
        except BoundError as error:
            return str(error)
        r, half = np.zeros((2, self._model.n)), np.zeros(self._model.n)
        found = observe_into(self._history, law.observer, r, half)
        if found != SEEN or np.any(half > law.half_width):
            return UNSEEN_YET
        q_d = plan.desired(max(t, plan.start_time))[0]
        e = shortest_turn(q_d - measurement.position, self._turns)
        assert plan.theta_0 is not None
        each = np.stack([q_d - e, q_d])
        return refusal_to_begin(self._model, law, plan.theta_0, each, (r[1], e))

    refusal_to_stay = refusal_to_begin  # late: torques of two laws do not mix at any time

    def refusal_to_go_on(self, *_: object) -> str:
        """Why a plan may not go on from the one in force: never, as each step looks at V."""
        return ''

    def refusal_when_late(
        self, plan: Plan, _: float, measurement: JointMeasurement, *__: object
    ) -> str:
        """Why a plan may not go on that takes over late: torques of two plans do not mix."""
        late = self._lateness(plan, measurement)
        return self._too_late(late) if late > 0.0 else ''

    @property
    def ahead(self) -> float:
        """Time from a sample until its torque does not act any more, for which it is made [s]."""
        return self._sampling.age

    @property
    def r(self) -> Array:
        """r as it is seen, and how far it may be off, (2, n) [rad/s]."""
        return np.stack([self._r[0], self._half])

    @property
    def doubts(self) -> str:
        """What readings and torques say against promises of sampling; empty: nothing."""
        names = self._model.layout.joint_names
        each = self._readings.contradictions(names), self._torques.contradictions(names)
        return '; '.join(words for words in each if words)

    @property
    def delay(self) -> float | None:
        """Time after its sample at which a torque is seen to act [s]; None: it is not seen."""
        return self._torques.delay

    @property
    def energy(self) -> Interval:
        """Range of V in the last step [J]; above V_M as a whole, an assumption is false."""
        return Interval(self._work.energy[0], self._work.energy[1])

    @property
    def least_energy(self) -> float:
        """Lower bound of V in the last step [J]; above V_M an assumption is false."""
        return float(self._work.energy[0])

    @property
    def most_energy(self) -> float:
        """Upper bound of V in the last step [J], for all theta that count."""
        return float(self._work.energy[1])

    @property
    def robust(self) -> Array:
        """v of the last step, (n,) [N m]."""
        robust: Array = self._work.result[ROBUST].copy()
        return robust

    def _laws_of(self, plan: Plan) -> list[SeenLaw]:
        """Laws of the pieces of a plan, which have to be for this arm as it is seen."""
        pieces = plan.motion.pieces
        laws = [law for law in plan.laws if isinstance(law, SeenLaw)]
        if len(laws) != len(pieces):
            raise BoundError(
                f'a plan of {len(pieces)} pieces has {len(plan.laws)} laws: it was not certified '
                'for an arm that is seen late'
            )
        V_M = {self._gains.V_M, *(law.bounds.V_M for law in laws)}
        if len(V_M) > 1:
            raise BoundError(f'V_M of a run is {self._gains.V_M} J, a plan has {max(V_M)} J')
        if not all(self._is_for_this_arm(law) for law in laws):
            raise BoundError(
                'a plan was certified for an arm that is seen with other steps, delays or gains '
                'than this one; whoever plans and whoever tracks need the same settings'
            )
        return laws

    def _laws_to_brake(self, plan: Plan) -> list[SeenLaw]:
        """Return the same, or laws for which nothing is promised."""
        try:
            return self._laws_of(plan)
        except BoundError:
            return [self._uncertified] * len(plan.motion.pieces)

    def _is_for_this_arm(self, law: SeenLaw) -> bool:
        gains, same = self._gains, law.sampling.is_same(self._sampling)
        of_gains = law.bounds.V_M == gains.V_M and law.bounds.alpha == gains.alpha
        return same and of_gains and np.array_equal(law.observer.K_r, gains.K_r)

    def _lateness(self, plan: Plan, measurement: JointMeasurement) -> float:
        """Time [s] since when a plan should have been known; 0: it is in time.

        It has to be, to go on, or torques of the one before act when it is in force: no sample
        before this one may have been within an age of its start.
        """
        s = self._sampling
        late = self._clock.seconds(measurement.stamp) + s.age - plan.start_time
        before = newest(self._history) + s.age - plan.start_time
        return late if late > s.apart + ROUNDING or before > ROUNDING else 0.0

    def _too_late(self, late: float) -> str:
        return (
            f'a plan came {1e3 * late:.3g} ms after it should have been known, with the first '
            'sample whose torque may act on it; the arm stays on the one before'
        )

    def _allows(self, law: SeenLaw, plan: Plan) -> bool:
        """Whether the law of a plan allows for how the arm moves under the one before."""
        assert self._plan is not None
        a, b = plan.theta_0, self._plan.theta_0
        same = a is not None and b is not None and np.array_equal(a, b)
        return law.allows_for(self._law_before(plan.start_time), has_same_nominal=same)

    def _begins_anew(self, plan: Plan, law: SeenLaw, late: float) -> bool:
        """Whether V has to be seen, as a plan does not go on from the one before."""
        if self._plan is None or self._jumps(plan):
            return True
        is_over = plan.start_time >= self._plan.end_time - ROUNDING
        was_at_rest = is_over or self._plan.stands_still
        return was_at_rest and plan.stands_still and (late > 0.0 or not law.goes_on)

    def _follow(self, plan: Plan, estimate: ParameterEstimate, laws: list[SeenLaw]) -> None:
        """Take over a plan, the laws of its pieces and the parameters it was certified for."""
        known, pieces = CountedParameters(self._model, plan, estimate), plan.motion.pieces
        self._before, self._jumped = self._plan, self._jumps(plan)
        if self.forgets(plan):
            forget(self._history)
            record_rate(self._history, -np.inf, np.zeros(self._model.n))
        elif self._jumped:
            self._move_history(plan)
        self._known = known
        after = curve_of(plan)
        self._curve_before = after if self._before is None else self._curve
        self._curve = after
        self._laws = laws
        self._arms = [seen_arm(self._exact, law) for law in laws]
        self._starts = np.cumsum([0.0, *(piece.curve.duration for piece in pieces)])[:-1]
        self._plan = plan

    def _jumps(self, plan: Plan) -> bool:
        """Whether a plan does not go on from the desired state of the one before."""
        if self._plan is None:
            return True
        before = np.array(self._plan.desired(max(plan.start_time, self._plan.start_time)))
        after = np.array(plan.desired(plan.start_time))
        return bool(np.abs(before - after).max() > SAME)

    def _move_history(self, plan: Plan) -> None:
        """Let what was seen count from a plan that stands still, where the arm stood before."""
        before = self._at if self._plan is None else self._plan.end_position
        if before is not None:
            shift(self._history, plan.desired(plan.start_time)[0] - before)

    @property
    def _was_held(self) -> bool:
        """Whether something else has held the arm for as long as readings count."""
        return self._held is not None and self._held[1] - self._held[0] >= self._sampling.window

    def _record(self, measurement: JointMeasurement) -> tuple[float, Array]:
        """Time and tracking error of a sample."""
        t, q = self._clock.seconds(measurement.stamp), measurement.position
        if q.shape != self._e.shape:
            raise MeasurementError(f'{q.shape} positions are measured of {self._model.n} joints')
        self._desire(t, q)
        differ(self._desired[0], q, self._turns, self._e)
        record_error(self._history, t, self._e)
        self._readings.take(t, q)
        return t, self._e

    def _desire(self, t: float, q: Array) -> None:
        """Set the desired state at a sample, of the plan that is in force then."""
        if self._plan is None:
            if self._at is None:
                self._at = np.array(q)
            self._desired[0] = self._at
        elif t >= self._plan.start_time or self._jumped or self._before is None:
            desired_into(self._curve, t - self._plan.start_time, self._desired)
        else:
            desired_into(self._curve_before, t - self._before.start_time, self._desired)

    def _law_at(self, t: float) -> SeenLaw:
        """Law of the piece that is in force at time t."""
        assert self._plan is not None
        since = t - self._plan.start_time
        i = max(int(np.searchsorted(self._starts, since, side='right')) - 1, 0)
        self._law, self._arm = self._laws[i], self._arms[i]
        self._begin_of_piece = float(self._starts[i])
        return self._laws[i]

    def _law_before(self, t: float) -> SeenLaw:
        """Law that is followed up to time t, with how fast r may have changed before."""
        assert self._plan is not None
        since = self._starts - (t - self._plan.start_time)
        i = max(int(np.searchsorted(since, -ROUNDING)) - 1, 0)
        return self._laws[i].since_start(float(-since[i]))

    def _observe(self, law: SeenLaw) -> None:
        """Find r at the newest sample."""
        seen = observe_into(self._history, law.observer, self._r, self._half)
        names = self._model.layout.joint_names
        if seen == UNSEEN:
            raise MeasurementError(
                'two samples are needed within a window before a torque is given'
            )
        if seen == COARSE:
            raise MeasurementError(
                'r of all joints together is seen less well than promised: too few samples came'
                + (f'; {self.doubts}' if self.doubts else '')
            )
        if seen != SEEN:
            raise BrokenPromiseError(
                f'no motion within its bounds fits the positions measured of {names[seen]}: '
                f'{self._readings.what_may_be_false(self.doubts)}'
            )
        if np.any(self._half > law.half_width):
            j = int(np.argmax(self._half / law.half_width))
            why = self.doubts
            raise MeasurementError(
                f'r of {names[j]} is seen to {self._half[j]:.3g} rad/s, '
                f'{law.half_width[j]:.3g} are promised: too few samples came'
                + (f'; {why}' if why else '')
            )

    def _act(self, t: float, e: Array) -> None:
        """Compute the torque for the middle of the time in which it will act."""
        assert self._plan is not None
        middle = max(t + self._sampling.middle, self._plan.start_time + self._begin_of_piece)
        since_start = middle - self._plan.start_time
        desired_into(self._curve, since_start, self._desired)
        foresee_into(self._history, self._sampling.foreseen, self._r, self._expected)
        estimate_into(self._desired, e, self._expected, self._gains.K_r, self._work.state)
        known = self._known.at(since_start)
        if law_into(self._arm, known, self._curve, since_start, self._work) != FINITE:
            raise MeasurementError('positions measured are not finite')

    def _acting(self, t: float) -> Array:
        """Torque of a sample, noted as acting from the middle of the instants at which it may."""
        start, self._held = t + self._sampling.begins, None
        damped_rate(self._work.energy[GAIN], self._work.state[R, 0], self._rate)
        record_rate(self._history, start, self._rate)
        torque: Array = self._work.result[TORQUE].copy()
        return torque

    def _refuse_start(self, law: SeenLaw, e: Array) -> None:
        """Refuse a start with an error that V_M does not allow for, as far as can be seen."""
        assert self._plan is not None and self._plan.theta_0 is not None
        q = self._work.state[Q, 0]
        each = np.stack([q, q + e])
        reason = refusal_to_begin(
            self._model, law, self._plan.theta_0, each, (self._expected[1], e)
        )
        if reason:
            raise BoundError(reason)
        self._begins = False

    def _refuse_broken_promise(self, law: SeenLaw) -> None:
        """Refuse to go on where V is above V_M whatever is unknown."""
        least, V_M = self._work.energy[0], law.bounds.V_M
        if least > V_M * (1.0 + ROUNDING):
            raise BrokenPromiseError(
                f'energy of the tracking error is at least {least:.3g} J, {V_M} J are promised: '
                f'{self._readings.what_may_be_false(self.doubts)}'
            )


def _covers(old: Plan, new: Plan) -> bool:
    """Whether a plan was certified for all that another one is for."""
    bounds, others = old.theta_bounds, new.theta_bounds
    return bounds is not None and others is not None and bounds.contains(others)
