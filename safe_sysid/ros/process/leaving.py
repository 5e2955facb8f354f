"""How a process leaves the loop: a signal is a request to the supervisor, never an exit.

A node that is told to end asks for the end of the run on `end_requested` and goes on working. It
leaves when `mode` says that the run has ended, which is said once the arm is in other hands. Where
nobody has ever said a mode no arm is under torque, and it leaves at once; so it does when the
supervisor, once asked, is not heard for a while: the bridge then brakes by itself and ends last.
"""

from __future__ import annotations

import time
from typing import Protocol

from rclpy.node import Node
from std_msgs.msg import String

from safe_sysid.ros.messages.qos import STATE
from safe_sysid.track.supervisor import Mode

ALONE = 5.0  # [s] without word from the supervisor after which a node leaves that was told to
OTHERS = 1.0  # [s] in which somebody who may ask for the end does, when all are told to end


class Leave(Protocol):
    """When a node leaves."""

    @property
    def may_be_killed(self) -> bool:
        """Whether it was told to end and its work is over, so that nothing is lost with it."""
        ...

    def ask(self, why: str, times: int) -> None:
        """Take a signal: its name, and how many there were."""

    def is_due(self) -> bool:
        """Whether nothing keeps the node any more."""
        ...


class EndRequest:
    """Asks the supervisor to end the run; who starts late or again hears it, too."""

    def __init__(self, node: Node) -> None:
        self._name = node.get_name()
        self._topic = node.create_publisher(String, 'end_requested', STATE)

    def send(self, status: int, why: str) -> None:
        """Ask for the end; the run has this exit status then."""
        self._topic.publish(String(data=f'{status} {self._name}: {why}'))


class LeaveWithTheLoop:
    """A node without which the loop does not go on."""

    may_be_killed = False

    def __init__(self, node: Node) -> None:
        self._request = EndRequest(node)
        self.supervised = Supervised(node)
        self._is_asked = False

    def ask(self, why: str, times: int) -> None:
        """Ask for the end, once."""
        self._is_asked = True
        if times == 1:
            self._request.send(0, why)

    def is_due(self) -> bool:
        """Whether the run has ended, or nobody is there to end it."""
        alone = self.supervised.silent > ALONE or not self.supervised.mode
        return self.supervised.mode == Mode.ENDED.value or (self._is_asked and alone)


class LeaveAsMonitor:
    """A node that nobody needs: it never ends a run, and sees the end of one.

    Who started it starts it again when it leaves, unless all are told to end. So after the end of
    a run it waits to be told, or until nobody is there who might.
    """

    may_be_killed = False

    def __init__(self, node: Node) -> None:
        self._supervised = Supervised(node)
        self._is_ending = False
        self._asked_at: float | None = None
        node.create_subscription(String, 'end_requested', self._on_end, STATE)

    def ask(self, why: str, times: int) -> None:
        """Wait for somebody else to ask for the end of the run."""
        del why, times
        self._asked_at = self._asked_at or time.monotonic()

    def is_due(self) -> bool:
        """Whether the run has ended, or this node was the only one that was told to."""
        has_ended = self._supervised.mode == Mode.ENDED.value
        alone = self._supervised.silent > ALONE
        if self._asked_at is None:
            return has_ended and alone
        if has_ended or alone or not self._supervised.mode:
            return True
        return not self._is_ending and time.monotonic() - self._asked_at > OTHERS

    def _on_end(self, msg: String) -> None:
        del msg
        self._is_ending = True


class Supervised:
    """What the supervisor said last, and for how long it has been silent."""

    def __init__(self, node: Node) -> None:
        self.mode = ''  # never heard
        self._heard = 0.0
        node.create_subscription(String, 'mode', self._on_mode, STATE)

    @property
    def silent(self) -> float:
        """Time without word from the supervisor [s]."""
        return time.monotonic() - self._heard

    def _on_mode(self, msg: String) -> None:
        self.mode, self._heard = msg.data, time.monotonic()
