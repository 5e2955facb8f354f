"""What a method knows before its task: the phase in which the arm is excited, and what it teaches.

The arm begins upright and at rest. Budgets of searches and solves are counts; those in seconds are
so long that they never end one, so that the same seed teaches the same on a busy machine.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.excitation_episodes import (
    OBSERVED,
    UPRIGHT,
    Episode,
    EpisodeArm,
    RandomPlans,
    Watched,
)
from safe_sysid.bench.experiments.identification import TORQUE_RATIO
from safe_sysid.bench.experiments.kinova_dumbbell import PERIOD, SETTINGS, kinova_prior
from safe_sysid.bench.experiments.planning import GAINS, at_rest
from safe_sysid.closed_loop import run
from safe_sysid.experiment.stacking.scene import own_clearance
from safe_sysid.identify.momentum_observation import observe
from safe_sysid.identify.online_identifier import IdentifierSettings, OnlineIdentifier
from safe_sysid.identify.payload_estimator import SolveSettings
from safe_sysid.identify.solves import SolvesAtOnce
from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.collision.obstacles import NO_OBSTACLES
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.plan.mission import Mission, MissionSettings
from safe_sysid.plan.receding_horizon import PlannerSettings, RecedingHorizonPlanner
from safe_sysid.plan.search.best_plan import SearchSettings
from safe_sysid.simulate.excited_motion import (
    SimulatedMotion,
    fourier_motion,
    recorded,
    true_torque,
)
from safe_sysid.simulate.sensors import SensorSettings
from safe_sysid.simulate.simulated_arm import ArmSettings, SimulatedArm
from safe_sysid.track.robust_passivity import RobustPassivityController

NEVER = 1e5  # [s] of wall time: only counts end a search or a solve
PLANS = 4
SECONDS = 9.0  # 1.5 s at rest, four plans of 1.5 s, the braking half of the last one
FOURIER_SECONDS, FOURIER_TRIES, FOURIER_SHARE = 7.5, 10, 0.95
SOLVE = SolveSettings(seconds=NEVER, fit_seconds=NEVER)
SEARCHES = {
    'quick': SearchSettings(
        candidates=24, trials=3, nearby=1, fewer=12, rounds=1, intervals=32, ipopt_seconds=NEVER
    ),
    'full': SearchSettings(ipopt_seconds=NEVER),
}


@dataclass(frozen=True)
class Phase:
    """Which excitation, of which arm."""

    kind: str  # exciting | random | fourier
    load: str
    seed: int  # of the truth, the sensors and the searches
    effort: str  # of a search: one of SEARCHES


@dataclass(frozen=True, eq=False)
class Learned:
    """What is known at the end, and what the arm did meanwhile."""

    arm: EpisodeArm
    estimate: ParameterEstimate
    q: Array  # (N, n) every 10 ms
    torque_share: float  # largest torque as a share of its limit
    condition: float  # of Y
    contains_truth: bool
    plans: int  # certified ones that move
    episode: Episode | None  # of the planner


def arm_of(load: str, seed: int) -> EpisodeArm:
    """Return an arm and its truth, links within 5 % of what is known; one for all methods."""
    return EpisodeArm.holding(load, np.random.default_rng([seed, 1]))


@lru_cache(maxsize=4)
def learned(phase: Phase) -> Learned:
    """Carry out a phase, once for all methods that learn from it."""
    return _fourier(phase) if phase.kind == 'fourier' else _planned(phase)


def robot_of(phase: Phase, arm: EpisodeArm) -> SimulatedArm:
    """Return the arm upright and at rest, with the sensor errors of the phase."""
    sensors = SensorSettings(torque_ratio=(TORQUE_RATIO,))
    rng = np.random.default_rng([phase.seed, 2])
    return SimulatedArm(arm.truth, UPRIGHT, rng, ArmSettings(PERIOD, sensors))


def _planned(phase: Phase) -> Learned:
    """Four certified plans that teach, or that only move."""
    arm, clock = arm_of(phase.load, phase.seed), Clock(0)
    prior, search = kinova_prior(arm.nominal), SEARCHES[phase.effort]
    purpose: Mission | RandomPlans = RandomPlans(PLANS)
    if phase.kind == 'exciting':
        purpose = Mission(arm.nominal, None, MissionSettings(exciting=PLANS, shrinking=0.0))
    else:
        search = replace(search, rounds=0)
    settings = PlannerSettings(seed=phase.seed, pace=NEVER, search=search)
    problem = at_rest(arm.nominal, prior, UPRIGHT, NO_OBSTACLES)
    planner = RecedingHorizonPlanner(problem, purpose, clock, settings)
    identifier = OnlineIdentifier(
        arm.nominal, prior, IdentifierSettings(OBSERVED, SOLVE), SolvesAtOnce
    )
    controller = Watched(RobustPassivityController(arm.nominal, GAINS, clock))
    run(robot_of(phase, arm), identifier, planner, controller, round(SECONDS / PERIOD))
    done = Episode(arm, controller.samples, identifier.finish())
    moving = {id(s.plan) for s in done.samples if np.abs(s.plan.k).max() > 0.1}
    q = np.array([s.measurement.position for s in done.samples])
    return Learned(
        arm,
        done.estimate,
        q[::10],
        _share(arm, np.array([s.torque for s in done.samples])),
        done.condition,
        done.contains_truth,
        len(moving),
        done,
    )


def _fourier(phase: Phase) -> Learned:
    """Best of some random Fourier series within limits of velocity and acceleration, only.

    It is taken to be followed exactly, whatever torque that needs.
    """
    arm, rng = arm_of(phase.load, phase.seed), np.random.default_rng([phase.seed, 3])
    prior, best = kinova_prior(arm.nominal), None
    condition = np.inf
    for _ in range(FOURIER_TRIES):
        motion = _within_limits(arm, fourier_motion(rng, arm.truth.n, FOURIER_SECONDS, PERIOD))
        rows = observe(
            arm.nominal, prior.bounds, SETTINGS, recorded(motion, np.zeros_like(motion.q))
        )
        found = float(np.linalg.cond(rows.Y_e))
        if best is None or found < condition:
            best, condition = motion, found
    assert best is not None
    torque = true_torque(arm.truth, best)
    errors = rng.uniform(-1.0, 1.0, size=torque.shape)
    log = recorded(best, torque / (1.0 + TORQUE_RATIO * errors))
    identifier = OnlineIdentifier(
        arm.nominal, prior, IdentifierSettings(SETTINGS, SOLVE), SolvesAtOnce
    )
    for stamp, q, qd, tau in zip(log.stamp, log.position, log.velocity, log.torque, strict=True):
        identifier.step(JointMeasurement(int(stamp), q, qd, tau))
    estimate = identifier.finish()
    inside = estimate.bounds.contains(arm.truth.theta)
    share = _share(arm, torque)
    return Learned(arm, estimate, best.q[::10], share, condition, inside, 0, None)


def _within_limits(arm: EpisodeArm, motion: SimulatedMotion) -> SimulatedMotion:
    """Return the motion scaled to the limits of velocity and acceleration, about upright."""
    limits = arm.nominal.limits
    use = [
        np.abs(motion.qd / limits.velocity).max(),
        np.abs(motion.qdd / limits.acceleration).max(),
    ]
    scale = FOURIER_SHARE / max(use)
    q = UPRIGHT + scale * (motion.q - motion.q.mean(axis=0))
    return SimulatedMotion(motion.t, q, scale * motion.qd, scale * motion.qdd)


def _share(arm: EpisodeArm, torque: Array) -> float:
    return float(np.abs(torque / arm.nominal.limits.torque).max())


def touches_itself(taught: Learned) -> bool:
    """Whether the arm came into contact with itself while it was excited."""
    return own_clearance(taught.arm.nominal, taught.q[::2]) <= 0.0
