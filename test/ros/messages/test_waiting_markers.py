"""Markers that wait are taken together, from real publishers of every kind."""

import time
from types import SimpleNamespace

import pytest
from rclpy import subscription
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from visualization_msgs.msg import Marker, MarkerArray

from safe_sysid.ros.messages import waiting_markers
from safe_sysid.ros.messages.told_messages import MOST
from safe_sysid.ros.messages.waiting_markers import WaitingMarkers

VOLATILE = QoSProfile(depth=10)
LATCHED = QoSProfile(depth=5000, durability=DurabilityPolicy.TRANSIENT_LOCAL)
TOLD = pytest.mark.skipif(
    'publisher_gid'
    not in vars(vars(subscription).get('MessageInfo', object)).get('__annotations__', {}),
    reason='rclpy before Kilted does not tell of whom a message is (docs/ros.md, "Obstacles")',
)
BEST_EFFORT = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)


@pytest.fixture
def node(context):
    node = Node('planner', context=context)
    yield node
    node.destroy_node()


@pytest.fixture
def somebody(context):
    node = Node('somebody', context=context)
    yield node
    node.destroy_node()


@pytest.fixture
def waiting(node):
    waiting = WaitingMarkers(node, 'obstacles')
    yield waiting
    waiting.close()


def shows(somebody, qos):
    """Somebody who is heard."""
    publisher = somebody.create_publisher(MarkerArray, 'obstacles', qos)
    wanted = 2 if qos is LATCHED else 1
    until(lambda: publisher.get_subscription_count() >= wanted)
    return publisher


def until(happens):
    end = time.monotonic() + 30
    while not happens():
        assert time.monotonic() < end
        time.sleep(0.01)


def cubes(*numbers):
    return MarkerArray(markers=[Marker(ns='cell', id=number) for number in numbers])


def collected(waiting, enough):
    """What was taken until that is enough, as the ids of what stands."""
    stands = {}

    def take():
        for marker in waiting.take() or []:
            if marker.action == Marker.DELETEALL:
                stands.clear()
            else:
                stands[marker.id] = marker
        return enough(stands)

    until(take)
    return set(stands)


@pytest.mark.parametrize('since', [0.0, 0.5])
@pytest.mark.parametrize(('own', 'known_after'), [('', 3.0), ('7', 0.9), ('8', 3.0)])
def test_who_publishes_is_not_known_before_it_can_be(own, known_after, since, node, monkeypatch):
    """Fast DDS says every 3 s who is there; in a domain that a run has chosen nobody was.

    The time counts from when the node was made, or where it does not say, from now on.
    """
    now = SimpleNamespace(seconds=100.0)
    if since:
        node.made = now.seconds - since
    clock = SimpleNamespace(monotonic=lambda: now.seconds, sleep=None)
    monkeypatch.setattr(waiting_markers, 'time', clock)
    monkeypatch.setenv('ROS_DOMAIN_ID', '7')
    monkeypatch.setenv('SAFE_SYSID_OWN_DOMAIN', own)
    waiting = WaitingMarkers(node, 'obstacles')
    try:
        now.seconds += known_after - since
        waiting.settle()
        assert not waiting.is_discovered
        now.seconds += 1.0
        waiting.settle()
        assert waiting.is_discovered
    finally:
        waiting.close()


def test_of_thousands_that_are_kept_none_is_lost(somebody, node):
    """More than a thousand, and more than one look takes; the last of them takes all away."""
    publisher = somebody.create_publisher(MarkerArray, 'obstacles', LATCHED)
    for number in range(3000):
        publisher.publish(cubes(number))
    waiting = WaitingMarkers(node, 'obstacles')
    try:
        until(lambda: publisher.get_subscription_count() == 2)
        assert collected(waiting, lambda stands: len(stands) == 3000) == set(range(3000))
        assert not waiting.unclear
    finally:
        waiting.close()


def test_what_is_kept_and_old_takes_nothing_newer_away(somebody, waiting):
    """All that somebody kept comes before what another one has shown since."""
    kept, live = shows(somebody, LATCHED), shows(somebody, VOLATILE)
    for number in range(2 * MOST):
        kept.publish(cubes(number))
    kept.publish(MarkerArray(markers=[Marker(action=Marker.DELETEALL)]))
    time.sleep(0.02)  # stamps of what comes differ
    live.publish(cubes(7777))
    assert collected(waiting, lambda stands: set(stands) == {7777}) == {7777}
    for _ in range(20):
        assert waiting.take() is None or waiting.take() == []


@TOLD
def test_who_leaves_at_once_is_heard_beside_one_who_stays(somebody, context, waiting):
    shows(somebody, LATCHED).publish(cubes(0))
    for number in range(1, 9):
        visitor = Node(f'visitor_{number}', context=context)
        publisher = visitor.create_publisher(MarkerArray, 'obstacles', VOLATILE)
        until(lambda publisher=publisher: publisher.get_subscription_count() >= 1)
        publisher.publish(cubes(number))
        visitor.destroy_node()
    assert collected(waiting, lambda stands: len(stands) == 9) == set(range(9))


@TOLD
def test_everybody_who_was_there_is_awaited_by_name(somebody, context, waiting):
    other = Node('other', context=context)
    first, second = shows(somebody, VOLATILE), shows(other, VOLATILE)
    waiting.discover()
    assert '/somebody and /other' in waiting.awaited or '/other and /somebody' in waiting.awaited
    first.publish(cubes(0))
    collected(waiting, lambda stands: 0 in stands)
    waiting.settle()
    assert waiting.awaited.startswith('/other publishes on topic obstacles and nothing has come')
    second.publish(MarkerArray())  # nothing is something, too
    until(lambda: waiting.take() is not None)
    waiting.settle()
    assert not waiting.awaited
    other.destroy_node()


def test_who_offers_best_effort_is_named(somebody, waiting):
    publisher = somebody.create_publisher(MarkerArray, 'obstacles', BEST_EFFORT)

    def named():
        waiting.settle()
        return '/somebody offers best effort' in waiting.unclear

    until(named)
    somebody.destroy_publisher(publisher)

    def forgotten():
        waiting.settle()
        return not waiting.unclear

    until(forgotten)


def test_no_look_counts_before_the_middleware_has_had_its_time(waiting):
    waiting.settle()
    assert not waiting.is_discovered
    waiting.discover()
    assert waiting.is_discovered
