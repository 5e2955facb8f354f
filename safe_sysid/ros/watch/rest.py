"""Rest: whether the samples that a node has seen are of an arm that stands.

By its velocities where they say so: slow in all joints for a while of the clock on the wall, as
simulated time may stand still. Velocities that are differences of encoder steps may never do; of
such an arm positions tell, longer and by their stamps.
"""

from __future__ import annotations

import numpy as np

from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.track.standing import Standing

SETTLED = 0.2  # [s] for which all joints have to be slow, or
STANDING = 1.0  # [s] for which none may go farther than a slow one does in SETTLED


class Rest:
    """Takes one sample after the other."""

    def __init__(self, rest_speed: float) -> None:
        self._rest_speed = rest_speed  # [rad/s]
        self._slow_since: float | None = None  # [s] steady time
        self._standing, self._stands = Standing(rest_speed * SETTLED, STANDING), False

    def forget(self) -> None:
        """Begin anew, as after a sample that makes no sense."""
        self._slow_since, self._stands = None, False
        self._standing.reset()

    def see(self, measurement: JointMeasurement, now: float) -> None:
        """Take a sample that came at a steady time [s]."""
        is_slow = bool(np.abs(measurement.velocity).max() < self._rest_speed)
        self._slow_since = (self._slow_since or now) if is_slow else None
        self._stands = self._standing.step(measurement.stamp, measurement.position)

    def is_still(self, now: float) -> bool:
        """Whether all joints have been slow, or in one place, for a while at a steady time [s]."""
        is_slow = self._slow_since is not None and now - self._slow_since > SETTLED
        return is_slow or self._stands
