"""Differences of a scene that wait are taken together, and one that is lost is said."""

import time

import pytest
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.qos import QoSProfile
from ros.messages.test_scene_topics import (
    NOW,
    SOLIDS,
    collision_object,
    planning_scene,
    scene,
    told_one_after_the_other,
)
from ros.messages.test_waiting_markers import TOLD, until
from std_msgs.msg import String

from safe_sysid.ros.messages import waiting_scenes
from safe_sysid.ros.messages.planning_scene import ADD, REMOVE, PlanningSceneReader
from safe_sysid.ros.messages.told_messages import MessageNumbers, listener
from safe_sysid.ros.messages.waiting_scenes import WaitingScenes

WHOLE = 'whole'


class NamedScenes(PlanningSceneReader):
    """Reads the name of an object for a message of it, as no wheel has those."""

    def changes(self, msg):
        if msg.data == WHOLE:
            return super().changes(planning_scene())
        told = collision_object(msg.data, ADD, SOLIDS[:1])
        return super().changes(planning_scene(told, is_diff=True))


class Shown:
    """What a planner knows of what somebody shows."""

    def __init__(self, context):
        self.renewed = 0
        self.nodes = [Node(name, context=context) for name in ('planner', 'somebody')]
        reader = NamedScenes(lambda *_: False, 200)
        self.listener = listener(self.nodes[0], 'obstacles')
        told = self.listener, String, scene(), reader, time.time_ns, self._renew
        self.topic = WaitingScenes(self.nodes[0], *told)
        self.publisher = self.nodes[1].create_publisher(
            String, 'planning_scene', QoSProfile(depth=5000)
        )
        until(lambda: self.publisher.get_subscription_count() == 1)

    def _renew(self):
        self.renewed += 1

    def tell(self, *names):
        for name in names:
            self.publisher.publish(String(data=name))

    def until(self, happens):
        def look():
            self.topic.fetch()
            return happens()

        until(look)

    def close(self):
        for node in (self.listener, *self.nodes):
            node.destroy_node()


@pytest.fixture
def shown(context):
    shown = Shown(context)
    yield shown
    shown.close()


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(waiting_scenes, 'EVERY_MARKER', QoSProfile(depth=10))


def test_of_thousands_that_wait_none_is_lost_and_they_are_put_together_at_once(shown):
    shown.tell(WHOLE, *(f'box {i}' for i in range(800)))
    shown.until(lambda: len(shown.topic.boxes) == 800)
    assert (shown.topic.unclear, shown.topic.is_settled) == ('', True)
    assert shown.renewed < 200


@TOLD
@pytest.mark.usefixtures('few')
def test_where_one_is_lost_nothing_is_known_before_the_next_whole_scene(shown):
    shown.tell(WHOLE)
    shown.until(lambda: shown.topic.is_settled and shown.renewed)
    shown.tell(*(f'box {i}' for i in range(30)))
    assert shown.publisher.wait_for_all_acked(Duration(seconds=60))  # there is room for 10
    shown.until(lambda: len(shown.topic.boxes) >= 10)
    assert '20 messages were lost' in shown.topic.unclear
    assert 'whole scene is shown again' in shown.topic.unclear
    shown.tell('one more')
    shown.until(lambda: 'planning_scene: one more' in shown.topic.boxes)
    assert not shown.topic.is_settled
    shown.tell(WHOLE, 'again')
    shown.until(lambda: list(shown.topic.boxes) == ['planning_scene: again'])
    assert (shown.topic.unclear, shown.topic.is_settled) == ('', True)


@TOLD
def test_who_was_not_heard_from_the_first_message_on_has_to_show_the_whole_scene(shown):
    shown.tell(WHOLE, 'cup')
    shown.until(lambda: list(shown.topic.boxes) == ['planning_scene: cup'])
    shown.topic._numbers = MessageNumbers()  # as if somebody else had gone on, unheard
    shown.tell('plate')
    shown.until(lambda: 'planning_scene: plate' in shown.topic.boxes)
    assert '2 messages were lost' in shown.topic.unclear
    shown.tell(WHOLE)
    shown.until(lambda: not shown.topic.boxes)
    assert (shown.topic.unclear, shown.topic.is_settled) == ('', True)


@pytest.mark.parametrize('name', ['<octomap>', '<scene>', 'held: cup'])
def test_an_object_by_a_name_of_ours_leaves_nothing_known_and_takes_nothing_away(name):
    first = planning_scene(collision_object('cup', ADD, SOLIDS[:1]), octomap=b'\xaa\xaa')
    again = planning_scene(collision_object(name, ADD, SOLIDS[:1]), is_diff=True)
    gone = planning_scene(collision_object(name, REMOVE), is_diff=True)
    told = told_one_after_the_other(first, gone)
    assert told.is_settled
    assert {box.split('#')[0] for box in told.boxes} == {'cup', '<octomap>'}
    told = told_one_after_the_other(first, again)
    assert not told.is_settled
    assert 'such names are for what is said of a scene' in told.trouble(NOW)
