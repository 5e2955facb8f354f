"""A record has what passed the loop, and the bounds of the certificates it moved along."""

import numpy as np
import pytest

from safe_sysid.audit.loop_record import LoopRecorder
from safe_sysid.bench.experiments.planning import GAINS, at_rest, bare_estimate
from safe_sysid.closed_loop import LoopFault, run
from safe_sysid.errors import MeasurementError
from safe_sysid.measure.clock import Clock
from safe_sysid.model.collision.obstacles import NO_OBSTACLES
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.mission import Mission, MissionSettings
from safe_sysid.plan.receding_horizon import PlannerSettings, RecedingHorizonPlanner
from safe_sysid.plan.search.best_plan import SearchSettings
from safe_sysid.reach.reachable_set import ReachableSet
from safe_sysid.reach.tracking_error import tracking_error
from safe_sysid.simulate.simulated_arm import ArmSettings, SimulatedArm
from safe_sysid.track.robust_passivity import RobustPassivityController

START = np.array([0.0, 0.3, 0.0, 1.2, 0.0, 0.9, 0.0])
GOAL = START + 0.1
PERIOD = 0.005  # [s]
FAULT_AT = 2.0  # [s], in motion
SETTINGS = PlannerSettings(pace=1e4, search=SearchSettings(candidates=4, rounds=0, slow=0.02))


class Fails:
    """An identifier that learns something after a second, and fails after two."""

    def __init__(self, estimate):
        self._estimate = estimate

    def step(self, measurement):
        if measurement.stamp >= FAULT_AT * 1e9:
            raise MeasurementError('a hand is in the way')
        if measurement.stamp == 10**9:
            known = self._estimate
            self._estimate = ParameterEstimate(known.layout, known.theta, known.bounds)
        return self._estimate


@pytest.fixture(scope='module')
def recorded():
    model, clock = RobotModel.named('kinova_gen3'), Clock(0)
    estimate = bare_estimate(model)
    mission = Mission(model, GOAL, MissionSettings(exciting=0))
    problem = at_rest(model, estimate, START, NO_OBSTACLES)
    planner = RecedingHorizonPlanner(problem, mission, clock, SETTINGS)
    planner.warm_up(START, estimate)
    robot = SimulatedArm(model, START, np.random.default_rng(1), ArmSettings(PERIOD))
    recorder = LoopRecorder(model, clock)
    controller = RobustPassivityController(model, GAINS, clock)
    with pytest.raises(LoopFault, match='a hand is in the way; the arm braked along its cert'):
        run(robot, Fails(estimate), planner, controller, 10_000, recorder.take)
    return model, estimate, recorder.moments, recorder.record()


def test_every_period_is_there_until_the_arm_is_at_rest_after_a_fault(recorded):
    _, _, moments, record = recorded
    end = moments[-1].result.plan.end_time
    np.testing.assert_allclose(record.time, np.arange(len(moments)) * PERIOD, atol=1e-9)
    assert record.time[-1] == pytest.approx(end)
    assert record.fault == 'a hand is in the way'
    assert record.fault_time == pytest.approx(FAULT_AT)
    assert np.abs(record.qd[-1]).max() < 0.01 < np.abs(record.qd).max()
    np.testing.assert_array_equal(record.q, [m.measurement.position for m in moments])
    np.testing.assert_array_equal(record.tau, [m.torque for m in moments])


def test_plans_are_numbered_in_the_order_they_were_followed(recorded):
    _, _, moments, record = recorded
    assert record.plan[0] == 0
    assert record.plan[-1] == len(record.plan_start) - 1 == 1
    assert record.plan_start[1] == moments[-1].result.plan.start_time
    switched = int(np.argmax(record.plan == 1))
    np.testing.assert_allclose(record.q_d[switched - 1], START, atol=1e-12)
    np.testing.assert_allclose(record.q_d[-1], moments[-1].result.plan.end_position, atol=1e-12)
    assert [entry.plan for entry in record.planning] == [0, 1]
    assert record.planning[0].sentence.startswith('new plan, smallest margin')


def test_errors_and_torques_are_within_the_bounds_that_were_certified(recorded):
    model, estimate, _, record = recorded
    promised = tracking_error(model, estimate, GAINS).position
    np.testing.assert_array_equal(record.error_bound, np.tile(promised, (len(record.time), 1)))
    np.testing.assert_array_equal(record.error, record.q_d - record.q)
    assert np.all(np.abs(record.error) <= record.error_bound)
    assert np.all((record.tau_lower < record.tau) & (record.tau < record.tau_upper))
    assert np.all(record.tau_upper < record.torque_limit)
    assert np.ptp(record.tau_upper, axis=0).max() > 0.1  # not one number for all times


def test_torque_bounds_are_those_of_the_piece_that_is_followed(recorded):
    _, _, moments, record = recorded
    plan = moments[-1].result.plan
    assert len(plan.then) == 1
    pieces = (plan.certificate, *plan.certificate.then)
    problems = [piece.problem for piece in pieces]
    sets = [
        ReachableSet.build(p.model, p.bounds, p.horizon, p.gains, p.obstacles) for p in problems
    ]
    followed = np.flatnonzero(record.plan == 1)
    since = record.time[followed] - plan.start_time
    for number, (low, high) in enumerate([(0.0, 1.0), (1.0, 2.0)]):
        chosen = (since > low + 0.001) & (since < high - 0.001)
        torque, count = sets[number].torque.bound(), problems[number].horizon.intervals
        step = np.floor((since[chosen] - low) * count).astype(int)
        np.testing.assert_array_equal(record.tau_upper[followed[chosen]], torque.upper[step])
        np.testing.assert_array_equal(record.tau_lower[followed[chosen]], torque.lower[step])
    late = record.tau_upper[followed[-1]]
    np.testing.assert_array_equal(late, sets[1].torque.bound().upper[-1])


def test_estimates_are_there_once_each(recorded):
    _, estimate, _, record = recorded
    np.testing.assert_allclose(record.estimates.time, [0.0, 1.0])
    np.testing.assert_array_equal(record.estimates.nominal, [estimate.end_effector] * 2)
    width = estimate.end_effector_bounds.radius
    np.testing.assert_allclose(record.estimates.half_width, [width] * 2, rtol=1e-12)


def test_nothing_recorded_is_said():
    recorder = LoopRecorder(RobotModel.named('kinova_gen3'), Clock(0))
    with pytest.raises(MeasurementError, match='no period was recorded'):
        recorder.record()
