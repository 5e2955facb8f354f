"""Bounds under which V <= V_M stays true for a law that sees an arm late and wrong, on one plan.

The estimate q_hat, qd_hat that a torque comes from, and the true state while it acts, differ by

    q      s / 2 + S |de/dt| + half |qd_d|
    qd     delta_v + S |d2e/dt2| + half |qdd_d|,   delta_v = rho + K_r s / 2
    qd_a   K_r (s / 2 + S |de/dt|) + half |qdd_d|
    qdd_a  half |d3q_d/dt3|, and K_r times the difference of de/dt, delta_v + S |d2e/dt2|

at most, with rho the half width of the observed r, S the age of the state, and `half` half of the
time that a torque acts, jitter included. All but the last go to W_s theta as a box (`_change`):
the radii of the recursion over states that are wider by these differences, less its radii over the
true states. Each operation on numbers with radii adds at least its largest slope times what a
radius grows, so this is no less than W_s may change. It is convex in the differences and 0 without
them, so of differences that are half of these it is half at most. The last goes to the ball, as
|H x| in the norm of M^-1 <= kappa |x|_M; if the K_r are not all the same it goes to the box, too.

M of the law is that of theta_0 at q_hat. (1 - eps) N <= H + diag(Ia) <= (1 + eps + a) N over the
positions of a time step, wider by what an arm moves in S and by the errors, for all of [theta],
which contains theta_0 (`plan_inertia`; a is what armatures may be above their lower bounds), so
kappa = (1 + eps + a) / (1 - eps) and mu = 1 / kappa.

All of it depends on |dr/dt|_M, which depends on all of it: iterated from below, and then a little
more is shown to be a bound.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.reach.congruent_inertia import Ellipsoids
from safe_sysid.reach.joint_reach import (
    COS,
    QD,
    QD_A,
    QD_D,
    QDD_A,
    SIN,
    Horizon,
    JointReach,
    Q,
    joint_reach,
)
from safe_sysid.reach.newton_euler import rigid_body_torque
from safe_sysid.reach.plan_inertia import arm_inertia, congruence, inverse_factors, largest_gap
from safe_sysid.reach.torque_reach import TorqueReach, torque_reach
from safe_sysid.reach.tracking_error import TrackingError, tracking_error
from safe_sysid.sets.interval import Interval
from safe_sysid.sets.spectral import spectral_radius
from safe_sysid.sets.taylor_model import TaylorModel
from safe_sysid.track.error_observer import ObserverBounds, observation_bound
from safe_sysid.track.gains import Gains
from safe_sysid.track.invariance import (
    Disturbance,
    Invariance,
    LawBounds,
    Shell,
    StateError,
    invariance,
)
from safe_sysid.track.seen_law import Sampling, SeenLaw

ROUNDING = 1.0 + 1e-9
ABOVE = 1.0 + 1e-6  # what an iterate is raised by to be a bound
ROUNDS = 100
WIDENINGS = 6
DEGREE = 2  # of the polynomials for the mass matrix


@dataclass(frozen=True, eq=False)
class SeenBounds:
    """What the law needs for a plan, and what its torque can be."""

    law: SeenLaw
    invariance: Invariance
    torque: TorqueReach  # whose radius is the bound of |v|


@dataclass(frozen=True, eq=False)
class _Metric:
    """M in every time step, and how it compares with the arm; upper bounds all of them."""

    size: Array  # (T, n, n) S with x' M x <= |x|' S |x| for every x
    inverse: Array  # (T, n, n) the same for M^-1
    kappa: float

    @property
    def diagonal(self) -> Array:
        return np.asarray(np.einsum('tjj->tj', self.size))

    def length(self, x: Array) -> float:
        """Largest |x|_M of a vector of bounds (n,)."""
        squares = np.einsum('i,tij,j->t', x, self.size, x)
        return float(np.sqrt(squares.max()) * ROUNDING)

    def dual(self, box: Array) -> float:
        """Largest norm in M^-1 of boxes (T, n)."""
        squares = np.einsum('ti,tij,tj->t', box, self.inverse, box)
        return float(np.sqrt(squares.max()) * ROUNDING)

    @property
    def entry(self) -> Array:
        """(n,) with |x_j| <= entry_j |x|_M."""
        return np.asarray(np.sqrt(np.einsum('tjj->tj', self.inverse).max(axis=0)) * ROUNDING)


@dataclass(frozen=True, eq=False)
class _Differences:
    """Between an estimate and the true state."""

    boxes: Array  # (6, n), rows below
    ball: float  # omega_b, which the pull is where it is not in the box

    def share_of(self, other: _Differences) -> float:
        """Least s with self <= s other in the boxes."""
        own, most = self.boxes, other.boxes
        return float(np.max(np.where(own > 0.0, own / np.maximum(most, 1e-300), 0.0)))


# Rows of the boxes; qdd_a without what is in the pull, K_r times the difference of de/dt.
OF_Q, OF_QD, OF_QD_A, OF_QD_D, OF_QDD_A, PULL = range(6)


class _Step(NamedTuple):
    """What follows from bounds of w and v."""

    differences: _Differences
    at_sample: float  # |r - r_hat|_M at a sample
    observer: ObserverBounds
    half_width: Array  # (n,) of the observed r
    sign_speed: float


def seen_bounds(
    model: RobotModel,
    estimate: ParameterEstimate,
    horizon: Horizon,
    gains: Gains,
    sampling: Sampling,
) -> SeenBounds:
    """Bounds for the plan in the middle of a horizon, or a refusal that says what is too much."""
    single = replace(horizon, k_range=np.zeros(horizon.n))
    problem = _Plan(model, estimate, single, gains, sampling)
    widest = problem.first_guess()
    for _ in range(WIDENINGS):
        found = problem.settled(widest)
        if isinstance(found, SeenBounds):
            return found
        widest = found
    raise BoundError(
        f'V_M = {gains.V_M} J: the arm is seen too coarsely or too late for any bound'
    )


class _Plan:
    """One plan, and what of its bounds does not depend on the others."""

    def __init__(
        self,
        model: RobotModel,
        estimate: ParameterEstimate,
        horizon: Horizon,
        gains: Gains,
        sampling: Sampling,
    ) -> None:
        self.model, self.estimate, self.gains = model, estimate, gains
        self.sampling = sampling
        above = replace(gains, V_M=gains.V_M * ROUNDING)
        self.error: TrackingError = tracking_error(model, estimate, above)
        self.reach = joint_reach(model, horizon, self.error)
        curve, k = horizon.curve, horizon.k_center
        jerk = curve.enclose(3, horizon.time, Interval.of(k))
        assert isinstance(jerk, Interval)
        self.jerk = jerk.magnitude.max(axis=0)
        self.acceleration = _largest(self.reach, QDD_A)  # contains qdd_d
        self.speed = _largest(self.reach, QD_D)

    def first_guess(self) -> _Differences:
        """Differences to begin with; larger ones are found where they are needed."""
        K, s, S = self.gains.K_r, self.sampling, self.sampling.age
        v = 0.05 * self.error.velocity + K * 0.5 * s.step + S * 20.0 * self.error.velocity
        return self._differences(v, v, 0.0)

    def _differences(self, delta_v: Array, drift: Array, ball: float) -> _Differences:
        """For a bound of |qd_hat - qd| at the sample and of how it changes until it acts."""
        K, s = self.gains.K_r, self.sampling
        e = 0.5 * s.step + s.age * self.error.velocity
        parts = (
            e + s.half * self.speed,
            delta_v + drift + s.half * self.acceleration,
            K * e + s.half * self.acceleration,
            s.half * self.acceleration,
            s.half * self.jerk,
            K * (delta_v + drift),
        )
        return _Differences(np.array(parts) * ROUNDING + 1e-12, ball)

    def settled(self, widest: _Differences) -> SeenBounds | _Differences:
        """Return bounds if no difference is larger than these, else larger ones."""
        metric = self._metric(widest)
        torque = self._torque(_wider(self.reach, widest.boxes, widest.boxes[PULL]))
        boxed = np.zeros(self.model.n) if self._has_ball else widest.boxes[PULL]
        change = self._change(_wider(self.reach, widest.boxes, boxed))
        coriolis = metric.dual(self._coriolis())
        shell = Shell(self.gains.V_M, 1.0 / metric.kappa * (2.0 - ROUNDING), metric.kappa)
        ratio = np.asarray(self.gains.torque_ratio)
        omega = nu = 0.0
        for _ in range(ROUNDS):
            step = self._following(omega, nu, metric, shell, coriolis)
            share = step.differences.share_of(widest)
            if share > 1.0:
                return _Differences(widest.boxes * min(1.5 * share, 100.0), 0.0)
            room = share * change.max(axis=0) * ROUNDING
            against = Disturbance(
                torque.disturbance + room,
                metric.diagonal,
                metric.inverse,
                ratio,
                step.differences.ball,
            )
            error = StateError(step.at_sample, self.sampling.age, coriolis)
            found = invariance(shell, against, error)
            if found.omega <= omega and found.nu <= nu:
                return self._bounds(found, shell, step, room, torque)
            omega, nu = max(omega, found.omega * ABOVE), max(nu, found.nu * ABOVE)
        raise BoundError(f'V_M = {self.gains.V_M} J: bounds of the state did not settle')

    @property
    def _has_ball(self) -> bool:
        """Whether all K_r are the same."""
        return bool(np.ptp(self.gains.K_r) == 0.0)

    def _following(
        self, omega: float, nu: float, metric: _Metric, shell: Shell, coriolis: float
    ) -> _Step:
        """Derive all else from bounds of w, and of v in units of it."""
        s, K = self.sampling, self.gains.K_r
        rate = (omega * (1.0 + nu) + coriolis) / shell.mu * ROUNDING
        unknown = (omega * (1.0 + (1.0 - shell.mu) * nu) + coriolis) / shell.mu * ROUNDING
        drift = metric.entry * max(unknown, 1e-9)
        observer = ObserverBounds(K, np.array(s.step), drift, s.window, s.jitter)
        moving = s.jitter * metric.entry * nu * omega  # what torques that begin early or late add
        late = observer._replace(drift=drift + 2.0 * moving / s.period)
        rho = observation_bound(late, s.period) + 4.0 * moving
        delta_v = (rho + 0.5 * K * s.step) * ROUNDING
        swing = (metric.entry * rate + K * self.error.velocity) * ROUNDING
        length = rate + K.max() * metric.length(self.error.r_max)
        length += K.max() ** 2 * metric.length(self.error.position)
        ball = 0.0
        if self._has_ball:
            ball = K[0] * metric.kappa * (metric.length(delta_v) + s.age * length) * ROUNDING
        differences = self._differences(delta_v, s.age * swing, ball)
        sign_speed = float((delta_v + s.age * swing + s.half * self.acceleration).max())
        return _Step(differences, metric.length(rho), observer, rho, sign_speed)

    def _bounds(
        self,
        found: Invariance,
        shell: Shell,
        step: _Step,
        room: Array,
        torque: TorqueReach,
    ) -> SeenBounds:
        if step.sign_speed > self.gains.sign_speed:
            raise BoundError(
                f'sign_speed is {self.gains.sign_speed} rad/s, but speeds are seen to '
                f'{step.sign_speed:.3g} rad/s only; give at least that'
            )
        bounds = LawBounds(
            self.gains.V_M,
            self.gains.alpha,
            found.y,
            found.sigma,
            found.omega,
            step.differences.ball,
        )
        law = SeenLaw(
            self.sampling,
            shell,
            bounds,
            step.observer,
            step.half_width,
            room,
            self.gains.sign_speed,
        )
        radius = TorqueReach(torque.monomials, torque.rows, found.box, found.robust)
        return SeenBounds(law, found, radius)

    def _torque(self, seen: JointReach) -> TorqueReach:
        """tau_0 and w_M over all estimates, the actuators' error of v left out."""
        certain = replace(self.gains, torque_ratio=0.0)
        torque = torque_reach(self.model, self.estimate, seen, certain)
        nominal = TaylorModel(torque.monomials, torque.rows).bound().magnitude
        ratio = np.asarray(self.gains.torque_ratio)
        return replace(torque, disturbance=torque.disturbance + ratio * nominal * ROUNDING)

    def _change(self, seen: JointReach) -> Array:
        """Largest change of W_s theta between states and estimates, (T, n)."""
        theta = self.estimate.bounds
        radii = []
        for reach in (seen, self.reach):
            rigid = rigid_body_torque(self.model, reach, self.estimate.theta, theta)
            radii.append(rigid.nominal[..., -1] + rigid.offset[..., -1] + rigid.spread)
        layout = self.model.layout
        Fv, Ia = (theta[layout.joint_entries(name)].magnitude for name in ('Fv', 'Ia'))
        slower = _radius(seen, QD_A) - _radius(self.reach, QD_A)
        gentler = _radius(seen, QDD_A) - _radius(self.reach, QDD_A)
        change = radii[0] - radii[1] + Fv * slower + Ia * gentler
        return np.asarray(np.maximum(change, 0.0) * ROUNDING + 1e-9)

    def _coriolis(self) -> Array:
        """|C r + Fv r| over the plan, (T, n), for |r| <= r_max."""
        rows = self.reach.rows.copy()
        rows[[QD_A, QDD_A]] = 0.0
        rows[QD_A, ..., -1] = self.error.r_max
        reach = JointReach(self.reach.monomials, self.reach.time, rows)
        weightless = replace(self.model, tree=self.model.tree._replace(gravity=np.zeros(3)))
        theta = self.estimate.bounds
        rigid = rigid_body_torque(weightless, reach, self.estimate.theta, theta)
        nominal, offset = (
            TaylorModel(reach.monomials, part).bound().magnitude
            for part in (rigid.nominal, rigid.offset)
        )
        Fv = theta[self.model.layout.joint_entries('Fv')].magnitude
        return np.asarray(nominal + offset + rigid.spread + Fv * self.error.r_max)

    def _metric(self, widest: _Differences) -> _Metric:
        """M and the mass matrix of the arm over positions as wide as an arm moves in S."""
        theta, layout, n = self.estimate.bounds, self.model.layout, self.model.n
        center = np.ascontiguousarray(self.reach.rows[Q, ..., 0])
        moved = self.sampling.age * _largest(self.reach, QD)
        radius = (self.reach.rows[Q, ..., -1] + widest.boxes[OF_Q] + moved) * np.sqrt(n) * ROUNDING
        arm = arm_inertia(self.model, theta)
        X = inverse_factors(self.model, arm.bodies, center)
        sets = Ellipsoids(center, np.eye(n) * radius[..., None, :], X)
        gap = largest_gap(congruence(arm, sets, DEGREE), DEGREE)
        Ia = theta[layout.joint_entries('Ia')]
        spread = np.maximum(Ia.upper - np.maximum(Ia.lower, 0.0), 0.0)
        more = spectral_radius(np.abs((X * spread) @ np.swapaxes(X, 1, 2)) * ROUNDING)
        if not np.all(gap < 1.0):
            raise BoundError(
                f'V_M = {self.gains.V_M} J lets the arm stray so far that its inertia is not '
                'bounded; a smaller one, armatures or tighter bounds of theta are needed'
            )
        N = np.linalg.inv(np.swapaxes(X, 1, 2) @ X)
        above = gap + more
        size = (1.0 + above)[:, None, None] * np.abs(N)
        inverse = np.abs(np.swapaxes(X, 1, 2) @ X) / (1.0 - gap)[:, None, None]
        kappa = float(((1.0 + above) / (1.0 - gap)).max() * ROUNDING)
        return _Metric(size * ROUNDING, inverse * ROUNDING, kappa)


def _wider(reach: JointReach, by: Array, pull: Array) -> JointReach:
    """Joint states as wide as estimates of them may be off, with so much of the pull."""
    rows = reach.rows.copy()
    for kind, more in (
        (Q, by[OF_Q]),
        (COS, by[OF_Q]),
        (SIN, by[OF_Q]),
        (QD, by[OF_QD]),
        (QD_A, by[OF_QD_A]),
        (QD_D, by[OF_QD_D]),
        (QDD_A, by[OF_QDD_A] + pull),
    ):
        rows[kind, ..., -1] = (rows[kind, ..., -1] + more) * ROUNDING
    rows.setflags(write=False)
    return JointReach(reach.monomials, reach.time, rows)


def _radius(reach: JointReach, kind: int) -> Array:
    return np.asarray(reach.rows[kind, ..., -1])


def _largest(reach: JointReach, kind: int) -> Array:
    """Largest absolute value of a state over the plan, (n,)."""
    return np.asarray(TaylorModel(reach.monomials, reach.rows[kind]).bound().magnitude.max(axis=0))
