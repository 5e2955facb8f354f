"""Whether plans are worth a certificate: limits, torque and clearance at a few times, in floats.

Guidance only. The torque is that of the desired motion with what the robust input may add. The
tracking error enters by the accelerations K_r de/dt and the friction that it causes at the start
of the plan, which is most of what it does.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.model.regressors import slotine_li_regressor
from safe_sysid.plan.arm_clearance import Scene, clearance, scene_of
from safe_sysid.reach.limits import position_margins, velocity_margins
from safe_sysid.reach.problem import Problem
from safe_sysid.reach.tracking_error import TrackingError, tracking_error

NEAR = 0.3  # [m] of clearance that counts as much as all of a torque limit


@dataclass(frozen=True, eq=False)
class NominalCheck:
    """Margins of plans of one horizon, as shares of their limits; negative: not worth a try."""

    problem: Problem
    samples: int  # times that are looked at

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
        torque = self._torque_margin(k)
        return min(limits, torque) if torque < 0.0 else min(limits, torque, self._clearance(k))

    def _limit_margin(self, k: Array) -> float:
        """Positions and velocities, in rad and rad/s."""
        curve, limits = self.problem.horizon.curve, self.problem.model.limits
        margins = [f(curve, k, limits, self._error) for f in (position_margins, velocity_margins)]
        return float(min(reached.margin.min() for reached in margins))

    def _torque_margin(self, k: Array) -> float:
        problem, curve, t = self.problem, self.problem.horizon.curve, self._times
        qd = curve.velocity(t, k)
        W = slotine_li_regressor(
            problem.model, curve.position(t, k), qd, qd, curve.acceleration(t, k)
        )
        by_error, doubt_by_error = self._by_error
        doubt = _doubt(problem, W) + doubt_by_error
        robust = 0.5 * (doubt + np.linalg.norm(doubt, axis=1, keepdims=True))
        reached = np.abs(W @ problem.bounds.theta) + robust + by_error
        return float(np.min(1.0 - reached / problem.model.limits.torque))

    @cached_property
    def _by_error(self) -> tuple[Array, Array]:
        """Nominal torque that tracking errors add, and the doubt about it, (n,) each."""
        problem, error = self.problem, self._error
        n, theta_0 = problem.model.n, problem.bounds.theta
        q = np.tile(problem.horizon.curve.q0, (n + 1, 1))
        qdd = np.vstack([np.diag(problem.gains.K_r * error.velocity), np.zeros(n)])
        W = slotine_li_regressor(problem.model, q, 0.0 * q, 0.0 * q, qdd)
        W = W[:n] - W[n]
        viscous = theta_0[problem.model.layout.joint_entries('Fv')] * error.velocity
        return np.abs(W @ theta_0).sum(axis=0) + viscous, _doubt(problem, W).sum(axis=0)

    def _clearance(self, k: Array) -> float:
        least = np.inf
        for q in self.problem.horizon.curve.position(self._times, k):
            least = min(least, float(clearance(self._scene, q, 0.0)[0]))
            if least < 0.0:
                break
        return least / NEAR


def _doubt(problem: Problem, W: Array) -> Array:
    """Largest |W (theta - theta_0)| over the bounds, (N, n)."""
    theta = problem.bounds.bounds
    doubt: Array = np.abs(W @ (theta.center - problem.bounds.theta)) + np.abs(W) @ theta.radius
    return doubt
