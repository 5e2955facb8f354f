"""Plans follow each other without a gap; without a certified successor the arm comes to rest."""

from dataclasses import replace
from threading import Event

import numpy as np
from plan.kinova_problem import (
    QUICK,
    START,
    estimate_of,
    kinova_problem,
    with_unknown_payload,
    without_armature,
)
import pytest

from safe_sysid.errors import ConfigError
from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.collision.arm_clearance import arm_clearance
from safe_sysid.model.collision.obstacles import NO_OBSTACLES, Obstacles
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.mission import Mission, MissionSettings
from safe_sysid.plan.receding_horizon import PlannerSettings, RecedingHorizonPlanner
from safe_sysid.plan.result import NoPlanError, SearchOutcome, failed_in_a_row
from safe_sysid.reach.tracking_error import tracking_error
from safe_sysid.sets.box import Box
from safe_sysid.sets.interval import Interval

SETTINGS = PlannerSettings(pace=1e4, intervals=64, search=replace(QUICK, slow=0.01))
GOAL, MIDDLE = (START + share * np.eye(7)[0] for share in (1.6, 0.8))
# In the way of the outstretched arm when it swings about the vertical
POST = Obstacles.of(
    {'post': Box(np.array([0.34, -0.34, 0.5]), np.array([0.03, 0.03, 0.5]), np.eye(3))}
)
ORIGIN = 5_000_000_000


def at(seconds, position=START):
    return JointMeasurement(ORIGIN + round(seconds * 1e9), position, np.zeros(7), np.zeros(7))


def on(plan, seconds):
    """An arm that is where its plan wants it."""
    q, qd, _ = plan.desired(seconds)
    return JointMeasurement(ORIGIN + round(seconds * 1e9), q, qd, np.zeros(7))


def planner_of(
    problem, goal=None, settings=SETTINGS, cancelled=None, exciting=4, obstacles=NO_OBSTACLES
):
    choices = MissionSettings(exciting, shrinking=0.0, route_seconds=600.0)
    mission, problem = Mission(problem.model, goal, choices), replace(problem, obstacles=obstacles)
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
    problem = with_unknown_payload(problem)
    planner = planner_of(problem)
    before = planner.step(at(0.0), problem.bounds)
    for t in (1.5, 3.0):
        now = planner.step(on(before.plan, t), problem.bounds)
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
    assert moving.outcome is SearchOutcome.CANCELLED
    assert str(moving) == 'planning was cancelled; braking, 3.00 s left'
    later = planner.step(at(3.0), problem.bounds)
    assert later.plan is moving.plan
    assert str(later) == 'planning was cancelled; braking, 1.50 s left'
    cancelled.clear()
    rest = planner.step(at(4.5), problem.bounds)
    assert rest.plan is moving.plan
    assert rest.outcome is SearchOutcome.FOUND
    assert rest.successor.start_time == 6.0
    np.testing.assert_array_equal(rest.successor.curve.q0, moving.plan.end_position)
    assert not rest.successor.curve.qd0.any()
    assert planner.step(on(rest.plan, 6.0), problem.bounds).plan is rest.successor


def test_an_arm_stands_no_longer_than_it_is_told(problem):
    cancelled = Event()
    planner = planner_of(problem, settings=replace(SETTINGS, standing=0.5), cancelled=cancelled)
    first = planner.step(at(0.0), problem.bounds)
    assert (first.plan.switch_time, first.plan.end_time) == (0.5, 0.5)
    moving = planner.step(at(0.5), problem.bounds)
    assert moving.plan is first.successor
    assert (moving.plan.switch_time, moving.plan.end_time) == (2.0, 3.5)
    cancelled.set()
    planner.withdraw(SearchOutcome.MISSED)
    assert planner.step(on(moving.plan, 1.0), problem.bounds).outcome is SearchOutcome.CANCELLED
    cancelled.clear()
    rest = planner.step(on(moving.plan, 3.5), problem.bounds)
    assert rest.successor.start_time == 4.0


def test_while_the_arm_brakes_a_plan_is_found_that_begins_where_and_when_it_ends(problem):
    planner = planner_of(problem)
    planner.step(at(0.0), problem.bounds)
    moving = planner.step(at(1.5), problem.bounds)
    planner.withdraw(SearchOutcome.MISSED)
    late = 3.1  # its successor was to begin at 3.0
    braking = planner.step(on(moving.plan, late), problem.bounds)
    assert braking.plan is moving.plan
    assert braking.outcome is SearchOutcome.FOUND
    assert braking.successor.start_time == moving.plan.end_time == 4.5
    np.testing.assert_array_equal(braking.successor.curve.q0, moving.plan.end_position)
    assert not braking.successor.curve.qd0.any()
    assert planner.step(on(moving.plan, 4.499), problem.bounds) is braking
    assert planner.step(on(moving.plan, 4.5), problem.bounds).plan is braking.successor


def test_just_before_an_arm_rests_no_search_begins_that_has_no_time(problem):
    planner = planner_of(problem)
    planner.step(at(0.0), problem.bounds)
    moving = planner.step(at(1.5), problem.bounds)
    planner.withdraw(SearchOutcome.OBSTRUCTED)
    waits = planner.step(on(moving.plan, 4.45), problem.bounds)
    assert waits.outcome is SearchOutcome.OBSTRUCTED
    assert waits.successor is None
    again = planner.step(on(moving.plan, 4.5), problem.bounds)
    assert again.successor.start_time == 6.0


def test_no_plan_begins_on_an_arm_in_motion(problem):
    """0.1 rad/s in joint 2 are 3 times V_M, of which no certificate speaks."""
    planner = planner_of(problem, exciting=0)
    moving = replace(at(0.0), velocity=0.1 * np.eye(7)[1])
    refused = planner.step(moving, problem.bounds)
    assert refused.plan is None
    assert 'V_M = 0.02 J are certified; joint_2 is 0 rad and 0.1 rad/s off' in str(refused)
    assert planner.step(at(1.5), problem.bounds).plan is not None


def test_no_successor_takes_over_an_arm_that_is_not_on_its_plan(problem):
    planner = planner_of(problem)
    first = planner.step(at(0.0), problem.bounds)
    now = planner.step(at(1.5, START + 0.02), problem.bounds)
    assert now.plan is first.plan
    assert now.outcome is SearchOutcome.ASTRAY
    assert str(now).startswith('the arm is not where the next plan begins: the tracking error has')


def test_a_plan_made_for_tighter_bounds_never_takes_over(problem):
    planner = planner_of(problem)
    first = planner.step(at(0.0), problem.bounds)
    wider = estimate_of(problem.model, 0.06)
    now = planner.step(at(1.5), wider)
    assert now.plan is first.plan
    assert now.outcome is SearchOutcome.OUTDATED
    again = planner.step(at(3.0), wider)
    assert again.outcome is SearchOutcome.FOUND
    assert again.successor.theta_bounds is wider.bounds


def test_a_plan_whose_time_was_missed_never_takes_over(problem):
    planner = planner_of(problem)
    first = planner.step(at(0.0), problem.bounds)
    now = planner.step(at(1.6), problem.bounds)
    assert now.plan is first.plan
    assert now.outcome is SearchOutcome.MISSED


def test_a_plan_takes_over_at_its_stamp_where_the_sum_of_times_is_just_after_it(problem):
    begin, switch = 0.03, 1.6
    assert begin + switch > 1.63
    planner = planner_of(problem, settings=replace(SETTINGS, switch=switch))
    first = planner.step(at(begin), problem.bounds)
    assert planner.step(at(1.63), problem.bounds).plan is first.successor


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
    assert result.outcome is SearchOutcome.UNUSABLE
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
    assert result.outcome is SearchOutcome.NOTHING_DUE
    assert result.successor is None


def test_an_arm_at_rest_begins_again_when_more_is_possible_than_its_plan_allows_for(problem):
    """As after `new_payload`; where the arm is, and at once."""
    planner = planner_of(problem, exciting=0)
    still = planner.step(at(0.0), problem.bounds)
    assert still.outcome is SearchOutcome.NOTHING_DUE
    measured, wider = START + 1e-3, estimate_of(problem.model, 0.06)
    assert planner.step(at(1.0, measured), wider).plan is still.plan  # not yet at rest by plan
    assert planner.step(at(3.0, measured), problem.bounds).plan is still.plan
    again = planner.step(at(3.001, measured), wider)
    assert again.plan is not still.plan
    assert again.plan.theta_bounds is wider.bounds
    np.testing.assert_array_equal(again.plan.desired(3.001)[0], measured)
    assert planner.step(at(3.002, measured), wider) is again


def test_an_arm_in_motion_comes_to_rest_before_it_begins_again(problem):
    planner = planner_of(problem)
    planner.step(at(0.0), problem.bounds)
    moving = planner.step(at(1.5), problem.bounds).plan
    wider = estimate_of(problem.model, 0.06)
    for t in (2.0, 3.0, 4.0, 4.499):
        assert planner.step(at(t), wider).plan is moving
    again = planner.step(at(4.5, moving.end_position), wider)
    assert again.plan.theta_bounds is wider.bounds
    assert np.abs(again.plan.k).max() < 1e-12


def test_bounds_no_plan_can_be_certified_for_leave_the_arm_where_it_is(problem):
    """At rest on the plan it has, with a sentence; never an error out of `step`."""
    planner = planner_of(problem, exciting=0)
    still = planner.step(at(0.0), problem.bounds)
    hopeless = without_armature(problem).bounds
    result = planner.step(at(3.0), hopeless)
    assert result.plan is still.plan
    assert result.successor is None
    assert 'no bound on the tracking error' in str(result)
    other = RobotModel.named('two_link')
    foreign = ParameterEstimate(other.layout, other.theta, Interval.of(other.theta))
    result = planner.step(at(6.0), foreign)
    assert result.plan is still.plan
    assert result.outcome is SearchOutcome.UNUSABLE


@pytest.mark.slow
def test_a_task_motion_takes_over_after_its_first_piece(problem):
    planner = planner_of(problem, goal=GOAL, exciting=0, obstacles=POST)
    planner.step(at(0.0), problem.bounds)
    first = planner.step(at(1.5), problem.bounds)
    assert len(first.plan.motion.pieces) == 2
    assert (first.plan.switch_time, first.plan.end_time) == (2.5, 3.5)
    assert np.any(first.plan.desired(2.5)[1])
    second = planner.step(on(first.plan, 2.5), problem.bounds)
    assert second.plan is first.successor
    for was, goes_on in zip(first.plan.desired(2.5), second.plan.desired(2.5), strict=True):
        np.testing.assert_allclose(goes_on, was, rtol=0, atol=1e-14)


@pytest.mark.slow
def test_the_goal_behind_a_post_is_reached_and_nothing_is_touched_on_the_way(problem):
    planner = planner_of(problem, goal=GOAL, exciting=0, obstacles=POST)
    t, result, plans = 0.0, None, []
    while t < 40.0 and (result is None or result.outcome is not SearchOutcome.NOTHING_DUE):
        measured = at(t) if result is None else on(result.plan, t)
        result = planner.step(measured, problem.bounds)
        plans.append(result.plan)
        t += 0.5
    assert result.outcome is SearchOutcome.NOTHING_DUE
    away = np.angle(np.exp(1j * (result.plan.end_position - GOAL)))
    assert np.abs(away).max() <= 0.01
    for plan in plans:
        assert plan.certificate.holds
        for at_time in np.linspace(plan.start_time, plan.end_time, 12):
            q = plan.desired(at_time)[0]
            assert arm_clearance(problem.model, POST, q).distance > 0.0


@pytest.mark.parametrize('exciting', [0, 4])
def test_a_budget_of_a_millisecond_never_lets_a_task_begin(problem, exciting):
    starved = replace(SETTINGS, pace=1.0, budget=1e-3)
    planner = planner_of(problem, GOAL, starved, exciting=exciting, obstacles=POST)
    for t in (0.0, 1.5, 3.0):
        result = planner.step(at(t), problem.bounds)
        assert result.plan is None
        assert 'no plan within the time budget' in str(result)


def test_a_goal_in_contact_leaves_the_arm_at_rest_with_a_sentence(problem):
    planner = planner_of(problem, MIDDLE, exciting=0, obstacles=POST)
    for t in (0.0, 1.5, 3.0):
        result = planner.step(at(t), problem.bounds)
        assert result.plan is not None
        assert result.successor is None
        assert 'the arm would be in contact at the goal' in str(result)


def test_a_goal_that_the_arm_could_not_hold_is_named(problem):
    weak = replace(problem.model.limits, torque=problem.model.limits.torque * 0.35)
    arm = replace(problem, model=replace(problem.model, limits=weak))
    outstretched = np.array([0.0, 1.5, 0.0, 0.0, 0.0, 0.0, 0.0])
    upright = at(0.0, 0.05 * outstretched)
    result = planner_of(arm, outstretched, exciting=0).step(upright, arm.bounds)
    assert result.plan is not None
    assert 'the arm could not hold itself at the goal: joint_2' in str(result)


@pytest.mark.parametrize(
    'wrong',
    [
        {'switch': 4.0},
        {'budget': 2.0},
        {'budget': 0.0},
        {'intervals': 0},
        {'late': -1.0},
        {'late': 0.011},
        {'pace': 0.0},
        {'standing': 0.05},
        {'standing': 3.5},
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ConfigError):
        PlannerSettings(**wrong)


@pytest.mark.parametrize(('period', 'late'), [(0.001, 0.005), (0.02, 0.02), (9.0, 9.0)])
def test_the_first_sample_after_its_start_has_a_plan_however_long_a_period_is(period, late):
    settings = PlannerSettings(duration=2.0, seed=7).at_period(period)
    assert (settings.late, settings.duration, settings.seed) == (late, 2.0, 7)
    assert replace(settings, seed=8).late == late


def test_towards_a_goal_standing_still_is_no_success(problem):
    """An arm whose tracking error alone takes all of its speed never gets anywhere."""
    model = problem.model
    error = tracking_error(model, problem.bounds, problem.gains)
    slow = replace(model, limits=replace(model.limits, velocity=error.velocity + 2e-3))
    tight = replace(problem, model=slow)
    planner = planner_of(tight, goal=GOAL, exciting=0)
    result = planner.step(at(0.0), problem.bounds)
    assert result.outcome is SearchOutcome.STILL
    assert result.successor.certificate.holds
    assert str(result).startswith('of all plans towards the goal only standing still is certified')
    failures = 0
    for t in (1.5, 3.0):
        result = planner.step(at(t), problem.bounds)
        failures = failed_in_a_row(failures, result.outcome)
    assert failures == 2


def test_a_plan_that_teaches_standing_still_says_so(problem):
    model = problem.model
    error = tracking_error(model, problem.bounds, problem.gains)
    slow = replace(model, limits=replace(model.limits, velocity=error.velocity + 1e-4))
    planner = planner_of(with_unknown_payload(replace(problem, model=slow)))
    result = planner.step(at(0.0), with_unknown_payload(problem).bounds)
    assert result.outcome is SearchOutcome.FOUND
    assert result.finding.stands_still
    assert 'new plan that stands still' in str(result)
