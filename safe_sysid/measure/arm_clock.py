"""ArmClock: the time by the stamps of samples, whatever a clock on the wall says.

What others stamp is compared with stamps of the arm, and plans begin at such ones; under a
simulator that is simulated time. After the newest sample the clock goes on as a steady one, so
that ages grow also where no sample comes any more. In lockstep time stands until it is answered,
and so does this clock. Before the first sample it is another clock.
"""

from __future__ import annotations

from collections.abc import Callable
import time

from safe_sysid.measure.sample_order import JUMP


def standing() -> int:
    """Return the steady time of a loop whose time stands between two samples [ns]."""
    return 0


class ArmClock:
    """Says what time it is [ns]; what only lasts goes on over a jump by what `note` returns."""

    def __init__(
        self, before: Callable[[], int], steady: Callable[[], int] = time.monotonic_ns
    ) -> None:
        self._before, self._steady = before, steady
        self._newest: tuple[int, int] | None = None  # stamp, and steady time of its arrival [ns]
        self._doubted: tuple[int, int] | None = None  # the same of a stamp that jumped

    @property
    def is_known(self) -> bool:
        """Whether a sample has set it; before, nothing that others stamp is compared with it."""
        return self._newest is not None

    def now(self) -> int:
        """Return the time."""
        return self._before() if self._newest is None else self._since(self._newest)

    def note(self, stamp: int) -> int:
        """Take the stamp of a sample; by how much the clock has jumped, mostly 0.

        A jump counts with the second sample that says so, as one stamp that is wrong must not end
        what lasts for a while. The first sample of all sets the clock.
        """
        came = stamp, self._steady()
        change = stamp - self.now()
        is_first, is_jump = self._newest is None, abs(change) > JUMP
        if is_jump and not is_first and not self._goes_on_from_doubted(stamp):
            self._doubted = came
            return 0
        self._doubted = None
        if self._newest is None or is_jump or stamp > self._newest[0]:
            self._newest = came
        return change if is_jump else 0

    def _goes_on_from_doubted(self, stamp: int) -> bool:
        doubted = self._doubted
        if doubted is None or stamp <= doubted[0]:
            return False
        return abs(stamp - self._since(doubted)) <= JUMP

    def _since(self, sample: tuple[int, int]) -> int:
        return sample[0] + self._steady() - sample[1]
