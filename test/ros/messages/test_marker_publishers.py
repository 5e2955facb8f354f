"""Each message of markers counts once, in the order of its publisher, and losses are said."""

from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
import pytest
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from tiers import slow_after

from safe_sysid.ros.messages.marker_publishers import TYPE, MarkerPublishers
from safe_sysid.ros.messages.told_messages import ToldMessage

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
VOLATILE = QoSProfile(depth=1)


def endpoint(key, qos=VOLATILE, kind=TYPE, name='somebody'):
    return SimpleNamespace(
        endpoint_gid=list(key),
        qos_profile=qos,
        topic_type=kind,
        node_name=name,
        node_namespace='/cell',
    )


def told(key, number, is_kept=False, received=0):
    return ToldMessage(str(number).encode(), key, number, received, is_kept)


def numbers(messages):
    return [message.number for message in messages]


class Cell:
    """Publishers that a test lets come and go."""

    def __init__(self, *endpoints):
        self.endpoints = list(endpoints)
        self.asked = 0
        self.publishers = MarkerPublishers(self.ask)
        self.publishers.look()

    def ask(self):
        self.asked += 1
        return self.endpoints


def test_what_is_live_and_kept_counts_once():
    cell = Cell(endpoint(b'a', LATCHED))
    counting = cell.publishers.counting
    assert numbers(counting(told(b'a', 1, is_kept=True))) == [1]
    assert numbers(counting(told(b'a', 1))) == []
    assert numbers(counting(told(b'a', 2))) == []  # what is kept comes soon
    assert numbers(counting(told(b'a', 2, is_kept=True))) == [2]
    assert counting(told(b'a', 2)) == []
    assert cell.publishers.left_behind() == []
    assert cell.asked == 1  # nothing is held, of whom somebody would have to know


def test_what_only_came_live_counts_before_what_was_kept():
    """A publisher that keeps one message shows two before the second subscription knows it."""
    cell = Cell(endpoint(b'a', LATCHED))
    assert cell.publishers.counting(told(b'a', 1)) == []
    assert numbers(cell.publishers.counting(told(b'a', 2, is_kept=True))) == [1, 2]
    assert not cell.publishers.unclear


def test_what_a_publisher_left_behind_counts():
    cell = Cell(endpoint(b'a', LATCHED), endpoint(b'b', LATCHED))
    counting = cell.publishers.counting
    assert counting(told(b'a', 1)) == []
    cell.endpoints.pop(0)
    assert counting(told(b'c', 1)) == []  # who had gone before anybody looked
    assert [each.publisher for each in cell.publishers.left_behind()] == [b'a', b'c']
    assert counting(told(b'a', 1, is_kept=True)) == []  # late


def test_numbers_that_are_missing_are_a_loss_until_all_is_taken_away():
    cell = Cell(endpoint(b'a'), endpoint(b'b', LATCHED))
    counting = cell.publishers.counting
    assert numbers(counting(told(b'a', 7))) == [7]  # nobody heard what was before
    assert numbers(counting(told(b'b', 3, is_kept=True))) == [3]
    assert not cell.publishers.unclear
    assert numbers(counting(told(b'a', 10))) == [10]
    assert '2 messages were lost' in cell.publishers.unclear
    assert numbers(counting(told(b'b', 5, is_kept=True))) == [5]
    assert '3 messages were lost' in cell.publishers.unclear
    cell.publishers.forgive()
    assert not cell.publishers.unclear


def test_all_who_were_there_have_to_show_again():
    cell = Cell(endpoint(b'a', name='one'), endpoint(b'b', name='other'))
    publishers = cell.publishers
    publishers.note_all_discovered()
    assert publishers.awaited == '/cell/one and /cell/other'
    publishers.counting(told(b'a', 5))
    publishers.note_all_discovered()
    assert publishers.awaited == '/cell/other'
    cell.endpoints.append(endpoint(b'c', name='third'))
    publishers.look()
    assert publishers.awaited == '/cell/other and /cell/third'
    del cell.endpoints[1:]  # both leave
    publishers.look()
    assert publishers.awaited == ''
    publishers.note_all_discovered()
    cell.endpoints.append(endpoint(b'd', name='new'))  # is heard from its first message on
    publishers.look()
    assert publishers.awaited == ''


def test_nobody_who_came_late_is_overlooked_while_nothing_was_heard():
    cell = Cell()
    cell.publishers.note_all_discovered()
    cell.endpoints.append(endpoint(b'a', name='slow'))
    cell.publishers.look()
    assert cell.publishers.awaited == '/cell/slow'


@pytest.mark.parametrize(
    ('heard', 'words'),
    [
        (
            endpoint(b'a', QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)),
            '/cell/somebody offers best effort',
        ),
        (
            endpoint(b'a', kind='visualization_msgs/msg/Marker'),
            '/cell/somebody publishes visualization_msgs/msg/Marker; it has to be',
        ),
    ],
)
def test_who_cannot_be_heard_is_named(heard, words):
    cell = Cell(heard)
    assert words in cell.publishers.unclear
    cell.endpoints.clear()
    cell.publishers.look()
    assert not cell.publishers.unclear


def test_many_are_not_all_named():
    cell = Cell(*(endpoint(bytes([n]), name=f'n{n}') for n in range(9)))
    assert cell.publishers.awaited == '/cell/n0 and /cell/n1 and /cell/n2 and 6 more'


def test_a_distribution_that_does_not_tell_whose_a_message_is():
    """Live messages count, unless all are kept; somebody speaks for all."""
    cell = Cell(endpoint(b'a', LATCHED), endpoint(b'b'))
    found = b'data', {'received_timestamp': 3, 'publication_sequence_number': 5}
    message = ToldMessage.of(found, is_kept=False)
    assert cell.publishers.counting(message) == [message]
    assert not cell.publishers.awaited
    cell.endpoints.pop()
    assert cell.publishers.counting(message) == []
    kept = ToldMessage.of(found, is_kept=True)
    assert cell.publishers.counting(kept) == [kept]


@dataclass
class Publisher:
    """Publishes at times; matched with the two subscriptions at others; leaves."""

    key: bytes
    is_latched: bool
    depth: int
    begins: int
    live_from: int
    kept_from: int
    leaves: int
    count: int
    lag: int  # of what is kept behind what is live
    told: list = field(default_factory=list)
    under_way: list = field(default_factory=list)  # what is kept, and when it comes

    def endpoint(self):
        return endpoint(self.key, LATCHED if self.is_latched else VOLATILE)

    def step(self, now, rng):
        """Return what its messages, and those it kept, put into the queues at this time."""
        if not self.begins <= now < self.leaves:
            return []
        if now == self.kept_from:
            self.keep(self.told[-self.depth :], now)
        arrived = []
        if len(self.told) < self.count and rng.random() < 0.4:
            number = len(self.told) + 1
            self.told.append(number)
            if now >= self.kept_from:
                self.keep([number], now)
            if now >= self.live_from:
                arrived.append(told(self.key, number, False, now))
        while self.under_way and self.under_way[0][0] <= now:
            arrived.append(told(self.key, self.under_way.pop(0)[1], True, now))
        return arrived

    def keep(self, numbers, now):
        self.under_way += [(now + self.lag, number) for number in numbers if self.is_latched]

    def heard(self, arrived):
        """Return numbers that came in any way, in order."""
        return sorted({each.number for each in arrived if each.publisher == self.key})


@pytest.mark.parametrize('seed', slow_after(40, range(200)))
def test_whoever_comes_and_goes_each_counts_once_and_in_order(seed):
    """Publishers at random: what came in any way counts, in the order of its publisher."""
    rng = np.random.default_rng(seed)
    cell, everybody = Cell(), []
    for key in range(int(rng.integers(1, 5))):
        begins = int(rng.integers(0, 20))
        live, kept = begins + rng.integers(0, 6, 2)
        leaves = int(begins + rng.integers(1, 60))
        plan = (begins, int(live), int(kept), leaves, *map(int, rng.integers([1, 0], [12, 4])))
        publisher = Publisher(b'%d' % key, bool(rng.integers(2)), int(rng.integers(1, 4)), *plan)
        everybody.append(publisher)
    arrived, counted = [], []
    for now in range(120):
        cell.endpoints[:] = [p.endpoint() for p in everybody if p.begins <= now < p.leaves]
        came = [each for publisher in everybody for each in publisher.step(now, rng)]
        arrived += came
        for each in came:
            counted += cell.publishers.counting(each)
        if rng.random() < 0.5:
            cell.publishers.look()
        counted += cell.publishers.left_behind()
    for publisher in everybody:
        got = [each.number for each in counted if each.publisher == publisher.key]
        assert got == publisher.heard(arrived), publisher
