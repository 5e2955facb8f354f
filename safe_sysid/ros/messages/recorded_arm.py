"""RecordedArm: /robot_description and /tf of a bag, so that whoever opens it sees the arm move.

Where a robot_state_publisher runs its transforms are recorded as they come. Elsewhere they follow
from `joint_states` here, as often as a film needs them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from safe_sysid.measure.bag.topic import BagTopic, Delivery
from safe_sysid.measure.bag.transform_bytes import TF_MESSAGE, transforms_bytes
from safe_sysid.model.embedded_meshes import with_meshes_inside
from safe_sysid.model.link_transforms import LinkTransform, LinkTransforms
from safe_sysid.ros.messages.codec import SECOND, stamp_of
from safe_sysid.ros.messages.definitions import SEPARATOR, definition

TEXT = 'std_msgs/msg/String'
TRANSFORM = 'geometry_msgs/msg/TransformStamped'
PERIOD = 0.02  # [s] of stamps between two transforms
Write = Callable[[BagTopic, bytes], None]


def tf_definition() -> str:
    """Return the definition of a TFMessage, whether its package is installed or not."""
    inner = f'MSG: {TRANSFORM.replace("/msg/", "/")}\n{definition(TRANSFORM)}'
    return f'geometry_msgs/TransformStamped[] transforms\n{SEPARATOR}\n{inner}'


class RecordedArm:
    """What is written of one arm; `folder` is the namespace of its loop and a slash."""

    def __init__(self, urdf: Path, folder: str, write: Write) -> None:
        self._write, text = write, tf_definition()
        # two arms may have links of the same names: each namespace has a tree of its own
        self.tf = BagTopic(f'{folder}tf', TF_MESSAGE, text, '', Delivery.RELIABLE)
        self._still = BagTopic(f'{folder}tf_static', TF_MESSAGE, text, '', Delivery.LATCHED)
        self._shape = BagTopic(
            f'{folder}robot_description', TEXT, definition(TEXT), '', Delivery.LATCHED
        )
        self.joint_states = f'{folder}joint_states'
        self._urdf, self.outside = with_meshes_inside(urdf)
        self._links = LinkTransforms(self._urdf)
        self._next = 0  # [ns] stamp of the next transforms
        self.is_told = False  # by somebody else, whose transforms are recorded

    @property
    def topics(self) -> tuple[BagTopic, BagTopic, BagTopic]:
        """Return what may be written."""
        return self.tf, self._still, self._shape

    def begin(self, stamp: int) -> None:
        """Write what does not move."""
        self._write(self._shape, serialize_message(String(data=self._urdf)))
        self._write(self._still, transforms_bytes(stamp, map(_told, self._links.fixed)))

    def hear(self, data: bytes) -> None:
        """Take a sample of joint_states, as it was sent."""
        if self.is_told:
            return
        sample = deserialize_message(data, JointState)
        stamp = stamp_of(sample.header.stamp)
        if 0 < self._next - stamp <= PERIOD * SECOND:  # not where time has jumped
            return
        self._next = stamp + round(PERIOD * SECOND)
        positions = dict(zip(sample.name, sample.position, strict=False))
        moved = self._links.moving(positions)
        self._write(self.tf, transforms_bytes(stamp, map(_told, moved)))


def _told(link: LinkTransform) -> tuple[str, str, list[float], list[float]]:
    return link.parent, link.child, link.position.tolist(), link.quaternion.tolist()
