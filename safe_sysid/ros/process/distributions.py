"""Where distributions of ROS 2 differ in what rclpy has; nothing else knows which one it runs on.

Jazzy and Kilted are tested, Humble and Lyrical read (docs/ros.md, "Distributions").
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
import inspect
from typing import Any

from rclpy.context import Context
from rclpy.executors import Executor, SingleThreadedExecutor
from rclpy.topic_endpoint_info import TopicEndpointInfo

Heard = Callable[[Any, Mapping[str, Any]], None]


def single_threaded_executor(context: Context | None = None) -> Executor:
    """Return the fastest executor there is; versions before Jazzy have no events executor."""
    try:
        from rclpy.experimental import EventsExecutor
    except ImportError:
        return SingleThreadedExecutor(context=context)
    return EventsExecutor(context=context)


class WithMessageInfo:
    """A callback that takes a message and what the middleware says of it, of every executor.

    The events executor hands over both as one tuple; the others hand over two arguments.
    """

    def __init__(self, hear: Heard) -> None:
        self._hear = hear
        self.__signature__ = inspect.signature(hear)  # by which rclpy sees that both are wanted

    def __call__(self, *told: Any) -> None:
        """Hand over the message and what is said of it."""
        msg, info = told if len(told) == 2 else told[0]
        self._hear(msg, info)


def type_hash_of(endpoint: TopicEndpointInfo) -> str:
    """Return RIHS01_... of the type of a topic; versions before Iron have none."""
    return str(getattr(endpoint, 'topic_type_hash', ''))
