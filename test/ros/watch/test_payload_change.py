"""Which stamps an identifier takes for another payload: none that no settling explains."""

from unittest.mock import MagicMock

import pytest
from std_msgs.msg import Header

from safe_sysid.ros.messages.codec import SECOND, time_of
from safe_sysid.ros.nodes.identifier_node import IdentifierNode
from safe_sysid.ros.watch.payload_change import AHEAD, LONGEST

NEWEST = 1_763_744_000 * SECOND
FURTHEST = NEWEST + round((LONGEST + AHEAD) * SECOND)


def told(since, newest=NEWEST):
    """An identifier that was told of another payload, and what it warned of."""
    node = MagicMock(_stamp=newest, _since=-1)
    IdentifierNode._on_payload_since(node, Header(stamp=time_of(since)))
    return node, [call.args[0] for call in node.get_logger().warning.call_args_list]


@pytest.mark.parametrize('since', [NEWEST + SECOND // 2, FURTHEST, NEWEST - 3600 * SECOND])
def test_what_is_known_of_a_payload_is_forgotten_at_a_stamp_that_can_be(since):
    node, warned = told(since)
    node._learn_anew.assert_called_once_with(since)
    assert (node._since, warned) == (since, [])


@pytest.mark.parametrize('since', [FURTHEST + 1, 2_000_000_000 * SECOND])
def test_a_stamp_far_ahead_of_the_samples_is_refused_until_they_come_near(since):
    node, warned = told(since)
    node._learn_anew.assert_not_called()
    assert node._since == -1
    assert 'after the newest sample; at most 61 s are allowed' in warned[0]
    node._stamp = since - SECOND
    IdentifierNode._on_payload_since(node, Header(stamp=time_of(since)))
    node._learn_anew.assert_called_once_with(since)


def test_before_any_sample_every_stamp_may_be():
    node, warned = told(NEWEST, newest=0)
    assert (node._since, warned) == (NEWEST, [])
