"""Keeps standard output for the result, whatever libraries print, and fits it to a terminal."""

from collections.abc import Iterator, Mapping
import contextlib
import os
import sys
from typing import Any

from safe_sysid.report.terminal_lines import terminal_width, wrapped


def print_wrapped(text: object) -> None:
    """Print for a person: in lines that fit the terminal, soon."""
    print(wrapped(str(text), terminal_width()), flush=True)


def print_figures(figures: Mapping[str, Any], *, for_programs: bool) -> None:
    """Print an object of JSON for programs, else a table for a person; soon."""
    from safe_sysid.report.figures_text import as_json, as_table

    if for_programs:
        print(as_json(figures), flush=True)
    else:
        print_wrapped(as_table(figures))


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
