"""How frames move in which obstacles are shown: nav_msgs/Odometry, where it is installed.

The pose is that of `child_frame_id` in `header.frame_id`, the twist is along axes of the child.
Covariances say how likely errors are and bound nothing, so they are not read; bounds are settings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import importlib
from typing import Any

import numpy as np
from rclpy.node import Node

from safe_sysid.config import NotNegative, Positive, Settings
from safe_sysid.errors import SafeSysidError
from safe_sysid.model.collision.moving_box import MotionBounds
from safe_sysid.model.frame_tree import FrameTree, Transform
from safe_sysid.model.moving_frames import FrameMotion, MovingFrames, UnnamedMotionError
from safe_sysid.ros.messages.codec import stamp_of
from safe_sysid.ros.messages.qos import MOTIONS
from safe_sysid.ros.messages.unread_topic import UnreadTopic

TOPIC = 'obstacle_motions'
SECOND = 1e9  # [ns]


@dataclass(frozen=True)
class MotionSettings(Settings):
    """What is promised of every point of obstacles in frames that move; 0: it is not promised."""

    frames: tuple[str, ...] = ()  # that move: nothing is known of them before their first message
    position_error: NotNegative = 0.0  # [m] at the stamp of a message
    velocity_error: NotNegative = 0.0  # [m/s] of the velocity that the message states
    acceleration: NotNegative = 0.0  # [m/s^2] at most, in any direction
    speed: NotNegative = 0.0  # [m/s] at most, in any direction
    max_age: Positive = 0.5  # [s] of a message, from which on nothing is known

    def of(self, frames: FrameTree) -> MovingFrames:
        """Return frames of which this is promised."""
        promised = self.position_error, self.velocity_error, self.acceleration, self.speed
        bounds = MotionBounds(*(bound or np.inf for bound in promised))
        return MovingFrames(frames, bounds, self.max_age, self.frames)


class ObstacleMotions:
    """Listens for motions; `told` is called after each message, `now` gives the time [ns].

    A message without the name of a frame may be of anything: nothing is known to stand until one
    is understood that comes `max_age` after the last of these. Nobody says whose a message is, and
    who goes on sending such ones must not be forgotten for what others send.
    """

    def __init__(
        self,
        node: Node,
        moving: MovingFrames,
        now: Callable[[], int],
        told: Callable[[], None],
    ) -> None:
        self._moving, self._now, self._told = moving, now, told
        self.trouble = ''  # what was wrong with the last motion, if anything
        self._unnamed: int | None = None  # [ns] when the last motion came that is of no frame
        self._unread: UnreadTopic | None = None
        try:
            message: Any = importlib.import_module('nav_msgs.msg').Odometry
        except (ImportError, AttributeError):
            self._unread = UnreadTopic(node, TOPIC, 'nav_msgs')
            return
        node.create_subscription(message, TOPIC, self.hear, MOTIONS)

    @property
    def unclear(self) -> str:
        """Why nothing is known to stand, a fault; empty: what is told has names."""
        if self._unread is not None:
            self._unread.settle()
            if self._unread.unclear:
                return self._unread.unclear
        if self._unnamed is None:
            return ''
        return (
            f'somebody tells the motion of no frame on topic {TOPIC}, so nobody knows what moves: '
            'child_frame_id is empty; it has to name the frame. There are no plans until a motion '
            f'is understood that comes {self._moving.max_age} s or more after the last of these'
        )

    def shift(self, change: int) -> None:
        """Have what is counted from an arrival go on over a jump of the clock [ns]."""
        self._unnamed = None if self._unnamed is None else self._unnamed + change

    def hear(self, msg: Any) -> None:
        """Take a message."""
        try:
            self._moving.put(msg.child_frame_id, motion_of(msg))
            self.trouble = ''
            self._forgive()
        except UnnamedMotionError:
            self._unnamed = self._now()
        except SafeSysidError as error:
            self.trouble = str(error)
        self._told()

    def _forgive(self) -> None:
        """Forget a motion of no frame where none has come lately."""
        if self._unnamed is None:
            return
        if self._now() - self._unnamed >= self._moving.max_age * SECOND:
            self._unnamed = None


def motion_of(msg: Any) -> FrameMotion:
    """Return what a message says about its frame."""
    p, q = msg.pose.pose.position, msg.pose.pose.orientation
    v, w = msg.twist.twist.linear, msg.twist.twist.angular
    return FrameMotion(
        msg.header.frame_id,
        stamp_of(msg.header.stamp),
        Transform(np.array([p.x, p.y, p.z]), np.array([q.w, q.x, q.y, q.z])),
        np.array([v.x, v.y, v.z]),
        np.array([w.x, w.y, w.z]),
    )
