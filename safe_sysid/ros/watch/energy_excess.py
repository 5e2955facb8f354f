"""EnergyExcess: that the tracking error has had more energy than plans are certified for.

A fault it is only well above V_M. Just above it the arm is safe as before where it rests, but no
plan goes on from the one in force, and whoever waits for one has to know why.
"""

from __future__ import annotations

from safe_sysid.track.seen_law import LEFT_OUT

BEYOND_V_M = 'error beyond V_M'  # figure of the controller that has the sentence
LASTS = 0.5  # [s] of samples without one that is below; noise of readings comes and goes
WAY_BACK = (
    'rest on until it has decayed, or brake and start: plans then begin where the arm is; where '
    'it comes again, look for contact, weak drives, a wrong payload, wrong friction or, '
    f'{LEFT_OUT}'
)


class EnergyExcess:
    """Counts by stamps of samples."""

    def __init__(self) -> None:
        self._since: int | None = None  # [ns] first of the samples in a row that are above V_M
        self.trouble = ''

    def step(self, stamp: int, energy: float, V_M: float) -> bool:
        """Take the least energy [J] that is possible at a stamp [ns]; whether it is said anew."""
        if not energy > V_M:
            self.forget()
            return False
        self._since = stamp if self._since is None else self._since
        lasted = 1e-9 * (stamp - self._since)
        if lasted < LASTS:
            return False
        is_new = not self.trouble
        self.trouble = (
            f'the energy of the tracking error has been above V_M = {V_M} J for {lasted:.1f} s, '
            f'it is at least {energy:.4g} J; plans that go on from the one in force are refused: '
            f'{WAY_BACK}'
        )
        return is_new

    def forget(self) -> None:
        """Begin anew."""
        self._since, self.trouble = None, ''
