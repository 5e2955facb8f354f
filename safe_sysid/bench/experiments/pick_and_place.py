"""Simulated arms that pick, carry and place something, with torque on them that nobody modelled.

Five arms as a calibration leaves them, with a gripper of 15 cm that weighs nothing where they have
none. A cycle: known to be empty the arm approaches; there it takes something that is announced, or
it gets it on its way; it carries it to a goal, where it lets go of it as announced. On the way
what it holds may slip or fall. Who goes on after a change is the loop; where it does not, a person
says at once that anything may be held.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.calibrated_arms import CalibratedArm
from safe_sysid.bench.experiments.handling import (
    EXPECTED,
    INSIDE,
    PERIOD,
    RATIO,
    HandlingArm,
    Setup,
    assembled,
    seen_exactly,
    thing,
)
from safe_sysid.bench.experiments.planning import at_rest
from safe_sysid.bench.experiments.unmodelled_torque import LARGEST, UnmodelledTorque
from safe_sysid.identify.change.held_next import HeldNext, body_bounds, from_library
from safe_sysid.model.collision.obstacles import NO_OBSTACLES
from safe_sysid.model.grasp import GraspError, holding_any
from safe_sysid.model.held_body import placed
from safe_sysid.model.inertia import is_consistent
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.payload import Payload, Placement
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.mission import Mission, MissionSettings
from safe_sysid.plan.receding_horizon import PlannerSettings
from safe_sysid.plan.result import SearchOutcome
from safe_sysid.plan.search.best_plan import Budget, SearchSettings, stand_still
from safe_sysid.reach.problem import Problem
from safe_sysid.sets.interval import Interval
from safe_sysid.simulate.drake import DrakeBody
from safe_sysid.simulate.mujoco import MujocoBody, creep_of
from safe_sysid.simulate.rigid_body import RigidBody
from safe_sysid.simulate.sensors import SensorSettings
from safe_sysid.simulate.simulated_arm import ArmSettings, Dynamics, SimulatedArm

SIMULATORS = ('builtin', 'drake', 'mujoco')
# Drake has Fc tanh(qd / creep) in place of Coulomb friction, which is stiff for light joints; rows
# of heavy ones show little if velocities are as uncertain as that.
CREEPS = {'light': 1e-3, 'heavy': 2e-4}  # [rad/s]
WHOLE = 6.0  # creeps from which on friction is Fc to 1e-5
UNMODELLED = 0.3  # [N m] deviation
GRIPPER = 0.15  # [m]
LEAST_FRICTION = 0.5  # [N m] that a gear has; where the file of an arm says less, it is unknown
# With bounds this wide the robust input of an early onset reaches its largest within a period and
# shakes a light joint: w_M^2 / (alpha V_M) has to stay below its inertia over a period.
LIGHT, LATE = 1.0, 1000.0  # [kg m^2] of armature below which alpha [1/s] is this
NOMINAL = 'middle'  # of the bounds, which with so much unmodelled torque little is learnt of
TO_GOAL, BESIDE = (0.2, 0.6), (0.0, 0.3)  # [rad] from where it picks, in every joint
ACROSS = 0.8  # [rad] more of the first joint
INSIDE_LIMITS = 0.1  # [rad]
# Torques of the law are held for a period. After a change that nobody announced bounds are as wide
# as anything that may be held, and the wrist of an LBR shakes at rest where that is 2 ms.
FAST = 0.001  # [s] as often as an LBR takes torques over FRI
SEARCH = SearchSettings(candidates=64, rounds=0, nearby=2, intervals=32, slow=0.02)
STANDING = 0.6  # [s] of a plan that stands still; time waits for searches
DRAWS, PATIENCE = 100, 60.0  # of poses; [s]
HALVINGS = 20


@dataclass(frozen=True)
class Cell:
    """An arm, where it picks, and how heavy what it finds there may be."""

    arm: str
    pick: tuple[float, ...]  # [rad]
    heaviest: float  # [kg] for which standing is certified there while nothing is known of it
    slipping: float  # [kg] the same of what may be off its place
    slip: float  # [m] by so much; 0: not certified for what may slip
    link: str = ''  # that the gripper is screwed to; empty: what the payload file says
    period: float = PERIOD  # [s]


CELLS = (
    Cell('kinova_gen3', (0.0, 0.26, 3.14, -2.1, 0.0, 0.96, 1.57), 2.5, 1.5, 0.1),
    Cell('lbr_med7', (0.0, 0.5, 0.0, -1.2, 0.0, 0.6, 0.0), 2.8, 1.5, 0.1, 'link_ee', FAST),
    Cell('fr3', (0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785), 0.7, 0.0, 0.0, 'link8'),
    Cell('ur10e', (0.0, -1.2, 1.6, -1.9, -1.57, 0.0), 4.0, 2.0, 0.1, 'tool0'),
    Cell('xarm7', (0.0, -0.95, 0.0, 1.75, 0.0, 1.6, 0.0), 1.0, 0.4, 0.1, 'link7'),
)


def held_thing(cell: Cell, mass: float) -> Payload:
    """Return a dumbbell of this mass in the gripper of a cell."""
    dumbbell = thing(mass)
    if not cell.link:
        return dumbbell
    place = Placement(cell.link, (0.0, 0.0, GRIPPER), (0.0, 0.0, 0.5 * np.pi))
    return replace(dumbbell, placements={**dumbbell.placements, cell.arm: place})


@dataclass(frozen=True)
class Draw:
    """What decides a cycle, beside the cell."""

    simulator: str
    mass: float  # [kg]
    slips: bool
    seed: tuple[int, int]


@dataclass(frozen=True, eq=False)
class Found:
    """An arm in its cell, and what may be in its hand."""

    arm: HandlingArm
    mission: Mission
    pick: Array  # (n,) [rad]
    goal: Array  # (n,) [rad]
    empty: HeldNext
    known: HeldNext  # this thing, by its file


def arm_in_cell(cell: Cell, draw: Draw) -> Found:
    """Return an arm at rest beside the place where it picks, its links at random."""
    rng = np.random.default_rng(draw.seed)
    arm = _calibrated(cell.arm)
    bodies, creep = _bodies(draw.simulator, arm)
    heaviest = held_thing(cell, cell.slipping if draw.slips else cell.heaviest)
    error = GraspError(displaced=cell.slip + 0.01) if draw.slips else GraspError()
    model = holding_any(arm.model, [heaviest], error)
    place = model.layout.end_effector
    own, bare = arm.estimate.bounds[place], model.theta[place]
    held = from_library(model, [heaviest], error, own)
    payload = held_thing(cell, draw.mass)
    known = HeldNext(
        own + body_bounds(model, payload, GraspError()), bare + placed(model, payload)
    )
    prior = _with_body(arm.estimate, held)
    drives = np.asarray(arm.gains.torque_error) + LARGEST * UNMODELLED
    gains = replace(arm.gains, torque_error=drives, sign_speed=max(creep))
    pick = np.array(cell.pick)
    standing = replace(at_rest(model, prior, pick, NO_OBSTACLES), gains=gains)
    across = np.append(rng.choice([-1.0, 1.0]) * ACROSS, np.zeros(model.n - 1))
    goal, start = _pose(rng, standing, pick + across, TO_GOAL), _pose(rng, standing, pick, BESIDE)
    truth = arm.model.with_parameters(_as_it_is(rng, arm))
    more = UnmodelledTorque(rng.spawn(1)[0], model.n, UNMODELLED)
    robot = SimulatedArm(
        truth,
        start,
        rng,
        ArmSettings(cell.period, SensorSettings(torque_ratio=(RATIO,))),
        more.on(bodies),
    )
    learning = MissionSettings(exciting=0, on_the_way=True, route_seconds=600.0)
    mission = Mission(model, None, learning)
    setup = Setup(
        model,
        prior,
        gains,
        held,
        PlannerSettings(3.0, 1.5, 1.3, standing=STANDING, pace=1e4, search=SEARCH),
        seen_exactly(more.bound, creep, cell.period),
        replace(EXPECTED, unmodelled_torque=UNMODELLED),
        cell.period,
        NOMINAL,
    )
    whole = assembled(setup, robot, mission)
    return Found(whole, mission, pick, goal, HeldNext(own, bare), known)


def _calibrated(name: str) -> CalibratedArm:
    """Return the bare arm, with dry friction, and gains for its period."""
    model = RobotModel.named(name)
    theta, dry = model.theta.copy(), model.layout.joint_entries('Fc')
    theta[dry] = np.maximum(theta[dry], LEAST_FRICTION)
    arm = CalibratedArm.known(model.with_parameters(theta))
    return replace(arm, gains=replace(arm.gains, alpha=LATE)) if _is_light(arm) else arm


def _is_light(arm: CalibratedArm) -> bool:
    return float(arm.estimate.theta[arm.model.layout.joint_entries('Ia')].min()) < LIGHT


def _bodies(
    simulator: str, arm: CalibratedArm
) -> tuple[Callable[[RobotModel], Dynamics], tuple[float, ...]]:
    """Return dynamics, and the speeds [rad/s] below which friction need not be whole, or one."""
    if simulator == 'drake':
        creep = CREEPS['light' if _is_light(arm) else 'heavy']
        return partial(DrakeBody, creep=creep), (WHOLE * creep,)
    if simulator == 'mujoco':
        return MujocoBody, tuple(creep_of(arm.model, arm.estimate.bounds).tolist())
    return RigidBody, (0.0,)


def _with_body(estimate: ParameterEstimate, held: HeldNext) -> ParameterEstimate:
    """Return what is known of the arm, with what may be held."""
    place, bounds = estimate.layout.end_effector, estimate.bounds
    theta, lower, upper = estimate.theta.copy(), bounds.lower.copy(), bounds.upper.copy()
    theta[place], lower[place], upper[place] = held.nominal, held.bounds.lower, held.bounds.upper
    return ParameterEstimate(estimate.layout, theta, Interval(lower, upper))


def _as_it_is(rng: np.random.Generator, arm: CalibratedArm) -> Array:
    """Parameters within what is known of an arm, of bodies that can exist."""
    model, bounds = arm.model, arm.estimate.bounds
    away = rng.uniform(-INSIDE, INSIDE, len(model.theta)) * bounds.radius
    theta = np.asarray(bounds.center + away)
    for joint in range(model.n):
        place = model.layout.inertial(joint)
        nominal, drawn = model.theta[place], theta[place]
        for _ in range(HALVINGS):
            if _can_exist(drawn):
                break
            drawn = 0.5 * (drawn + nominal)
        theta[place] = drawn
    return theta


def _can_exist(phi: Array) -> bool:
    return bool(is_consistent(phi))


def _pose(
    rng: np.random.Generator, standing: Problem, pick: Array, way: tuple[float, float]
) -> Array:
    """Return a pose near another one at which standing is certified, whatever is held."""
    limits = standing.model.limits
    for _ in range(DRAWS):
        q = pick + rng.choice([-1.0, 1.0], len(pick)) * rng.uniform(*way, len(pick))
        if np.any((q < limits.position_lower + INSIDE_LIMITS) & ~limits.is_continuous):
            continue
        if np.any((q > limits.position_upper - INSIDE_LIMITS) & ~limits.is_continuous):
            continue
        horizon = replace(standing.horizon, curve=replace(standing.horizon.curve, q0=q))
        found = stand_still(replace(standing, horizon=horizon), Budget.of(PATIENCE), SEARCH)
        if found.outcome is SearchOutcome.FOUND:
            return np.asarray(q)
    raise RuntimeError(f'{standing.model.name} can stand nowhere near {pick.tolist()}')
