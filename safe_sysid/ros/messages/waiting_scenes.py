"""WaitingScenes: MoveIt's scene, of which a message may say only what is different now.

So each of them counts. All that wait are taken together, and what is in the way is put together
once for all of them. Where one is lost nothing is known before the next whole scene.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.serialization import deserialize_message

from safe_sysid.model.collision.shown_scene import Change, ShownScene
from safe_sysid.ros.messages.planning_scene import PlanningSceneReader
from safe_sysid.ros.messages.qos import EVERY_MARKER
from safe_sysid.ros.messages.scene_topic import SceneTopic
from safe_sysid.ros.messages.told_messages import (
    MOST,
    HalfTheTime,
    MessageNumbers,
    MessageQueue,
    ToldMessage,
)

TOPIC = 'planning_scene'


class WaitingScenes(SceneTopic):
    """What the topic of such messages shows; `fetch` has to be called regularly.

    The listener is a node that no executor knows.
    """

    def __init__(
        self,
        node: Node,
        listener: Node,
        message: Any,
        scene: ShownScene,
        reader: PlanningSceneReader,
        now: Callable[[], int],
        on_change: Callable[[], None],
    ) -> None:
        super().__init__(node, TOPIC, (message, ()), scene, reader.changes, now, on_change)
        self._reader, self._message = reader, message
        name = node.resolve_topic_name(TOPIC)
        self._queue = MessageQueue(listener, message, name, EVERY_MARKER, is_kept=False)
        self._numbers, self._turns = MessageNumbers(), HalfTheTime()

    def fetch(self) -> None:
        """Take what waits, as one message."""
        if self._queue.next is None or not self._turns.is_due():
            return
        changes: list[Change] = []
        for _ in range(MOST):
            told = self._queue.take()
            if told is None:
                break
            changes += self._changes(told)
        self._take(changes)
        self._turns.note_done()

    def _changes(self, told: ToldMessage) -> list[Change]:
        is_new = not self._numbers.last(told.publisher)
        lost = self._numbers.note(told) if told.publisher else 0
        if told.publisher and is_new:  # what it said before was not heard
            lost = told.number - 1
        if lost:
            self._reader.note_lost(lost)
        return self._reader.changes(deserialize_message(told.data, self._message))
