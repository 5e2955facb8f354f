"""A Kinova behind the driver of `tools/mujoco_sim`, and settings that state how it is read.

Encoders have the published steps, velocities scatter, torques act 2 ms after their sample and are
reported wrong by 1 % and noise; links, armature and friction are within 3 % of their figures.
"""

from dataclasses import replace
import importlib.util
from pathlib import Path
import sys

import numpy as np
import yaml

from safe_sysid.audit.loop_record import LoopRecorder
from safe_sysid.closed_loop import run
from safe_sysid.config import from_mapping
from safe_sysid.identify.momentum_observation import ObservationSettings
from safe_sysid.identify.online_identifier import IdentifierSettings, OnlineIdentifier
from safe_sysid.identify.solves import SolvesAtOnce
from safe_sysid.loop_settings import LoopSettings
from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.collision.obstacles import NO_OBSTACLES
from safe_sysid.model.facts import facts_path
from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.mission import Mission, MissionSettings
from safe_sysid.plan.receding_horizon import PlannerSettings, RecedingHorizonPlanner
from safe_sysid.plan.result import SearchOutcome
from safe_sysid.plan.search.best_plan import SearchSettings
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.reach.problem import Problem
from safe_sysid.share import share_directory
from safe_sysid.track.robust_passivity import RobustPassivityController
from safe_sysid.trajectory.bezier import Bezier

ROBOT, POUNDS = 'kinova_gen3', (4, 5, 6, 7, 8)
TOOL = Path(__file__).parents[2] / 'tools' / 'mujoco_sim'
PERIOD = 0.002  # [s]
START = [-0.48, 0.05, -0.12, 0.17, 3.12, 0.13, -1.39]  # [rad]
GOAL = [0.2, 0.15, 0.1, 0.3, 2.9, 0.2, -1.1]  # [rad]; far enough out to weigh what it holds
SPEED_NOISE, TORQUE_NOISE, GAIN, SPREAD = 0.002, 0.04, 0.01, 0.03
SENSING = {
    'stamp_error': 0.0,
    'zero_error': [0.0],
    'velocity_error': [1.01 * SPEED_NOISE],
    'torque': {
        'sensor': 'motor',
        'ratio': [1.02 * GAIN],
        'absolute': [1.05 * TORQUE_NOISE],
        'filter': [0.0, 0.0],
    },
}
OBSERVATION = {
    'window': 100,
    'torque_signal': 'held_until',
    'longest_step': 1.5 * PERIOD,
}
MOST = 60.0  # [s]


def stated_arm(folder, **understated):
    """File of the arm as its driver shows it, but for what is said otherwise of `sensing`."""
    facts = yaml.safe_load(facts_path(ROBOT).read_text())
    steps = understated.pop('encoder_resolution', None)
    torque = SENSING['torque'] | understated.pop('torque', {})
    facts['sensing'] = SENSING | {'torque': torque} | understated
    facts['command'] = {'delay_periods': [1.0, 1.0]}
    facts['gravity_tilt'] = 0.0
    facts['urdf'] = str(share_directory() / 'urdf' / facts['urdf'])
    for joint in facts['joints'].values():
        joint['encoder_resolution'] = steps or joint['encoder_resolution']
    path = folder / 'read' / f'{ROBOT}.yaml'
    path.parent.mkdir()
    path.write_text(yaml.safe_dump(facts, sort_keys=False))
    return path


def habits(seed, **others):
    """What the driver does; some errors of a seed go the other way."""
    joints = yaml.safe_load(facts_path(ROBOT).read_text())['joints'].values()
    return {
        'period': PERIOD,
        'seed': seed,
        'encoder': [joint['encoder_resolution'] for joint in joints],
        'speed_noise': SPEED_NOISE,
        'delay': 1,
        'gain': GAIN * (-1) ** seed,
        'noise': TORQUE_NOISE,
        'wraps': True,
        **others,
    }


def truth_of(held):
    """Return theta_e of the arm that holds something."""
    model = RobotModel.named(ROBOT).with_payload(read_payload(held))
    return model.theta[model.layout.end_effector]


def loaded(name):
    """A module of the tool, which is no package."""
    spec = importlib.util.spec_from_file_location(f'driven_{name}', TOOL / f'{name}.py')
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


class DrivenArm:
    """The driver as a robot of the loop in one process."""

    def __init__(self, held, seed, **others):
        arms, drivers = loaded('arm'), loaded('driver')
        facts = arms.facts_of(ROBOT, held, SPREAD, seed)
        said = drivers.Habits(**habits(seed, **others))
        bare = arms.Arm(replace(facts, payload=''), START)
        self.driver = drivers.Driver(arms.Arm(facts, START), facts.joints, said, bare)
        self._names, self._last = facts.joints, np.array(START)

    def measure(self):
        names, *columns = self.driver.state()
        q, qd, torque = (np.array([c[names.index(n)] for n in self._names]) for c in columns)
        self._last = q + 2.0 * np.pi * np.round((self._last - q) / (2.0 * np.pi))
        return JointMeasurement(self.driver.stamp, self._last, qd, torque)

    def apply(self, torque):
        self.driver.command(torque)
        self.driver.tick()


def learned_and_done(file, robot, exciting=3):
    """Record of a loop that learns and goes to the goal, and whether it came to its end."""
    loop = yaml.safe_load((share_directory() / 'config/loop' / f'{ROBOT}.yaml').read_text())
    shared = {**loop['/**']['ros__parameters'], 'robot': str(file), 'period': PERIOD}
    arm = from_mapping(LoopSettings, shared, 'loop').arm()
    settings = IdentifierSettings(from_mapping(ObservationSettings, OBSERVATION, 'observation'))
    identifier = OnlineIdentifier(arm.model, arm.prior, settings, SolvesAtOnce)
    rest, clock = np.zeros(arm.model.n), Clock(0)
    horizon = Horizon(Bezier(rest, rest, rest, 3.0), rest, rest)
    problem = Problem(arm.model, arm.prior, horizon, arm.gains, NO_OBSTACLES)
    mission = Mission(
        arm.model, np.array(GOAL), MissionSettings(exciting=exciting, route_seconds=600.0)
    )
    search = SearchSettings(candidates=16, rounds=0, intervals=32, slow=0.02)
    planner = RecedingHorizonPlanner(
        problem, mission, clock, PlannerSettings(pace=1e4, search=search)
    )
    planner.warm_up(np.array(START), arm.prior)
    controller = RobustPassivityController(arm.model, arm.gains, clock)
    recorder = LoopRecorder(arm.model, clock)

    def drive(seconds):
        stages = identifier, planner, controller
        return run(robot, *stages, round(seconds / PERIOD), recorder.take)

    try:
        while robot.driver.ticks * PERIOD < MOST and (
            not recorder.moments
            or recorder.moments[-1].result.outcome is not SearchOutcome.NOTHING_DUE
        ):
            drive(1.0)
        left = recorder.moments[-1].result.plan.end_time - 1e-9 * robot.driver.stamp
        drive(max(left, 0.0) + 0.5)
    finally:
        identifier.close()
    return recorder
