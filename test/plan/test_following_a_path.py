"""Paths are followed from one certified plan to the next, each of which ends in a stop."""

from dataclasses import replace

import numpy as np
from plan.kinova_problem import START, kinova_problem
import pytest

from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.model.dynamics.forward_kinematics import joint_frames
from safe_sysid.plan.mission import Mission, MissionSettings
from safe_sysid.plan.path.joint_path import PathError, Points, Traverse, joint_path
from safe_sysid.plan.purpose import Ahead
from safe_sysid.plan.receding_horizon import PlannerSettings, RecedingHorizonPlanner
from safe_sysid.plan.result import SearchOutcome
from safe_sysid.plan.search.best_plan import Budget
from safe_sysid.plan.search.task_settings import TaskSettings
from safe_sysid.plan.search.traverse import find_traverse, looked_at
from safe_sysid.reach.margin import OBSTACLE, TORQUE
from safe_sysid.sets.box import Box
from safe_sysid.trajectory.bezier import Bezier

SETTINGS = PlannerSettings(pace=1e4, intervals=64)
TIMES = [0.0, 0.7, 1.4, 2.6]
WAY = START + np.outer([0.0, 0.1, 0.2, 0.1], [1.0, 1.0, 0.0, -1.0, 0.0, 1.0, 2.0])
TURN = START + np.outer([0.0, 0.1, 0.9, 1.0], np.eye(7)[0])


@pytest.fixture(scope='module')
def problem():
    return kinova_problem(intervals=64)


def path_of(problem, times=TIMES, way=WAY, start=START):
    nothing = [()] * len(way)
    return joint_path(problem.model, Points(times, list(way), nothing, nothing), start)


def budget(seconds=600.0):
    return Budget.of(seconds)


class Run:
    """A planner whose arm is where its plans want it."""

    def __init__(self, problem, path, settings=SETTINGS):
        self.mission = Mission(problem.model, None, MissionSettings(exciting=0))
        self.mission.follow(path)
        self.planner = RecedingHorizonPlanner(problem, self.mission, Clock(0), settings)
        self.estimate, self.results = problem.bounds, []

    def step(self, t):
        zero = np.zeros(7)
        q, qd = (START, zero) if not self.results else self.results[-1].in_force.desired(t)[:2]
        sample = JointMeasurement(round(t * 1e9), q, qd, zero)
        self.results.append(self.planner.step(sample, self.estimate))
        return self.results[-1]

    def to_the_end(self, t=0.0):
        """Switch from plan to plan, until there is no next one."""
        result = self.step(t)
        while result.successor is not None:
            result = self.step(result.successor.start_time)
        return result


def test_the_arm_follows_the_path_along_certified_plans_that_all_end_at_rest(problem):
    path, _ = path_of(problem)
    run = Run(problem, path)
    last = run.to_the_end()
    plans = [result.plan for result in run.results[1:]]
    assert len(plans) == 2
    begin = plans[0].start_time
    for plan, until in zip(plans, [plans[1].start_time, begin + path.times[-1]], strict=True):
        assert plan.certificate.holds
        for piece in plan.certificate.then:
            assert piece.holds
        for t in np.linspace(plan.start_time, until, 9):
            knot = max(np.searchsorted(path.times, t - begin, side='right') - 1, 0)
            knot = min(knot, path.last - 1)
            piece = path.piece(knot, tuple(path.states[knot]))
            wanted = piece.curve.position(t - begin - path.times[knot], piece.k)
            np.testing.assert_allclose(plan.desired(t)[0], wanted, atol=1e-6)
    for before, after in zip(run.results[1:], run.results[2:], strict=False):
        for x, y in zip(
            before.plan.desired(after.plan.start_time),
            after.plan.desired(after.plan.start_time),
            strict=True,
        ):
            np.testing.assert_array_equal(x, y)
    np.testing.assert_allclose(last.plan.end_position, WAY[-1], atol=1e-12)
    assert last.outcome is SearchOutcome.NOTHING_DUE
    assert run.mission.given_up == ''
    assert run.mission.path_progress == (3, 3)


@pytest.mark.parametrize('duration', [3.5, 4.0])  # [s] in 3 parts, which end between samples
def test_a_long_piece_is_followed_to_its_end_at_a_period_longer_than_a_plan_may_be_late(
    problem, duration
):
    period = 0.01
    assert period > SETTINGS.late
    path, _ = path_of(problem, [0.0, duration], WAY[[0, 2]])
    run = Run(problem, path, SETTINGS.at_period(period))
    q = np.array([run.step(i * period).in_force.desired(i * period)[0] for i in range(600)])
    assert run.mission.given_up == ''
    assert SearchOutcome.MISSED not in {result.outcome for result in run.results}
    assert len({id(result.plan) for result in run.results}) > 2  # the first stands still
    begin = round(SETTINGS.switch / period)
    t = np.minimum(period * np.arange(600 - begin), duration)
    whole = Bezier(WAY[0], *np.zeros((2, 7)), duration)
    wanted = np.array([whole.position(each, WAY[2] - WAY[0]) for each in t])
    np.testing.assert_allclose(q[begin:], wanted, atol=1e-6)


def test_a_plan_along_a_path_in_motion_ends_in_a_stop_of_its_own(problem):
    path, _ = path_of(problem)
    finding = find_traverse(problem, Traverse(path, 0), budget(), TaskSettings())
    pieces = [finding.certificate, *finding.certificate.then]
    assert (finding.reaches, len(pieces)) == (2, 3)
    assert finding.until == pytest.approx(1.4)
    assert not pieces[1].problem.horizon.curve.ends_at_rest
    assert pieces[2].problem.horizon.curve.ends_at_rest


def test_a_stop_that_is_not_certified_is_none(problem):
    _, p = joint_frames(problem.model, TURN[2] + 0.25 * np.eye(7)[0])
    post = Obstacles.of({'post': Box(p[-1], np.full(3, 0.03), np.eye(3))})
    path, _ = path_of(problem, [0.0, 0.7, 2.0, 2.6], TURN)
    among = replace(problem, obstacles=post)
    free, found = (
        find_traverse(each, Traverse(path, 0), budget(), TaskSettings())
        for each in (problem, among)
    )
    assert found.starts > free.starts  # the first stop leads into the post
    assert found.certificate is None or found.certificate.holds


def beside_a_post(problem):
    """Something stands where the tip is in the middle of the second piece."""
    _, p = joint_frames(problem.model, 0.5 * (TURN[1] + TURN[2]))
    return replace(
        problem, obstacles=Obstacles.of({'post': Box(p[-1], np.full(3, 0.03), np.eye(3))})
    )


@pytest.mark.parametrize(
    ('kind', 'change'),
    [
        (TORQUE, lambda problem: (problem, [0.0, 1.0, 1.15, 2.0])),
        (OBSTACLE, lambda problem: (beside_a_post(problem), [0.0, 0.7, 2.0, 2.6])),
    ],
)
def test_a_path_with_a_piece_that_is_not_certified_is_refused_with_piece_and_limit(
    problem, kind, change
):
    problem, times = change(problem)
    path, _ = path_of(problem, times, TURN)
    with pytest.raises(PathError, match=rf'^piece 2 of 3 of the path .*{kind}'):
        looked_at(problem, path, True, budget())


@pytest.mark.slow
def test_a_path_without_times_lasts_as_long_as_certificates_want(problem):
    path, is_timed = path_of(problem, [0.0] * 3, START + np.outer([0, 1, 2], 0.4 * np.eye(7)[0]))
    assert not is_timed
    quick = replace(path, times=0.1 * path.times)
    slow = looked_at(problem, quick, False, budget())
    assert slow.times[-1] > quick.times[-1]
    run = Run(problem, slow)
    run.to_the_end()
    assert run.mission.given_up == ''
    np.testing.assert_allclose(
        run.results[-1].plan.end_position, START + 0.8 * np.eye(7)[0], atol=1e-12
    )


@pytest.mark.slow
def test_a_piece_that_comes_to_be_impossible_stops_the_arm_on_what_was_proven(problem):
    path, _ = path_of(problem)
    run = Run(problem, path)
    first = run.step(0.0)
    run.planner.avoid(Obstacles.of({'shut': Box(np.zeros(3), np.full(3, 2.0), np.eye(3))}))
    result = run.step(first.successor.start_time)
    assert result.successor is None
    assert 'piece 3 of 3 of the path' in run.mission.given_up
    assert 'obstacle clearance' in run.mission.given_up
    stopped = result.plan.end_time
    assert not np.any(result.plan.desired(stopped)[1])
    assert run.step(stopped).outcome is SearchOutcome.NOTHING_DUE


@pytest.mark.slow
def test_an_arm_beside_the_path_does_not_go_on_along_it(problem):
    path, _ = path_of(problem)
    run = Run(problem, path)
    plan = run.step(0.0).successor
    late = run.step(plan.start_time).successor
    assert run.step(late.start_time + 0.5).outcome is SearchOutcome.MISSED
    result = run.step(plan.end_time)
    assert result.outcome is SearchOutcome.NOTHING_DUE
    assert result.plan is plan
    assert 'was not followed; the arm has stopped beside the path' in run.mission.given_up


def test_an_arm_that_has_not_begun_begins_where_it_stands_now(problem):
    path, _ = path_of(problem)
    mission = Mission(problem.model, None, MissionSettings(exciting=0))
    mission.follow(path)
    for q in (START, START + 0.002):
        curve = replace(problem.horizon.curve, q0=q)
        standing = replace(problem, horizon=replace(problem.horizon, curve=curve))
        aim = mission.due(Ahead(standing, q, 1.5, budget()))
        np.testing.assert_array_equal(aim.path.states[0, 0], q)
    moving = replace(problem.horizon.curve, qd0=np.full(7, 0.1))
    in_motion = replace(problem, horizon=replace(problem.horizon, curve=moving))
    assert mission.due(Ahead(in_motion, START, 1.5, budget())) is None
    assert 'the arm is in motion' in mission.given_up


@pytest.mark.slow
def test_an_arm_that_stands_elsewhere_gives_the_path_up_with_the_reason(problem):
    path, _ = path_of(problem, way=WAY + 0.3, start=START + 0.3)
    run = Run(problem, path)
    assert run.to_the_end().outcome is SearchOutcome.NOTHING_DUE
    assert 'rad from where joint 4 stands' in run.mission.given_up


def test_a_search_without_time_says_so_and_is_done_again(problem):
    path, _ = path_of(problem)
    finding = find_traverse(problem, Traverse(path, 0), budget(-1.0), TaskSettings())
    assert finding.outcome is SearchOutcome.OUT_OF_TIME
    mission = Mission(problem.model, None, MissionSettings(exciting=0))
    mission.follow(path)
    for _ in range(2):
        mission.traversed(finding)
        assert mission.given_up == ''
    mission.traversed(finding)
    assert mission.given_up
