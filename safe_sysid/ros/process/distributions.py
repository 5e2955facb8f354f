"""Where distributions of ROS 2 differ in what rclpy has; nothing else knows which one it runs on.

Jazzy and Kilted are tested, Humble and Lyrical read (docs/ros.md, "Distributions").
"""

from __future__ import annotations

from rclpy.executors import Executor, SingleThreadedExecutor
from rclpy.topic_endpoint_info import TopicEndpointInfo


def single_threaded_executor() -> Executor:
    """Return the fastest executor there is; versions before Jazzy have no events executor."""
    try:
        from rclpy.experimental import EventsExecutor
    except ImportError:
        return SingleThreadedExecutor()
    return EventsExecutor()


def type_hash_of(endpoint: TopicEndpointInfo) -> str:
    """Return RIHS01_... of the type of a topic; versions before Iron have none."""
    return str(getattr(endpoint, 'topic_type_hash', ''))
