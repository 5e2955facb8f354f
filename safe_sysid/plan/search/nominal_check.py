"""Whether plans are worth a certificate: limits, torque and clearance at a few times, in floats.

Guidance only. The torque is that of the desired motion with what the robust input may add. The
tracking error enters by the accelerations K_r de/dt and the friction that it causes at the start
and the end of the plan, which is most of what it does; those of all joints together are taken to
be in an ellipsoid, as in `reach.error_terms`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.model.collision.arm_clearance import CollisionScene, clearance_along, scene_of
from safe_sysid.model.dynamics.mass_matrix import mass_matrix
from safe_sysid.model.dynamics.regressors import slotine_li_regressor
from safe_sysid.plan.cost.sampled_motion import SampledMotion
from safe_sysid.reach.certificate import PlanCertificate
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.reach.margin import CAPSULES, OBSTACLE, TORQUE
from safe_sysid.reach.plan_error import plan_error
from safe_sysid.reach.problem import Problem
from safe_sysid.reach.tracking_error import TrackingError
from safe_sysid.trajectory.bezier import Bezier

MOST_TORQUE = 0.5  # share of the limits that plans are asked for at most
MOST_CLEARANCE = 0.05  # [m] likewise
LIMIT_SAMPLES = 24  # times at which positions and velocities are compared with their limits
NEAR = 0.3  # [m] of clearance that counts as much as all of a torque limit


@dataclass(frozen=True, eq=False)
class NominalCheck:
    """Margins of plans of one horizon, as shares of their limits; negative: not worth a try."""

    problem: Problem
    samples: int  # times that are looked at
    kept_torque: float = 0.0  # share of the limits that sets lose to more than is looked at here
    kept_clearance: float = 0.0  # [m] likewise

    @cached_property
    def _error(self) -> TrackingError:
        problem = self.problem
        curve, still = problem.horizon.curve, np.zeros(problem.horizon.n)
        standing = Horizon(Bezier(curve.q0, still, still, curve.duration), still, still, 1)
        return plan_error(replace(problem, horizon=standing, error_at_start=None))

    @cached_property
    def _scene(self) -> CollisionScene:
        return scene_of(self.problem.model, self.problem.obstacles)

    def _sampled(self, samples: int) -> SampledMotion:
        """Return the motion of k at so many times."""
        horizon = self.problem.horizon
        still = np.zeros(horizon.n)
        unit = replace(horizon, k_center=still, k_range=still + 1.0)
        return SampledMotion(unit, horizon.curve.duration, samples)

    @cached_property
    def _motion(self) -> SampledMotion:
        return self._sampled(self.samples)

    @cached_property
    def _fine_motion(self) -> SampledMotion:
        return self._sampled(LIMIT_SAMPLES)

    def margin(self, k: Array) -> float:
        """Smallest margin of one plan; the cheapest checks come first."""
        limits = self._limit_margin(k)
        if limits < 0.0:
            return limits
        torque = self.torque_margin(k) - self.kept_torque
        if torque < 0.0:
            return torque
        return min(limits, torque, (self.clearance(k) - self.kept_clearance) / NEAR)

    def beside(self, certificate: PlanCertificate) -> NominalCheck:
        """Return the check asking also for what one plan lost until its certificate."""
        k, margins = certificate.k, certificate.margins
        torque = margins[TORQUE].margin / abs(margins[TORQUE].limit)
        kinds = [margins.get(kind) for kind in (OBSTACLE, CAPSULES)]
        clearance = min((m.margin for m in kinds if m is not None), default=np.inf)
        other = replace(
            self,
            kept_torque=float(np.clip(self.torque_margin(k) - torque, -MOST_TORQUE, MOST_TORQUE)),
            kept_clearance=float(np.clip(self.clearance(k) - clearance, 0.0, MOST_CLEARANCE)),
        )
        other.__dict__.update((x, self.__dict__[x]) for x in self.__dict__ if x.startswith('_'))
        return other  # with all that was computed of the same plans

    def along(self, horizon: Horizon) -> NominalCheck:
        """Return the check for other curves, reusing what does not depend on them."""
        other = replace(self, problem=replace(self.problem, horizon=horizon))
        other.__dict__.update(_error=self._error, _scene=self._scene)
        return other

    def _limit_margin(self, k: Array) -> float:
        """Positions and velocities, in rad and rad/s; their extrema would take much longer."""
        limits, error = self.problem.model.limits, self._error
        q, qd, _ = self._fine_motion.states(k)
        speed = np.abs(qd) + error.velocity
        below = q - error.position - limits.position_lower
        above = limits.position_upper - q - error.position
        return float(min(below.min(), above.min(), (limits.velocity - speed).min()))

    def torque_margin(self, k: Array) -> float:
        """Smallest share of a torque limit that is left."""
        q, qd, qdd = self._motion.states(k)
        at_end = self._in_error(q[-1])
        together = map(np.concatenate, zip((q, qd, qd, qdd), at_end, strict=True))
        W = slotine_li_regressor(self.problem.model, *together)
        W, W_at_end = W[: len(q)], W[len(q) :]
        by_error = np.maximum(self._by_error_at_start, self._by_error(W_at_end))
        return float(self._shares_left(W, by_error[0], self._doubt(W) + by_error[1]).min())

    def standing_margins(self, q: Array) -> Array:
        """Shares of the torque limits that are left when the arm stands still at q, (N, n)."""
        still = np.zeros_like(q)
        W = slotine_li_regressor(self.problem.model, q, still, still, still)
        by_error, doubt_by_error = self._by_error_at_start
        return self._shares_left(W, by_error, self._doubt(W) + doubt_by_error)

    @cached_property
    def _inertia(self) -> tuple[Array, Array]:
        """Diagonal and |M^-1| of the nominal mass matrix where plans start."""
        M = mass_matrix(
            self.problem.model, self.problem.bounds.theta, self.problem.horizon.curve.q0
        )
        return np.maximum(np.diag(M), 0.0), np.abs(np.linalg.pinv(M))

    @cached_property
    def _by_error_at_start(self) -> tuple[Array, Array]:
        states = self._in_error(self.problem.horizon.curve.q0)
        return self._by_error(slotine_li_regressor(self.problem.model, *states))

    def _shares_left(self, W: Array, by_error: Array, doubt: Array) -> Array:
        """Of the torque limits, (N, n)."""
        diagonal, inverse = self._inertia
        length = np.sqrt(((doubt @ inverse) * doubt).sum(axis=1, keepdims=True))
        robust = 0.5 * (doubt + np.sqrt(diagonal) * length)
        reached = np.abs(W @ self.problem.bounds.theta) + robust + by_error
        return np.asarray(1.0 - reached / self.problem.model.limits.torque)

    def _in_error(self, q: Array) -> tuple[Array, Array, Array, Array]:
        """States of the regressor at q with the tracking error of one joint each, then of none."""
        rate = self._rates
        still = np.zeros_like(rate)
        return still + q, -rate, still, self.problem.gains.K_r * rate

    @cached_property
    def _rates(self) -> Array:
        return np.vstack([np.diag(self._error.velocity), np.zeros(self.problem.model.n)])

    def _by_error(self, W: Array) -> tuple[Array, Array]:
        """Nominal torque that tracking errors add, and the doubt about it, (n,) each."""
        W = W[:-1] - W[-1]
        by_one = W @ self.problem.bounds.theta, self._doubt(W)
        added, doubt = (np.linalg.norm(each, axis=0) for each in by_one)
        return added, doubt

    @cached_property
    def _offsets(self) -> tuple[Array, Array]:
        """Centre and radius of theta - theta_0."""
        theta = self.problem.bounds.bounds
        return theta.center - self.problem.bounds.theta, theta.radius

    def _doubt(self, W: Array) -> Array:
        """Largest |W (theta - theta_0)| over the bounds, (N, n)."""
        center, radius = self._offsets
        doubt: Array = np.abs(W @ center) + np.abs(W) @ radius
        return doubt

    def clearance(self, k: Array) -> float:
        """Smallest distance to obstacles and of capsules along the desired motion [m]."""
        q, _, _ = self._motion.states(k)
        return float(clearance_along(self._scene, q, -np.inf))
