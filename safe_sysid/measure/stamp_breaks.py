"""StampBreaks: where the stamps of samples did not go on as time does, lately.

An arm whose clock was set, or whose samples were lost, is as far from its plan afterwards as one
that was touched. Who sees that error says with it what the stamps did just before.
"""

from __future__ import annotations

LATELY = 1_000_000_000  # [ns] for which a break is told
GAP = 250_000_000  # [ns] from one sample to the next; fewer are lost without harm
MANY = 10  # samples in a row that are not newer; duplicates and stragglers are fewer


class StampBreaks:
    """Takes every stamp, in whatever order they come."""

    def __init__(self) -> None:
        self._newest: int | None = None
        self._repeated = self._back = 0  # samples in a row that were not newer, by how much [ns]
        self._said, self._said_at = '', 0

    def step(self, stamp: int) -> None:
        """Take the stamp of a sample [ns]."""
        before = stamp if self._newest is None else self._newest
        if self._newest is not None and stamp <= before:
            self._repeated, self._back = self._repeated + 1, max(self._back, before - stamp)
            if self._repeated >= MANY:
                self._tell(
                    f'{self._repeated} samples in a row were not newer than one before, by up to '
                    f'{1e-9 * self._back:.3g} s: they are repeated, or their clock was set back',
                    before,
                )
            return
        self._newest, self._repeated, self._back = stamp, 0, 0
        if stamp - before > GAP:
            self._tell(
                f'{1e-9 * (stamp - before):.3g} s are between the stamps of two samples: some '
                'were lost, or their clock was set ahead',
                stamp,
            )

    def _tell(self, said: str, stamp: int) -> None:
        self._said, self._said_at = said, stamp

    @property
    def trouble(self) -> str:
        """Say what the last break was; empty: there was none lately."""
        if self._newest is None or self._newest - self._said_at > LATELY:
            return ''
        return self._said
