"""PlannedAnswers: says which sample was looked at, where the controller waits for that."""

from __future__ import annotations

from rclpy.node import Node
from std_msgs.msg import Header

from safe_sysid.plan.announced import Announced
from safe_sysid.plan.answers import Answers
from safe_sysid.ros.messages.codec import time_of
from safe_sysid.ros.messages.qos import ANSWERS


class PlannedAnswers:
    """Answers with the mode, as plans are for one mode, and the start of the newest plan."""

    def __init__(self, node: Node, is_lockstep: bool, announced: Announced) -> None:
        self._is_lockstep, self._announced = is_lockstep, announced
        self._answers = Answers()
        self._planned = node.create_publisher(Header, 'planned', ANSWERS)

    def answer(self, stamp: int, mode: str) -> None:
        """All plans that follow from a sample were told; only in lockstep anybody waits."""
        self._answers.note(stamp, mode)
        if self._is_lockstep and mode:
            said = f'{mode} {self._announced.newest}'
            self._planned.publish(Header(stamp=time_of(stamp), frame_id=said))

    def is_missing(self, stamp: int, mode: str) -> bool:
        """Whether a sample that came again has no answer; one that got lost is given again."""
        if not self._is_lockstep:
            return False
        if self._answers.has(stamp, mode):
            self.answer(stamp, mode)
        return self._answers.lacks(stamp, mode)
