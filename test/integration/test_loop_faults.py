"""Whatever fails, the arm brakes along its certified plan, and nobody can overlook why."""

from dataclasses import replace

import numpy as np
import pytest
from tiers import slow_after

from safe_sysid.audit.loop_record import LoopRecorder
from safe_sysid.bench.experiments.planning import GAINS, at_rest, bare_estimate
from safe_sysid.closed_loop import LoopFault, run
from safe_sysid.errors import MeasurementError
from safe_sysid.identify.momentum_observation import ObservationSettings
from safe_sysid.identify.online_identifier import (
    IdentificationFault,
    IdentifierSettings,
    OnlineIdentifier,
)
from safe_sysid.identify.solves import SolvesAtOnce
from safe_sysid.measure.clock import Clock
from safe_sysid.model.collision.obstacles import NO_OBSTACLES, Obstacles
from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.mission import Mission, MissionSettings
from safe_sysid.plan.receding_horizon import PlannerSettings, RecedingHorizonPlanner
from safe_sysid.plan.result import NoPlanError
from safe_sysid.plan.search.best_plan import SearchSettings
from safe_sysid.plan.watch import TrackingFault
from safe_sysid.sets.box import Box
from safe_sysid.simulate.simulated_arm import ArmSettings, SimulatedArm
from safe_sysid.track.robust_passivity import RobustPassivityController

ARM = RobotModel.named('kinova_gen3')
START = np.array([0.0, 0.3, 0.0, 1.2, 0.0, 0.9, 0.0])
GOAL = START + 3.0 * np.eye(7)[0]
SETTINGS = PlannerSettings(
    pace=1e4, search=SearchSettings(candidates=16, rounds=0, intervals=32, slow=0.02)
)
SOLVING = IdentifierSettings(
    ObservationSettings(torque_signal='held_until', position_error=(0.0,), velocity_error=(0.0,)),
    solve_period=0.6,
)
FAULT = 2.2  # [s], in motion
MILLISECOND = 1_000_000  # [ns]


def stamps_go_back(sample):
    """Once."""
    if sample.stamp == FAULT * 1e9:
        return replace(sample, stamp=sample.stamp - 5 * MILLISECOND)
    return sample


def no_number_for_a_while(sample):
    """For a tenth of a second."""
    if FAULT * 1e9 <= sample.stamp < (FAULT + 0.1) * 1e9:
        return replace(sample, velocity=np.where(np.arange(7) == 3, np.nan, sample.velocity))
    return sample


def torque_signal_turns_over(sample):
    """For good."""
    return replace(sample, torque=-sample.torque) if sample.stamp >= FAULT * 1e9 else sample


class Spoiled:
    """A robot whose measurements are not what they were."""

    def __init__(self, robot, change):
        self._robot, self._change = robot, change

    def measure(self):
        return self._change(self._robot.measure())

    def apply(self, torque):
        self._robot.apply(torque)


class Loop:
    """An arm on its way to a goal by task motions, and its stages."""

    def __init__(self, change, obstacles=NO_OBSTACLES):
        clock, prior = Clock(0), bare_estimate(ARM)
        self.prior = prior
        self.arm = SimulatedArm(ARM, START, np.random.default_rng(2), ArmSettings(0.001))
        self.robot = Spoiled(self.arm, change)
        mission = Mission(ARM, GOAL, MissionSettings(exciting=0, route_seconds=600.0))
        problem = at_rest(ARM, prior, START, obstacles)
        self.planner = RecedingHorizonPlanner(problem, mission, clock, SETTINGS)
        self.identifier = OnlineIdentifier(ARM, prior, SOLVING, SolvesAtOnce)
        self.controller = RobustPassivityController(ARM, GAINS, clock)
        self.recorder = LoopRecorder(ARM, clock)

    def run(self, seconds):
        stages = self.identifier, self.planner, self.controller
        last = self.recorder.moments[-1] if self.recorder.moments else None
        run(self.robot, *stages, round(seconds * 1000), self.recorder.take, last)


@pytest.mark.parametrize(
    ('change', 'cause', 'sentence'),
    slow_after(
        0,
        [
            (stamps_go_back, IdentificationFault, 'before the one of the sample that came first'),
            (no_number_for_a_while, MeasurementError, 'joint_4 is nan'),
            (torque_signal_turns_over, IdentificationFault, 'Bounds fall back to the prior'),
        ],
    ),
)
def test_a_fault_in_motion_brakes_the_arm_along_its_plan(change, cause, sentence):
    """Through both pieces of a task motion."""
    loop = Loop(change)
    with pytest.raises(LoopFault, match=sentence) as told:
        loop.run(10.0)
    assert isinstance(told.value.cause, cause)
    moments, record = loop.recorder.moments, loop.recorder.record()
    plan = moments[-1].result.plan
    assert str(told.value).endswith('the arm braked along its certified plan and is at rest')
    assert told.value.last.result.plan is plan
    assert record.fault == str(told.value.cause)
    assert FAULT <= record.fault_time + 0.006 < FAULT + 1.2
    assert len(plan.motion.pieces) == 2
    braking = [moment for moment in moments if moment.fault]
    assert all(moment.result.plan is plan for moment in braking)
    truth = loop.arm.truth
    assert truth.stamp >= plan.end_time * 1e9
    assert np.abs(truth.velocity).max() < 0.01
    bound = plan.certificate.error.position
    assert np.all(np.abs(truth.position - plan.end_position) <= bound)
    clean = np.isfinite(record.qd).all(axis=1)
    assert np.all(np.abs(record.error[clean]) <= record.error_bound[clean])
    assert np.abs(record.qd[record.time < FAULT]).max() > 0.05  # it was no fault at rest
    assert np.all(np.abs(record.tau) < ARM.limits.torque)


@pytest.mark.slow
def test_a_payload_that_nobody_announced_is_noticed():
    """Hung onto the arm in motion: the torque that its plan was certified for does not do."""
    loop = Loop(lambda sample: sample)
    loop.run(FAULT)
    loop.arm.attach(read_payload('dumbbell_8lb'))
    with pytest.raises(LoopFault, match='away from its plan|contradict') as told:
        loop.run(10.0)
    assert isinstance(told.value.cause, TrackingFault | IdentificationFault)
    plan, record = told.value.last.result.plan, loop.recorder.record()
    assert FAULT < record.fault_time < FAULT + 1.3
    assert record.time[-1] >= plan.end_time
    assert np.all(np.abs(record.tau) <= ARM.limits.torque)
    at_rest_now = np.abs(record.qd[-1]).max() <= 0.02  # which nobody has promised
    assert str(told.value).endswith('at rest' if at_rest_now else 'engage its brakes')


@pytest.mark.slow
def test_after_new_payload_the_loop_goes_on():
    loop = Loop(stamps_go_back)
    with pytest.raises(LoopFault):
        loop.run(10.0)
    with pytest.raises(LoopFault, match='before the one of the sample'):
        loop.run(1.0)  # as long as nobody has done anything about it
    loop.identifier.new_payload()
    before = len(loop.recorder.moments)
    loop.run(2.0)
    moments = loop.recorder.moments[before:]
    assert len(moments) == 2000
    assert not any(moment.fault for moment in moments)
    assert moments[-1].result.plan is not moments[0].result.plan
    record = loop.recorder.record()
    assert np.all(np.abs(record.error) <= record.error_bound)


def test_an_arm_that_starts_in_contact_gets_no_torque():
    box = Obstacles.of({'box': Box(np.array([0.3, 0.0, 0.6]), np.full(3, 0.3), np.eye(3))})
    loop = Loop(lambda sample: sample, box)
    with pytest.raises(LoopFault, match='obstacle clearance of .* and box') as told:
        loop.run(1.0)
    assert isinstance(told.value.cause, NoPlanError)
    assert str(told.value).endswith('the arm has got no torque')
    assert told.value.last is None
    assert loop.arm.truth.stamp == 0
    assert loop.recorder.moments == []
