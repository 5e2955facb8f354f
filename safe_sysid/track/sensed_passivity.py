"""Robust passivity controller that sees positions only, in steps, and acts late.

Of every sample it takes the position. r is observed from the tracking errors of the last samples
(`error_observer`), de/dt = r - K_r e follows, and both count from the desired motion in the middle
of the time in which the torque will act: q = q_d - e, qd = qd_d - de/dt there, so that what is
desired does not age. The law is that of `robust_law` with the bounds of `invariance`, which belong
to the plan (`SeenLaw`).
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
)
from safe_sysid.track.gains import Gains
from safe_sysid.track.robust_law import (
    FINITE,
    GAIN,
    QD,
    ROBUST,
    TORQUE,
    ParameterDeviation,
    Q,
    arm_of,
    curve_of,
    law_into,
    seen_arm,
    uncertainty_of,
    work_for,
)
from safe_sysid.track.seen_law import SeenLaw
from safe_sysid.track.tracking import shortest_turn
from safe_sysid.trajectory.plan import Plan


class SensedPassivityController:
    """Keeps V <= V_M for one plan; samples have to come before it begins to act."""

    def __init__(self, model: RobotModel, gains: Gains, clock: Clock, seen: SeenLaw) -> None:
        self._model = model
        self._clock = clock
        self._seen = seen
        self._arm = seen_arm(arm_of(model, gains), seen)
        self._work = work_for(model.n)
        self._history = history_for(model.n)
        self._r, self._half = np.zeros(model.n), np.zeros(model.n)
        self._plan: Plan | None = None
        self._uncertain: ParameterDeviation | None = None

    def look(self, measurement: JointMeasurement, plan: Plan) -> None:
        """Take a sample of an arm that is held by something else, as gently as by this law."""
        self._record(measurement, plan)

    def step(
        self, measurement: JointMeasurement, plan: Plan, estimate: ParameterEstimate
    ) -> Array:
        """Torque that acts from `delay` after the sample on, (n,) [N m]."""
        t, e = self._record(measurement, plan)
        seen = observe_into(self._history, self._seen.observer, self._r, self._half)
        if seen == UNSEEN:
            raise MeasurementError('two samples are needed before a torque can be given')
        if seen != SEEN:
            raise MeasurementError(
                f'no motion within its bounds fits the positions measured of '
                f'{self._model.layout.joint_names[seen]}: an assumption is false'
            )
        if np.any(self._half > self._seen.half_width):
            j = int(np.argmax(self._half / self._seen.half_width))
            raise MeasurementError(
                f'r of {self._model.layout.joint_names[j]} is seen to {self._half[j]:.3g} rad/s, '
                f'{self._seen.half_width[j]:.3g} are promised: too few samples came'
            )
        if self._uncertain is None:
            self._begin(plan, estimate)
        middle = t + self._seen.sampling.middle
        q_d, qd_d, _ = plan.desired(middle)
        state = self._work.state
        state[Q, 0], state[QD, 0] = q_d - e, qd_d - (self._r - self._seen.observer.K_r * e)
        since_start = middle - plan.start_time
        if law_into(self._arm, self._uncertain, self._curve, since_start, self._work) != FINITE:
            raise MeasurementError(f'positions measured, {measurement.position}, are not finite')
        start = t + self._seen.sampling.delay - self._seen.sampling.jitter
        record_rate(self._history, start, -self._work.energy[GAIN] * self._r)
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
    def robust(self) -> Array:
        """v of the last step, (n,) [N m]."""
        robust: Array = self._work.result[ROBUST].copy()
        return robust

    def _record(self, measurement: JointMeasurement, plan: Plan) -> tuple[float, Array]:
        """Time and tracking error of a sample; a plan of its own begins a history of its own."""
        t = self._clock.seconds(measurement.stamp)
        if plan is not self._plan:
            forget(self._history)
            record_rate(self._history, -np.inf, np.zeros(self._model.n))
            self._plan, self._uncertain = plan, None
        q_d = plan.desired(max(t, plan.start_time))[0]
        e = shortest_turn(q_d - measurement.position, self._model.limits.is_continuous)
        record_error(self._history, t, e)
        return t, e

    def _begin(self, plan: Plan, estimate: ParameterEstimate) -> None:
        """Take the parameters that a plan was certified for."""
        if plan.theta_bounds is None or plan.theta_0 is None:
            raise BoundError('a plan has to say which parameters it was certified for')
        inside = plan.theta_bounds.contains(estimate.bounds)
        bounds = estimate.bounds if inside else plan.theta_bounds
        self._uncertain = uncertainty_of(self._model, plan.theta_0, bounds)
        self._curve = curve_of(plan)
