"""Plans that were told are compared with new obstacles; the arm stops early where one is hit."""

from dataclasses import replace
from weakref import ref

import numpy as np
import pinocchio as pin
from plan.kinova_problem import START, kinova_problem
import pytest

from safe_sysid.measure.clock import Clock
from safe_sysid.model.collision.arm_clearance import arm_clearance
from safe_sysid.model.collision.moving_box import MotionBounds, MovingBox
from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.plan.early_stop import StopSettings, find_rest, find_stop
from safe_sysid.plan.scene_guard import SceneGuard
from safe_sysid.reach.reachable_set import ReachableSet
from safe_sysid.sets.box import Box
from safe_sysid.trajectory.plan import Plan

K = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])  # the arm swings about the vertical
SETTINGS = StopSettings(reaction=0.25, handover=0.05)
CLOCK = Clock(1_000_000_000_000)


def plan_of(problem, k, start, switch=1.5):
    horizon = replace(problem.horizon, k_center=k)
    certificate = ReachableSet.certify_center(replace(problem, horizon=horizon))
    assert certificate.holds
    bounds = problem.bounds
    return Plan(start, start + switch, horizon.curve, k, bounds.bounds, certificate, bounds.theta)


@pytest.fixture(scope='module')
def plan():
    return plan_of(kinova_problem(START, intervals=64), K, 10.0)


@pytest.fixture(scope='module')
def successor(plan):
    curve = plan.curve_from(plan.switch_time, 3.0)
    problem = plan.certificate.problem
    problem = replace(problem, horizon=replace(problem.horizon, curve=curve))
    return plan_of(problem, np.array([1.6, 0, 0, 0, 0, 0, 0]), plan.switch_time)


def hand(q):
    model = kinova_problem().model
    rigid = model.pinocchio()
    data = rigid.createData()
    pin.forwardKinematics(rigid, data, q)
    last = int(np.argmax(model.capsules.joint))
    return data.oMi[int(model.capsules.joint[last]) + 1].act(model.capsules.b[last])


def post(q, half=0.03):
    return {'post': Box(hand(q), np.full(3, half), np.eye(3))}


FAR = {'far': Box(np.full(3, 5.0), np.full(3, 0.1), np.eye(3))}


def guarded(*plans):
    guard = SceneGuard(SETTINGS, CLOCK.stamp)
    for plan in plans:
        guard.watch(plan, 10.0)
    return guard


def test_what_is_out_of_the_way_changes_nothing(plan):
    guard = guarded(plan)
    assert guard.look(FAR, 10.3) is None
    assert guard.look({}, 10.4) is None  # what goes away gives room


def test_a_plan_is_over_at_the_stamp_of_its_end_whatever_is_rounded(plan, rng):
    rounded = 0
    for begin in rng.integers(0, 10**10, 300):
        start = CLOCK.seconds(CLOCK.origin + int(begin))
        again = replace(plan, start_time=start, switch_time=start + 1.5)
        end = CLOCK.seconds(CLOCK.stamp(again.end_time))
        if end >= again.end_time:
            continue
        rounded += 1
        guard = SceneGuard(SETTINGS, CLOCK.stamp)
        guard.watch(again, start)
        guard.note_followed(start)
        assert guard.look(post(again.end_position), end - 0.001) is not None
        guard.watch(again, start)
        assert guard.look({}, end - 0.001) is None
        assert guard.look(post(again.end_position), end) is None
    assert rounded > 5


def test_plans_that_are_over_are_forgotten_where_nobody_shows_obstacles(plan):
    guard, told = SceneGuard(SETTINGS, CLOCK.stamp), []
    for number in range(20):
        start = 10.0 + number
        again = replace(plan, start_time=start, switch_time=start + 1.0)
        guard.watch(again, start - 0.5)
        guard.note_followed(start)
        told.append(ref(again))
    del again
    assert sum(each() is not None for each in told) <= 3


def test_the_arm_stops_early_and_is_certified_to(plan):
    boxes = FAR | post(plan.end_position)
    guard = guarded(plan)
    found = guard.look(boxes, 10.3)
    assert found.plan is plan
    assert found.margin.margin < 0.0
    assert 'and post' in found.margin.where
    assert found.is_avoided
    stop = found.stop.plan
    assert stop.start_time == pytest.approx(10.3 + SETTINGS.reaction)
    assert stop.end_time < plan.end_time - 0.5
    for was, goes_on in zip(
        plan.desired(stop.start_time), stop.desired(stop.start_time), strict=True
    ):
        np.testing.assert_allclose(goes_on, was, rtol=0, atol=1e-9)
    # proven again by all rows of a certificate of its own, among all obstacles
    again = ReachableSet.certify_center(stop.certificate.problem)
    assert again.holds
    assert set(stop.certificate.problem.obstacles.names) == set(boxes)
    assert again.smallest.margin == pytest.approx(found.stop.certificate.smallest.margin)
    # and sampled: nothing is touched, at the desired states
    obstacles = Obstacles.of(boxes)
    for t in np.linspace(stop.start_time, stop.end_time, 40):
        q, _, _ = stop.desired(t)
        assert arm_clearance(plan.certificate.problem.model, obstacles, q).distance > 0.0
    # the controller's rules: same bounds and nominal parameters, so it may take over
    assert stop.theta_bounds is plan.theta_bounds
    np.testing.assert_array_equal(stop.theta_0, plan.theta_0)


def coming(q, when, velocity, since=10.3):
    """Somebody who is where the hand is at q at a time, and was told of at another."""
    velocity = np.array(velocity)
    box = Box(hand(q) - velocity * (when - since), np.full(3, 0.03), np.eye(3))
    promised = MotionBounds(0.005, 0.01, 0.01, 1.0)
    return {'somebody': MovingBox.of(box, CLOCK.stamp(since), velocity, promised)}


def test_the_arm_stops_for_what_is_coming_and_not_for_what_will_be_gone(plan):
    """Where the hand goes nothing is yet; and what is there now leaves before the hand comes."""
    comes = coming(plan.end_position, plan.end_time, [0.0, 0.0, -0.5])
    found = guarded(plan).look(comes, 10.3)
    assert found is not None
    assert found.is_avoided
    assert found.stop.plan.start_time == pytest.approx(10.3 + SETTINGS.reaction)
    among = found.stop.certificate.problem.obstacles
    assert among.start == CLOCK.stamp(found.stop.plan.start_time)
    again = ReachableSet.certify_center(found.stop.certificate.problem)
    assert again.smallest.margin == pytest.approx(found.stop.certificate.smallest.margin)
    goes = coming(plan.end_position, 10.3, [0.0, 0.0, 0.5])
    assert guarded(plan).look(goes, 10.3) is None
    stands = {'somebody': Box(goes['somebody'].center, np.full(3, 0.03), np.eye(3))}
    assert guarded(plan).look(stands, 10.3) is not None


def test_a_search_that_knew_of_nobody_is_admitted_only_if_it_avoids_who_comes(plan):
    guard = guarded()
    guard.look(coming(plan.end_position, plan.end_time, [0.0, 0.0, -0.5]), 10.3)
    assert not guard.admits(plan)
    guard.look(coming(plan.end_position, 10.3, [0.0, 0.0, 0.5]), 10.3)
    assert guard.admits(plan)


def test_what_lies_behind_the_arm_is_no_reason_to_stop(plan):
    assert guarded(plan).look(post(START), 11.9) is None
    assert guarded(plan).look(post(START), 10.0) is not None


def test_an_obstacle_that_nothing_avoids_is_said_and_the_arm_stops_as_far_away_as_it_can(plan):
    q, _, _ = plan.desired(10.3 + SETTINGS.reaction + 0.05)
    found = guarded(plan).look(post(q), 10.3)
    assert not found.is_avoided
    assert 'no stop is proven to avoid it' in str(found)
    assert found.stop.plan.end_time < plan.end_time
    limits = [m for kind, m in found.stop.certificate.margins.items() if 'obstacle' not in kind]
    assert all(margin.margin > 0.0 for margin in limits)  # all else is proven


def test_a_successor_that_is_hit_is_not_followed_and_the_plan_in_force_ends_at_rest(
    plan, successor
):
    boxes = post(successor.end_position)
    guard = guarded(plan, successor)
    assert guarded(plan).look(boxes, 10.3) is None
    found = guard.look(boxes, 10.3)
    assert found.plan is successor
    assert found.is_avoided
    rest = found.stop.plan
    assert rest.start_time == successor.start_time  # takes its place
    np.testing.assert_allclose(rest.end_position, plan.end_position, atol=1e-9)
    for t in np.linspace(rest.start_time, plan.end_time, 9):
        np.testing.assert_allclose(rest.desired(t)[0], plan.desired(t)[0], rtol=0, atol=1e-9)


def test_a_stop_that_begins_after_the_successor_goes_on_from_it(plan, successor):
    found = guarded(plan, successor).look(post(successor.end_position), 11.4)
    stop = found.stop.plan
    assert found.is_avoided
    for was, goes_on in zip(
        successor.desired(stop.start_time), stop.desired(stop.start_time), strict=True
    ):
        np.testing.assert_allclose(goes_on, was, rtol=0, atol=1e-9)


def test_a_stop_that_was_told_is_not_told_again_until_it_is_followed(plan):
    guard = guarded(plan)
    first = guard.look(post(plan.end_position), 10.3)
    moved = {'post': Box(hand(plan.end_position) + 0.01, np.full(3, 0.03), np.eye(3))}
    assert guard.look(moved, 10.4) is None  # the stop avoids it there as well
    at_stop = post(first.stop.plan.end_position)
    second = guard.look(moved | {'second': at_stop['post']}, 10.45)
    assert second.plan is first.stop.plan
    assert second.stop is None


def test_an_obstacle_in_a_plan_is_seen_after_the_clock_went_back_over_a_stop(plan):
    """A stop that was told is waited for, which on a clock that was set is for hours."""
    late = replace(plan, start_time=1000.0, switch_time=1001.5)
    guard = SceneGuard(SETTINGS, CLOCK.stamp)
    guard.watch(late, 1000.0)
    assert guard.look(post(late.end_position), 1000.3).stop is not None
    guard.note_followed(late.start_time)
    guard.forget_plans()
    guard.watch(plan, 10.0)
    found = guard.look({'other': post(plan.end_position)['post']}, 10.3)
    assert found.plan is plan
    assert found.stop is not None


def test_a_plan_is_compared_until_a_later_one_is_followed(plan, successor):
    guard = guarded(plan, successor)
    guard.note_followed(plan.start_time)
    late = guard.look(post(successor.end_position), 12.0)  # refused, or word of it is late
    assert late.plan is successor
    stop = late.stop.plan  # from what is said to be followed
    np.testing.assert_allclose(stop.curve.q0, plan.desired(stop.start_time)[0], atol=1e-9)
    guard = guarded(plan, successor)
    guard.note_followed(successor.start_time)
    found = guard.look(post(successor.end_position), 12.0)
    assert found.plan is successor
    stop = found.stop.plan
    np.testing.assert_allclose(stop.curve.q0, successor.desired(stop.start_time)[0], atol=1e-9)


def test_an_arm_at_rest_hits_nothing(plan):
    assert guarded(plan).look(post(plan.end_position), plan.end_time + 0.1) is None


def test_what_is_found_among_other_obstacles_is_compared_with_what_changed(plan, successor):
    guard = guarded(plan)
    assert guard.admits(successor)
    assert guard.look(FAR, 10.2) is None
    assert guard.admits(successor)
    assert guard.look(FAR | post(successor.end_position), 10.3) is None  # nobody was told of it
    assert not guard.admits(successor)


def test_the_rest_of_a_plan_is_a_plan(plan):
    rest = find_rest(plan, 11.5, Obstacles.of(FAR))
    assert rest.is_certified
    for t in np.linspace(11.5, 13.0, 9):
        np.testing.assert_allclose(rest.plan.desired(t)[0], plan.desired(t)[0], atol=1e-9)


def test_without_time_the_first_stop_counts(plan):
    q, _, _ = plan.desired(10.6)
    stop = find_stop(plan, 10.55, Obstacles.of(post(q)), deadline=-np.inf)
    assert stop.plan.end_time - stop.plan.start_time == pytest.approx(0.3)
