"""Keeps standard output for the result, whatever libraries print, and fits it to a terminal."""

from collections.abc import Iterator
import contextlib
import os
import sys

from safe_sysid.report.terminal_lines import terminal_width, wrapped


def print_wrapped(text: object) -> None:
    """Print for a person: in lines that fit the terminal, soon."""
    print(wrapped(str(text), terminal_width()), flush=True)


@contextlib.contextmanager
def print_to_error() -> Iterator[None]:
    """Send everything printed to standard error, by compiled libraries too."""
    import ctypes

    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        ctypes.CDLL(None).fflush(None)  # what C code has buffered belongs to standard error too
        os.dup2(kept, 1)
        os.close(kept)
