"""AwaitedMode: where time waits for answers, it waits for the mode after a mission, too.

Whoever names the mode looks in seconds of a clock on the wall. Were samples answered meanwhile,
how many there are before the next mission would depend on the machine, and so would all that
follows from them. What is slow here is slow for whoever names it, unless that one is told to be
stricter: between two such speeds time would go on until there is a mode.
"""

from __future__ import annotations

from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.track.standing import REST_SPEED

PATIENCE = 12000  # looks, a minute's: then the sample is answered, whatever comes


class AwaitedMode:
    """Keeps the sample at which nothing was left to do."""

    def __init__(self) -> None:
        self._sample: JointMeasurement | None = None
        self._looks = 0  # since it is kept

    def keeps(self, measurement: JointMeasurement, *, is_done: bool) -> bool:
        """Whether a sample is not to be answered before there is another mode."""
        is_slow = float(abs(measurement.velocity).max()) < REST_SPEED
        if not is_done or not is_slow or self._looks >= PATIENCE:
            self._sample, self._looks = None, self._looks if is_done else 0
            return False
        self._sample = measurement
        return True

    def turn(self) -> JointMeasurement | None:
        """There is another mode: return the sample that waited for it, if one did."""
        sample, self._sample, self._looks = self._sample, None, 0
        return sample

    def look(self) -> JointMeasurement | None:
        """Return the sample that has waited for too long, if one has."""
        if self._sample is None:
            return None
        self._looks += 1
        return self._sample if self._looks >= PATIENCE else None
