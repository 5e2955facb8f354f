"""Where distributions of ROS 2 differ in what rclpy has; nothing else knows which one it runs on.

Jazzy and Kilted are tested, Humble and Lyrical read (docs/ros.md, "Distributions").
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
import inspect
from typing import Any

from rclpy.executors import Executor, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.service import Service
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


def create_async_service(
    node: Node, kind: Any, name: str, callback: Callable[[Any, Any], Awaitable[Any]]
) -> Service:
    """Serve with a coroutine; the events executor of Jazzy would send it instead of its result."""
    service = node.create_service(kind, name, callback)
    send = service.send_response

    def send_result(response: Any, header: Any) -> None:
        executor = node.executor
        if not inspect.iscoroutine(response) or executor is None:
            send(response, header)
            return
        task = executor.create_task(response)
        task.add_done_callback(lambda done: send(done.result(), header))

    service.send_response = send_result
    return service
