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
held by something else. What held it has to be as gentle as this law.
"""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError, MeasurementError
from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval
from safe_sysid.track.error_observer import (
    SEEN,
    UNSEEN,
    forget,
    history_for,
    observe_into,
    record_error,
    record_rate,
    shift,
)
from safe_sysid.track.gains import Gains
from safe_sysid.track.robust_law import (
    FINITE,
    GAIN,
    QD,
    ROBUST,
    TORQUE,
    Q,
    R,
    arm_of,
    curve_of,
    law_into,
    seen_arm,
    uncertainty_of,
    work_for,
)
from safe_sysid.track.seen_law import Sampling, SeenLaw
from safe_sysid.track.seen_start import refusal_to_begin
from safe_sysid.track.tracking import shortest_turn
from safe_sysid.trajectory.plan import Plan

SAME = 1e-6  # [rad, rad/s, rad/s^2] between two states that are the same up to rounding


class SensedPassivityController:
    """Keeps V <= V_M; samples have to come before it begins to act."""

    def __init__(self, model: RobotModel, gains: Gains, clock: Clock, sampling: Sampling) -> None:
        self._model, self._gains, self._clock = model, gains, clock
        self._sampling = sampling
        self._exact = arm_of(model, gains)
        self._work = work_for(model.n)
        self._history = history_for(model.n)
        record_rate(self._history, -np.inf, np.zeros(model.n))
        self._r, self._half = np.zeros(model.n), np.zeros(model.n)
        self._at: Array | None = None  # desired position of an arm that has had no plan yet
        self._before: Plan | None = None
        self._plan: Plan | None = None
        self._law: SeenLaw | None = None
        self._begins = False  # anew, with the next torque

    def look(self, measurement: JointMeasurement) -> None:
        """Take a sample of an arm that is held by something else, as gently as by this law."""
        self._record(measurement)

    def step(
        self, measurement: JointMeasurement, plan: Plan, estimate: ParameterEstimate
    ) -> Array:
        """Torque that acts from `delay` after the sample on, (n,) [N m].

        `plan` is the one in force one age after the sample.
        """
        if plan is not self._plan:
            self._follow(plan, estimate)
        t, e = self._record(measurement)
        law = self._law_at(t + self._sampling.age)
        self._observe(law)
        middle = max(t + self._sampling.middle, plan.start_time + self._begin_of_piece)
        q_d, qd_d, _ = plan.desired(middle)
        state = self._work.state
        state[Q, 0], state[QD, 0] = q_d - e, qd_d - (self._r - law.observer.K_r * e)
        since_start = middle - plan.start_time
        if law_into(self._arm, self._uncertain, self._curve, since_start, self._work) != FINITE:
            raise MeasurementError(f'positions measured, {measurement.position}, are not finite')
        if self._begins:
            self._refuse_start(law, q_d, e)
        start = t + self._sampling.delay - self._sampling.jitter
        record_rate(self._history, start, -self._work.energy[GAIN] * self._work.state[R, 0])
        torque: Array = self._work.result[TORQUE].copy()
        return torque

    @property
    def r(self) -> Array:
        """r as it is seen, and how far it may be off, (2, n) [rad/s]."""
        return np.stack([self._r, self._half])

    @property
    def energy(self) -> Interval:
        """Range of V in the last step [J]; above V_M as a whole, an assumption is false."""
        return Interval(self._work.energy[0], self._work.energy[1])

    @property
    def least_energy(self) -> float:
        """Lower bound of V in the last step [J]; above V_M an assumption is false."""
        return float(self._work.energy[0])

    @property
    def robust(self) -> Array:
        """v of the last step, (n,) [N m]."""
        robust: Array = self._work.result[ROBUST].copy()
        return robust

    def _follow(self, plan: Plan, estimate: ParameterEstimate) -> None:
        """Take over a plan, the laws of its pieces and the parameters it was certified for."""
        certified, theta_0 = plan.theta_bounds, plan.theta_0
        if certified is None or theta_0 is None:
            raise BoundError('a plan has to say which parameters it was certified for')
        pieces = plan.motion.pieces
        if len(plan.laws) != len(pieces) or not all(isinstance(x, SeenLaw) for x in plan.laws):
            raise BoundError(
                f'a plan of {len(pieces)} pieces has {len(plan.laws)} laws: it was not certified '
                'for an arm that is seen late'
            )
        laws = [law for law in plan.laws if isinstance(law, SeenLaw)]
        V_M = {self._gains.V_M, *(law.bounds.V_M for law in laws)}
        if len(V_M) > 1:
            raise BoundError(f'V_M of a run is {self._gains.V_M} J, a plan has {max(V_M)} J')
        self._begins = self._jumps(plan)
        if self._begins:
            self._move_history(plan)
        bounds = estimate.bounds if certified.contains(estimate.bounds) else certified
        self._uncertain = uncertainty_of(self._model, theta_0, bounds)
        self._curve = curve_of(plan)
        self._laws = laws
        self._arms = [seen_arm(self._exact, law) for law in laws]
        self._starts = np.cumsum([0.0, *(piece.curve.duration for piece in pieces)])[:-1]
        self._before, self._plan = self._plan, plan

    def _jumps(self, plan: Plan) -> bool:
        """Whether a plan does not go on from the desired state of the one before."""
        if self._plan is None:
            return True
        before = np.array(self._plan.desired(max(plan.start_time, self._plan.start_time)))
        after = np.array(plan.desired(plan.start_time))
        return bool(np.abs(before - after).max() > SAME)

    def _move_history(self, plan: Plan) -> None:
        """Let what was seen count from a plan that stands still, but for what moved."""
        old, t = self._plan, plan.start_time
        if old is not None and t < old.end_time + self._sampling.window + self._sampling.age:
            forget(self._history)
            record_rate(self._history, -np.inf, np.zeros(self._model.n))
        elif old is not None:
            shift(self._history, plan.desired(t)[0] - old.end_position)
        elif self._at is not None:
            shift(self._history, plan.desired(t)[0] - self._at)

    def _record(self, measurement: JointMeasurement) -> tuple[float, Array]:
        """Time and tracking error of a sample."""
        t = self._clock.seconds(measurement.stamp)
        e = shortest_turn(self._desired(t, measurement) - measurement.position, self._turns)
        record_error(self._history, t, e)
        return t, e

    @property
    def _turns(self) -> Array:
        return self._model.limits.is_continuous

    def _desired(self, t: float, measurement: JointMeasurement) -> Array:
        """Desired position at a sample, of the plan that is in force then."""
        if self._plan is None:
            if self._at is None:
                self._at = np.array(measurement.position)
            return self._at
        if t >= self._plan.start_time or self._begins or self._before is None:
            return self._plan.desired(max(t, self._plan.start_time))[0]
        return self._before.desired(max(t, self._before.start_time))[0]

    def _law_at(self, t: float) -> SeenLaw:
        """Law of the piece that is in force at time t."""
        assert self._plan is not None
        since = t - self._plan.start_time
        i = max(int(np.searchsorted(self._starts, since, side='right')) - 1, 0)
        self._law, self._arm = self._laws[i], self._arms[i]
        self._begin_of_piece = float(self._starts[i])
        return self._laws[i]

    def _observe(self, law: SeenLaw) -> None:
        """Find r at the newest sample."""
        seen = observe_into(self._history, law.observer, self._r, self._half)
        if seen == UNSEEN:
            raise MeasurementError('two samples are needed before a torque can be given')
        if seen != SEEN:
            raise MeasurementError(
                f'no motion within its bounds fits the positions measured of '
                f'{self._model.layout.joint_names[seen]}: an assumption is false'
            )
        if np.any(self._half > law.half_width):
            j = int(np.argmax(self._half / law.half_width))
            raise MeasurementError(
                f'r of {self._model.layout.joint_names[j]} is seen to {self._half[j]:.3g} rad/s, '
                f'{law.half_width[j]:.3g} are promised: too few samples came'
            )

    def _refuse_start(self, law: SeenLaw, q_d: Array, e: Array) -> None:
        """Refuse a start with an error that V_M does not allow for, as far as can be seen."""
        assert self._plan is not None and self._plan.theta_0 is not None
        each = np.stack([q_d - e, q_d])
        reason = refusal_to_begin(self._model, law, self._plan.theta_0, each, (self._r, e))
        if reason:
            raise BoundError(reason)
        self._begins = False
