"""Command line of `safe-sysid warm-up`."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
import signal

from safe_sysid.cli.output import print_wrapped

TERMINATED = 143  # what a shell reports for SIGTERM
HELP = 'compile all kernels now, in a minute or two, so that no command has to wait for them'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Nothing can be chosen: kernels are the same for every arm."""


def command(options: argparse.Namespace) -> int:
    """Carry out `safe-sysid warm-up`."""
    del options
    print_wrapped(warmed_up())
    return 0


def warmed_up(terminated: int = TERMINATED) -> object:
    """Compile what is not compiled, with a bar for whoever waits.

    SIGTERM ends the program with the status `terminated`, and its processes before that.
    """
    from safe_sysid.api.warm_up import warm_up
    from safe_sysid.cli.progress import ProgressBar

    bar = ProgressBar('compiling')
    try:
        with _terminated_with(terminated):
            return warm_up(bar.show)
    finally:
        bar.end()


@contextmanager
def _terminated_with(status: int) -> Iterator[None]:
    """Leave by way of what takes down whatever was begun."""

    def leave(*_: object) -> None:
        raise SystemExit(status)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
