"""A cloud is of when its stamp says, by the clock of the arm, or of when it came."""

import pytest
from ros.messages.test_scene_topics import Node, cloud, nothing_held, scene

from safe_sysid.measure.arm_clock import ArmClock, standing
from safe_sysid.measure.stamp_ages import StampAges
from safe_sysid.ros.messages.codec import time_of
from safe_sysid.ros.messages.scene_topics import POINTS, PointSettings, scene_topics

WALL, SIMULATED = 1_763_744_000_000_000_000, 5_000_000_000  # [ns]
MS, S = 1_000_000, 1_000_000_000  # [ns]


class Camera:
    """What a planner knows of clouds, while samples and time are told by hand."""

    def __init__(self, steady=None):
        self.elapsed, self.node = 0, Node()
        self.clock = ArmClock(lambda: WALL + self.elapsed, steady or (lambda: self.elapsed))
        ages = StampAges(self.clock, old=1.0, ahead=0.5, patience=0.2)
        rest = scene, nothing_held, ages, lambda: None
        self.topic, *_ = scene_topics(self.node, self.node, PointSettings(), *rest)

    def sample(self, stamp):
        self.topic.shift(self.clock.note(stamp))

    def show(self, stamp, *points):
        msg = cloud(points) if points else cloud()
        msg.header.stamp = time_of(stamp)
        self.node.hear[POINTS](msg)
        self.topic.settle()

    def wait(self, elapsed):
        self.elapsed += elapsed
        self.topic.settle()

    @property
    def known(self):
        """Whether all is known, how much is shown, and what is said."""
        return self.topic.is_settled, len(self.topic.boxes), self.topic.unclear


@pytest.fixture
def camera():
    told = Camera()
    told.sample(SIMULATED)
    return told


def test_a_cloud_of_long_ago_is_not_known_however_often_it_is_sent(camera):
    stamp = camera.clock.now() - 3 * S
    for step in range(50):
        camera.show(stamp)
        assert camera.known[:2] == (False, 0)
        assert ('old by its stamp' in camera.topic.unclear) == (step >= 2)
        camera.wait(100 * MS)
    assert camera.topic.unclear.startswith('obstacle_points: what came last is 8 s old')
    assert 'scene.points.max_age allows 1 s' in camera.topic.unclear
    camera.show(camera.clock.now())
    assert camera.known == (True, 2, '')


def test_a_sensor_that_hangs_leaves_nothing_known_while_it_sends_the_same_again(camera):
    stamp = camera.clock.now()
    for _ in range(11):
        camera.show(stamp)
        assert camera.known == (True, 2, '')
        camera.wait(100 * MS)
    for _ in range(3):
        camera.show(stamp)
        assert camera.known[:2] == (False, 2)
        camera.wait(100 * MS)
    assert 'a sensor that hangs sends the same again' in camera.topic.unclear


def test_age_counts_from_a_stamp_before_the_arrival(camera):
    camera.show(camera.clock.now() - 600 * MS)
    camera.wait(390 * MS)
    assert camera.known == (True, 2, '')
    camera.wait(20 * MS)
    assert camera.known[:2] == (False, 2)
    assert 'what came last is 1.01 s old by its stamp' in camera.topic.unclear


def test_a_stamp_that_is_ahead_is_taken_once_the_clock_is_there(camera):
    camera.show(camera.clock.now() + 400 * MS)
    assert camera.known == (True, 2, '')
    camera.show(camera.clock.now() + 800 * MS, [1.0, 0.0, 0.0], [1.0, 0.0, 0.0])
    assert camera.known == (False, 2, '')
    camera.wait(250 * MS)
    assert not camera.topic.is_settled
    said = camera.topic.unclear
    assert said.startswith(
        'obstacle_points: the stamp of what came last is 0.55 s ahead of the clock of the arm; '
        'scene.frame_age allows 0.5 s'
    )
    camera.wait(100 * MS)
    assert camera.known == (True, 1, '')


@pytest.mark.parametrize('wrong', [-3600 * S, 3600 * S])
def test_nothing_is_shown_in_place_of_a_cloud_with_another_clock(camera, wrong):
    camera.show(camera.clock.now())
    camera.show(WALL + wrong, [1.0, 0.0, 0.0], [1.0, 0.0, 0.0])
    assert camera.known[:2] == (False, 2)
    camera.wait(200 * MS)
    assert 'by the clock that joint_states are stamped by' in camera.topic.unclear


def test_without_a_stamp_the_age_counts_from_the_arrival(camera):
    camera.show(0)
    camera.wait(990 * MS)
    assert camera.known == (True, 2, '')
    camera.wait(20 * MS)
    assert 'nothing has come for more than 1.0 s' in camera.topic.unclear


def test_stamps_say_nothing_before_the_clock_of_the_arm_is_known():
    camera = Camera()
    camera.show(SIMULATED)
    camera.wait(600 * MS)
    camera.sample(SIMULATED + 600 * MS)
    camera.wait(390 * MS)
    assert camera.known == (True, 2, '')
    camera.wait(20 * MS)
    assert not camera.topic.is_settled


def test_a_cloud_of_a_time_that_begins_anew_is_taken_when_the_clock_of_the_arm_has_jumped(camera):
    camera.sample(20 * S)
    camera.sample(20 * S + MS)
    camera.show(20 * S)
    assert camera.known == (True, 2, '')
    camera.show(10 * MS, [1.0, 0.0, 0.0], [1.0, 0.0, 0.0])
    assert camera.known == (False, 2, '')
    camera.sample(11 * MS)
    camera.sample(12 * MS)
    camera.wait(0)
    assert camera.known == (True, 1, '')


@pytest.mark.parametrize(
    ('steady', 'speed'), [(None, 0.1), (None, 1.0), (None, 10.0), (standing, 1.0)]
)
def test_a_camera_is_known_throughout_at_any_speed_of_time(steady, speed):
    """Samples every 10 ms, clouds every 100 ms, half a tenth late, by one clock."""
    camera = Camera(steady)
    for step in range(300):
        stamp = SIMULATED + step * 10 * MS
        camera.sample(stamp)
        if step % 10 == 5:
            camera.show(stamp - 50 * MS)
        camera.wait(round(10 * MS / speed))
        assert camera.topic.is_settled
        assert camera.topic.unclear == ''
