"""AvoidedObstacles: obstacles of a world and those that somebody shows, and what RViz gets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy
from visualization_msgs.msg import MarkerArray

from safe_sysid.config import Positive, Settings
from safe_sysid.model.collision.shown_scene import ShownScene
from safe_sysid.model.collision.world import read_world
from safe_sysid.model.frame_tree import FrameTree
from safe_sysid.model.placement import Placement
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.ros.messages.drawings import frame_of_base, obstacle_markers
from safe_sysid.ros.messages.marker_changes import changes_of
from safe_sysid.ros.messages.qos import LATCHED_OBSTACLES, OBSTACLES, STATE
from safe_sysid.ros.messages.transforms import Transforms
from safe_sysid.sets.box import Box

TOPIC = 'obstacles'
LOOK = 0.05  # [s] between two looks for lifetimes that ended and frames that moved


@dataclass(frozen=True)
class SceneSettings(Settings):
    """Where obstacles come from besides the world, and how old frames may be."""

    awaited: bool = False  # whether a scene comes on the topic: no plan before its first message
    frame_age: Positive = 0.5  # [s] of a transform, and between two that are bridged
    patience: Positive = 0.2  # [s] until a frame that is not known is a fault


class AvoidedObstacles:
    """Boxes by name, in the frame of the base of an arm; tells when they are others."""

    def __init__(
        self,
        node: Node,
        model: RobotModel,
        world: str,
        settings: SceneSettings,
        on_change: Callable[[], None],
    ) -> None:
        self._node, self._settings, self._on_change = node, settings, on_change
        self._frame, self._world = frame_of_base(model), read_world(world)
        self.frames = frames = FrameTree(self._frame, _fixed(model), settings.frame_age)
        self._shown = ShownScene(frames, settings.patience)
        self._is_heard = False  # anything on the topic
        self.boxes: dict[str, Box] = dict(self._world)
        self._avoided = node.create_publisher(MarkerArray, 'avoided', STATE)
        node.create_subscription(MarkerArray, TOPIC, self._on_live, OBSTACLES)
        node.create_subscription(MarkerArray, TOPIC, self._hear, LATCHED_OBSTACLES)
        self._transforms = Transforms(node, frames, self._settle)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = node.create_timer(LOOK, self._settle, clock=steady)

    @property
    def is_known(self) -> bool:
        """Whether all that is in the way is known, so that plans may be made."""
        return self._shown.is_settled and not self.awaited

    @property
    def awaited(self) -> str:
        """What is waited for before the first plan; empty: nothing."""
        if self._is_heard:
            return ''
        if self._settings.awaited:
            return f'waiting for the scene on topic {TOPIC}; until it comes there are no plans'
        if self._node.count_publishers(TOPIC):
            return (
                f'somebody publishes on topic {TOPIC} and nothing has come since this node was '
                'started; until it is shown again there are no plans'
            )
        return ''

    @property
    def unclear(self) -> str:
        """What is not understood or not placed, a fault; empty: nothing."""
        trouble = self._shown.trouble(self._now())
        if trouble and self._transforms.trouble:
            return f'{trouble}; {self._transforms.trouble}'
        return trouble

    def publish(self) -> None:
        """Say what is avoided."""
        self._avoided.publish(obstacle_markers(self.boxes, self._frame, 0))

    def _on_live(self, msg: MarkerArray) -> None:
        """Take a message, unless it comes on the subscription that hears earlier ones as well."""
        publishers = self._node.get_publishers_info_by_topic(TOPIC)
        durability = {each.qos_profile.durability for each in publishers}
        if durability != {DurabilityPolicy.TRANSIENT_LOCAL}:
            self._hear(msg)

    def _hear(self, msg: MarkerArray) -> None:
        """Change what is shown, with the rules of RViz."""
        self._is_heard = True
        self._shown.apply(changes_of(msg), self._now())
        self._renew()

    def _settle(self) -> None:
        self._shown.settle(self._now())
        self._renew()

    def _renew(self) -> None:
        """Put world and shown obstacles together; names of the world are its own."""
        boxes = dict(self._world)
        for name, box in self._shown.boxes.items():
            while name in self._world:
                name += "'"
            boxes[name] = box
        if boxes.keys() != self.boxes.keys() or any(
            boxes[name] is not box for name, box in self.boxes.items()
        ):
            self.boxes = boxes
            self._on_change()

    def _now(self) -> int:
        return int(self._node.get_clock().now().nanoseconds)


def _fixed(model: RobotModel) -> dict[str, Placement]:
    """Links that do not move, in the frame of the base."""
    at_base = {name: frame for name, frame in model.frames.items() if frame.joint == -1}
    return {name: Placement(frame.R, frame.p) for name, frame in at_base.items()}
