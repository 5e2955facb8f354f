"""SceneTopic: obstacles of a topic that shows a scene of its own, and whether all is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile

from safe_sysid.model.collision.shown_scene import Change, ShownScene
from safe_sysid.ros.process.distributions import WithMessageInfo
from safe_sysid.sets.box import Box

Read = Callable[[Any], list[Change]]


class SceneTopic:
    """What one topic shows, until it shows something else."""

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
        self._node, self._topic, self._scene = node, topic, scene
        self._read, self._now, self._on_change = read, now, on_change
        self._heard: int | None = None  # [ns] when the last message came
        for profile in listens[1]:
            node.create_subscription(listens[0], topic, WithMessageInfo(self._come), profile)

    @property
    def boxes(self) -> dict[str, Box]:
        """What is shown, by names that no other topic has."""
        return {f'{self._topic}: {name}': box for name, box in self._scene.boxes.items()}

    @property
    def is_settled(self) -> bool:
        """Whether all that was said is understood and placed."""
        return self._scene.is_settled

    @property
    def awaited(self) -> str:
        """What is waited for before the first plan; empty: nothing."""
        name = self._node.resolve_topic_name(self._topic)  # counting does not look at remaps
        if self._heard is not None or not self._node.count_publishers(name):
            return ''
        return (
            f'somebody publishes on topic {self._topic} and nothing has come since this node was '
            'started; until something comes there are no plans'
        )

    @property
    def unclear(self) -> str:
        """What is not understood; empty: nothing."""
        trouble = self._scene.trouble(self._now())
        return f'{self._topic}: {trouble}' if trouble else ''

    def settle(self) -> None:
        """Place what moves."""
        self._scene.settle(self._now())

    def shift(self, change: int) -> None:
        """Have what is counted from an arrival go on over a jump of the clock [ns]."""
        self._heard = None if self._heard is None else self._heard + change
        self._scene.shift(change)

    def fetch(self) -> None:
        """Take what waits, where messages are not heard one by one."""

    def _come(self, msg: Any, info: Mapping[str, Any]) -> None:
        """Take a message; who has published it is in what the middleware says of it."""
        del info
        self._hear(msg)

    def _hear(self, msg: Any) -> None:
        self._take(self._read(msg))

    def _take(self, changes: list[Change]) -> None:
        self._heard = self._now()
        self._scene.apply(changes, self._heard)
        self._on_change()
