"""Goals of somebody else: every one is answered under its stamp, also what nobody can read."""

from types import SimpleNamespace

from geometry_msgs.msg import PoseStamped
import numpy as np
from plan.kinova_problem import estimate_of
import pytest
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from safe_sysid.errors import ConfigError
from safe_sysid.model.collision.obstacles import NO_OBSTACLES
from safe_sysid.model.frame_tree import FrameTree
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.mission import Mission, MissionSettings
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.reach.problem import Problem
from safe_sysid.ros.messages.codec import time_of
from safe_sysid.ros.messages.request_topics import (
    ANSWERED,
    GOAL,
    GOAL_POSE,
    LEARNS_TO,
    PATH,
    REFUSED,
    TAKEN,
    WAITING,
    WANTED,
)
from safe_sysid.ros.messages.requested_goals import RequestedGoals
from safe_sysid.ros.process.planner_settings import PoseSettings
from safe_sysid.track.gains import Gains
from safe_sysid.track.supervisor import Mode
from safe_sysid.trajectory.bezier import Bezier

MODEL = RobotModel.named('two_link')
FIRST, SECOND = MODEL.layout.joint_names
HERE, STAMP = np.array([0.3, 0.4]), 5_000_000_007
GAINS = Gains(K_r=np.full(2, 5.0), V_M=0.002, alpha=25.0)


def problem():
    """Of plans with an arm that is known to 5 %."""
    still = np.zeros(2)
    horizon = Horizon(Bezier(HERE, still, still, 3.0), still, still, 1)
    return Problem(MODEL, estimate_of(MODEL), horizon, GAINS, NO_OBSTACLES)


class Asked:
    """Goals of a node by hand, whose planner has nothing else to do."""

    def __init__(self):
        self._hear, self.complaints, self.warnings = {}, [], []
        self.waiting = None  # what has to wait for a search; None: nothing has to
        learned = MissionSettings(exciting=0)
        self.task = Mission(MODEL, None, learned)
        missions = {Mode.TASK.value: self.task, Mode.EXCITING.value: self.task}
        frames = FrameTree('base_link', {}, 0.5)
        self.scene = scene = SimpleNamespace(boxes={}, frames=frames, now=lambda: STAMP)
        self.goals = RequestedGoals(MODEL, missions, PoseSettings(), scene, problem)
        self.goals.note_position(HERE, STAMP)
        self.announced = []
        told = lambda: self.announced.append(self.goals.figures()[WAITING])  # noqa: E731
        self.goals.listen(self, self, self.complaints.append, told)
        self.session = SimpleNamespace(mode=Mode.IDENTIFIED.value)

    def create_subscription(self, message, topic, hear, qos):
        del message, qos
        self._hear[topic] = hear

    def get_clock(self):
        return SimpleNamespace(now=lambda: SimpleNamespace(nanoseconds=STAMP))

    def get_logger(self):
        return SimpleNamespace(warning=self.warnings.append)

    def turn_missions(self, ask, then):
        if self.waiting is None:
            ask()()
            then()
        else:
            self.waiting.append(ask)

    def go_on(self):
        """Do what had to wait for a search."""
        for ask in self.waiting:
            ask()()
        self.waiting.clear()
        return self.goals.figures()

    def told(self, topic, msg, stamp=STAMP):
        """Figures once a message was heard."""
        msg.header.stamp = time_of(stamp)
        self._hear[topic](msg)
        return self.goals.figures()

    def is_taken(self, topic, msg):
        figures = self.told(topic, msg)
        assert figures[ANSWERED] == str(STAMP)
        return figures[TAKEN] == str(STAMP)

    def refusal(self, topic, msg):
        figures = self.told(topic, msg)
        assert figures[ANSWERED] == str(STAMP)
        stamp, _, reason = figures[REFUSED].partition(' ')
        assert (stamp, figures[TAKEN], self.task.has_goal) == (str(STAMP), '', False)
        return reason


@pytest.mark.parametrize('when', ['at the start', 'at run time'])
def test_a_link_that_the_arm_has_not_is_refused_with_those_it_has(when):
    other = PoseSettings(link='nolink')
    moved = [name for name, frame in MODEL.frames.items() if frame.joint >= 0]
    with pytest.raises(ConfigError) as refused:
        if when == 'at the start':
            RequestedGoals(MODEL, {}, other, None, None)
        else:
            Asked().goals.read_poses_by(other)
    assert str(refused.value) == (
        f"pose.link: 'nolink' is no link that two_link moves; it has {moved}"
    )


def goal(names, positions):
    return JointState(name=names, position=positions)


def path(names, *points):
    msg = JointTrajectory(joint_names=names)
    for t, positions in enumerate(points):
        point = JointTrajectoryPoint(positions=positions)
        point.time_from_start.sec = t
        msg.points.append(point)
    return msg


def test_a_goal_names_each_joint_in_any_order():
    asked = Asked()
    assert asked.is_taken(GOAL, goal([SECOND, 'finger', FIRST], [0.9, 0.0, 0.4]))
    np.testing.assert_allclose(asked.task.distance(np.array([0.4, 0.9])), 0.0, atol=1e-15)


def test_a_goal_that_comes_again_is_answered_under_its_own_stamp_and_changes_nothing():
    asked = Asked()
    assert asked.is_taken(GOAL, goal([FIRST, SECOND], [0.4, 0.9]))
    wish = asked.task.wish(HERE)
    again = asked.told(GOAL, goal([SECOND, FIRST], [0.9, 0.4]), STAMP + 1)
    assert (again[ANSWERED], again[TAKEN]) == (str(STAMP + 1), str(STAMP + 1))
    assert asked.task.wish(HERE) == wish
    asked.told(GOAL, goal([FIRST, SECOND], [0.4, 0.8]), STAMP + 2)
    assert asked.task.wish(HERE) != wish


def pose(x, z):
    msg = PoseStamped()
    msg.header.frame_id, msg.pose.orientation.w = 'base_link', 0.0
    msg.pose.position.x, msg.pose.position.z = x, z
    return msg


@pytest.mark.parametrize('topic', [GOAL, PATH])
@pytest.mark.parametrize('is_seen', [True, False], ids=['seen', 'not seen'])
def test_a_goal_is_taken_away_also_under_its_own_stamp(topic, is_seen):
    asked = Asked()
    assert asked.is_taken(GOAL, goal([FIRST, SECOND], [0.4, 0.9]))
    if not is_seen:
        asked.goals.note_position(None)
    figures = asked.told(topic, JointState() if topic == GOAL else JointTrajectory())
    assert (figures[TAKEN], figures[REFUSED], asked.task.has_goal) == ('', '', False)
    assert figures[ANSWERED] == str(STAMP + 1)


@pytest.mark.parametrize(
    ('topic', 'other'), [(GOAL, goal([FIRST, SECOND], [0.4, 0.8])), (GOAL_POSE, pose(0.24, -0.32))]
)
def test_another_goal_of_the_same_stamp_is_followed_under_a_name_of_its_own(topic, other):
    asked = Asked()
    assert asked.is_taken(GOAL, goal([FIRST, SECOND], [0.4, 0.9]))
    wish = asked.task.wish(HERE)
    assert asked.told(topic, other)[TAKEN] == str(STAMP + 1)
    assert asked.task.wish(HERE) != wish
    wish = asked.task.wish(HERE)
    assert asked.told(topic, other)[TAKEN] == str(STAMP + 1)
    assert asked.task.wish(HERE) == wish
    assert asked.told(GOAL, goal([FIRST, SECOND], [0.5, 0.9]), STAMP + 1)[TAKEN] == str(STAMP + 2)
    assert asked.told(GOAL, goal([FIRST, SECOND], [0.4, 0.9]))[TAKEN] == str(STAMP)


def test_the_newest_message_told_again_is_not_even_looked_at(monkeypatch):
    asked, looks = Asked(), []
    assert asked.is_taken(GOAL, goal([FIRST, SECOND], [0.4, 0.9]))
    again = goal([FIRST, SECOND], [0.4, 0.9])
    monkeypatch.setattr(asked.goals, 'surroundings', lambda: looks.append(0))
    assert asked.is_taken(GOAL, again)
    assert not looks


def test_of_messages_without_a_stamp_each_counts_also_while_time_stands():
    asked = Asked()
    assert asked.told(GOAL, goal([FIRST, SECOND], [0.4, 0.9]), 0)[TAKEN] == str(STAMP)
    assert asked.told(GOAL, JointState(), 0)[TAKEN] == ''
    assert not asked.task.has_goal


def test_a_goal_at_a_joint_limit_is_refused_with_how_far_inside_it_has_to_be():
    upper = float(MODEL.limits.position_upper[0])
    said = Asked().refusal(GOAL, goal([FIRST, SECOND], [upper, 0.4]))
    assert said.startswith(f'{FIRST} is at {upper:.4g} rad, 0 rad inside its limit of')
    least = float(said.split('at least ')[1].split(' rad inside')[0])
    assert Asked().is_taken(GOAL, goal([FIRST, SECOND], [upper - least, 0.4]))


@pytest.mark.parametrize(
    ('names', 'positions', 'why'),
    [
        ([FIRST, SECOND], [1.0], 'has 2 names and 1 positions; every joint needs one'),
        ([], [1.0], 'has 0 names and 1 positions'),
        ([FIRST, SECOND, FIRST], [1.2, 0.4, -1.2], f"names ['{FIRST}'] more than once"),
        ([FIRST, FIRST], [1.0, 1.0], 'more than once'),
        ([FIRST], [1.0], f"has no ['{SECOND}']"),
    ],
)
def test_a_goal_that_cannot_be_read_is_refused_under_its_stamp(names, positions, why):
    asked = Asked()
    assert why in asked.refusal(GOAL, goal(names, positions))
    assert asked.complaints == []
    assert len(asked.warnings) == 1


@pytest.mark.parametrize(
    ('names', 'points', 'why'),
    [
        ([FIRST, SECOND, FIRST], ([0.3, 0.4, 0.3], [0.4, 0.4, -0.4]), 'more than once'),
        ([FIRST, SECOND], ([0.3, 0.4], []), 'point 2 of the path has 0 positions'),
        ([FIRST, SECOND], ([0.3, 0.4], [0.4]), 'one for each joint'),
    ],
)
def test_a_path_that_cannot_be_read_is_refused_under_its_stamp(names, points, why):
    assert why in Asked().refusal(PATH, path(names, *points))


WAY = [0.3, 0.4], [0.31, 0.41], [0.32, 0.4]  # a point each second


@pytest.mark.parametrize(
    ('since', 'why'),  # [s] from the newest joint state to the stamp of the path
    [
        (20.0, 'the path: it begins in 20 s, by joint_states it is 5.000 s'),
        (-3.0, 'ended 1 s ago'),
    ],
)
def test_a_path_of_another_time_is_refused(since, why):
    asked = Asked()
    stamp = STAMP + round(since * 1e9)
    figures = asked.told(PATH, path([FIRST, SECOND], *WAY), stamp)
    assert figures[ANSWERED] == str(stamp)
    assert why in figures[REFUSED]
    assert not asked.task.has_goal


@pytest.mark.parametrize('since', [-1.0, 0.0, 0.4])
def test_a_path_of_now_is_taken(since):
    asked = Asked()
    stamp = STAMP + round(since * 1e9)
    assert asked.told(PATH, path([FIRST, SECOND], *WAY), stamp)[TAKEN] == str(stamp)


def test_a_path_without_a_stamp_is_taken_whatever_time_it_is():
    asked = Asked()
    assert asked.told(PATH, path([FIRST, SECOND], *WAY), 0)[TAKEN] == str(STAMP)


def test_points_without_times_are_never_over():
    asked, way = Asked(), path([FIRST, SECOND], *WAY)
    for point in way.points:
        point.time_from_start.sec = 0
    assert asked.told(PATH, way, STAMP - 1)[TAKEN] == str(STAMP - 1)


def test_of_requests_that_wait_for_a_search_only_the_newest_is_looked_at(monkeypatch):
    """Poses out of reach, ten times a second, would keep a planner from anything else."""
    asked, looks = Asked(), []
    around = asked.goals.surroundings
    monkeypatch.setattr(asked.goals, 'surroundings', lambda: looks.append(0) or around())
    asked.waiting = []
    for number in range(100):
        figures = asked.told(GOAL, goal([FIRST, SECOND], [0.4, 0.01 * number]), STAMP + number)
    assert figures[WAITING].split() == [str(STAMP + number) for number in range(100)]
    assert asked.announced[0] == str(STAMP)  # at once; of many not all
    assert len(asked.announced) < 50
    assert (figures[ANSWERED], figures[TAKEN]) == ('', '')
    asked.waiting[0]()()
    assert asked.goals.figures()[REFUSED] == f'{STAMP} another request took its place'
    del asked.waiting[0]
    figures = asked.go_on()
    assert (figures[TAKEN], figures[REFUSED], figures[WAITING]) == (str(STAMP + 99), '', '')
    assert (len(looks), asked.warnings) == (1, [])


def test_a_goal_is_taken_away_after_one_that_waits():
    asked = Asked()
    asked.waiting = []
    asked.told(GOAL, goal([FIRST, SECOND], [0.4, 0.9]))
    asked.told(GOAL, JointState(), STAMP + 1)
    figures = asked.go_on()
    assert (figures[TAKEN], figures[ANSWERED], asked.task.has_goal) == ('', str(STAMP + 1), False)


def test_widths_that_are_taken_back_before_their_turn_are_wanted_no_more():
    asked = Asked()
    asked.waiting = []
    for data in ([0.3], [0.3], []):
        asked._hear[WANTED](Float64MultiArray(data=data))
    assert len(asked.waiting) == 2
    assert asked.go_on()[LEARNS_TO] == ''


@pytest.mark.parametrize('far', [1.797e308, -1e7])
def test_a_position_so_far_that_floats_tell_no_angle_is_refused(far):
    asked = Asked()
    assert '1e+06 is allowed' in asked.refusal(GOAL, goal([FIRST, SECOND], [0.4, far]))
