"""ReplacingTopic: each message is a whole scene, in place of the one before.

One that is a little older than what is taken (a second subscription, or a slow network, brings it
later) does not count. Where two nodes publish, each takes away what the other one shows: nothing
is known then. Distributions before Kilted do not tell of whom a message is; there nobody notices.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile

from safe_sysid.measure.sample_order import JUMP
from safe_sysid.model.collision.shown_scene import ShownScene
from safe_sysid.ros.messages.codec import stamp_of
from safe_sysid.ros.messages.scene_topic import Read, SceneTopic


class ReplacingTopic(SceneTopic):
    """What the newest message of a topic shows; messages have a header."""

    def __init__(
        self,
        node: Node,
        topic: str,
        listens: tuple[Any, tuple[QoSProfile, ...]],
        scene: ShownScene,
        read: Read,
        now: Callable[[], int],
        on_change: Callable[[], None],
    ) -> None:
        super().__init__(node, topic, (listens[0], ()), scene, read, now, on_change)
        self._newest = 0  # [ns] stamp of what is taken; 0: none, or nobody said
        self._publisher = b''  # of the message before; empty: nobody tells
        self._are_several = False  # who publish
        for profile in listens[1]:
            node.create_subscription(listens[0], topic, self._come, profile)

    @property
    def is_settled(self) -> bool:
        """Whether all that was said is understood and placed, and one node alone says it."""
        return not self._are_several and super().is_settled

    @property
    def unclear(self) -> str:
        """What is not understood; empty: nothing."""
        if self._are_several:
            return (
                f'several nodes publish on topic {self._topic}, whose messages replace each '
                'other; publish all that they see in one message'
            )
        return super().unclear

    def _come(self, msg: Any, info: Mapping[str, Any]) -> None:
        """Take a message, and note of whom it is."""
        self._note((info.get('publisher_gid') or {}).get('data', b''))
        stamp = stamp_of(msg.header.stamp)
        if not (stamp and 0 < self._newest - stamp <= JUMP):  # else something newer is taken
            self._hear(msg)

    def _hear(self, msg: Any) -> None:
        self._newest = stamp_of(msg.header.stamp)
        super()._hear(msg)

    def _note(self, publisher: bytes) -> None:
        """Look whether the publisher of the message before is still there beside this one."""
        before, self._publisher = self._publisher, publisher
        if before and (self._are_several or publisher != before):
            name = self._node.resolve_topic_name(self._topic)
            found = self._node.get_publishers_info_by_topic(name)
            there = {bytes(each.endpoint_gid) for each in found}
            self._are_several = len(there) > 1 and (self._are_several or before in there)
