"""Worker: one function in a process of its own, with a socket between it and us.

A thread would share the interpreter lock with its caller. The process is a fresh interpreter that
loads the function's module and nothing else of ours; it ends when the socket is closed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
import contextlib
import ctypes
import os
import pickle
import signal
import socket
import subprocess
import sys

from safe_sysid.own_python import own_environment

PATIENCE = 2.0  # [s] to end by itself
DIES_WITH_PARENT = 1  # PR_SET_PDEATHSIG of <sys/prctl.h>
# Small matrices gain nothing from threads, which would take the core of somebody else.
ONE_THREAD = {'OPENBLAS_NUM_THREADS': '1', 'OMP_NUM_THREADS': '1'}

Serve = Callable[[socket.socket], None]


class Worker:
    """Runs `serve`, a function at the top of a module, until our end of the socket is closed.

    It loads that module with `niceness` already, as who is waited for may start just then.
    """

    def __init__(
        self,
        serve: Serve,
        kind: socket.SocketKind = socket.SOCK_STREAM,
        niceness: int = 0,
    ) -> None:
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, kind)
        told = pickle.dumps(serve).hex()  # its module and name
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, '-m', __spec__.name, str(theirs.fileno()), str(niceness), told],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for us, who may have work to finish
                env={**own_environment(), **ONE_THREAD},
            )

    def close(self) -> None:
        """End the process, by force where it is inside something that takes long."""
        self.socket.close()
        try:
            self.process.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@contextlib.contextmanager
def deaf_to_ctrl_c() -> Iterator[None]:
    """Have processes that begin meanwhile never hear Ctrl-C, not even while they load.

    Ctrl-C is for whoever began them, who ends them; here it waits until all have begun.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def die_with_parent() -> None:
    """End when the parent is killed, which then cannot ask to; right after a fork."""
    ctypes.CDLL(None).prctl(DIES_WITH_PARENT, signal.SIGTERM)


def die_with(parent: int) -> None:
    """Do the same in a process that began long ago, and may have lost its parent since."""
    die_with_parent()
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGTERM)


def main() -> None:
    """Serve for the process that has started this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the caller, who ends us
    descriptor, niceness, told = sys.argv[1:]
    os.nice(int(niceness))
    serve: Serve = pickle.loads(bytes.fromhex(told))
    with contextlib.suppress(BrokenPipeError, ConnectionResetError, EOFError):
        serve(socket.socket(fileno=int(descriptor)))


if __name__ == '__main__':
    main()
