"""Clouds and maps replace each other: of one node, in order, and where they can be read."""

import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node as RosNode
from ros.messages.test_scene_topics import (
    NOW,
    PLACES,
    Node,
    cloud,
    nothing_held,
    octomap_of,
    points_of,
    scene,
)
from ros.messages.test_waiting_markers import TOLD, until
from sensor_msgs.msg import PointCloud2

from safe_sysid.measure.arm_clock import ArmClock
from safe_sysid.measure.stamp_ages import StampAges
from safe_sysid.ros.messages.codec import time_of
from safe_sysid.ros.messages.scene_topics import POINTS, PointSettings, scene_topics
from safe_sysid.ros.process.distributions import single_threaded_executor


def test_clouds_of_two_cameras_replace_each_other_so_nothing_is_known():
    node = Node()
    points = points_of(node)
    node.hear[POINTS](cloud())
    node.there.append(b'other')
    node.hear[POINTS](cloud())
    assert points.is_settled  # it may be there, and say nothing
    node.publisher = b'other'
    node.hear[POINTS](cloud())
    for node.publisher in (b'other', b'camera'):
        assert not points.is_settled
        assert 'several nodes publish on topic obstacle_points' in points.unclear
        node.hear[POINTS](cloud())
    node.there.remove(b'other')
    node.hear[POINTS](cloud())
    assert (points.is_settled, points.unclear) == (True, '')


def test_who_shows_once_and_was_started_again_is_one_once_the_middleware_knows():
    """A server of maps says nothing more; the one that died is forgotten later."""
    node = Node()
    points = points_of(node)
    node.hear[POINTS](cloud())
    node.there, node.publisher = [b'camera', b'again'], b'again'
    node.hear[POINTS](cloud())
    points.settle()
    assert not points.is_settled
    node.there = [b'camera']  # who has not shown what is shown now
    points.settle()
    assert not points.is_settled
    node.there = [b'again']
    points.settle()
    assert (points.is_settled, points.unclear) == (True, '')


def test_a_camera_that_begins_anew_is_one_camera():
    node = Node()
    points = points_of(node)
    node.hear[POINTS](cloud())
    node.there, node.publisher = [b'again'], b'again'
    node.hear[POINTS](cloud())
    assert (points.is_settled, points.unclear) == (True, '')


def test_a_cloud_that_comes_after_a_newer_one_does_not_count():
    node = Node()
    points = points_of(node)

    def show(stamp, points):
        msg = cloud(points)
        msg.header.stamp = time_of(stamp)
        node.hear[POINTS](msg)

    show(NOW, PLACES)
    show(NOW - 100_000_000, np.zeros((0, 3)))
    assert len(points.boxes) == 2
    show(NOW + 100_000_000, np.zeros((0, 3)))
    assert len(points.boxes) == 0


def test_another_camera_with_a_slower_clock_counts_once_the_first_has_gone():
    node = Node()
    points = points_of(node)
    for stamp, shown, node.publisher in (
        (NOW, PLACES, b'camera'),
        (NOW - 1, PLACES[:0], b'other'),
    ):
        node.there = [b'camera', b'other']
        msg = cloud(shown)
        msg.header.stamp = time_of(stamp)
        node.hear[POINTS](msg)
    assert not points.is_settled
    node.there = [b'other']
    points.settle()
    assert (points.is_settled, len(points.boxes)) == (True, 0)


def map_topics(monkeypatch, node, installed):
    """Topics where messages of octomaps are installed, or are not."""
    found = SimpleNamespace(Octomap=object)
    monkeypatch.setitem(sys.modules, 'octomap_msgs', SimpleNamespace(msg=found))
    monkeypatch.setitem(sys.modules, 'octomap_msgs.msg', found if installed else None)
    ages = StampAges(ArmClock(lambda: node.now), old=1.0, ahead=0.5, patience=0.2)
    return scene_topics(node, node, PointSettings(), scene, nothing_held, ages, lambda: None)


def test_an_older_map_does_not_replace_a_newer_one(monkeypatch):
    node = Node()
    _, octomap, *_ = map_topics(monkeypatch, node, installed=True)
    occupied, empty = octomap_of(b'\xaa\xaa'), octomap_of(b'')
    for told, stamp in ((occupied, NOW), (empty, NOW - 400_000_000)):
        told.header.stamp = time_of(stamp)
        node.hear['octomap'](told)
    assert octomap.boxes
    empty.header.stamp = time_of(NOW + 1)
    node.hear['octomap'](empty)
    assert not octomap.boxes


@pytest.mark.parametrize('topic', ['octomap', 'planning_scene'])
def test_what_nobody_can_read_leaves_nothing_known(monkeypatch, topic):
    node = Node()
    monkeypatch.setitem(sys.modules, 'moveit_msgs.msg', None)
    topics = map_topics(monkeypatch, node, installed=False)
    assert all(each.is_settled for each in topics)
    node.counted, node.publishers = [topic], 1
    for each in topics:
        each._looked = -1.0
        each.settle()
    (unread,) = [each for each in topics if not each.is_settled]
    assert f'somebody publishes on topic {topic}, and' in unread.unclear
    assert 'is not installed here' in unread.unclear


@TOLD
@pytest.mark.parametrize('executors', [single_threaded_executor, SingleThreadedExecutor])
def test_two_who_publish_over_the_middleware_are_noticed_and_one_who_is_left_counts(
    context, executors
):
    planner, camera, other = (RosNode(name, context=context) for name in ('p', 'camera', 'other'))
    executor = executors(context=context)
    executor.add_node(planner)
    try:
        ages = StampAges(ArmClock(time.time_ns), old=1.0, ahead=0.5, patience=0.2)
        rest = scene, nothing_held, ages, lambda: None
        points, *_ = scene_topics(planner, planner, PointSettings(), *rest)
        shows = [each.create_publisher(PointCloud2, POINTS, 10) for each in (camera, other)]

        def shown(count, happens):
            def look():
                for each in shows[:count]:
                    each.publish(cloud())
                executor.spin_once(timeout_sec=0.05)
                points.settle()
                return happens()

            until(look)

        shown(1, lambda: len(points.boxes) == 2 and points.is_settled)
        shown(2, lambda: 'several nodes publish' in points.unclear)
        other.destroy_publisher(shows.pop())
        shown(1, lambda: points.is_settled)
    finally:
        executor.shutdown()
        for each in (planner, camera, other):
            each.destroy_node()
