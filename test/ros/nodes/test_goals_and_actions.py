"""Goals at run time and actions, over real processes: asked for, told about, taken back."""

from contextlib import contextmanager
import os
import signal
import time

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped
import numpy as np
import pytest
from rclpy.action import ActionClient
from rclpy.qos import QoSProfile
from ros.faulty_loop import COMPILING, ROOMY
from ros.generated_messages import ROOT, importable
from ros.nodes.test_faults_of_a_run import pid
from ros.running_loop import changed_settings, observed, running
from ros.running_node import greet
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
from visualization_msgs.msg import Marker, MarkerArray

from safe_sysid.model.collision.arm_clearance import arm_clearance
from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.ros.messages.codec import SECOND, stamp_of, time_of
from safe_sysid.ros.messages.request_topics import LEARNS_TO
from safe_sysid.ros.watch.energy_excess import BEYOND_V_M
from safe_sysid.sets.box import Box

SUCCEEDED, CANCELED, ABORTED = 4, 5, 6  # of action_msgs/GoalStatus
TRIES = 200  # of a goal that is refused until another node has answered
MODEL = RobotModel.named('two_link')
NAMES = list(MODEL.layout.joint_names)
MANY = 100  # more than services keep by default
NEAR = 0.05  # [rad] that the arm may be from where its plan ends
UPPER = float(MODEL.limits.position_upper[0])
LEARNING = {**ROOMY, 'planner__mission__exciting': 2, 'supervisor__stale': 30.0}
FAR = [-1.2, 0.6]  # [rad] more than one plan away


@contextmanager
def loop_that_has_learned(tmp_path, *changes):
    """Two links that hang, and know what they are; in lockstep, so that load does not count."""
    settings = changed_settings(tmp_path, 'two_link', **LEARNING)
    options = '--config', settings, '--lockstep', *changes
    with observed() as loop, running('builtin_sim', *options):
        loop.wait(lambda: loop.mode == 'identified', 'it has learned', COMPILING)
        yield loop


def place(loop):
    return np.array(loop.samples[-1].position)


def joint_goal(*q):
    return JointState(name=NAMES, position=[float(x) for x in q])


def planner_says(loop, key):
    return loop.conditions['planner'].figures[key]


class Client:
    """Somebody who asks for actions of the supervisor."""

    def __init__(self, loop, kind, name):
        self._loop, self.feedback = loop, []
        self._client = ActionClient(loop, kind, f'supervisor/{name}')
        loop.wait(self._client.server_is_ready, f'action {name} is there')

    def send(self, goal):
        """Handle of a goal that was accepted."""
        future = self._client.send_goal_async(
            goal, feedback_callback=lambda msg: self.feedback.append(msg.feedback)
        )
        self._loop.wait(future.done, 'an answer')
        assert future.result().accepted
        return future.result()

    def outcome(self, goal):
        """Status and result, once it is over."""
        future = goal.get_result_async()
        self._loop.wait(future.done, 'the result', COMPILING)
        return future.result().status, future.result().result


@pytest.mark.slow
def test_goals_come_by_topic_and_by_action_and_are_taken_back(tmp_path):
    with importable('safe_sysid_interfaces', ROOT), importable('control_msgs'):
        from control_msgs.action import FollowJointTrajectory

        from safe_sysid_interfaces.action import Follow, GoTo, Identify

        with loop_that_has_learned(tmp_path) as loop:
            said_of_the_error = heard_of_the_error(loop)
            by_topic(loop)
            taken_away_under_its_own_stamp(loop)
            refused_by_topic(loop)
            go_to = Client(loop, GoTo, 'go_to')
            there_by_action(loop, go_to, GoTo)
            refused_by_action(loop, go_to, GoTo)
            many_at_once(loop, GoTo)
            along_a_path(loop, Client(loop, Follow, 'follow'), Follow)
            along_a_joint_trajectory(loop, FollowJointTrajectory)
            ousted_by_another_goal(loop, go_to, GoTo)
            taken_back_in_motion(loop, go_to, GoTo)
            learned_to_what_is_wanted(loop, Client(loop, Identify, 'identify'), Identify)
            assert not said_of_the_error


def heard_of_the_error(loop):
    """What the controller says from now on of an error above V_M: nothing where all is well."""
    said = []

    def hear(msg):
        for status in msg.status:
            said.extend(x.value for x in status.values if x.key == BEYOND_V_M and x.value)

    loop.create_subscription(DiagnosticArray, '/diagnostics', hear, 100)
    return said


def by_topic(loop):
    goals = loop.create_publisher(JointState, 'goal', 10)
    loop.wait(lambda: goals.get_subscription_count() > 0, 'the planner listens')
    greet(goals, joint_goal(1.5, 0.6))
    loop.wait(lambda: loop.mode == 'task', 'the goal begins the task')
    loop.wait(lambda: loop.mode == 'identified', 'the task is done')
    assert np.abs(place(loop) - [1.5, 0.6]).max() < NEAR


def taken_away_under_its_own_stamp(loop):
    """A goal that another one of the same stamp replaced on the way, then nothing."""
    goals = loop.create_publisher(JointState, 'goal', 10)
    loop.wait(lambda: goals.get_subscription_count() > 0, 'the planner listens')

    def stamped(msg):
        msg.header.stamp = time_of(SECOND)
        return msg

    goals.publish(stamped(joint_goal(*FAR)))
    loop.wait(lambda: loop.mode == 'task', 'the goal begins the task')
    goals.publish(stamped(joint_goal(1.3, 0.5)))
    named = str(SECOND + 1)
    loop.wait(lambda: planner_says(loop, 'goal [ns]') == named, 'the other one counts')
    loop.wait(lambda: loop.mode == 'identified', 'the task is done')
    assert np.abs(place(loop) - [1.3, 0.5]).max() < NEAR
    goals.publish(stamped(joint_goal(-1.1, 0.5)))
    loop.wait(lambda: loop.mode == 'task', 'the next one begins the task')
    goals.publish(stamped(JointState()))
    loop.wait(lambda: planner_says(loop, 'goal [ns]') == '', 'the goal is taken away')
    loop.wait(lambda: loop.mode == 'holding', 'the arm rests')
    assert np.abs(place(loop) - [-1.1, 0.5]).max() > 2.0 * NEAR
    assert loop.call('supervisor/start').success
    loop.wait(lambda: loop.mode == 'identified', 'nothing is left to learn')


def refused_by_topic(loop):
    """A pose out of reach, as RViz sends one; nothing moves."""
    poses = loop.create_publisher(PoseStamped, 'goal_pose', 10)
    loop.wait(lambda: poses.get_subscription_count() > 0, 'the planner listens')
    far = PoseStamped()
    far.header.frame_id, far.pose.position.x = 'base_link', 9.0
    greet(poses, far)
    loop.wait(lambda: 'mm away' in planner_says(loop, 'goal refused'), 'the goal is refused')
    assert loop.mode == 'identified'


def there_by_action(loop, go_to, kind):
    goal = go_to.send(kind.Goal(joints=joint_goal(1.2, 0.2)))
    status, result = go_to.outcome(goal)
    assert (status, result.success) == (SUCCEEDED, True), result.message
    assert result.distance < NEAR
    assert np.abs(place(loop) - [1.2, 0.2]).max() < NEAR
    assert go_to.feedback[-1].pieces_certified > 0
    assert {told.phase for told in go_to.feedback} >= {'task'}


def refused_by_action(loop, go_to, kind):
    for goal, why in (
        (kind.Goal(joints=JointState(name=NAMES[:1], position=[0.0])), 'the goal has no'),
        (kind.Goal(joints=joint_goal(0.0, 99.0)), 'is allowed'),
        (kind.Goal(joints=joint_goal(UPPER, 0.2)), 'it has to be at least'),
        (kind.Goal(joints=JointState(name=NAMES, position=[0.0])), '2 names and 1 positions'),
        (kind.Goal(joints=JointState(name=NAMES * 2, position=[0.0] * 4)), 'more than once'),
    ):
        status, result = go_to.outcome(go_to.send(goal))
        assert (status, result.success) == (ABORTED, False)
        assert why in result.message
    assert loop.mode == 'identified'


def many_at_once(loop, kind):
    """Each of them gets an answer and a result, as far as who asks has room for them."""
    room = QoSProfile(depth=2 * MANY)
    profiles = {f'{each}_service_qos_profile': room for each in ('goal', 'result')}
    client = ActionClient(loop, kind, 'supervisor/go_to', **profiles)
    loop.wait(client.server_is_ready, 'the action is there')
    beyond = kind.Goal(joints=joint_goal(0.0, 99.0))
    asked = [client.send_goal_async(beyond) for _ in range(MANY)]
    loop.wait(lambda: all(each.done() for each in asked), 'answers')
    ends = [each.result().get_result_async() for each in asked]
    loop.wait(lambda: all(each.done() for each in ends), 'results')
    assert {each.result().status for each in ends} == {ABORTED}
    client.destroy()


def path_of(*points):
    """Points of (time [s], first joint [rad], second joint [rad]), in another order of joints."""
    path = JointTrajectory(joint_names=NAMES[::-1])
    for t, first, second in points:
        point = JointTrajectoryPoint(positions=[second, first])
        point.time_from_start.sec, point.time_from_start.nanosec = divmod(round(t * 1e9), 10**9)
        path.points.append(point)
    return path


def along_a_path(loop, follow, kind):
    """Every plan lies on the path until the next begins; then one of which a piece is refused."""
    first, second = place(loop)
    way = [(0.8, first, second + 0.2), (1.6, first - 0.2, second + 0.3), (2.8, first - 0.3, 0.4)]
    status, result = follow.outcome(follow.send(kind.Goal(path=path_of(*way))))
    assert (status, result.success) == (SUCCEEDED, True), result.message
    assert np.abs(place(loop) - way[-1][1:]).max() < NEAR
    assert (follow.feedback[-1].pieces_certified, follow.feedback[-1].pieces) == (3, 3)
    first, second = way[-1][1:]
    hasty = path_of((1.0, first, second + 0.1), (1.2, first, second + 1.0), (2.0, first, second))
    status, result = follow.outcome(follow.send(kind.Goal(path=hasty)))
    assert (status, result.success) == (ABORTED, False)
    assert 'refused: piece 2 of 3 of the path (from 1 to 1.2 s) is not certified' in result.message
    assert loop.mode == 'identified'


def along_a_joint_trajectory(loop, kind):
    """As MoveIt asks for one; each way it may end has its number."""
    from control_msgs.msg import JointTolerance

    follow, done = Client(loop, kind, 'follow_joint_trajectory'), kind.Result
    first, second = place(loop)

    def outcome(*points, **more):
        goal = kind.Goal(trajectory=path_of(*points), **more)
        return follow.outcome(follow.send(goal))

    def tolerated(position):
        return [JointTolerance(name=NAMES[1], position=position)]

    way = (0.8, first - 0.1, second), (1.6, first - 0.2, second + 0.1)
    fine = {'path_tolerance': tolerated(0.05), 'goal_tolerance': tolerated(0.05)}
    status, result = outcome(*way, **fine)
    assert (status, result.error_code) == (SUCCEEDED, done.SUCCESSFUL), result.error_string
    assert np.abs(place(loop) - way[-1][1:]).max() < NEAR
    told = follow.feedback[-1]
    assert list(told.joint_names) == NAMES
    error = np.array(told.desired.positions) - np.array(told.actual.positions)
    assert np.array_equal(told.error.positions, error)
    assert np.abs(error).max() < NEAR

    first, second = place(loop)
    back = (1.0, first + 0.1, second), (2.0, first + 0.2, second)
    status, result = outcome(*back, path_tolerance=tolerated(1e-12))
    assert (status, result.error_code) == (ABORTED, done.PATH_TOLERANCE_VIOLATED)
    assert f'{NAMES[1]} is ' in result.error_string
    assert np.abs(loop.samples[-1].velocity).max() < NEAR
    assert loop.mode == 'holding'

    there = (*way[-1][:1], *place(loop))
    hasty = (1.0, *place(loop)), (1.1, there[1], there[2] + 1.5)
    for points, more, code in (
        (hasty, {}, done.INVALID_GOAL),
        ((), {}, done.INVALID_GOAL),
        (back, {'path_tolerance': [JointTolerance(name='nobody')]}, done.INVALID_JOINTS),
    ):
        status, result = outcome(*points, **more)
        assert (status, result.error_code) == (ABORTED, code), result.error_string
    old = kind.Goal(trajectory=path_of(*back))
    old.trajectory.header.stamp.nanosec = 1
    status, result = follow.outcome(follow.send(old))
    assert (status, result.error_code) == (ABORTED, done.OLD_HEADER_TIMESTAMP)
    stamped_by_the_clock_of_the_arm(loop, follow, kind)


def stamped_by_the_clock_of_the_arm(loop, follow, kind):
    """In lockstep that is simulated time; the clock on the wall is another one."""
    first, second = place(loop)
    goal = kind.Goal(trajectory=path_of((4.0, first - 0.1, second)))
    goal.trajectory.header.stamp = time_of(stamp_of(loop.samples[-1].header.stamp) + SECOND // 5)
    status, result = follow.outcome(follow.send(goal))
    assert (status, result.error_code) == (SUCCEEDED, kind.Result.SUCCESSFUL), result.error_string
    goal.trajectory.header.stamp = time_of(time.time_ns())
    status, result = follow.outcome(follow.send(goal))
    assert (status, result.error_code) == (ABORTED, kind.Result.INVALID_GOAL)
    assert 'by joint_states it is' in result.error_string


def ousted_by_another_goal(loop, go_to, kind):
    """Somebody else has the arm go elsewhere: it gets there, and whoever asked first is told."""
    goals = loop.create_publisher(JointState, 'goal', 10)
    loop.wait(lambda: goals.get_subscription_count() > 0, 'the planner listens')
    goal = go_to.send(kind.Goal(joints=joint_goal(*FAR)))
    loop.wait(lambda: loop.mode == 'task', 'the goal begins the task')
    first, second = place(loop)
    goals.publish(joint_goal(first + 0.4, second))
    status, result = go_to.outcome(goal)
    assert (status, result.success) == (ABORTED, False)
    assert 'took its place; the arm is at rest' in result.message
    assert np.isnan(result.distance)
    assert loop.mode == 'identified'
    assert np.abs(place(loop) - FAR).max() > 2.0 * NEAR


def taken_back_in_motion(loop, go_to, kind):
    goal = go_to.send(kind.Goal(joints=joint_goal(*FAR)))
    loop.wait(
        lambda: loop.mode == 'task' and np.abs(loop.samples[-1].velocity).max() > 0.1, 'it moves'
    )
    plan = loop.plans[-1]
    cancelled = goal.cancel_goal_async()
    loop.wait(cancelled.done, 'the request is taken')
    status, result = go_to.outcome(goal)
    assert (status, result.success) == (CANCELED, False), result.message
    assert loop.mode == 'holding'
    followed = [plan, *loop.plans[loop.plans.index(plan) :]]
    assert np.abs(place(loop) - FAR).max() > 2.0 * NEAR
    ends = [np.array(each.points[-1].positions) for each in followed if each.points]
    assert np.abs(place(loop) - ends[-1]).max() < NEAR
    still = place(loop)
    count = len(loop.samples)
    loop.wait(lambda: len(loop.samples) > count + 200, 'time goes on')
    assert np.abs(place(loop) - still).max() < 0.01


def learned_to_what_is_wanted(loop, identify, kind):
    estimates = []
    loop.create_subscription(Float64MultiArray, 'parameter_estimate', estimates.append, 1)
    status, result = identify.outcome(identify.send(kind.Goal(half_widths=[-1.0])))
    assert (status, 'none of them negative' in result.message) == (ABORTED, True)
    status, result = identify.outcome(identify.send(kind.Goal(half_widths=[1e-9], time_limit=0.5)))
    assert status == ABORTED
    assert 'time is up' in result.message
    assert 'm is known to' in result.message
    half = 0.5 * (result.upper[0] - result.lower[0])
    assert result.lower[0] <= result.nominal[0] <= result.upper[0]
    status, result = identify.outcome(identify.send(kind.Goal(half_widths=[1.1 * half])))
    assert (status, result.success) == (SUCCEEDED, True), result.message
    assert 0.5 * (result.upper[0] - result.lower[0]) <= 1.1 * half


@pytest.mark.slow
def test_a_planner_that_is_killed_while_identify_learns_is_told_again_what_is_wanted(tmp_path):
    settings = changed_settings(tmp_path, 'two_link', **LEARNING)
    with (
        importable('safe_sysid_interfaces', ROOT),
        observed() as loop,
        running('builtin_sim', '--config', settings, '--lockstep') as run,
    ):
        from safe_sysid_interfaces.action import Identify

        identify = Client(loop, Identify, 'identify')
        loop.wait(lambda: loop.mode == 'identified', 'it has learned', COMPILING)
        goal = identify.send(Identify.Goal(half_widths=[1e-9]))
        loop.wait(lambda: loop.mode == 'exciting', 'it learns')
        before = pid(run, 'planner')
        os.kill(before, signal.SIGKILL)
        loop.wait(
            lambda: (
                int(loop.conditions['planner'].pid) != before
                and planner_says(loop, LEARNS_TO) == '[1e-09]'
            ),
            'another planner learns to the same',
            COMPILING,
        )
        loop.wait(goal.cancel_goal_async().done, 'the request is taken')
        assert identify.outcome(goal)[0] == CANCELED


HERE, THERE = [1.3, 0.3], [0.2, 0.6]  # [rad]
BETWEEN, HALF = [0.438, 0.0, 0.645], 0.05  # [m] a box that the straight way meets


def show_box(publisher):
    marker = Marker(ns='cell', id=1, type=Marker.CUBE)
    marker.header.frame_id = 'base_link'
    marker.pose.orientation.w = 1.0
    marker.pose.position.x, marker.pose.position.y, marker.pose.position.z = BETWEEN
    marker.scale.x = marker.scale.y = marker.scale.z = 2.0 * HALF
    greet(publisher, MarkerArray(markers=[marker]))


@pytest.mark.nightly
def test_a_user_learns_goes_around_what_appears_and_changes_the_payload(tmp_path):
    box = Obstacles.of({'box': Box(np.array(BETWEEN), np.full(3, HALF), np.eye(3))})
    with importable('safe_sysid_interfaces', ROOT):
        from safe_sysid_interfaces.action import GoTo, Identify

        with loop_that_has_learned(tmp_path) as loop:
            identify, go_to = Client(loop, Identify, 'identify'), Client(loop, GoTo, 'go_to')
            known_to(identify, Identify, 0.3)
            reached(loop, go_to, GoTo, HERE)

            scene = loop.create_publisher(MarkerArray, 'obstacles', 10)
            show_box(scene)
            loop.wait(lambda: planner_says(loop, 'obstacles') == '1', 'the box is known')
            before = len(loop.samples)
            reached(loop, go_to, GoTo, THERE)
            for sample in loop.samples[before:]:
                assert arm_clearance(MODEL, box, np.array(sample.position)).distance > 0.0
            goal = go_to.send(GoTo.Goal(joints=joint_goal(*HERE)))
            loop.wait(lambda: loop.mode == 'task', 'the way back begins')
            loop.wait(goal.cancel_goal_async().done, 'the request is taken')
            assert go_to.outcome(goal)[0] == CANCELED

            assert loop.call('supervisor/new_payload').success
            known_to(identify, Identify, 0.3)
            reached(loop, go_to, GoTo, HERE)
            for sample in loop.samples[before:]:
                assert arm_clearance(MODEL, box, np.array(sample.position)).distance > 0.0


def known_to(identify, kind, half_width):
    """The mass is learned as well as wanted, once the identifier knows of a new payload."""
    for _ in range(TRIES):
        goal = identify.send(kind.Goal(half_widths=[half_width], time_limit=600.0))
        status, result = identify.outcome(goal)
        if 'has to wait until the identifier' not in result.message:
            break
    assert (status, result.success) == (SUCCEEDED, True), result.message
    assert 0.5 * (result.upper[0] - result.lower[0]) <= half_width


def reached(loop, go_to, kind, place_wanted):
    """The arm is where it was sent."""
    status, result = go_to.outcome(go_to.send(kind.Goal(joints=joint_goal(*place_wanted))))
    assert (status, result.success) == (SUCCEEDED, True), result.message
    assert np.abs(place(loop) - place_wanted).max() < NEAR
