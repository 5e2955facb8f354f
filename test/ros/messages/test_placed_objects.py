"""What the supervisor shows of placed objects is what the planner avoids, over real topics."""

import time

import numpy as np
import pytest
import rclpy
from rclpy.node import Node
from visualization_msgs.msg import Marker, MarkerArray

from safe_sysid.model.collision.capsules_to_box import box_about
from safe_sysid.model.collision.shown_scene import ShownScene
from safe_sysid.model.frame_tree import FrameTree
from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.ros.messages import placed_objects
from safe_sysid.ros.messages.placed_objects import (
    OWN,
    PlacedObjects,
    PlacedSettings,
    placed_topic,
)
from safe_sysid.ros.messages.qos import STATE

SHAPES = ('dumbbell_8lb.dumbbell',)
ARM = RobotModel.named('two_link').with_payload(read_payload('dumbbell_8lb'))
Q, ELSEWHERE = np.array([1.0, 0.5]), np.array([-1.0, 0.5])
STAMP = 41_500_000_000  # [ns]
NAME, MORE = 'placed: object/41', 0.01


@pytest.fixture
def node_of(context):
    nodes = []

    def node(name, namespace='left'):
        nodes.append(Node(name, context=context, namespace=namespace))
        return nodes[-1]

    yield node
    for each in nodes:
        each.destroy_node()


def now():
    return STAMP


def planner_of(node, prefix='left/'):
    """What a planner hears, whose arm is one among others."""
    scene = ShownScene(FrameTree(f'{prefix}base_link', {}, 0.5), 0.2)
    return placed_topic(node, ARM, scene, prefix, now, lambda: None)


def until(nodes, condition):
    context, deadline = nodes[0].context, time.monotonic() + 30.0
    executor = rclpy.executors.SingleThreadedExecutor(context=context)
    for node in nodes:
        executor.add_node(node)
    while not condition():
        assert time.monotonic() < deadline, 'waited 30 s'
        executor.spin_once(timeout_sec=0.1)
    executor.shutdown()


def test_what_is_put_is_avoided_where_it_is_until_it_is_in_the_hand(node_of):
    planner, supervisor = node_of('planner'), node_of('supervisor')
    topic = planner_of(planner)
    placed = PlacedObjects(supervisor, ARM, SHAPES, PlacedSettings(MORE))
    assert placed.put(Q, STAMP) == NAME
    both = [planner, supervisor]
    until(both, lambda: NAME in topic.boxes)
    avoided, about = topic.boxes[NAME], box_about(ARM, SHAPES, Q)
    np.testing.assert_allclose(avoided.center, about.center, atol=1e-9)
    np.testing.assert_allclose(avoided.half_sizes, about.half_sizes + MORE, atol=1e-9)
    np.testing.assert_allclose(avoided.rotation, about.rotation, atol=1e-9)
    assert topic.is_settled

    second = placed.put(ELSEWHERE, STAMP)
    assert second == 'placed: object/42'
    until(both, lambda: second in topic.boxes)
    assert topic.boxes[NAME] is avoided  # plans that leave it hold on

    assert placed.take(Q) == [NAME]
    until(both, lambda: NAME not in topic.boxes)
    assert list(topic.boxes) == [second]
    assert placed.take(Q) == []


def test_what_is_lent_is_not_shown_until_it_is_given_back_where_it_was(node_of):
    planner, supervisor = node_of('planner'), node_of('supervisor')
    topic, both = planner_of(planner), [planner, supervisor]
    placed = PlacedObjects(supervisor, ARM, SHAPES, PlacedSettings())
    placed.put(Q, STAMP)
    until(both, lambda: NAME in topic.boxes)
    before = topic.boxes[NAME]
    assert not placed.lend('placed: object/42')
    assert placed.lend(NAME)
    assert not placed.lend(NAME)
    assert not placed.knows(NAME)
    assert placed.put(ELSEWHERE, STAMP) == 'placed: object/42'
    until(both, lambda: list(topic.boxes) == ['placed: object/42'])
    placed.give_back(NAME)
    until(both, lambda: NAME in topic.boxes)
    assert placed.knows(NAME)
    again = topic.boxes[NAME]
    np.testing.assert_array_equal(again.center, before.center)
    np.testing.assert_array_equal(again.half_sizes, before.half_sizes)
    assert placed.take(Q) == [NAME]


def test_what_comes_back_at_once_is_not_forgotten_by_its_own_old_message(node_of):
    """The message that took it away is heard by its supervisor after it was given back."""
    planner, supervisor = node_of('planner'), node_of('supervisor')
    topic = planner_of(planner)
    placed = PlacedObjects(supervisor, ARM, SHAPES, PlacedSettings())
    placed.put(Q, STAMP)
    heard = []
    supervisor.create_subscription(MarkerArray, 'placed', heard.append, STATE)
    until([planner, supervisor], lambda: NAME in topic.boxes and heard)
    placed.lend(NAME)
    gone = [Marker(ns='object', id=41, action=Marker.DELETE, text=OWN)]
    placed.give_back(NAME)
    placed._hear(MarkerArray(markers=gone))
    placed.put(ELSEWHERE, STAMP)
    until([planner, supervisor], lambda: 'placed: object/42' in topic.boxes)
    assert NAME in topic.boxes


@pytest.mark.parametrize('action', [Marker.DELETE, Marker.DELETEALL])
def test_what_somebody_takes_away_while_it_is_lent_does_not_come_back(node_of, action):
    placed = PlacedObjects(node_of('supervisor'), ARM, SHAPES, PlacedSettings())
    placed.put(Q, STAMP)
    placed.lend(NAME)
    placed._hear(MarkerArray(markers=[Marker(ns='object', id=41, action=action)]))
    placed.give_back(NAME)
    assert not placed._there


def test_a_planner_that_comes_later_waits_for_it_and_anybody_may_take_it_away(node_of):
    supervisor, person = node_of('supervisor'), node_of('person')
    placed = PlacedObjects(supervisor, ARM, SHAPES, PlacedSettings())
    name = placed.put(Q, STAMP)
    later = node_of('planner')
    topic = planner_of(later)
    everybody = [supervisor, person, later]
    until(everybody, lambda: later.count_publishers('placed') > 0 or name in topic.boxes)
    until(everybody, lambda: name in topic.boxes)
    away = person.create_publisher(MarkerArray, 'placed', STATE)
    away.publish(MarkerArray(markers=[Marker(ns='object', id=41, action=Marker.DELETE)]))
    until(everybody, lambda: name not in topic.boxes and not placed.take(Q))
    placed.put(ELSEWHERE, STAMP)
    until(everybody, lambda: list(topic.boxes) == ['placed: object/42'])


def test_what_somebody_took_away_is_gone_for_who_comes_later(node_of):
    """Also where whoever took it away has left, with the message that said so."""
    supervisor, person = node_of('supervisor'), node_of('person')
    placed = PlacedObjects(supervisor, ARM, SHAPES, PlacedSettings())
    placed.put(Q, STAMP)
    away = person.create_publisher(MarkerArray, 'placed', STATE)
    away.publish(MarkerArray(markers=[Marker(action=Marker.DELETEALL)]))
    until([supervisor, person], lambda: not placed._there)
    person.destroy_publisher(away)
    (only,) = told(supervisor, node_of('planner')).markers
    assert (only.action, only.id) == (Marker.DELETE, 41)


def test_messages_do_not_grow_with_what_is_gone(node_of, monkeypatch):
    monkeypatch.setattr(placed_objects, 'LATELY', 10)
    supervisor = node_of('supervisor')
    placed = PlacedObjects(supervisor, ARM, SHAPES, PlacedSettings())
    for second in range(20):
        placed.put(Q, second * 10**9)
        assert placed.take(Q)
    gone = [marker.id for marker in told(supervisor, node_of('planner')).markers]
    assert gone == list(range(10, 20))


def test_what_another_arm_has_placed_is_in_a_frame_of_its_own(node_of):
    """Where somebody remaps the topic, it is not taken to be in the base of this arm."""
    other = node_of('supervisor', 'right')
    planner = node_of('planner', 'right')
    topic = placed_topic(
        planner, ARM, ShownScene(FrameTree('base_link', {}, 0.5), 0.0), '', now, lambda: None
    )
    placed = PlacedObjects(other, ARM, SHAPES, PlacedSettings())
    placed.put(Q, STAMP)
    until([other, planner], lambda: NAME in topic.boxes)
    stranger = node_of('planner', 'left')
    there = ShownScene(FrameTree('base_link', {}, 0.5), 0.0)
    placed_topic(stranger, ARM, there, '', now, lambda: None)._hear(told(other, planner))
    assert not there.is_settled
    assert not there.boxes


def told(*nodes):
    """Return the newest message of a supervisor."""
    messages = []
    nodes[1].create_subscription(MarkerArray, 'placed', messages.append, STATE)
    until(list(nodes), lambda: messages and messages[-1].markers)
    return messages[-1]


def test_nothing_is_invented_where_nobody_has_stated_a_shape(node_of):
    bare = RobotModel.named('two_link')
    assert not PlacedObjects(node_of('supervisor'), bare, (), PlacedSettings()).has_shape
    placed = PlacedObjects(node_of('other'), ARM, SHAPES, PlacedSettings())
    assert placed.has_shape
