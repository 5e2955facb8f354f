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
from safe_sysid.model.regressors import slotine_li_regressor
from safe_sysid.plan.arm_clearance import Scene, clearance, scene_of
from safe_sysid.reach.certificate import Certificate
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.reach.limits import position_margins, velocity_margins
from safe_sysid.reach.margin import CAPSULES, OBSTACLE, TORQUE
from safe_sysid.reach.problem import Problem
from safe_sysid.reach.tracking_error import TrackingError, tracking_error

MOST_TORQUE = 0.5  # share of the limits that plans are asked for at most
MOST_CLEARANCE = 0.05  # [m] likewise
LIMIT_SAMPLES = 24  # times at which curves that end in motion are compared with their limits
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
        return tracking_error(problem.model, problem.bounds, problem.gains)

    @cached_property
    def _scene(self) -> Scene:
        return scene_of(self.problem.model, self.problem.obstacles)

    @cached_property
    def _times(self) -> Array:
        return np.linspace(0.0, self.problem.horizon.curve.duration, self.samples)

    def margin(self, k: Array) -> float:
        """Smallest margin of one plan; the cheapest checks come first."""
        limits = self._limit_margin(k)
        if limits < 0.0:
            return limits
        torque = self.torque_margin(k) - self.kept_torque
        if torque < 0.0:
            return torque
        return min(limits, torque, (self.clearance(k) - self.kept_clearance) / NEAR)

    def beside(self, certificate: Certificate) -> NominalCheck:
        """The same check, asking for what one plan lost between here and its certificate."""
        k, margins = certificate.k, certificate.margins
        torque = margins[TORQUE].margin / abs(margins[TORQUE].limit)
        kinds = [margins.get(kind) for kind in (OBSTACLE, CAPSULES)]
        clearance = min((m.margin for m in kinds if m is not None), default=np.inf)
        return replace(
            self,
            kept_torque=float(np.clip(self.torque_margin(k) - torque, -MOST_TORQUE, MOST_TORQUE)),
            kept_clearance=float(np.clip(self.clearance(k) - clearance, 0.0, MOST_CLEARANCE)),
        )

    def along(self, horizon: Horizon) -> NominalCheck:
        """The same check for other curves; what does not depend on them is not computed again."""
        other = replace(self, problem=replace(self.problem, horizon=horizon))
        other.__dict__.update(_error=self._error, _scene=self._scene)
        return other

    def _limit_margin(self, k: Array) -> float:
        """Positions and velocities, in rad and rad/s."""
        curve, limits = self.problem.horizon.curve, self.problem.model.limits
        if not curve.ends_at_rest:  # whose extrema take ten times as long as all of the rest
            return self._sampled_limit_margin(k)
        margins = [f(curve, k, limits, self._error) for f in (position_margins, velocity_margins)]
        return float(min(reached.margin.min() for reached in margins))

    def _sampled_limit_margin(self, k: Array) -> float:
        curve, limits, error = self.problem.horizon.curve, self.problem.model.limits, self._error
        t = np.linspace(0.0, curve.duration, LIMIT_SAMPLES)
        q, speed = curve.position(t, k), np.abs(curve.velocity(t, k)) + error.velocity
        below = q - error.position - limits.position_lower
        above = limits.position_upper - q - error.position
        return float(min(below.min(), above.min(), (limits.velocity - speed).min()))

    def torque_margin(self, k: Array) -> float:
        """Smallest share of a torque limit that is left."""
        problem, curve, t = self.problem, self.problem.horizon.curve, self._times
        qd = curve.velocity(t, k)
        W = slotine_li_regressor(
            problem.model, curve.position(t, k), qd, qd, curve.acceleration(t, k)
        )
        at_ends = [self._by_error(q) for q in (curve.q0, curve.q0 + k)]
        by_error, doubt_by_error = np.max(at_ends, axis=0)
        return float(self._shares_left(W, by_error, _doubt(problem, W) + doubt_by_error).min())

    def standing_margins(self, q: Array) -> Array:
        """Shares of the torque limits that are left when the arm stands still at q, (N, n)."""
        still = np.zeros_like(q)
        W = slotine_li_regressor(self.problem.model, q, still, still, still)
        by_error, doubt_by_error = self._by_error_at_start
        return self._shares_left(W, by_error, _doubt(self.problem, W) + doubt_by_error)

    @cached_property
    def _by_error_at_start(self) -> tuple[Array, Array]:
        return self._by_error(self.problem.horizon.curve.q0)

    def _shares_left(self, W: Array, by_error: Array, doubt: Array) -> Array:
        """Of the torque limits, (N, n)."""
        robust = 0.5 * (doubt + np.linalg.norm(doubt, axis=1, keepdims=True))
        reached = np.abs(W @ self.problem.bounds.theta) + robust + by_error
        return np.asarray(1.0 - reached / self.problem.model.limits.torque)

    def _by_error(self, q: Array) -> tuple[Array, Array]:
        """Nominal torque that tracking errors add at q, and the doubt about it, (n,) each."""
        problem, error = self.problem, self._error
        n = problem.model.n
        q = np.tile(q, (n + 1, 1))
        rate = np.vstack([np.diag(error.velocity), np.zeros(n)])
        W = slotine_li_regressor(problem.model, q, -rate, 0.0 * q, problem.gains.K_r * rate)
        W = W[:n] - W[n]
        by_one = W @ problem.bounds.theta, _doubt(problem, W)
        added, doubt = (np.linalg.norm(each, axis=0) for each in by_one)
        return added, doubt

    def clearance(self, k: Array) -> float:
        """Smallest distance to obstacles and of capsules along the desired motion [m]."""
        positions = self.problem.horizon.curve.position(self._times, k)
        return min(float(clearance(self._scene, q, -np.inf)[0]) for q in positions)


def _doubt(problem: Problem, W: Array) -> Array:
    """Largest |W (theta - theta_0)| over the bounds, (N, n)."""
    theta = problem.bounds.bounds
    doubt: Array = np.abs(W @ (theta.center - problem.bounds.theta)) + np.abs(W) @ theta.radius
    return doubt
