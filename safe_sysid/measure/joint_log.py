"""JointMeasurement (one sample) and JointLog (a recording)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.errors import MeasurementError


@dataclass(frozen=True, eq=False)
class JointMeasurement:
    """What an arm reports about its n joints at one instant."""

    stamp: int  # [ns]; whole numbers, because seconds since 1970 leave a float 2.4e-7 s
    position: Array  # (n,) [rad]
    velocity: Array  # (n,) [rad/s]
    torque: Array  # (n,) [N m] on the joints, in the sense of the joint axes

    @property
    def has_torque(self) -> bool:
        """Whether torques were measured; before the first command some drivers have none (nan)."""
        return bool(np.isfinite(self.torque).all())


@dataclass(frozen=True, eq=False)
class JointLog:
    """Samples in the order they were taken."""

    stamp: IntArray  # (N,) [ns]
    position: Array  # (N, n) [rad]
    velocity: Array  # (N, n) [rad/s]
    torque: Array  # (N, n) [N m]

    def __post_init__(self) -> None:
        shape = self.position.shape
        for name in ('velocity', 'torque'):
            if getattr(self, name).shape != shape:
                raise MeasurementError(
                    f'{name} has shape {getattr(self, name).shape}, position has {shape}'
                )
        if self.stamp.shape != shape[:1] or not np.issubdtype(self.stamp.dtype, np.integer):
            raise MeasurementError(
                f'stamp has shape {self.stamp.shape} and type {self.stamp.dtype}; '
                f'{shape[0]} whole numbers of nanoseconds are needed'
            )

    def __len__(self) -> int:
        return len(self.stamp)

    def __getitem__(self, index: int) -> JointMeasurement:
        return JointMeasurement(
            int(self.stamp[index]), self.position[index], self.velocity[index], self.torque[index]
        )
