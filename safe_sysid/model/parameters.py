"""What each entry of theta is, and a value of theta with its guaranteed bounds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.errors import BoundError, MeasurementError
from safe_sysid.model import friction, inertia
from safe_sysid.sets.interval import Interval


@dataclass(frozen=True)
class ParameterLayout:
    """theta = ten inertial parameters per link, then Fc, Fv, Ia, beta of every joint (14 n)."""

    joint_names: tuple[str, ...]
    tip: int  # joint that moves the end effector

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.joint_names)

    @property
    def size(self) -> int:
        """Number of entries of theta."""
        return 14 * self.n

    def inertial(self, joint: int) -> slice:
        """Entries of the body that a joint moves."""
        return slice(10 * joint, 10 * joint + 10)

    @property
    def end_effector(self) -> slice:
        """Entries of theta_e."""
        return self.inertial(self.tip)

    @cached_property
    def rest(self) -> IntArray:
        """Entries of theta_r: all that are not theta_e."""
        return np.delete(np.arange(self.size), self.end_effector)

    def friction(self, theta: Array) -> Array:
        """Rows Fc, Fv, Ia, beta of theta, (4, n)."""
        return theta[10 * self.n :].reshape(4, self.n)

    def joint_entries(self, kind: str) -> slice:
        """Entries of one kind (Fc, Fv, Ia or beta) for all joints."""
        start = 10 * self.n + friction.LABELS.index(kind) * self.n
        return slice(start, start + self.n)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Name of every entry, such as `joint_3.Ixx`."""
        bodies = [f'{joint}.{x}' for joint in self.joint_names for x in inertia.LABELS]
        return (*bodies, *(f'{joint}.{x}' for x in friction.LABELS for joint in self.joint_names))

    @cached_property
    def units(self) -> tuple[str, ...]:
        """Unit of every entry, for revolute joints."""
        return inertia.UNITS * self.n + tuple(u for u in friction.UNITS for _ in range(self.n))


@dataclass(frozen=True, eq=False)
class ParameterEstimate:
    """A nominal theta and an interval that contains it and, under its assumptions, the truth."""

    layout: ParameterLayout
    theta: Array  # (14 n,)
    bounds: Interval  # (14 n,)

    def __post_init__(self) -> None:
        if self.theta.shape != (self.layout.size,) or self.bounds.shape != (self.layout.size,):
            raise MeasurementError(
                f'theta has shape {self.theta.shape} and bounds {self.bounds.shape}; '
                f'{self.layout.n} joints need ({self.layout.size},)'
            )
        outside = ~((self.bounds.lower <= self.theta) & (self.theta <= self.bounds.upper))
        if outside.any():
            i = int(np.flatnonzero(outside)[0])
            raise BoundError(
                f'{self.layout.labels[i]} = {self.theta[i]} is outside its bounds '
                f'[{self.bounds.lower[i]}, {self.bounds.upper[i]}]'
            )

    @property
    def end_effector(self) -> Array:
        """Nominal theta_e, (10,)."""
        return self.theta[self.layout.end_effector]

    @property
    def end_effector_bounds(self) -> Interval:
        """[theta_e]."""
        return self.bounds[self.layout.end_effector]

    def __str__(self) -> str:
        """Return what the end effector is, as a table."""
        bounds = self.end_effector_bounds
        rows = inertia.table_rows(bounds.lower, self.end_effector, bounds.upper)
        tip = self.layout.joint_names[self.layout.tip]
        return '\n'.join([f'Everything that {tip} moves, in its frame:', *rows])


def ratio_bounds(theta: Array, ratio: Array | float, absolute: Array | float = 0.0) -> Interval:
    """Interval theta +- (ratio |theta| + absolute), entry by entry."""
    return Interval.from_center_radius(theta, np.asarray(ratio) * np.abs(theta) + absolute)
