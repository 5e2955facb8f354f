"""A session plans for the mission of the mode, and tells the operator how that goes."""

import numpy as np
from plan.kinova_problem import START, doubtful_place, kinova_problem
import pytest

from safe_sysid.errors import BoundError
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.plan.agreement import Followed
from safe_sysid.plan.receding_horizon import PlannerSettings
from safe_sysid.plan.restarting import RestartingPlanner
from safe_sysid.plan.result import PlanResult, SearchFinding, SearchOutcome, failed_in_a_row
from safe_sysid.plan.session import UNFOLLOWED, PlanningSession

ORIGIN = 5_000_000_000


class Nothing:
    """A purpose without anything to plan for, whatever is asked of it."""

    asked = 0

    def wish(self, end):
        np.testing.assert_array_equal(end, START)
        return self.asked

    def due(self, ahead):
        del ahead

    def rehearsal(self, ahead):
        del ahead
        return iter(())


class Unreachable(Nothing):
    """A purpose that nothing can be planned for."""

    def due(self, ahead):
        del ahead
        raise BoundError('no way leads there')


@pytest.fixture(scope='module')
def problem():
    return kinova_problem(intervals=32)


@pytest.fixture
def planner(problem):
    return RestartingPlanner(lambda: problem, PlannerSettings(pace=1e4, intervals=32))


@pytest.fixture
def session(planner, problem):
    return session_of(planner, problem)


def session_of(planner, problem, **more):
    missions = {'calm': Nothing(), 'far': Unreachable(), **more}
    session = PlanningSession(planner, missions, patience=2)
    session.warm_up(at(0.0), problem.bounds)
    return session


def at(seconds):
    stamp = ORIGIN + round(seconds * 1e9)
    return JointMeasurement(stamp, START, np.zeros(7), np.zeros(7))


def step(session, problem, seconds):
    return session.step(at(seconds), problem.bounds)


def test_only_modes_with_a_mission_have_plans(session, problem):
    for mode in ('', 'idle'):
        session.turn_to(mode)
        assert step(session, problem, 0.0) is None
    session.turn_to('calm')
    assert step(session, problem, 0.0).outcome is SearchOutcome.NOTHING_DUE


def test_another_mode_begins_again_and_the_same_one_does_not(session, problem):
    session.turn_to('calm')
    step(session, problem, 0.0)
    session.turn_to('calm')
    assert step(session, problem, 0.1) is None
    session.turn_to('far')
    assert session.figures()['found'] == 'nothing yet'
    result = step(session, problem, 0.2)
    assert (result.plan.start_time, result.outcome) == (0.2, SearchOutcome.UNUSABLE)


def test_a_mission_has_ended_where_its_last_plan_was_followed_to_the_end(
    session, planner, problem
):
    session.turn_to('calm')
    plan = step(session, problem, 0.0).plan
    start, end = ORIGIN + round(plan.start_time * 1e9), ORIGIN + round(plan.end_time * 1e9)
    assert not session.rests(end)  # nobody follows it
    planner.note_followed(Followed(start, end))
    assert session.is_done
    assert [session.rests(stamp) for stamp in (end - 1, end)] == [False, True]
    session.turn_to('idle')  # in which there is nothing to plan
    assert [session.rests(stamp) for stamp in (end - 1, end)] == [False, True]
    session.turn_to('far')
    assert not session.rests(end)


@pytest.mark.parametrize(
    ('between', 'stays'),
    [
        ((), True),
        (('identified',), True),
        (('braking', 'task'), True),
        (('fault',), False),
        (('holding',), False),
        (('changing', 'exciting'), False),
        (('', 'task'), False),
    ],
)
def test_where_something_else_may_be_held_by_now_the_arm_has_to_be_near_its_plan(
    session, planner, problem, between, stays
):
    session.turn_to('calm')
    plan = step(session, problem, 0.0).plan
    start, end = (ORIGIN + round(t * 1e9) for t in (plan.start_time, plan.end_time))
    planner.note_followed(Followed(start, end))
    for mode in (*between, 'far'):
        session.turn_to(mode)
    far = doubtful_place(problem)
    sample = JointMeasurement(end, far, np.zeros(7), np.zeros(7))
    then = session.step(sample, problem.bounds).plan
    assert np.array_equal(then.curve.q0, START if stays else far)


def test_what_is_asked_in_other_modes_or_was_asked_before_leaves_nothing_to_do(planner, problem):
    here, elsewhere = Nothing(), Nothing()
    session = session_of(planner, problem, here=here, elsewhere=elsewhere)
    session.turn_to('here')
    plan = step(session, problem, 0.0).plan
    start, end = (ORIGIN + round(t * 1e9) for t in (plan.start_time, plan.end_time))
    planner.note_followed(Followed(start, end))
    session.ask(lambda: setattr(elsewhere, 'asked', 1))
    assert session.is_done
    session.ask(lambda: setattr(here, 'asked', 0))
    assert session.is_done
    session.ask(lambda: setattr(here, 'asked', 1))
    assert not session.is_done
    assert step(session, problem, 3.0).plan is not plan


def test_a_failure_is_told_once_patience_is_over_and_until_the_mode_changes(session, problem):
    session.turn_to('far')
    assert step(session, problem, 0.0) is not None
    assert step(session, problem, 0.1) is None  # nothing new, so no failure
    assert (session.has_failed, session.complaint()) == (False, '')
    result = step(session, problem, 1.5)
    assert (session.has_failed, session.complaint()) == (True, str(result))
    assert session.figures()['failed searches in a row'] == 2
    session.turn_to('calm')
    assert (session.has_failed, session.complaint()) == (False, '')
    assert session.figures()['failed searches in a row'] == 0


def test_failures_are_remembered_when_the_last_result_is_not(session, planner, problem):
    session.turn_to('far')
    for t in (0.0, 1.5):
        step(session, problem, t)
    planner.forget()
    assert (session.has_failed, session.complaint()) == (True, '')


def test_plans_that_are_not_followed_are_told_from_the_third_in_a_row_on(problem):
    planner = RestartingPlanner.in_real_time(lambda: problem, PlannerSettings(intervals=32))
    session = session_of(planner, problem)
    session.turn_to('calm')
    key = 'plans in a row that were not followed'
    plan = step(session, problem, 0.0).plan
    for count in range(UNFOLLOWED):
        assert (session.complaint(), session.figures()[key]) == ('', count)
        assert step(session, problem, count + 0.1) is None
        plan = step(session, problem, count + 1.0).plan  # as it begins again
    assert session.complaint().startswith('3 plans in a row were not followed')
    start, end = (ORIGIN + round(t * 1e9) for t in (plan.start_time, plan.end_time))
    planner.note_followed(Followed(start, end))
    step(session, problem, count + 1.1)
    assert (session.complaint(), session.figures()[key]) == ('', 0)


def test_another_mode_has_plans_of_its_own_to_follow(planner, problem):
    session = session_of(planner, problem)
    session.turn_to('calm')
    planner.unfollowed = UNFOLLOWED
    assert session.complaint() != ''
    session.turn_to('far')
    assert session.complaint() == ''


def test_the_mode_in_which_nothing_is_left_is_named(session, planner, problem):
    session.turn_to('calm')
    assert session.figures()['nothing left to do in'] == ''
    plan = step(session, problem, 0.0).plan
    start, end = (ORIGIN + round(t * 1e9) for t in (plan.start_time, plan.end_time))
    for followed in (None, Followed(start - 1, end)):  # a plan that nobody follows does nothing
        planner.note_followed(followed)
        assert session.figures()['nothing left to do in'] == ''
    planner.note_followed(Followed(start, end))
    assert session.figures()['nothing left to do in'] == 'calm'
    session.turn_to('far')
    assert session.figures()['nothing left to do in'] == ''
    step(session, problem, 0.1)
    assert session.figures()['nothing left to do in'] == ''


def test_figures_are_those_of_the_last_search(session, problem):
    session.turn_to('far')
    step(session, problem, 0.25)
    assert list(session.figures().items()) == [
        ('is warm', True),
        ('outcome', 'UNUSABLE'),
        ('found', 'nothing can be planned: no way leads there; braking, 3.00 s left'),
        ('said at [ns]', ORIGIN + 250_000_000),
        ('searched [s]', '0'),
        ('cost', 'inf'),
        ('nothing left to do in', ''),
        ('failed searches in a row', 1),
        ('plans in a row that stand still', 0),
        ('plans in a row that were not followed', 0),
    ]


def test_time_and_cost_of_a_search_are_rounded(session, planner):
    finding = SearchFinding(
        SearchOutcome.FOUND, cost=0.123456789, seconds={'total': 0.987654, 'sets': 0.5}
    )
    planner.result = PlanResult(None, None, finding, 2.0)
    figures = session.figures()
    assert (figures['searched [s]'], figures['cost']) == ('0.9877', '0.123457')


@pytest.mark.parametrize(
    ('outcome', 'count'),
    [
        (SearchOutcome.FOUND, 0),
        (SearchOutcome.STILL, 4),
        (SearchOutcome.INFEASIBLE, 4),
        (SearchOutcome.NONE_CERTIFIED, 4),
        (SearchOutcome.OUT_OF_TIME, 4),
        (SearchOutcome.UNUSABLE, 4),
        (SearchOutcome.CANCELLED, 3),
        (SearchOutcome.NOTHING_DUE, 3),
        (SearchOutcome.OUTDATED, 3),
        (SearchOutcome.MISSED, 3),
    ],
)
def test_failures_end_with_a_plan_and_pause_where_nothing_was_searched(outcome, count):
    assert failed_in_a_row(3, outcome) == count
