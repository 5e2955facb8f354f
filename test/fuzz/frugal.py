"""What a file from a stranger may cost whoever reads or refuses it."""

from fuzz.limits import soon
import pytest

SOON = 10.0  # [s] of CPU
LITTLE = 2**19  # [kB]


@pytest.fixture(autouse=True)
def soon_and_in_little_memory():
    """Time and memory of a test are looked at, wherever this is imported."""
    with soon(SOON, memory=LITTLE):
        yield
