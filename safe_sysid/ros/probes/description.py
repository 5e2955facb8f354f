"""The robot description that a running robot publishes, on standard output.

Takes the topic and how long to wait [s]. Exits with 1 when none came, and says on standard error
what was looked for and which topics of that type there are.
"""

from __future__ import annotations

import sys
import time

import rclpy
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String

from safe_sysid.ros.probes.answer import tell

KIND = 'std_msgs/msg/String'
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
PERIOD = 0.05  # [s]


class DescriptionReader(Node):
    """Keeps the first text of a latched topic."""

    def __init__(self, topic: str) -> None:
        super().__init__('safe_sysid_description_reader')
        self.text: str | None = None
        self.create_subscription(String, topic, self._on_text, LATCHED)

    def _on_text(self, msg: String) -> None:
        self.text = self.text or msg.data

    @property
    def others(self) -> list[str]:
        """Topics of the same type."""
        return sorted(name for name, kinds in self.get_topic_names_and_types() if KIND in kinds)


def main() -> int:
    """Wait for a description, and print it."""
    topic, seconds = sys.argv[1], float(sys.argv[2])
    rclpy.init()
    try:
        reader = DescriptionReader(topic)
        deadline = time.monotonic() + seconds
        while reader.text is None and time.monotonic() < deadline:
            rclpy.spin_once(reader, timeout_sec=PERIOD)
        if reader.text is not None:
            tell(reader.text)
            return 0
        others = [name for name in reader.others if name != reader.resolve_topic_name(topic)]
        sys.stderr.write(
            f'nobody published a latched {KIND} on {topic} within {seconds:g} s; topics of that '
            f'type: {", ".join(others) or "none"}\n'
        )
        return 1
    finally:
        rclpy.try_shutdown()


if __name__ == '__main__':
    sys.exit(main())
