"""How a node becomes a process: start, spin, and an end that says why.

A signal does not end a process. It is told to whoever knows when the node may leave: `leave` of
the node, which by default asks for the end of the run (`leaving.py`). A node that does not come to
hear of it, since it compiles, leaves after a while; so does one without which an arm comes to rest
as well. When the process that started a node is killed, the node gets SIGTERM, so that no node
stays behind. Nor does one that the middleware does not let go once its work is over, such as where
another process was killed with a lock of theirs: SIGALRM ends it, which waits for no lock. So it
does where a thread of the middleware falls over what was taken down before it, which is no crash
of a node whose work is over: that thread waits for it. A node that holds no arm, and that the
middleware keeps within one turn for long, ends as after a crash.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
import ctypes
import faulthandler
import os
import signal
import sys
import time
from types import FrameType
from typing import NoReturn

import rclpy
from rclpy._rclpy_pybind11 import RCLError
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from safe_sysid.errors import SafeSysidError
from safe_sysid.ros.process.distributions import single_threaded_executor
from safe_sysid.ros.process.leaving import Leave, LeaveWithTheLoop
from safe_sysid.ros.process.words import say

FINITE = 0.2  # [s] spinning without a timeout hangs in some versions of the events executor
BUSY = 3.0  # [s] after which a node leaves that does not come to hear of a signal
CLOSING = 10.0  # [s] for the middleware to close, when nothing is left to be done
CRASH, MISUSE, FAULT = 1, 2, 3  # exit status
DIES_WITH_PARENT = 1  # PR_SET_PDEATHSIG of <sys/prctl.h>


class Signals:
    """How often this process was told to end, and by what.

    While `may_leave`, a signal that nobody has `heard` after a while ends the process at once.
    """

    def __init__(self) -> None:
        self.count, self.heard, self.name = 0, 0, ''
        self.may_leave = True
        self._is_limited = False
        signal.signal(signal.SIGALRM, self._on_alarm)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])  # that `safe-sysid run` keeps

    def ignore(self) -> None:
        """Let none end the process in another way than the one it has begun."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        signal.setitimer(signal.ITIMER_REAL, 0.0)  # Python takes our handler away before it ends
        self.may_leave = False

    def limit_closing(self) -> None:
        """Have the kernel end this process if it has not ended by itself after a while.

        A thread that crashes from here on waits for that.
        """
        self._is_limited = True
        libc = ctypes.CDLL(None)
        for number in (signal.SIGSEGV, signal.SIGABRT):
            libc.signal(number, ctypes.cast(libc.pause, ctypes.c_void_p))
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, CLOSING)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        del frame
        self.count, self.name = self.count + 1, signal.Signals(number).name
        if not self._is_limited:
            signal.setitimer(signal.ITIMER_REAL, BUSY)

    def _on_alarm(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        if self.may_leave and self.count > self.heard:
            say(f'{sys.argv[0]}: left in the middle of its work, told to by {self.name}')
            os._exit(0)  # whoever is busy may be in the middle of anything


class Turns:
    """Ends a process in which one turn lasts longer than `longest` [s], and says where it was.

    Who started the process starts it again. A thread that needs no lock of Python or of the
    middleware does it.
    """

    def __init__(self, longest: float | None) -> None:
        self._longest, self._due = longest, 0.0

    def begin(self, now: float) -> None:
        """Count from here on, to a tenth of the longest turn."""
        if self._longest is not None and now >= self._due:
            self._due = now + 0.1 * self._longest
            faulthandler.dump_traceback_later(1.1 * self._longest, exit=True)


def main_of(node_class: Callable[[], Node]) -> NoReturn:
    """Run a node until it may leave, and end the process.

    What Python and the middleware would take down after that, the kernel frees at once; they take
    a good part of a second of a processor, which others need to bring an arm to rest.
    """
    status = _status_of(node_class)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # its reader may be gone
            stream.flush()
    os._exit(status)


def _status_of(node_class: Callable[[], Node]) -> int:
    """Run a node until it may leave; the exit status.

    One whose `needed_at_end` is false plays no part in bringing the arm to rest. Only a node that
    cannot be made has refused its settings; what goes wrong later is a crash.
    """
    signals = Signals()  # not the handlers of rclpy, which would interrupt a callback
    ctypes.CDLL(None).prctl(DIES_WITH_PARENT, signal.SIGTERM)
    try:
        rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    except RCLError as error:
        if 'log directory' in str(error):
            say(f'{sys.argv[0]}: {error}; set ROS_LOG_DIR to a folder that can be written to')
        else:
            say(f'{sys.argv[0]}: arguments of ROS refused: {error}')
        return MISUSE
    node = None
    try:
        if signals.count:  # told to end before it began
            return 0
        node = node_class()
        signals.may_leave = not getattr(node, 'needed_at_end', True)
        return spin(node, signals)
    except SafeSysidError as error:
        say(f'{error}')
        return MISUSE if node is None else CRASH
    except ExternalShutdownException:
        return 0
    finally:
        faulthandler.cancel_dump_traceback_later()  # what closes may take as long as it likes
        signals.ignore()
        if node is not None:
            close = getattr(node, 'close', None)
            if close is not None:
                close()
            signals.limit_closing()
            for each in (*getattr(node, 'hosted', ()), node):
                each.destroy_node()
        rclpy.try_shutdown()


def spin(node: Node, signals: Signals) -> int:
    """Serve the callbacks of a node, one after the other, in this thread.

    A node that comes to its end by itself gives itself an `exit_status`. One whose work is over,
    though it has yet to hear that all are to leave, says so by `leave.may_be_killed`. One whose
    turns may not last longer than some `longest_turn` [s] says that.
    """
    leave: Leave = getattr(node, 'leave', None) or LeaveWithTheLoop(node)
    executor = single_threaded_executor()
    for each in (node, *getattr(node, 'hosted', ())):
        executor.add_node(each)
    told, is_limited = 0, False
    turns = Turns(getattr(node, 'longest_turn', None))
    while rclpy.ok():
        turns.begin(time.monotonic())
        executor.spin_once(timeout_sec=FINITE)
        if leave.may_be_killed and not is_limited:
            is_limited = True
            signals.limit_closing()
        if signals.count > told:
            told = signals.heard = signals.count
            leave.ask(signals.name, told)
        status = getattr(node, 'exit_status', None)
        if status is not None:
            return int(status)
        if leave.is_due():
            return 0
    return 0
