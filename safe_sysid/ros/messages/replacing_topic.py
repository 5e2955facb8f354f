"""ReplacingTopic: each message is a whole scene, in place of the one before.

One that is a little older than what is taken (a second subscription, or a slow network, brings it
later) does not count. Where two nodes publish, each takes away what the other one shows: nothing
is known then. Distributions before Kilted do not tell of whom a message is; there nobody notices.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from safe_sysid.measure.sample_order import JUMP
from safe_sysid.ros.messages.codec import stamp_of
from safe_sysid.ros.messages.scene_topic import SceneTopic


class ReplacingTopic(SceneTopic):
    """What the newest message of a topic shows; messages have a header."""

    _newest = 0  # [ns] stamp of what is taken; 0: none, or nobody said
    _publisher = _taken = b''  # of the message before, and of what is shown; empty: nobody tells
    _are_several = False  # who publish

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

    def settle(self) -> None:
        """Notice that the others have gone, where who is left has shown what counts."""
        if self._are_several:
            self._are_several = self._there != {self._taken}
        super().settle()

    def _come(self, msg: Any, info: Mapping[str, Any]) -> None:
        """Take a message, and note of whom it is."""
        publisher = bytes((info.get('publisher_gid') or {}).get('data', b''))
        self._note(publisher)
        stamp = stamp_of(msg.header.stamp)
        if stamp and 0 < self._newest - stamp <= JUMP and publisher == self._taken:
            return  # something newer of it is shown
        self._taken = publisher
        self._hear(msg)

    def _hear(self, msg: Any) -> None:
        self._newest = stamp_of(msg.header.stamp)
        super()._hear(msg)

    def _note(self, publisher: bytes) -> None:
        """Look whether the publisher of the message before is still there beside this one."""
        before, self._publisher = self._publisher, publisher
        if before and (self._are_several or publisher != before):
            there = self._there
            self._are_several = len(there) > 1 and (self._are_several or before in there)

    @property
    def _there(self) -> set[bytes]:
        """Who publishes."""
        name = self._node.resolve_topic_name(self._topic)
        found = self._node.get_publishers_info_by_topic(name)
        return {bytes(each.endpoint_gid) for each in found}
