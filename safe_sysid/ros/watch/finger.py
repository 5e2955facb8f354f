"""Finger: a joint of the gripper, as the gripper's driver reports it, that tells when it closes.

A loop's `joint_states` has the joints of the arm alone, from one publisher, whom nobody may stand
in for. So the finger is heard on another topic: `/joint_states` of ros2_control, whose broadcaster
has all joints, or that of the gripper's own driver. Nothing else of its messages counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import math
import time

from rclpy.node import Node
from sensor_msgs.msg import JointState

from safe_sysid.config import Finite, Settings
from safe_sysid.errors import ConfigError
from safe_sysid.measure.single_publisher import SinglePublisherCheck
from safe_sysid.ros.messages.codec import stamp_of
from safe_sysid.ros.messages.qos import SAMPLES

LEAST_TRAVEL = 1e-6  # of a finger between open and closed
SILENT = 2.0  # [s] without a word of the finger, after which that is a warning
SHOWN = 12  # names of joints in one sentence


@dataclass(frozen=True)
class FingerSettings(Settings):
    """A joint of the gripper that tells when it closes and opens."""

    joint: str = ''  # its name; none: nobody looks
    open: Finite = 0.0  # position [rad or m] of an open gripper
    closed: Finite = 1.0  # and of a closed one; halfway is where an event is
    topic: str = '/joint_states'  # on which its driver reports it; not that of the loop

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.joint and abs(self.closed - self.open) < LEAST_TRAVEL:
            raise ConfigError(
                f'finger {self.joint} is open at {self.open} and closed at {self.closed}; these '
                'have to differ'
            )
        if self.joint and not self.topic:
            raise ConfigError(
                f'finger {self.joint} has no topic; name that on which its driver reports'
            )

    def is_closed(self, position: float) -> bool:
        """Whether the gripper is more closed than open."""
        return (position - self.open) / (self.closed - self.open) > 0.5


class Finger:
    """Hears one joint, and tells between which stamps it passed the middle."""

    def __init__(
        self, node: Node, settings: FingerSettings, passed: Callable[[int, int], None]
    ) -> None:
        self._settings, self._passed = settings, passed
        self._publisher = SinglePublisherCheck()
        self._was_closed: bool | None = None
        self._before = 0  # [ns] stamp of the message before, with the finger as it was then
        self._heard = time.monotonic()  # when it was heard of last, or began to be listened for
        self._others: dict[str, None] = {}  # joints that are on the topic
        self._deaf = _trouble_of_topic(node, settings) if settings.joint else ''
        if settings.joint and not self._deaf:
            node.create_subscription(JointState, settings.topic, self._on_state, SAMPLES)

    @property
    def state(self) -> str:
        """How the finger is."""
        if not self._settings.joint:
            return 'nobody looks'
        if self._was_closed is None:
            return 'not heard of'
        return 'closed' if self._was_closed else 'open'

    @property
    def trouble(self) -> str:
        """Why nothing is told by the finger; empty: it is heard."""
        settings, silent = self._settings, time.monotonic() - self._heard
        if self._deaf or not settings.joint or silent <= SILENT:
            return self._deaf
        told = f"hold.finger.joint '{settings.joint}' has not been heard of on {settings.topic}"
        if self._was_closed is not None:
            return f'{told} for {silent:.0f} s; what is held may change without its word'
        there = list(self._others)[:SHOWN]
        return f'{told} (hold.finger.topic); ' + (
            f'joints there are {there}' if there else 'nobody has reported joints there'
        )

    def _on_state(self, msg: JointState) -> None:
        name = self._settings.joint
        if name not in msg.name or len(msg.position) != len(msg.name):
            if len(self._others) < SHOWN:
                self._others |= dict.fromkeys(msg.name)
            return
        position, now = msg.position[msg.name.index(name)], time.monotonic()
        if not math.isfinite(position) or not self._publisher.accepts(msg.header.frame_id, now):
            return
        self._heard, stamp = now, stamp_of(msg.header.stamp)
        is_closed = self._settings.is_closed(position)
        before, was_closed = self._before, self._was_closed
        self._was_closed, self._before = is_closed, stamp
        if was_closed is not None and is_closed != was_closed:
            self._passed(min(before, stamp), stamp)


def _trouble_of_topic(node: Node, settings: FingerSettings) -> str:
    """Why no gripper may be heard on this topic: nobody else reports on that of the arm."""
    own = node.resolve_topic_name('joint_states')
    if node.resolve_topic_name(settings.topic) != own:
        return ''
    return (
        f'hold.finger.topic is {own}, on which the bridge of the loop reports the arm, and nobody '
        'else may: no finger is heard. Name the topic of the driver of the gripper, or run the '
        'loop in a namespace'
    )
