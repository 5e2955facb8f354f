"""The part of an errand in which something is held, from when it is grasped to its release."""

from __future__ import annotations

from dataclasses import dataclass

from safe_sysid.audit.loop_of_bag import CHANGING, TASK, RecordedLoop
from safe_sysid.errors import MeasurementError
from safe_sysid.identify.estimate_series import INSTANT, EstimateSeries


@dataclass(frozen=True)
class Carrying:
    """Times [s]."""

    begin: float  # when the gripper has closed
    moves: tuple[float, ...]  # when each task with it begins: lift, then carry
    end: float  # when its release is announced: from then on bounds are of other bodies, too

    @classmethod
    def of(cls, loop: RecordedLoop) -> Carrying:
        """Return it for a run in which something was picked."""
        if not loop.grips:
            raise MeasurementError('the gripper never closed')
        begin = loop.grips[0]
        end = next((t for t, m in loop.modes if m == CHANGING and t > begin), None)
        if end is None:
            end = float(loop.record.time[-1])
        moves = tuple(t for t, mode in loop.modes if mode == TASK and begin <= t < end)
        return cls(begin, moves, end)

    def holds(self, start: float) -> bool:
        """Whether a plan that starts at a time is followed with something in the hand."""
        return self.begin - INSTANT <= start < self.end - INSTANT

    def known(self, loop: RecordedLoop) -> EstimateSeries:
        """Return what was known of it meanwhile."""
        return loop.record.estimates.during(self.begin, self.end)
