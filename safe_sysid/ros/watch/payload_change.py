"""PayloadChange: tells the identifier that there is another payload, until it has heard of it.

What it tells is a stamp of joint states: those up to it are of the payload before. It is a state
that is kept for who comes later, so nothing is lost with a message or with a process started
again; the identifier answers on /diagnostics with the stamp it goes by.
"""

from __future__ import annotations

from typing import Annotated

from rclpy.node import Node
from std_msgs.msg import Header

from safe_sysid.config import Range
from safe_sysid.ros.messages.codec import SECOND, time_of
from safe_sysid.ros.messages.qos import STATE
from safe_sysid.ros.watch.heartbeats import Heartbeats

TOPIC = 'payload_since'
TAKEN = 'payload since [ns]'  # figure of the identifier: the stamp it goes by
LONGEST = 60.0  # [s] that a payload may swing
AHEAD = 1.0  # [s] that samples may be newer where the change is told than where it is heard
Settling = Annotated[float, Range(above=0.0, at_most=LONGEST)]


def ahead(since: int, newest: int) -> str:
    """Why a change cannot be at a stamp, by that of the newest sample [ns]; empty if it can.

    After a pause of the driver it may still come to be: it is told again until it is taken.
    """
    if since - newest <= (LONGEST + AHEAD) * SECOND:
        return ''
    return (
        f'{TOPIC} is {since} ns, {(since - newest) / SECOND:.4g} s after the newest sample; at '
        f'most {LONGEST + AHEAD:g} s are allowed, and nothing was forgotten'
    )


class PayloadChange:
    """The newest change of the payload, and whether the identifier goes by it."""

    def __init__(self, node: Node, nodes: Heartbeats, settling: float) -> None:
        self._nodes = nodes
        self._settling = settling  # [s]
        self._since: int | None = None  # [ns] no change yet: everybody begins with the prior
        self._publisher = node.create_publisher(Header, TOPIC, STATE)

    @property
    def is_pending(self) -> bool:
        """Whether the identifier has yet to answer."""
        if self._since is None:
            return False
        return self._nodes.figure('identifier', TAKEN) != str(self._since)

    def begin(self, newest: int, age: float) -> None:
        """Another payload is in place; the newest sample has this stamp [ns] and age [s]."""
        self._since = newest + round((age + self._settling) * SECOND)
        self.remind()

    def remind(self) -> None:
        """Tell it again, as long as nobody has answered."""
        if self._since is not None and self.is_pending:
            self._publisher.publish(Header(stamp=time_of(self._since)))
