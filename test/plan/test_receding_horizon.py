"""Plans follow each other without a gap; without a certified successor the arm comes to rest."""

from dataclasses import replace
from threading import Event

from kinova_problem import QUICK, START, estimate_of, kinova_problem
import numpy as np
import pytest

from safe_sysid.errors import ConfigError
from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.plan.mission import Mission, MissionSettings
from safe_sysid.plan.plan_result import NoPlanError, Outcome
from safe_sysid.plan.receding_horizon import PlannerSettings, RecedingHorizonPlanner

SETTINGS = PlannerSettings(intervals=64, search=replace(QUICK, slow=0.01))
ORIGIN = 5_000_000_000


def at(seconds, position=START):
    return JointMeasurement(ORIGIN + round(seconds * 1e9), position, np.zeros(7), np.zeros(7))


def planner_of(problem, goal=None, settings=SETTINGS, cancelled=None, exciting=4):
    mission = Mission(problem.model, goal, MissionSettings(exciting, shrinking=0.0))
    return RecedingHorizonPlanner(problem, mission, Clock(ORIGIN), settings, cancelled)


@pytest.fixture(scope='module')
def problem():
    return kinova_problem()


def test_the_first_plan_stands_still_where_the_arm_is(problem):
    planner = planner_of(problem)
    first = planner.step(at(0.0), problem.bounds)
    assert first.in_force.certificate.holds
    for t in (0.0, 1.0, 9.0):
        np.testing.assert_array_equal(first.plan.desired(t)[0], START)
    assert planner.step(at(1.499), problem.bounds) is first
    assert str(first).endswith('; it takes over in 1.50 s')


def test_plans_follow_each_other_without_a_gap_and_with_certificates(problem):
    planner = planner_of(problem)
    before = planner.step(at(0.0), problem.bounds)
    for t in (1.5, 3.0):
        now = planner.step(at(t), problem.bounds)
        assert now.plan is before.successor
        assert now.plan.certificate.holds
        assert now.plan.theta_bounds is problem.bounds.bounds
        for was, goes_on in zip(before.plan.desired(t), now.plan.desired(t), strict=True):
            np.testing.assert_allclose(goes_on, was, rtol=0, atol=1e-14)
        before = now
    assert np.abs(before.plan.desired(3.0)[1]).max() > 0.01  # in motion when it takes over


def test_without_a_successor_the_arm_comes_to_rest_and_tries_again(problem):
    cancelled = Event()
    planner = planner_of(problem, cancelled=cancelled)
    planner.step(at(0.0), problem.bounds)
    cancelled.set()
    moving = planner.step(at(1.5), problem.bounds)
    assert moving.outcome is Outcome.CANCELLED
    assert str(moving) == 'planning was cancelled; braking, 3.00 s left'
    later = planner.step(at(3.0), problem.bounds)
    assert later.plan is moving.plan
    assert str(later) == 'planning was cancelled; braking, 1.50 s left'
    cancelled.clear()
    rest = planner.step(at(4.5), problem.bounds)
    assert rest.plan is moving.plan
    assert rest.outcome is Outcome.FOUND
    assert rest.successor.start_time == 6.0
    np.testing.assert_array_equal(rest.successor.curve.q0, moving.plan.end_position)
    assert not rest.successor.curve.qd0.any()
    assert planner.step(at(6.0), problem.bounds).plan is rest.successor


def test_a_plan_made_for_tighter_bounds_never_takes_over(problem):
    planner = planner_of(problem)
    first = planner.step(at(0.0), problem.bounds)
    wider = estimate_of(problem.model, 0.06)
    now = planner.step(at(1.5), wider)
    assert now.plan is first.plan
    assert now.outcome is Outcome.OUTDATED
    again = planner.step(at(3.0), wider)
    assert again.outcome is Outcome.FOUND
    assert again.successor.theta_bounds is wider.bounds


def test_a_plan_whose_time_was_missed_never_takes_over(problem):
    planner = planner_of(problem)
    first = planner.step(at(0.0), problem.bounds)
    now = planner.step(at(1.6), problem.bounds)
    assert now.plan is first.plan
    assert now.outcome is Outcome.MISSED


def test_a_budget_of_a_millisecond_gives_no_plan_and_a_sentence(problem):
    starved = replace(PlannerSettings(), budget=1e-3)
    result = planner_of(problem, settings=starved).step(at(0.0), problem.bounds)
    assert result.plan is None
    assert str(result) == (
        'no plan within the time budget; '
        'without a certified plan the arm has to stay in its brakes'
    )
    with pytest.raises(NoPlanError, match='stay in its brakes'):
        _ = result.in_force


def test_a_measurement_that_is_no_number_gives_no_plan(problem):
    result = planner_of(problem).step(at(0.0, np.full(7, np.nan)), problem.bounds)
    assert result.plan is None
    assert result.outcome is Outcome.UNUSABLE
    assert 'is not finite' in str(result)


def test_a_goal_outside_the_limits_leaves_the_arm_at_rest(problem):
    goal = START.copy()
    goal[5] = 2.5
    planner = planner_of(problem, goal=goal, exciting=0)
    result = planner.step(at(0.0), problem.bounds)
    assert result.plan is not None
    assert result.successor is None
    assert 'the goal is outside the joint limits: joint_6 at 2.5, allowed' in str(result)


def test_the_mission_ends_at_the_goal(problem):
    goal = START + np.array([0.2, 0.1, -0.2, 0.1, 0.3, -0.1, 0.0])
    planner = planner_of(problem, goal=goal, exciting=0)
    for t in (0.0, 1.5, 3.0, 4.5):
        result = planner.step(at(t), problem.bounds)
    np.testing.assert_allclose(result.plan.end_position, goal, atol=0.01)
    assert result.outcome is Outcome.NOTHING_DUE
    assert result.successor is None


@pytest.mark.parametrize(
    'wrong', [{'switch': 4.0}, {'budget': 2.0}, {'budget': 0.0}, {'intervals': 0}, {'late': -1.0}]
)
def test_settings_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ConfigError):
        PlannerSettings(**wrong)
