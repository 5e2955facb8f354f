"""The loop that a settings file of nodes describes, in one process and without middleware."""

import numpy as np
import yaml

from safe_sysid.closed_loop import run
from safe_sysid.config import from_mapping
from safe_sysid.identify.online_identifier import OnlineIdentifier
from safe_sysid.identify.solves import SolvesAtOnce
from safe_sysid.measure.clock import Clock
from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.model.collision.world import read_world
from safe_sysid.plan.mission import Mission
from safe_sysid.plan.receding_horizon import RecedingHorizonPlanner
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.reach.problem import Problem
from safe_sysid.ros.bridges.builtin_sim_bridge import BuiltinSimSettings
from safe_sysid.ros.nodes.identifier_node import IdentifierNodeSettings
from safe_sysid.ros.process.planner_settings import PlannerNodeSettings
from safe_sysid.simulate.brakes import in_brakes
from safe_sysid.simulate.rigid_body import RigidBody
from safe_sysid.track.guarded_torque import Command, GuardInput
from safe_sysid.track.robust_passivity import RobustPassivityController
from safe_sysid.track.torque_guard import TorqueGuard
from safe_sysid.trajectory.bezier import Bezier


def settings_of(path, node, cls):
    """Settings that a node reads from a file: those of all nodes and its own."""
    blocks = yaml.safe_load(path.read_text())
    values = {}
    for name in ('/**', f'/**/{node}'):
        values |= blocks.get(name, {}).get('ros__parameters', {})
    return from_mapping(cls, values, node)


class Guarded:
    """A robot in its brakes, until a torque reaches it, through its guard."""

    def __init__(self, robot, guard, prior):
        self._robot, self._guard, self._prior = robot, guard, prior
        self._is_braked = True

    def measure(self):
        sample = self._robot.measure()
        return in_brakes(self._robot.model, sample) if self._is_braked else sample

    def apply(self, torque):
        measurement = self.measure()
        self._is_braked = False
        command = Command(torque, measurement.stamp)
        seen = GuardInput(command, measurement, None, self._prior)
        self._robot.apply(self._guard.step(measurement.stamp, seen).torque)


def moments(path, seconds):
    """What went along the arrows in every period while the loop learns."""
    planning = settings_of(path, 'planner', PlannerNodeSettings)
    identifying = settings_of(path, 'identifier', IdentifierNodeSettings)
    simulating = settings_of(path, 'builtin_sim_bridge', BuiltinSimSettings)
    arm = planning.arm()
    clock, rest = Clock(0), np.zeros(arm.model.n)
    identifier = OnlineIdentifier(arm.model, arm.prior, identifying.identifier, SolvesAtOnce)
    horizon = Horizon(Bezier(rest, rest, rest, planning.planner.duration), rest, rest)
    obstacles = Obstacles.of(read_world(planning.world))
    problem = Problem(arm.model, arm.prior, horizon, arm.gains, obstacles)
    mission = Mission(arm.model, None, planning.mission)
    planner = RecedingHorizonPlanner(problem, mission, clock, planning.planner)
    simulated = simulating.simulated_arm(RigidBody)
    planner.warm_up(simulated.truth.position, arm.prior)
    law = RobustPassivityController(arm.model, arm.gains, clock)
    robot = Guarded(
        simulated, TorqueGuard(arm.model, simulating.guard, clock, law, counts=False), arm.prior
    )
    controller = RobustPassivityController(arm.model, arm.gains, clock)
    seen = []
    steps = round(seconds / simulating.period)
    run(robot, identifier, planner, controller, steps, seen.append)
    return seen
