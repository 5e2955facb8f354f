"""BagTopic: what a bag says about a topic, and how it asks to be played back."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

_FOREVER = '{sec: 9223372036, nsec: 854775807}'
_SAMPLE_LIMIT = 1000  # of the queue that a player opens


class Delivery(Enum):
    """Quality of service that matters to who listens: reliability and durability, as numbers."""

    BEST_EFFORT = (2, 2)
    RELIABLE = (1, 2)
    LATCHED = (1, 1)  # reliable, and the last message is kept for those who come later


@dataclass(frozen=True)
class BagTopic:
    """A topic with the complete definition of its messages."""

    name: str
    type: str  # package/msg/Name
    definition: str  # text of the .msg file, and of those it needs
    type_hash: str  # RIHS01_..., empty if not known
    delivery: Delivery

    @property
    def offered_qos(self) -> str:
        """Quality of service in YAML, as rosbag2 writes it into bags."""
        reliability, durability = self.delivery.value
        return (
            f'- history: 1\n  depth: {_SAMPLE_LIMIT}\n  reliability: {reliability}\n'
            f'  durability: {durability}\n  deadline: {_FOREVER}\n  lifespan: {_FOREVER}\n'
            f'  liveliness: 1\n  liveliness_lease_duration: {_FOREVER}\n'
            '  avoid_ros_namespace_conventions: false'
        )
