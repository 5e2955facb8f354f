"""The answer of a process that asks ROS, out before the middleware is taken down.

A thread of Fast DDS can fall over what is gone then, and with the process the answer would be lost
that a driver has given. Whoever started the process goes by its answer, not by its status.
"""

from __future__ import annotations

import sys


def tell(text: str) -> None:
    """Write it to standard output, at once."""
    sys.stdout.write(text)
    sys.stdout.flush()
