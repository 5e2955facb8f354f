"""Plans that stand still, handed over while the arm is somewhere else or moves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.falsification.dynamics import Mechanism, mass_matrix, posed
from safe_sysid.bench.experiments.falsification.mechanisms import (
    model_of,
    random_mechanism,
)
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.parameters import ParameterEstimate, ratio_bounds
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.track.gains import Gains
from safe_sysid.track.plan_succession import PlanSuccession, SuccessionSettings
from safe_sysid.track.takeover import TrackedArm
from safe_sysid.trajectory.bezier import Bezier
from safe_sysid.trajectory.plan import Plan

SECONDS = 3.0  # of a plan
TRIES = 12  # errors of one arm, each nearer to the edge of what is accepted
ROUNDING = 1e-9  # share of V_M


@dataclass
class TakeoverVerdict:
    """Plans handed over, those taken, and those taken with V > V_M."""

    takeovers: int = 0
    accepted: int = 0
    violations: int = 0
    largest_share: float = 0.0  # of V_M, of a plan that was taken

    def add(self, other: TakeoverVerdict) -> None:
        """Count another one."""
        self.takeovers += other.takeovers
        self.accepted += other.accepted
        self.violations += other.violations
        self.largest_share = max(self.largest_share, other.largest_share)


def taken_over(seed: int, number: int) -> TakeoverVerdict:
    """Look for the largest error, in one direction, with which a plan is still taken over."""
    rng = np.random.default_rng([seed, 3, number])
    arm, mechanism = _arm(rng, number)
    n = arm.n
    gains = Gains(10.0 ** rng.uniform(0.0, 1.3, size=n), 10.0 ** rng.uniform(-4.0, -1.0), 25.0)
    ratio = float(rng.choice([0.0, 0.05, 0.3]))
    bounds = ratio_bounds(arm.theta, ratio)
    estimate = ParameterEstimate(arm.layout, arm.theta, bounds)
    q = rng.uniform(-2.0, 2.0, size=n)
    direction = rng.normal(size=(2, n)) * rng.choice([0.0, 1.0], size=(2, 1), p=[0.2, 0.8])
    direction[0] /= gains.K_r
    verdict, low, high = TakeoverVerdict(), 0.0, 1.0
    for _ in range(TRIES):
        size = 0.5 * (low + high)
        e, ed = size * direction
        taken = _is_taken(arm, gains, estimate, (q + e, np.zeros(n)), (q, -ed))
        verdict.takeovers += 1
        if taken:
            share = _energy(mechanism, ratio, q, ed + gains.K_r * e) / gains.V_M
            verdict.accepted += 1
            verdict.violations += share > 1.0 + ROUNDING
            verdict.largest_share = max(verdict.largest_share, share)
        low, high = (size, 2.0 * high if high == 1.0 else high) if taken else (low, size)
    return verdict


def _arm(rng: np.random.Generator, number: int) -> tuple[RobotModel, Mechanism]:
    n = int(rng.integers(1, 13))
    mechanism = random_mechanism(rng, n, 0.1, 1.0)
    turning = {i: 'continuous' for i in range(n) if number % 2 and not mechanism.slides[i]}
    return model_of(mechanism, n - 1, turning), mechanism


def _is_taken(
    arm: RobotModel,
    gains: Gains,
    estimate: ParameterEstimate,
    wanted: tuple[Array, Array],
    measured: tuple[Array, Array],
) -> bool:
    """Whether the plan that stands still at the wanted position is followed."""
    rest = np.zeros(arm.n)
    curve = Bezier(wanted[0], rest, rest, SECONDS)
    plan = Plan(1.0, 1.0 + 0.5 * SECONDS, curve, rest, estimate.bounds, None, estimate.theta)
    succession = PlanSuccession(TrackedArm(arm, gains), SuccessionSettings())
    succession.offer(plan)
    measurement = JointMeasurement(1_000_000_000, *measured, rest)
    return succession.step(1.0, measurement, estimate) is plan


def _energy(m: Mechanism, ratio: float, q: Array, r: Array) -> float:
    """Largest V over the bounds that bodies can have: all of them heavier by the ratio."""
    return (1.0 + ratio) * 0.5 * float(r @ mass_matrix(m, posed(m, q)) @ r)
