"""StampAges: how far stamps of a sensor may be from the clock of the arm, and why not farther.

A stamp of 0 says nothing, and neither does any before the clock of the arm is known.
"""

from __future__ import annotations

from dataclasses import dataclass

from safe_sysid.measure.arm_clock import ArmClock

SECOND = 1e9  # [ns]
UNKNOWN = 0  # a stamp that says nothing
HELP = (
    'whoever publishes has to stamp by the clock that joint_states are stamped by; what has no '
    'stamp (0) counts from its arrival'
)


@dataclass(frozen=True)
class StampAges:
    """What is allowed of a sensor, by the clock of the arm."""

    clock: ArmClock
    old: float  # [s] since a stamp or the arrival of what came last, whichever is earlier
    ahead: float  # [s] of a stamp
    patience: float  # [s] until a stamp that is not allowed is a fault

    def since(self, stamp: int) -> int:
        """From when on the age counts of what has come now [ns]."""
        now = self.clock.now()
        return min(stamp, now) if self._says_when(stamp) else now

    def trouble(self, stamp: int) -> str:
        """Return why what has this stamp is not taken now; empty: nothing."""
        if not self._says_when(stamp):
            return ''
        age = (self.clock.now() - stamp) / SECOND
        if age > self.old:
            return self.grown_old(age)
        if -age > self.ahead:
            return (
                f'the stamp of what came last is {-age:.3g} s ahead of the clock of the arm; '
                f'scene.frame_age allows {self.ahead:g} s; {HELP}'
            )
        return ''

    def grown_old(self, age: float) -> str:
        """Say that what came last is too old by its stamp [s]."""
        return (
            f'what came last is {age:.3g} s old by its stamp and the clock of the arm; '
            f'scene.points.max_age allows {self.old:g} s; a sensor that hangs sends the same '
            f'again, and {HELP}'
        )

    def _says_when(self, stamp: int) -> bool:
        return stamp != UNKNOWN and self.clock.is_known
