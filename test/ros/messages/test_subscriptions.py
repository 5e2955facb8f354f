"""What cannot be read is complained about; what is wrong with the node itself is no message's."""

import pytest
from std_msgs.msg import String

from safe_sysid.errors import ConfigError, MessageError
from safe_sysid.ros.messages.qos import STATE
from safe_sysid.ros.messages.subscriptions import Subscriptions


class Listener:
    """A node that hands over its callback."""

    def create_subscription(self, message, topic, callback, qos):
        assert (message, topic, qos) == (String, 'mode', STATE)
        self.callback = callback


def heard_by(hear):
    """Callback of a subscription, and its complaints."""
    node, complaints = Listener(), []
    Subscriptions(node, complaints.append).add(String, 'mode', hear, STATE)
    return node.callback, complaints


def raising(error):
    def hear(msg):
        del msg
        raise error

    return hear


def test_messages_are_heard():
    heard = []
    callback, complaints = heard_by(heard.append)
    callback(String(data='task'))
    assert (heard, complaints) == ([String(data='task')], [])


def test_a_message_that_cannot_be_read_is_a_complaint():
    callback, complaints = heard_by(raising(MessageError('no plan')))
    callback(String())
    assert complaints == ['no plan']


def test_other_errors_end_the_node():
    callback, complaints = heard_by(raising(ConfigError('no world')))
    with pytest.raises(ConfigError, match='no world'):
        callback(String())
    assert complaints == []


def test_a_complaint_is_over_once_a_message_can_be_read():
    def hear(msg):
        if not msg.data:
            raise MessageError('no plan')

    callback, complaints = heard_by(hear)
    for word in ('task', '', '', 'task', 'task'):
        callback(String(data=word))
    assert complaints == ['no plan', 'no plan', '']
