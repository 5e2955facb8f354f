"""How a node becomes a process: start, spin, and an end that says why."""

from __future__ import annotations

from collections.abc import Callable
import sys

import rclpy
from rclpy.executors import Executor, ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node

from safe_sysid.errors import SafeSysidError

FINITE = 0.5  # [s] spinning without a timeout hangs in some versions of the events executor
MISUSE = 2


def main_of(node_class: Callable[[], Node]) -> int:
    """Run a node until it is told to end; the exit status."""
    rclpy.init()
    node, status = None, 0
    try:
        node = node_class()
        status = spin(node)
    except SafeSysidError as error:
        sys.stderr.write(f'{error}\n')
        return MISUSE
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        if node is not None:
            close = getattr(node, 'close', None)
            if close is not None:
                close()
            node.destroy_node()
        rclpy.try_shutdown()
    return status


def spin(node: Node) -> int:
    """Serve the callbacks of a node, one after the other, in this thread.

    A node that comes to its end by itself gives itself an `exit_status`.
    """
    executor = single_threaded_executor()
    executor.add_node(node)
    while rclpy.ok():
        executor.spin_once(timeout_sec=FINITE)
        status = getattr(node, 'exit_status', None)
        if status is not None:
            return int(status)
    return 0


def single_threaded_executor() -> Executor:
    """The fastest executor there is; versions before Jazzy have no events executor."""
    try:
        from rclpy.experimental import EventsExecutor
    except ImportError:
        return SingleThreadedExecutor()
    return EventsExecutor()
