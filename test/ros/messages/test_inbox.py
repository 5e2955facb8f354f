"""Inbox keeps the order of a topic, whatever was lost and sent again on the way."""

from contextlib import nullcontext

import pytest
import rclpy

from safe_sysid.ros.messages.inbox import Inbox, Letter


class Queue(nullcontext):
    """A subscription and its handle: messages with the times at which they came."""

    msg_type = None

    def __init__(self, received):
        super().__init__()
        self.handle = self
        self._waiting = [
            (b'%d' % i, {'received_timestamp': t, 'source_timestamp': i + 1})
            for i, t in enumerate(received)
        ]

    def take_message(self, *_):
        return self._waiting.pop(0) if self._waiting else None


@pytest.fixture
def inbox():
    rclpy.init()
    node = rclpy.create_node('records')
    inbox = Inbox(node)
    yield inbox
    inbox._subscriptions.clear()
    node.destroy_node()
    rclpy.shutdown()


def test_messages_that_were_sent_again_keep_their_place(inbox):
    """The third and fourth got lost, and came after the fifth and sixth."""
    inbox._subscriptions[1] = Queue([10, 20, 65, 66, 30, 40, 70])
    inbox._subscriptions[2] = Queue([15, 45, 68])
    letters = inbox.fetch()
    assert [letter.received for letter in letters] == sorted(x.received for x in letters)
    for topic, count in ((1, 7), (2, 3)):
        data = [letter.data for letter in letters if letter.topic == topic]
        assert data == [b'%d' % i for i in range(count)]
    assert letters[2] == Letter(20, 2, 1, b'1')
