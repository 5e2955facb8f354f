"""Obstacles from a topic, over real processes: known before plans are made, and stopped for."""

from itertools import pairwise

import numpy as np
import pytest
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from ros.faulty_loop import ROOMY, faulty_loop, seconds
from ros.running_node import greet
from scipy.interpolate import BPoly
from visualization_msgs.msg import Marker, MarkerArray

from safe_sysid.model.dynamics.forward_kinematics import joint_frames
from safe_sysid.model.robot_model import RobotModel

MODEL = RobotModel.named('two_link')
REACH = 0.5  # [m] of the second link
LENGTH = ROOMY['planner__planner__duration']  # [s] of every plan that is no stop
REACTION = ROOMY['planner__stop__reaction']  # [s]
VOLATILE = QoSProfile(depth=10)
LATCHED = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)


@pytest.fixture(scope='module')
def running(tmp_path_factory):
    hanging = {'builtin_sim_bridge__start': [-1.4, 0.3]}  # whoever is held up lets nothing fall
    with faulty_loop(tmp_path_factory.mktemp('obstacles'), **hanging) as loop:
        yield loop


@pytest.fixture
def loop(running):
    """The loop, with its arm in motion; nothing is shown afterwards."""
    running.move()
    yield running
    with_publisher(running, VOLATILE, lambda show: clear(running, show))


def clear(loop, show):
    """Nothing is in the way any more, and the planner knows."""
    show(Marker(action=Marker.DELETEALL))
    wait_for(loop, 0)


def with_publisher(loop, qos, use):
    """Somebody who shows obstacles, and is gone afterwards."""
    somebody = Node('somebody')  # of whom the executor of the loop knows nothing
    publisher = somebody.create_publisher(MarkerArray, 'obstacles', qos)
    greet(publisher, MarkerArray())
    try:
        use(lambda *markers: publisher.publish(MarkerArray(markers=list(markers))))
        loop.spin_for(5)
    finally:
        somebody.destroy_node()


def box(number, place=(5.0, 0.0, 0.0), size=0.1, frame='base_link'):
    marker = Marker(ns='cell', id=number, type=Marker.CUBE)
    marker.header.frame_id = frame
    marker.pose.orientation.w = 1.0
    marker.pose.position.x, marker.pose.position.y, marker.pose.position.z = map(float, place)
    marker.scale.x = marker.scale.y = marker.scale.z = float(size)
    return marker


def wait_for(loop, count):
    loop.wait(lambda: loop.figure('planner', 'obstacles') == str(count), f'{count} obstacles')


def starts(loop):
    return {seconds(plan.header.stamp) for plan in loop.plans if plan.points}


@pytest.mark.slow
def test_messages_add_to_each_other_and_do_not_starve_the_planner(loop):
    def use(show):
        before = starts(loop)
        for number in range(1800):  # for so long a planner that nobody starves has three
            show(box(0, (5.0 + 0.002 * number, 0.0, 0.0)), box(1 + number % 3))
            loop.spin_for(5)  # 20 Hz
            if len(starts(loop) - before) >= 3:
                break
        assert len(starts(loop) - before) >= 3, (loop.modes, loop.said[-30:])
        wait_for(loop, 4)

    with_publisher(loop, VOLATILE, use)
    assert 'fault' not in loop.modes


@pytest.mark.slow
def test_what_is_not_understood_is_a_fault_until_it_is(loop):
    def use(show):
        show(box(0), box(1, frame='camera'))
        loop.expect_fault('SCENE_UNCLEAR', "obstacle 'cell/1': frame 'camera' is not connected")
        loop.expect_rest()
        refused = loop.call('supervisor/reset_fault')
        assert not refused.success
        assert 'has to wait, as what is shown as an obstacle is not understood' in refused.message
        wait_for(loop, 1)
        show(Marker(action=Marker.DELETE, ns='cell', id=1))
        loop.come_back()

    with_publisher(loop, VOLATILE, use)


@pytest.mark.slow
def test_a_planner_that_was_killed_knows_a_latched_scene_before_it_plans(loop):
    def use(show):
        show(box(0), box(1))
        wait_for(loop, 2)
        loop.kill('planner')
        loop.expect_rest_at_the_end_of_its_plan()
        loop.start('planner')
        pid = str(loop.processes['planner'].pid)
        loop.wait(lambda: loop.figure('planner', 'pid') == pid, 'the planner is there again')
        wait_for(loop, 2)
        loop.come_back()

    with_publisher(loop, LATCHED, use)


@pytest.mark.slow
def test_a_planner_that_was_killed_asks_for_a_scene_that_nobody_kept(loop):
    def use(show):
        show(box(0), box(1))
        wait_for(loop, 2)
        loop.kill('planner')
        loop.expect_rest_at_the_end_of_its_plan()
        before = starts(loop)
        loop.start('planner')
        loop.wait_to_hear('planner', 'until it is shown again there are no plans')
        loop.spin_for(200)
        assert starts(loop) == before
        show(box(0), box(1))
        loop.come_back()  # also where the machine was held up meanwhile, which is a fault
        assert len(starts(loop)) > len(before)

    with_publisher(loop, VOLATILE, use)


def tip(q):
    """Where the second link ends."""
    R, p = joint_frames(MODEL, np.asarray(q, dtype=np.float64))
    return p[-1] + R[-1] @ [REACH, 0.0, 0.0]


@pytest.mark.nightly  # a minute of real time; test/plan/test_online.py does it in lockstep
def test_the_arm_stops_early_for_an_obstacle_in_its_path(loop):
    def use(show):
        clearance(np.zeros(2), np.ones(3))  # compiled now, as the next ones have to be quick
        show(box(8))
        wait_for(loop, 1)  # so that the next message finds its way at once
        shown, at = put_in_its_path(loop, show)
        loop.wait(
            lambda: duration(loop.followed) < 0.95 * LENGTH or loop.mode == 'fault',
            'the stop is followed',
        )
        assert 'fault' not in loop.modes, course(loop, shown)
        stop = loop.followed
        end = seconds(stop.header.stamp) + duration(stop)
        is_over = 'the stop is over, or a plan around it follows before the arm rests'
        loop.wait(lambda: loop.followed is not stop or loop.now > end, is_over)
        if loop.followed is stop:
            assert np.abs(loop.measured[-1].velocity).max() < 0.05
            assert np.abs(loop.place - stop.points[-1].positions).max() < 0.05
        for sample in loop.measured:
            if seconds(sample.header.stamp) > shown:
                assert clearance(np.array(sample.position), at) > 0.02, course(loop, shown)
        assert 'early' in ' '.join(sentence for who, sentence in loop.said if who == 'planner')
        assert 'fault' not in loop.modes, course(loop, shown)
        show(Marker(action=Marker.DELETEALL))
        loop.come_back()

    with_publisher(loop, VOLATILE, use)


def put_in_its_path(loop, show):
    """An obstacle where a plan in force ends, so late and so near that only a stop avoids it.

    What is seen here of the plan in force is late on a busy machine. Where the arm was on its way
    to somewhere else already the obstacle goes again, and the next plan is tried.
    """
    for _ in range(20):
        loop.wait(lambda: can_stop_before_its_end(loop), 'a long way to go')
        at, shown = tip(loop.followed.points[-1].positions), now(loop)
        show(box(9, at, 0.04))
        wait_for(loop, 2)
        if loop.figure('planner', 'early stops') != '0':
            return shown, at
        show(Marker(action=Marker.DELETE, ns='cell', id=9))
        wait_for(loop, 1)
    raise AssertionError('no obstacle was ever in the path of the plan in force')


def now(loop):
    """The time that is stamped in this loop: what is read here may be older."""
    return loop.get_clock().now().nanoseconds * 1e-9


def course(loop, shown):
    """What was followed when, in seconds since the obstacle was shown, and what was said."""
    plans = [plan for plan in loop.plans if plan.points]
    followed = [(seconds(plan.header.stamp) - shown, duration(plan)) for plan in plans]
    words = {(who, sentence) for who, sentence in loop.said if sentence}
    return f'{loop.causes}, now {now(loop) - shown:.3f}, {followed[-6:]}, {words}'


def duration(plan):
    return seconds(plan.points[-1].time_from_start)


def can_stop_before_its_end(loop):
    """Whether a stop that begins after the reaction would leave much room to where the plan ends.

    A stop that begins in time for the handover is a fraction of a second long. Where the way there
    is short, or the links pass by the end of the plan early, no stop avoids the obstacle, and the
    planner says so by a fault.
    """
    plan = loop.followed
    t = now(loop) - seconds(plan.header.stamp)
    if duration(plan) < 0.95 * LENGTH or not 0.0 < t < 0.3 or not loop.is_moving():
        return False
    at = tip(plan.points[-1].positions)
    ahead = desired(plan, np.linspace(0.0, 0.3 + REACTION + 0.5, 10))
    return min(clearance(q, at) for q in ahead) > 0.15


def desired(plan, times):
    """Positions along the quintic through both ends of a plan."""
    ends = [(p.positions, p.velocities, p.accelerations) for p in plan.points]
    curve = BPoly.from_derivatives([seconds(p.time_from_start) for p in plan.points], ends)
    return curve(times)


def clearance(q, at):
    """Distance between the links, taken as lines, and a point [m]."""
    _, p = joint_frames(MODEL, np.asarray(q, dtype=np.float64))
    along = np.linspace(0.0, 1.0, 20)[:, None]
    corners = [p[0], p[1], tip(q)]
    lines = [(1.0 - along) * a + along * b for a, b in pairwise(corners)]
    return np.linalg.norm(np.concatenate(lines) - at, axis=1).min()
