"""An arm that carries an unknown dumbbell to a goal: learning first, or on the way; same truth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.excitation_episodes import (
    OBSERVED,
    UPRIGHT,
    EpisodeArm,
    Watched,
)
from safe_sysid.bench.experiments.identification import TORQUE_RATIO
from safe_sysid.bench.experiments.kinova_dumbbell import DUMBBELLS, PERIOD, kinova_prior
from safe_sysid.bench.experiments.planning import FREE, GAINS, at_rest
from safe_sysid.closed_loop import LoopSample, run
from safe_sysid.identify.online_identifier import IdentifierSettings, OnlineIdentifier
from safe_sysid.identify.solves import SolvesAtOnce
from safe_sysid.measure.clock import Clock
from safe_sysid.model.collision.contact import ContactGauge
from safe_sysid.model.collision.obstacles import NO_OBSTACLES
from safe_sysid.model.dynamics.regressors import standard_regressor
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.aims import Aim
from safe_sysid.plan.mission import Mission, MissionSettings
from safe_sysid.plan.path.route import Follow
from safe_sysid.plan.receding_horizon import PlannerSettings, RecedingHorizonPlanner
from safe_sysid.plan.result import SearchOutcome
from safe_sysid.plan.search.best_plan import SearchSettings
from safe_sysid.simulate.sensors import SensorSettings
from safe_sysid.simulate.simulated_arm import ArmSettings, SimulatedArm
from safe_sysid.track.robust_passivity import RobustPassivityController
from safe_sysid.trajectory.plan import Plan

# Simulated time stands still while plans are searched, and no search is ended by the clock
SEARCHES = PlannerSettings(
    pace=1e4, search=SearchSettings(candidates=16, rounds=0, intervals=32, slow=0.02)
)
LONGEST = 40.0  # [s] of a run
LOOK = 500  # periods between two looks at whether all is done
SIDE = (0.3, 1.6)  # [rad] from the prior's start to the goal, in every joint that is turned
TURNED = (0, 1, 3, 5)
HELD_WITH = 0.7  # of the torque limits at most, for what is held at the goal


class CountingMission(Mission):
    """A mission that counts its plans that teach."""

    taught = 0

    def planned(self, aim: Aim | Follow, plan: Plan, estimate: ParameterEstimate) -> None:
        """Count."""
        self.taught += not isinstance(aim, Follow)
        super().planned(aim, plan, estimate)


@dataclass(frozen=True, eq=False)
class Carry:
    """An arm, a goal, and the errors of its sensors, which depend on one seed."""

    arm: EpisodeArm
    goal: Array  # (n,) [rad]
    seed: tuple[int, int]


@dataclass(frozen=True, eq=False)
class Carried:
    """What came of it."""

    seconds: float  # until the arm rests at the goal; inf: it does not
    taught: int  # plans that were for learning, in whole or in part
    mass_half_width: float  # [kg] at the end
    largest_torque: float  # share of the limits that the torque reached
    truth_outside: int  # estimates that do not contain the true theta


def random_carry(seed: int, number: int) -> Carry:
    """Return a dumbbell, true links within their bounds, and a goal within reach."""
    rng = np.random.default_rng([seed, number])
    arm = EpisodeArm.holding(str(rng.choice(DUMBBELLS)), rng)
    goal = _goal(rng)
    while not _can_be_held(arm.truth, goal):
        goal = _goal(rng)
    return Carry(arm, goal, (seed, number))


def _goal(rng: np.random.Generator) -> Array:
    goal: Array = UPRIGHT.copy()
    for joint in TURNED:
        goal[joint] += rng.choice([-1.0, 1.0]) * rng.uniform(*SIDE)
    return goal


def _can_be_held(truth: RobotModel, q: Array) -> bool:
    """Whether an arm that is known exactly could rest there with torque and room to spare."""
    limits, still = truth.limits, np.zeros(truth.n)
    inside = np.all((limits.position_lower < q) & (q < limits.position_upper))
    torque = standard_regressor(truth, q, still, still) @ truth.theta
    spared = bool((np.abs(torque) < HELD_WITH * limits.torque).all())
    return bool(inside) and spared and ContactGauge(truth).clearance(q).distance > FREE


def carry(task: Carry, on_the_way: bool) -> Carried:
    """Close the loop until the arm rests at the goal, or for `LONGEST`."""
    arm, clock = task.arm, Clock(0)
    prior = kinova_prior(arm.nominal)
    settings = MissionSettings(route_seconds=600.0, on_the_way=on_the_way)
    mission = CountingMission(arm.nominal, task.goal, settings)
    problem = at_rest(arm.nominal, prior, UPRIGHT, NO_OBSTACLES)
    planner = RecedingHorizonPlanner(problem, mission, clock, SEARCHES)
    planner.warm_up(UPRIGHT, prior)
    identifier = OnlineIdentifier(arm.nominal, prior, IdentifierSettings(OBSERVED), SolvesAtOnce)
    controller = Watched(RobustPassivityController(arm.nominal, GAINS, clock))
    sensors = SensorSettings(torque_ratio=(TORQUE_RATIO,))
    noise = np.random.default_rng([*task.seed, 1])
    robot = SimulatedArm(arm.truth, UPRIGHT, noise, ArmSettings(PERIOD, sensors))
    last: LoopSample | None = None
    while last is None or _goes_on(last):
        last = run(robot, identifier, planner, controller, LOOK, last=last)
    done = last.result.outcome is SearchOutcome.NOTHING_DUE
    estimates = {id(s.estimate): s.estimate for s in controller.samples}
    outside = [not each.bounds.contains(arm.truth.theta) for each in estimates.values()]
    torque = np.array([s.torque for s in controller.samples])
    return Carried(
        last.result.in_force.end_time if done else np.inf,
        mission.taught,
        float(identifier.finish().end_effector_bounds.radius[0]),
        float(np.abs(torque / arm.nominal.limits.torque).max()),
        sum(outside),
    )


def _goes_on(last: LoopSample) -> bool:
    if last.result.outcome is SearchOutcome.NOTHING_DUE:
        return False
    return last.measurement.stamp * 1e-9 < LONGEST
