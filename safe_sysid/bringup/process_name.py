"""What `ps` and `top` call a process that is a copy of another one."""

from __future__ import annotations

from contextlib import suppress
import ctypes
from pathlib import Path

BEGIN, END = 45, 46  # words of /proc/self/stat behind the name: where the command line is


def name_process(module: str) -> None:
    """Call this process by its module, or the end of that where the command line is shorter.

    The kernel shows what is in the memory of the command line, and a short name besides.
    """
    last = module.rpartition('.')[2]
    with suppress(OSError, ValueError, IndexError):  # nothing but a name
        Path('/proc/self/comm').write_text(last, encoding='ascii')
        words = Path('/proc/self/stat').read_text(encoding='ascii').rpartition(')')[2].split()
        begin, end = int(words[BEGIN]), int(words[END])
        name = next((each for each in (module, last) if len(each) < end - begin), '')
        if begin and name:
            ctypes.memmove(begin, name.encode().ljust(end - begin, b'\0'), end - begin)
