"""Observation: linear rows that bind the parameters, each with a bound on its error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import AnyArray, Array, IntArray
from safe_sysid.errors import MeasurementError


@dataclass(frozen=True, eq=False)
class Observation:
    """m rows with |Y_e theta_e + Y_r theta_r - b| <= delta for the true parameters."""

    Y_e: Array  # (m, 10) columns of the end effector, theta_e
    Y_r: Array  # (m, 14 n - 10) columns of all other parameters, theta_r
    b: Array  # (m,) [N m s] impulse of the measured torque
    delta: Array  # (m,) [N m s] bound on everything the rows leave out; more than 0
    joint: IntArray  # (m,) whose momentum the row is about
    start: Array  # (m,) [s] first sample of the window
    end: Array  # (m,) [s] last sample of the window

    def __post_init__(self) -> None:
        m = len(self.b)
        shapes = [x.shape[0] for x in (self.Y_e, self.Y_r, self.delta, self.joint)]
        if any(rows != m for rows in shapes):
            raise MeasurementError(f'Y_e, Y_r, delta and joint have {shapes} rows, b has {m}')
        if not (np.isfinite(self.b).all() and (self.delta > 0.0).all()):
            raise MeasurementError('an observation needs a finite b and delta > 0 in every row')

    def __len__(self) -> int:
        return len(self.b)

    def rows(self, chosen: AnyArray | slice) -> Observation:
        """Some of the rows; every subset is an observation too."""
        return Observation(
            self.Y_e[chosen],
            self.Y_r[chosen],
            self.b[chosen],
            self.delta[chosen],
            self.joint[chosen],
            self.start[chosen],
            self.end[chosen],
        )

    def response(self, theta_r: Array) -> Array:
        """U = b - Y_r theta_r, what Y_e theta_e has to match, eqs. (20)-(24)."""
        U: Array = self.b - self.Y_r @ theta_r
        return U


def stacked(parts: list[Observation]) -> Observation:
    """Rows of several observations, one below the other."""
    return Observation(
        *(
            np.concatenate([getattr(part, name) for part in parts])
            for name in ('Y_e', 'Y_r', 'b', 'delta', 'joint', 'start', 'end')
        )
    )
