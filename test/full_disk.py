"""Files that can't grow, as on a disk that is full."""

from collections.abc import Iterator
from contextlib import contextmanager
import resource


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Let this process write no file beyond so many bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
