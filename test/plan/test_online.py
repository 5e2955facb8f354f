"""Searches go on while obstacles change; what they find is told only if it avoids what changed."""

from dataclasses import replace
from functools import partial
from threading import Event
import time
from types import SimpleNamespace

import numpy as np
from plan.kinova_problem import START, kinova_problem
from plan.test_receding_horizon import SETTINGS, at, on
from plan.test_scene_guard import hand
import pytest
from tiers import slow_after

from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.collision.obstacles import NO_OBSTACLES, Obstacles
from safe_sysid.model.parameters import ParameterEstimate, ratio_bounds
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.agreement import Followed
from safe_sysid.plan.early_stop import StopSettings
from safe_sysid.plan.mission import Mission, MissionSettings
from safe_sysid.plan.online import Planning
from safe_sysid.plan.restarting import RestartingPlanner
from safe_sysid.plan.result import SearchOutcome
from safe_sysid.plan.scene_response import SceneResponse
from safe_sysid.plan.search_thread import AtOnce, Beside
from safe_sysid.plan.session import PlanningSession
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.reach.problem import Problem
from safe_sysid.sets.box import Box
from safe_sysid.track.gains import Gains
from safe_sysid.track.plan_succession import PlanSuccession, SuccessionSettings
from safe_sysid.trajectory.bezier import Bezier

GOAL = START + 2.4 * np.eye(7)[0]
LATE = SuccessionSettings()
FAR = Box(np.full(3, 5.0), np.full(3, 0.1), np.eye(3))


class Cell:
    """What is in the way."""

    def __init__(self):
        self.boxes, self.is_known = {}, True


class Loop:
    """A planning, and what it told."""

    def __init__(self, search):
        self.problem, self.cell, self.told = kinova_problem(intervals=64), Cell(), []
        settings = MissionSettings(exciting=0, route_seconds=600.0)
        self.task = Mission(self.problem.model, GOAL, settings)
        self.learning = Mission(self.problem.model, None, settings, self.task)
        missions = {'task': self.task, 'exciting': self.learning}
        self.planner = RestartingPlanner(self.problem_now, SETTINGS)
        self.planner.clock = Clock(at(0.0).stamp)
        session = PlanningSession(self.planner, missions, 5)
        response = SceneResponse(self.planner, StopSettings(reaction=0.25))
        self.planning = Planning(self.planner, session, response, search, self.tell)
        self.planning.turn_to('task')

    def problem_now(self):
        return replace(self.problem, obstacles=Obstacles.of(self.cell.boxes))

    def tell(self, plan, clock, stamp):
        del clock, stamp
        self.told.append(plan)

    def step(self, seconds, then=lambda _: None):
        self.planning.step(at(seconds), self.problem.bounds, self.cell, then)

    def show(self, seconds, **boxes):
        self.cell.boxes = boxes
        return self.planning.look(self.cell, at(seconds).stamp)

    def ask(self, change):
        """Have missions want something else; whether nothing is left to do all the same."""
        self.planning.turn_missions(lambda: change, lambda: None)
        return self.planning.session.is_done

    def follow(self, plan):
        self.follow_times(plan.start_time, plan.end_time)

    def follow_times(self, start, end):
        stamp = self.planner.clock.stamp
        self.planning.note_followed(Followed(stamp(start), stamp(end)))


@pytest.fixture
def loop():
    return Loop(AtOnce())


def test_an_arm_whose_error_has_no_bound_is_refused_before_anything_moves(loop):
    model = RobotModel.named('lbr_med7')  # nobody states its armature
    known = ratio_bounds(model.theta, 0.02)
    radius = known.radius.copy()
    radius[model.layout.end_effector] += [1.0, *(0.05,) * 3, *(0.02,) * 6]  # of what it may hold
    bounds = type(known).from_center_radius(model.theta, radius)
    nothing = ParameterEstimate(model.layout, model.theta, bounds)
    rest = np.zeros(model.n)
    horizon = Horizon(Bezier(rest, rest, rest, 3.0), rest, rest, intervals=8)
    gains = Gains(np.full(7, 10.0), V_M=0.02, alpha=25.0)
    problem = Problem(model, nothing, horizon, gains, NO_OBSTACLES)
    sample, reasons = JointMeasurement(0, rest, rest, rest), []
    loop.planning.warm_up(sample, nothing, problem, reasons.append)
    assert len(reasons) == 1
    assert 'no bound on the tracking error of A7: its armature may be zero' in reasons[0]
    assert not loop.planning.is_warm


@pytest.mark.slow
def test_plans_are_told_and_followed_by_others_whatever_changes_out_of_the_way(loop):
    for i, t in enumerate((0.0, 1.5, 3.0)):
        assert not loop.show(t, far=Box(FAR.center + i, FAR.half_sizes, FAR.rotation))
        loop.step(t)
        loop.follow(loop.told[i])
    starts = [plan.start_time for plan in loop.told]
    assert starts[:2] == [0.0, 1.5]
    assert starts[2] < loop.told[1].end_time  # it goes on, and does not begin again at rest
    problem = loop.told[-1].certificate.problem
    assert problem.obstacles.names == ('far',)  # without beginning again
    assert problem.obstacles.shapes[0].center[0] >= 6.0


def test_an_arm_at_its_goal_is_done_however_often_the_goal_comes(loop):
    loop.task.lead_to([START])
    loop.step(0.0)
    loop.follow(loop.told[0])
    for goals in ([START], [START], [START + 0.001], [START + 0.001, GOAL]):  # near enough
        assert loop.ask(partial(loop.task.lead_to, goals))
        loop.step(0.1)
    assert len(loop.told) == 1
    assert not loop.ask(partial(loop.task.lead_to, [GOAL]))


def test_a_goal_for_afterwards_takes_nothing_from_what_was_learned(loop):
    loop.planning.turn_to('exciting')
    loop.step(0.0)
    loop.follow(loop.told[0])
    for goal in (START, GOAL, START - 0.1):
        assert loop.ask(partial(loop.task.lead_to, [goal]))
    assert not loop.ask(partial(loop.learning.learn_to, np.full(10, 1e-9)))


@pytest.mark.parametrize(
    ('now', 'is_hit'), slow_after(2, [(1.2, True), (-1.2, False), (-5000.0, False)])
)
def test_plans_that_were_told_are_forgotten_where_the_clock_went_back(loop, now, is_hit):
    loop.planning.note_sample(at(0.0).stamp)
    loop.step(0.0)
    loop.follow(loop.told[0])
    loop.planning.note_sample(at(now).stamp)
    post = Box(hand(START), np.full(3, 0.03), np.eye(3))
    assert loop.show(now, post=post) is is_hit
    assert bool(loop.planning.response.complaint) is is_hit


def test_nothing_is_planned_before_the_scene_is_known(loop):
    loop.cell.is_known = False
    answers = []
    loop.step(0.0, answers.append)
    assert answers == [None]
    assert loop.told == []
    loop.cell.is_known = True
    loop.step(0.1)
    assert loop.told[0].start_time == pytest.approx(0.1)


def test_what_is_found_too_late_is_told_to_nobody_and_another_plan_follows_at_rest(
    loop, monkeypatch
):
    search = loop.planning.session.step
    loop.step(0.0)
    still, _ = loop.told
    loop.follow(still)

    def step(measurement, *others):
        """While this goes on, the arm goes on beyond the time of what is found."""
        result = search(measurement, *others)
        loop.planning.note_sample(at(3.001).stamp)
        return result

    swings = loop.told[1]
    loop.follow(swings)
    monkeypatch.setattr(loop.planning.session, 'step', step)
    loop.step(1.5)
    assert loop.told == [still, swings]
    assert loop.planner.result.outcome is SearchOutcome.MISSED
    monkeypatch.undo()
    loop.planning.step(on(swings, 3.1), loop.problem.bounds, loop.cell, lambda _: None)
    assert loop.told[2].start_time == swings.end_time
    np.testing.assert_array_equal(loop.told[2].curve.q0, swings.end_position)


def test_what_is_found_for_a_mode_that_is_over_is_told_to_nobody(monkeypatch):
    search, go_on = Beside(), Event()
    loop = Loop(search)
    step = loop.planning.session.step

    def waiting(*args):
        go_on.wait(10.0)
        return step(*args)

    monkeypatch.setattr(loop.planning.session, 'step', waiting)
    loop.step(0.0)
    loop.planning.turn_to('braking')
    go_on.set()
    finish(search)
    assert loop.planning.session.mode == 'braking'
    assert loop.told == []
    monkeypatch.undo()
    loop.planning.turn_to('task')
    loop.step(0.5)
    finish(search)
    assert loop.told[0].start_time == pytest.approx(0.5)
    search.close()


@pytest.mark.slow
def test_what_changed_during_a_search_is_avoided_by_what_it_found(loop, monkeypatch):
    search = loop.planning.session.step
    found = []

    def step(measurement, *others):
        """While this goes on, an obstacle appears where the plan that is found ends."""
        result = search(measurement, *others)
        found.append(result.successor)
        loop.show(0.0, far=FAR, block=block_at(result.successor.end_position))
        return result

    monkeypatch.setattr(loop.planning.session, 'step', step)
    loop.step(0.0)
    assert loop.told == []
    assert loop.planner.result.outcome is SearchOutcome.OBSTRUCTED
    assert loop.planning.session.figures()['failed searches in a row'] == 1
    monkeypatch.undo()
    loop.step(0.2)  # another search, among all of them
    assert found[0] not in loop.told
    for plan in loop.told[1:]:
        assert set(plan.certificate.problem.obstacles.names) == {'far', 'block'}


def test_the_arm_stops_early_and_planning_begins_again_at_rest(loop):
    loop.step(0.0)
    still, swings = loop.told
    loop.follow(still)
    assert not loop.planning.look(loop.cell, at(1.0).stamp)
    loop.step(1.5)
    loop.follow(swings)
    count = len(loop.told)
    assert loop.show(2.0, block=block_at(swings.end_position))
    assert len(loop.told) == count + 1
    stop = loop.told[-1]
    assert stop.start_time == pytest.approx(2.25)
    assert stop.end_time < swings.end_time
    assert 'the arm stops early, certified' in loop.planning.response.complaint
    response = loop.planning.response
    assert not response.is_obstructed(at(2.4).stamp)  # there is still time to take it over
    assert response.is_obstructed(at(2.46).stamp)  # nobody has
    for start in (stop.start_time, stop.start_time + 0.1):
        loop.follow_times(start, swings.end_time)
        assert response.is_obstructed(at(2.46).stamp)  # what began then, or later, is not it
    loop.follow(stop)
    assert not response.is_obstructed(at(2.46).stamp)
    loop.step(2.4)
    assert loop.told[-1] is stop
    rest = stop.end_time + 0.01
    measured = at(rest, stop.end_position)
    loop.planning.step(measured, loop.problem.bounds, loop.cell, lambda _: None)
    again = next(plan for plan in loop.told if plan.start_time == pytest.approx(rest))
    np.testing.assert_array_equal(again.curve.q0, stop.end_position)
    assert again.certificate.problem.obstacles.names == ('block',)


def test_a_successor_that_is_hit_before_it_begins_is_replaced_by_a_rest(loop):
    loop.step(0.0)
    still, swings = loop.told
    loop.follow(still)
    arm = PlanSuccession(SimpleNamespace(refusal_to_begin=admits, refusal_to_go_on=admits), LATE)
    for plan in (still, swings):
        arm.offer(plan)
    assert arm.step(0.0, at(0.0), loop.problem.bounds) is still
    assert loop.show(0.5, block=block_at(swings.end_position))
    _, _, rest = loop.told
    arm.offer(rest)
    assert rest.start_time == swings.start_time
    assert arm.step(1.5, at(1.5), loop.problem.bounds) is rest
    np.testing.assert_allclose(rest.end_position, still.end_position, rtol=0, atol=1e-12)
    assert loop.planning.announced.newest == str(at(1.5).stamp)
    loop.follow(rest)
    assert not loop.planning.response.is_obstructed(at(1.8).stamp)


def finish(search):
    """Poll until nothing goes on; who asks all the time keeps the search from its work."""
    while search.is_busy:
        time.sleep(0.001)
        search.poll()


def admits(*_):
    return ''


def block_at(q):
    """A small block in the hand of an arm at q."""
    return Box(hand(q), np.full(3, 0.03), np.eye(3))


def test_a_search_beside_the_listener_keeps_the_order_of_what_waits():
    search, go_on, done = Beside(), Event(), []
    search.after(lambda: done.append('at once'))
    search.begin(lambda: go_on.wait(10.0), lambda result: done.append(result))
    search.after(lambda: done.append('first'))
    search.after(lambda: search.begin(lambda: 'second search', done.append))
    search.after(lambda: done.append('last'))
    search.poll()
    assert done == ['at once']
    assert search.is_busy
    go_on.set()
    finish(search)
    assert done == ['at once', True, 'first', 'second search', 'last']
    assert not search.is_busy
    search.close()


def test_what_goes_wrong_in_a_thread_is_raised_where_somebody_listens():
    search = Beside()
    search.begin(lambda: 1 / 0, lambda _: None)
    with pytest.raises(ZeroDivisionError):
        finish(search)
    search.close()
