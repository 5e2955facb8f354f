"""Topics that are gone are listened to while there is room; what is left out is said."""

import pytest
import rclpy
from rclpy.serialization import deserialize_message
from ros.running_node import wait_until
from std_msgs.msg import Float64MultiArray, String

from safe_sysid.ros.messages import recorded_topics
from safe_sysid.ros.messages.inbox import Inbox
from safe_sysid.ros.messages.recorded_topics import RecordedTopics


class Cell:
    """Topics that come and go, and what goes into a bag."""

    def __init__(self):
        self.node, self.others = (rclpy.create_node(n, namespace='rt') for n in ('own', 'others'))
        self.inbox = Inbox(self.node)
        self.bag, self.written, self.goes_on, self.publishers = [], [], True, {}
        self.topics = RecordedTopics(self.node, self.inbox, self.add, self.fetch)

    def add(self, topic):
        self.bag.append(topic.name)
        return len(self.bag)

    def fetch(self):
        self.written += self.inbox.fetch()
        return self.goes_on

    def begin(self, *names, kind=String):
        for name in names:
            self.publishers[name] = self.others.create_publisher(kind, name, 10)
            wait_until(lambda name=name: self.node.count_publishers(f'/rt/{name}'), 'a publisher')

    def end(self, *names):
        for name in names:
            self.others.destroy_publisher(self.publishers.pop(name))
            wait_until(lambda name=name: not self.node.count_publishers(f'/rt/{name}'), 'its end')

    def look(self):
        self.topics._searched = -recorded_topics.SEARCH
        self.topics.look(lambda topic: topic.startswith('/rt/'))
        return sorted(name.removeprefix('/rt/') for name in self.topics._listened)


@pytest.fixture
def cell(monkeypatch):
    monkeypatch.setattr(recorded_topics, 'MOST', 2)
    monkeypatch.setattr(recorded_topics, 'NAMES', 4)
    rclpy.init()
    cell = Cell()
    yield cell
    cell.inbox.close()
    for node in (cell.node, cell.others):
        node.destroy_node()
    rclpy.shutdown()


def test_one_that_is_gone_is_listened_to_until_its_room_is_needed(cell):
    cell.begin('a', 'b')
    assert cell.look() == ['a', 'b']
    wait_until(lambda: cell.publishers['a'].get_subscription_count(), 'the subscription')
    cell.publishers['a'].publish(String(data='last word'))
    assert cell.publishers['a'].wait_for_all_acked()
    cell.end('a')
    assert cell.look() == ['a', 'b']
    cell.begin('c')
    assert cell.look() == ['b', 'c']
    assert [deserialize_message(each.data, String).data for each in cell.written] == ['last word']
    assert cell.topics.trouble == ''


def test_one_that_comes_back_has_its_number_and_its_type(cell):
    cell.begin('a', 'b')
    cell.look()
    number = cell.topics._listened['/rt/a']
    cell.end('a')
    cell.begin('c')
    cell.look()
    cell.end('c')
    cell.begin('a')
    assert cell.look() == ['a', 'b']
    assert cell.topics._listened['/rt/a'] == number
    assert sorted(cell.bag) == ['/rt/a', '/rt/b', '/rt/c']
    cell.end('a', 'b')
    cell.begin('c', kind=Float64MultiArray)
    cell.look()
    assert '/rt/c' in cell.topics._refused  # its messages are not those that the bag describes
    cell.end('c')
    wait_until(lambda: cell.look() is not None and not cell.topics._refused, 'it is forgotten')


def test_what_there_is_no_room_for_is_named_once(cell):
    cell.begin('a', 'b', 'c')
    assert len(cell.look()) == 2
    assert 'were left out of the recording: there is room for 2 topics' in cell.topics.trouble
    said = cell.topics.trouble
    cell.look()
    assert cell.topics.trouble == said


def test_a_bag_does_not_list_topics_without_end(cell):
    for i in range(8):
        cell.begin(f'run_{i}')
        cell.look()
        cell.end(f'run_{i}')
    assert len(cell.bag) == 4
    assert cell.topics.trouble.startswith('/rt/run_4, and maybe others, were left out')
    assert len(cell.topics._listened) <= 2


def test_a_recording_that_ends_while_room_is_made_listens_to_nothing_more(cell):
    cell.begin('a', 'b')
    cell.look()
    cell.end('a')
    cell.begin('c')
    cell.goes_on = False
    assert cell.look() == ['a', 'b']
    assert cell.look() == ['a', 'b']
