"""How a node becomes a process: start, spin, and an end that says why."""

from __future__ import annotations

from collections.abc import Callable
import signal
import sys
from types import FrameType

import rclpy
from rclpy._rclpy_pybind11 import RCLError
from rclpy.executors import Executor, ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from safe_sysid.errors import SafeSysidError

FINITE = 0.2  # [s] spinning without a timeout hangs in some versions of the events executor
MISUSE, FAULT = 2, 3  # exit status; a crash has 1


class End:
    """Whether somebody asked this process to end; asking twice does not wait for what it does."""

    def __init__(self) -> None:
        self.is_asked_for = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        if self.is_asked_for:
            raise KeyboardInterrupt
        self.is_asked_for = True


def main_of(node_class: Callable[[], Node]) -> int:
    """Run a node until it is told to end; the exit status."""
    end = End()  # not the handlers of rclpy, which would interrupt a callback
    try:
        rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    except RCLError as error:
        sys.stderr.write(f'{sys.argv[0]}: arguments of ROS refused: {error}\n')
        return MISUSE
    node, status = None, 0
    try:
        node = node_class()
        status = spin(node, end)
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


def spin(node: Node, end: End) -> int:
    """Serve the callbacks of a node, one after the other, in this thread.

    A node that comes to its end by itself gives itself an `exit_status`.
    """
    executor = single_threaded_executor()
    executor.add_node(node)
    while rclpy.ok() and not end.is_asked_for:
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
