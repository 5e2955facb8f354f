"""Obstacles that come on other topics than markers: each topic shows a scene of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import importlib
from typing import Annotated, Any

from rclpy.node import Node
from sensor_msgs.msg import PointCloud2

from safe_sysid.config import Positive, Range, Settings
from safe_sysid.measure.stamp_ages import StampAges
from safe_sysid.model.collision.shown_scene import MOST, Change, ShownScene
from safe_sysid.ros.messages.cloud_changes import cloud_changes
from safe_sysid.ros.messages.octomap_changes import octomap_changes
from safe_sysid.ros.messages.planning_scene import Holds, PlanningSceneReader
from safe_sysid.ros.messages.qos import NEWEST_CLOUD, NEWEST_MAP, STATE
from safe_sysid.ros.messages.replacing_topic import ReplacingTopic
from safe_sysid.ros.messages.scene_topic import SceneTopic
from safe_sysid.ros.messages.sensed_topic import SensedTopic
from safe_sysid.ros.messages.unread_topic import UnreadTopic
from safe_sysid.ros.messages.waiting_scenes import TOPIC as PLANNING_SCENE
from safe_sysid.ros.messages.waiting_scenes import WaitingScenes

Budget = Annotated[int, Range(at_least=1, at_most=MOST)]
POINTS, OCTOMAP = 'obstacle_points', 'octomap'


@dataclass(frozen=True)
class PointSettings(Settings):
    """How clouds of points on `obstacle_points` are read."""

    cell: Positive = 0.05  # [m] edges of the voxels that stand for their points
    budget: Budget = 200  # boxes at most; where there are more voxels, neighbours share one
    max_age: Positive = 1.0  # [s] since stamp or arrival of a cloud; then nothing is known


def scene_topics(
    node: Node,
    listener: Node,
    points: PointSettings,
    scene: Callable[[], ShownScene],
    is_held: Holds,
    ages: StampAges,
    on_change: Callable[[], None],
) -> list[SceneTopic | UnreadTopic]:
    """Clouds of points; octomaps and MoveIt's scene, read where their messages are installed.

    What waits to be fetched is for the listener, a node that no executor knows. Ages are those of
    what sensors show.
    """
    now = ages.clock.now

    def read_cloud(msg: PointCloud2) -> list[Change]:
        return cloud_changes(msg, points.cell, points.budget)

    def read_octomap(msg: Any) -> list[Change]:
        return octomap_changes(msg, points.budget)

    sensed = PointCloud2, (NEWEST_CLOUD,)
    topics: list[SceneTopic | UnreadTopic] = [
        SensedTopic(node, POINTS, sensed, scene(), read_cloud, ages, on_change)
    ]
    octomap = _installed('octomap_msgs.msg', 'Octomap')
    if octomap is None:
        topics.append(UnreadTopic(node, OCTOMAP, 'octomap_msgs'))
    else:  # live, and kept by who shows it
        told = octomap, (NEWEST_MAP, STATE)
        topics.append(ReplacingTopic(node, OCTOMAP, told, scene(), read_octomap, now, on_change))
    planning_scene = _installed('moveit_msgs.msg', 'PlanningScene')
    if planning_scene is None:
        topics.append(UnreadTopic(node, PLANNING_SCENE, 'moveit_msgs'))
    else:
        reader = PlanningSceneReader(is_held, points.budget)
        shown = planning_scene, scene(), reader, now, on_change
        topics.append(WaitingScenes(node, listener, *shown))
    return topics


def _installed(module: str, message: str) -> Any:
    """Return a type of message; None where its package is not installed."""
    try:
        return getattr(importlib.import_module(module), message)
    except (ImportError, AttributeError):
        return None
