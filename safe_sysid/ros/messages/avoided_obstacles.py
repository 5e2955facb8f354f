"""AvoidedObstacles: obstacles of a world and those that somebody shows, and what RViz gets."""

from __future__ import annotations

from rclpy.node import Node
from visualization_msgs.msg import MarkerArray

from safe_sysid.model.collision.world import read_world
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.ros.messages.drawings import frame_of_base, obstacle_markers, obstacles_in
from safe_sysid.ros.messages.qos import STATE
from safe_sysid.sets.box import Box


class AvoidedObstacles:
    """Boxes by name, in the frame of the base of an arm."""

    def __init__(self, node: Node, model: RobotModel, world: str) -> None:
        self._world, self._frame = world, frame_of_base(model)
        self._avoided = node.create_publisher(MarkerArray, 'avoided', STATE)
        self.boxes: dict[str, Box] = read_world(world)

    def hear(self, msg: MarkerArray) -> None:
        """Take what is shown, instead of all that was shown before."""
        shown = obstacles_in(msg, self._frame)
        self.boxes = {**read_world(self._world), **shown}

    def publish(self) -> None:
        """Say what is avoided."""
        self._avoided.publish(obstacle_markers(self.boxes, self._frame, 0))
