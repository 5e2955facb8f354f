"""Transforms of /tf and /tf_static into a FrameTree, where their message is installed."""

from __future__ import annotations

from collections.abc import Callable
import importlib
from typing import Any

from geometry_msgs.msg import TransformStamped
import numpy as np
from rclpy.node import Node

from safe_sysid.errors import SafeSysidError
from safe_sysid.input_file import shortened
from safe_sysid.model.frame_tree import FrameTree, Transform
from safe_sysid.ros.messages.codec import stamp_of
from safe_sysid.ros.messages.qos import FRAMES, STATIC_FRAMES

MISSING = 'tf2_msgs is not installed, so /tf is not heard'


class Transforms:
    """Listens to both topics; `told` is called after each message."""

    def __init__(self, node: Node, frames: FrameTree, told: Callable[[], None]) -> None:
        self._frames, self._told = frames, told
        self.trouble = ''  # what was wrong with the last transform that was
        try:
            message: Any = importlib.import_module('tf2_msgs.msg').TFMessage
        except ImportError:
            self.trouble = MISSING
            return
        node.create_subscription(message, '/tf', self._on_moving, FRAMES)
        node.create_subscription(message, '/tf_static', self._on_static, STATIC_FRAMES)

    def _on_moving(self, msg: Any) -> None:
        self._put(msg.transforms, self._put_moving)

    def _on_static(self, msg: Any) -> None:
        self._put(msg.transforms, self._put_static)

    def _put(
        self, transforms: list[TransformStamped], put: Callable[[TransformStamped], None]
    ) -> None:
        for each in transforms:
            try:
                put(each)
            except SafeSysidError as error:
                self.trouble = f"transform of '{shortened(each.child_frame_id)}': {error}"
        self._told()

    def _put_moving(self, told: TransformStamped) -> None:
        parent, child = told.header.frame_id, told.child_frame_id
        self._frames.put(parent, child, stamp_of(told.header.stamp), transform_of(told), False)

    def _put_static(self, told: TransformStamped) -> None:
        parent, child = told.header.frame_id, told.child_frame_id
        self._frames.put(parent, child, stamp_of(told.header.stamp), transform_of(told), True)


def transform_of(msg: TransformStamped) -> Transform:
    """Return a transform without its names."""
    p, q = msg.transform.translation, msg.transform.rotation
    return Transform(np.array([p.x, p.y, p.z]), np.array([q.w, q.x, q.y, q.z]))
