"""ClockSkew: whether stamps of samples count seconds as long as those of this machine.

Plans, errors of velocities and delays are counted by stamps, the arm moves in seconds. On its way
a sample is delayed by ever different times, of which the least of each window is nearly the same:
what that changes by over a longer time is the stamps'.
"""

from __future__ import annotations

WINDOW = 1.0  # [s] of stamps, of which the quickest sample counts
LONG_ENOUGH = 10.0  # [s] after which something is said
LARGEST = 1e-3  # of the time; clocks of quartz differ by a tenth of that
LARGEST_CHANGE = 0.02  # [s] that a machine that is busy may hold up all samples of a window


class ClockSkew:
    """Compares stamps with when samples came, by a steady clock."""

    def __init__(self) -> None:
        self._begin = 0  # [ns] stamp of the first sample of this window
        self._least = float('inf')  # [s] from stamp to arrival, in this window
        self._first: tuple[int, float] | None = None  # stamp and least of the first window
        self._change = self._elapsed = 0.0  # [s] since then

    def step(self, stamp: int, arrived: float) -> None:
        """Take a sample: its stamp [ns], and when it came [s]."""
        way = arrived - 1e-9 * stamp
        if self._least == float('inf'):
            self._begin = stamp
        self._least = min(self._least, way)
        if stamp - self._begin < WINDOW * 1e9:
            return
        if self._first is None:
            self._first = stamp, self._least
        self._elapsed = 1e-9 * (stamp - self._first[0])
        self._change = self._least - self._first[1]
        self._least = float('inf')

    @property
    def share(self) -> float:
        """By how much more time passes than stamps say, as a share; 0 as long as it is unseen."""
        return self._change / self._elapsed if self._elapsed >= LONG_ENOUGH else 0.0

    @property
    def trouble(self) -> str:
        """Say that stamps are another clock's; empty: nothing speaks for it."""
        if abs(self.share) <= LARGEST or abs(self._change) <= LARGEST_CHANGE:
            return ''
        slow = 'slow' if self._change > 0.0 else 'fast'
        return (
            f'the clock of samples is {100.0 * abs(self.share):.2g} % {slow}: '
            f'{1e3 * abs(self._change):.0f} ms in {self._elapsed:.0f} s'
        )
