"""LoopConsent: a loop agrees before a driver is told what it holds.

Where the robot adds the load by itself from then on, the supervisor has to grant it, and begins
nothing afterwards. And the estimate has to be of the same payload still: of one payload bounds
become narrower, never wider.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import time
from typing import Any

import rclpy
from rclpy.node import Node
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool

from safe_sysid.ros.messages.codec import OFFSET
from safe_sysid.ros.messages.qos import STATE
from safe_sysid.ros.watch.handed_over import ALREADY, SERVICE

TURN = 0.05  # [s]
AGAIN = 3.0  # [s] without an answer, which may have got lost
Answer = dict[str, Any]


class LoopConsent:
    """Of the loop in a namespace, by a time [s] of the steady clock."""

    def __init__(self, node: Node, loop: dict[str, Any], deadline: float) -> None:
        self._node, self._deadline = node, deadline
        self._known: Sequence[float] = loop['numbers']
        self._robot_adds_load: bool = loop['robot_adds_load']
        self._newest: Float64MultiArray | None = None
        place = loop['namespace'].rstrip('/')
        self._service = f'{place}/supervisor/{SERVICE}'
        self._client = node.create_client(SetBool, self._service)
        node.create_subscription(
            Float64MultiArray, f'{place}/parameter_estimate', self._on_estimate, STATE
        )

    def with_it(self, ask: Callable[[], Answer]) -> Answer:
        """Ask the driver, where the loop agrees.

        A driver that was asked may have told the robot whatever it answers: that of a UR says no
        where the robot is slow to confirm.
        """
        was_told = False
        if self._robot_adds_load:
            refusal, was_told = self._told(True)
            if refusal:
                return {'error': refusal}
        refusal = self._changed()
        answer = {'error': refusal} if refusal else ask()
        if not self._robot_adds_load:
            return answer
        may_know = was_told or answer.get('was_asked') or 'error' not in answer
        if not may_know:
            self._told(False)
        return {**answer, 'loop waits': bool(may_know)}

    def _told(self, is_told: bool) -> tuple[str, bool]:
        """Return why the supervisor does not grant it, and whether it had granted it before."""
        self._wait(self._client.service_is_ready)
        asked: list[Any] = []
        last = -AGAIN

        def answered() -> bool:
            nonlocal last
            if time.monotonic() > last + AGAIN and self._client.service_is_ready():
                last = time.monotonic()
                asked.append(self._client.call_async(SetBool.Request(data=is_told)))
            return any(each.done() for each in asked)

        if not self._wait(answered):
            return f'nobody answers at {self._service}, so the loop may begin at any time', False
        response = next(each.result() for each in asked if each.done())
        refusal = '' if response.success else response.message
        # asked twice, it was granted to this question or to one before it
        return refusal, response.message == ALREADY and len(asked) == 1

    def _changed(self) -> str:
        if not self._wait(lambda: self._newest is not None):
            return 'the identifier tells no estimate any more'
        assert self._newest is not None
        if is_of_same_payload(self._known, self._newest.data[OFFSET:]):
            return ''
        return 'what is held has changed since the loop was heard; hand it over again'

    def _wait(self, condition: Callable[[], bool]) -> bool:
        while not (holds := condition()) and time.monotonic() < self._deadline:
            rclpy.spin_once(self._node, timeout_sec=TURN)
        return holds

    def _on_estimate(self, msg: Float64MultiArray) -> None:
        self._newest = msg


def is_of_same_payload(before: Sequence[float], after: Sequence[float]) -> bool:
    """Whether bounds (rows lower, nominal, upper) are within those of before."""
    if len(before) != len(after):
        return False
    size = len(before) // 3
    is_higher = all(a >= b for a, b in zip(after[:size], before[:size], strict=True))
    upper = zip(after[2 * size :], before[2 * size :], strict=True)
    return is_higher and all(a <= b for a, b in upper)
