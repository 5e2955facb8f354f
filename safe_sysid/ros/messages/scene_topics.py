"""Obstacles that come on other topics than markers: each topic shows a scene of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import importlib
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import PointCloud2

from safe_sysid.config import Count, Positive, Settings
from safe_sysid.model.collision.shown_scene import Change, ShownScene
from safe_sysid.ros.messages.cloud_changes import KEY, cloud_changes
from safe_sysid.ros.messages.octomap_changes import octomap_changes
from safe_sysid.ros.messages.planning_scene import Holds, PlanningSceneReader
from safe_sysid.ros.messages.qos import NEWEST_CLOUD, OBSTACLES, STATE
from safe_sysid.sets.box import Box

POINTS, OCTOMAP, PLANNING_SCENE = 'obstacle_points', 'octomap', 'planning_scene'
SECOND = 1e9  # [ns]
Read = Callable[[Any], list[Change]]


@dataclass(frozen=True)
class PointSettings(Settings):
    """How clouds of points on `obstacle_points` are read."""

    cell: Positive = 0.05  # [m] edges of the voxels that stand for their points
    budget: Count = 200  # boxes at most; where there are more voxels, neighbours share one
    max_age: Positive = 1.0  # [s] of silence after a cloud, from which on nothing is known


class SceneTopic:
    """What one topic shows; without a message for `max_age` [s] it is not known any more."""

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
        self.max_age = float('inf')
        for profile in listens[1]:
            node.create_subscription(listens[0], topic, self._hear, profile)

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
        """Place what moves, and notice silence."""
        now = self._now()
        if self._heard is not None:
            self._heard = min(self._heard, now)  # after a step back of the clock
        if self._heard is not None and now - self._heard > self.max_age * SECOND:
            said = f'nothing has come for more than {self.max_age} s'
            self._scene.apply([Change(KEY, unclear=said)], now)
        self._scene.settle(now)

    def shift(self, change: int) -> None:
        """Have what is counted from an arrival go on over a jump of the clock [ns]."""
        self._heard = None if self._heard is None else self._heard + change
        self._scene.shift(change)

    def _hear(self, msg: Any) -> None:
        self._heard = self._now()
        self._scene.apply(self._read(msg), self._heard)
        self._on_change()


def scene_topics(
    node: Node,
    points: PointSettings,
    scene: Callable[[], ShownScene],
    is_held: Holds,
    now: Callable[[], int],
    on_change: Callable[[], None],
) -> list[SceneTopic]:
    """Clouds of points; octomaps and MoveIt's scene where their messages are installed."""

    def topic(name: str, message: Any, profiles: tuple[QoSProfile, ...], read: Read) -> SceneTopic:
        return SceneTopic(node, name, (message, profiles), scene(), read, now, on_change)

    def read_cloud(msg: PointCloud2) -> list[Change]:
        return cloud_changes(msg, points.cell, points.budget)

    def read_octomap(msg: Any) -> list[Change]:
        return octomap_changes(msg, points.budget)

    clouds = topic(POINTS, PointCloud2, (NEWEST_CLOUD,), read_cloud)
    clouds.max_age = points.max_age
    topics = [clouds]
    octomap = _installed('octomap_msgs.msg', 'Octomap')
    if octomap is not None:  # live, and kept by who shows it
        topics.append(topic(OCTOMAP, octomap, (OBSTACLES, STATE), read_octomap))
    planning_scene = _installed('moveit_msgs.msg', 'PlanningScene')
    if planning_scene is not None:
        read = PlanningSceneReader(is_held, points.budget).changes
        topics.append(topic(PLANNING_SCENE, planning_scene, (OBSTACLES,), read))
    return topics


def _installed(module: str, message: str) -> Any:
    """Return a type of message; None where its package is not installed."""
    try:
        return getattr(importlib.import_module(module), message)
    except (ImportError, AttributeError):
        return None
