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
        for name in ('Y_e', 'Y_r', 'delta', 'joint', 'start', 'end'):
            if len(getattr(self, name)) != m:
                raise MeasurementError(f'{name} has {len(getattr(self, name))} rows, b has {m}')
        with np.errstate(invalid='ignore', over='ignore'):
            total = self.Y_e.sum() + self.Y_r.sum() + self.b.sum() + self.delta.sum()
        if np.isfinite(total) and self.delta.min(initial=1.0) > 0.0:
            return  # a sum is finite only if all its terms are
        useful = np.isfinite(self.b) & np.isfinite(self.delta) & (self.delta > 0.0)
        useful &= np.isfinite(self.Y_e).all(axis=1) & np.isfinite(self.Y_r).all(axis=1)
        if not useful.all():
            raise MeasurementError(
                f'row {int(np.argmin(useful))} has an entry that is not finite, or delta is not '
                'above 0; it binds no parameter'
            )

    def __len__(self) -> int:
        return len(self.b)

    def rows(self, chosen: AnyArray | slice) -> Observation:
        """Return some of the rows; every subset is an observation too."""
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


def packed(rows: Observation) -> bytes:
    """Rows as bytes, for a pipe."""
    table = np.empty((len(rows), 16 + rows.Y_r.shape[1]))
    table[:, 0] = len(rows)
    table[:, 1:11], table[:, 11:-5], table[:, -5], table[:, -4] = (
        rows.Y_e,
        rows.Y_r,
        rows.b,
        rows.delta,
    )
    table[:, -3], table[:, -2], table[:, -1] = rows.joint, rows.start, rows.end
    return table.tobytes()


def unpacked(message: bytes) -> Observation:
    """Return the rows that `packed` made bytes of."""
    numbers = np.frombuffer(message)
    table = numbers.reshape(int(numbers[0]), -1)[:, 1:]
    b, delta, joint, start, end = table[:, -5:].T
    return Observation(
        table[:, :10], table[:, 10:-5], b, delta, joint.astype(np.int64), start, end
    )
