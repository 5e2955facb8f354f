"""What a bag says of a type reads what was published with it, of actions too."""

import sys

from action_msgs.msg import GoalStatus, GoalStatusArray
import numpy as np
import pytest
import rclpy
from rclpy.serialization import serialize_message
from ros.generated_messages import ROOT, importable
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from safe_sysid.errors import MessageError
from safe_sysid.ros.messages.definitions import definition, message_class
from safe_sysid.ros.process.distributions import type_hash_of

FIELDS = {'double': 0.25, 'uint32': 7, 'sequence<double>': [0.5, 0.75], 'string': 'lift'}


def read(type_name, message):
    """A message as somebody reads it who knows only its definition."""
    store = get_typestore(Stores.EMPTY)
    store.register(get_types_from_msg(definition(type_name), type_name))
    return store.deserialize_cdr(serialize_message(message), type_name)


@pytest.mark.slow
@pytest.mark.parametrize('action', ['GoTo', 'Handle', 'Identify'])
def test_feedback_of_an_action_is_read_as_it_was_sent(action):
    with importable('safe_sysid_interfaces', ROOT):
        name = f'safe_sysid_interfaces/action/{action}_FeedbackMessage'
        sent = message_class(name)()
        sent.goal_id.uuid = np.arange(16, dtype=np.uint8)
        for field, kind in sent.feedback.get_fields_and_field_types().items():
            setattr(sent.feedback, field, FIELDS[kind])
        got = read(name, sent)
        assert got.goal_id.uuid.tolist() == list(range(16))
        for field in sent.feedback.get_fields_and_field_types():
            assert np.array_equal(getattr(got.feedback, field), getattr(sent.feedback, field))


@pytest.mark.slow
@pytest.mark.parametrize('action', ['Follow', 'GoTo', 'Handle', 'Identify'])
def test_feedback_of_an_action_has_the_hash_that_ros_gives_it(action):
    """Readers that know the hash of a bag refuse the whole bag where a definition has another."""
    with importable('safe_sysid_interfaces', ROOT):
        name = f'safe_sysid_interfaces/action/{action}_FeedbackMessage'
        store = get_typestore(Stores.EMPTY)
        store.register(get_types_from_msg(definition(name), name))
        assert store.hash_rihs01(name) == type_hash(message_class(name))


def type_hash(kind):
    """Hash that this ROS announces a type with."""
    rclpy.init()
    try:
        node = rclpy.create_node('teller')
        node.create_publisher(kind, 'told', 1)
        (told,) = node.get_publishers_info_by_topic('told')
        return type_hash_of(told)
    finally:
        rclpy.try_shutdown()


def test_the_status_of_actions_is_read_as_it_was_sent():
    sent = GoalStatusArray(status_list=[GoalStatus(status=GoalStatus.STATUS_ABORTED)])
    (status,) = read('action_msgs/msg/GoalStatusArray', sent).status_list
    assert status.status == GoalStatus.STATUS_ABORTED


@pytest.mark.parametrize('name', ['nobodys/msg/Word', 'std_msgs/msg/Word', 'nobodys/action/Do_It'])
def test_a_type_that_is_not_there_is_named(name):
    with pytest.raises(MessageError, match=f'{name} is not installed here'):
        message_class(name)


@pytest.mark.parametrize(
    'name',
    [
        *('Foo', 'os/path/join', 'std_msgs/msg/_string', 'std_msgs/msg/String/x', '../msg/x'),
        *('std_msgs/msg/Nothing', 'this/msg/String', 'std_msgs/nothing/String', ''),
    ],
)
def test_a_type_that_a_stranger_names_is_a_sentence_and_runs_nothing(name, capsys):
    with pytest.raises(MessageError):
        message_class(name)
    assert capsys.readouterr().out == ''  # `import this` would print
    assert 'this' not in sys.modules
