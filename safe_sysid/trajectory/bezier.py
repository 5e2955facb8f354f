"""Degree-5 Bezier curve in time with parameter k; accepts numbers and sets.

With s = t / T, a joint starts at (q0, qd0, qdd0) and ends at q0 + k, at rest unless qd1 or qdd1
are given:

    q(t; k) = q0 + qd0 T V(s) + qdd0 T^2 A(s) + k K(s) + qd1 T V1(s) + qdd1 T^2 A1(s)
    V = s (1 - s)^3 (1 + 3 s),  A = s^2 (1 - s)^3 / 2,  K = s^3 (10 - 15 s + 6 s^2)
    V1 = s^3 (1 - s) (3 s - 4),  A1 = s^3 (1 - s)^2 / 2

which is affine in k, and the quintic through its end conditions. K and its derivative are not
negative on [0, 1], so larger k means larger position and velocity at every time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError
from safe_sysid.sets.interval import Interval, stack
from safe_sysid.sets.taylor_model import TaylorModel

# Coefficients of V, A, K for s^0 ... s^5, exact in binary.
BASIS = np.array(
    [
        [0.0, 1.0, 0.0, -6.0, 8.0, -3.0],
        [0.0, 0.0, 0.5, -1.5, 1.5, -0.5],
        [0.0, 0.0, 0.0, 10.0, -15.0, 6.0],
    ]
)

# Of V1 and A1.
END_BASIS = np.array([[0.0, 0.0, 0.0, -4.0, 7.0, -3.0], [0.0, 0.0, 0.0, 0.5, -1.0, 0.5]])

Set = TypeVar('Set', Interval, TaylorModel)


def _rest() -> Array:
    """Stands for zeros as long as q0."""
    return np.zeros(0)


@dataclass(frozen=True, eq=False)
class Bezier:
    """The curves q(t; k) of n joints on [0, duration] from one state to another, which k moves."""

    q0: Array  # (n,) [rad]
    qd0: Array  # (n,) [rad/s]
    qdd0: Array  # (n,) [rad/s^2]
    duration: float  # [s]
    qd1: Array = field(default_factory=_rest, kw_only=True)  # (n,) [rad/s] at the end
    qdd1: Array = field(default_factory=_rest, kw_only=True)  # (n,) [rad/s^2]

    def __post_init__(self) -> None:
        if not (np.isfinite(self.duration) and self.duration > 0.0):
            raise BoundError(f'duration of a curve is {self.duration} s; it has to be positive')
        for name in ('q0', 'qd0', 'qdd0', 'qd1', 'qdd1'):
            value = np.array(getattr(self, name), dtype=np.float64)
            if name in ('qd1', 'qdd1') and value.shape == (0,):
                value = np.zeros(np.shape(self.q0))
            if value.ndim != 1 or value.shape != np.shape(self.q0):
                raise BoundError(
                    f'{name} has shape {value.shape}; q0, qd0, qdd0 and, where given, qd1, qdd1 '
                    'need one length'
                )
            if not np.all(np.isfinite(value)):
                raise BoundError(f'{name} = {value} of a curve is not finite')
            value.setflags(write=False)
            object.__setattr__(self, name, value)

    @cached_property
    def ends_at_rest(self) -> bool:
        """Whether velocity and acceleration are zero at the end."""
        return not (np.any(self.qd1) or np.any(self.qdd1))

    def derivative(self, order: int, t: npt.ArrayLike, k: npt.ArrayLike) -> Array:
        """Position (order 0), velocity, acceleration at times t in [0, duration]; (..., n)."""
        s = np.asarray(t, dtype=np.float64)[..., None] / self.duration
        V, A, K = _values(_BASES[order], s)
        T = self.duration
        change = self.qd0 * T * V + self.qdd0 * T**2 * A + np.asarray(k) * K
        if not self.ends_at_rest:
            V1, A1 = _values(_END_BASES[order], s)
            change = change + self.qd1 * T * V1 + self.qdd1 * T**2 * A1
        return np.asarray((self.q0 if order == 0 else 0.0) + change / T**order)

    def position(self, t: npt.ArrayLike, k: npt.ArrayLike) -> Array:
        """Joint positions at times t; (..., n)."""
        return self.derivative(0, t, k)

    def velocity(self, t: npt.ArrayLike, k: npt.ArrayLike) -> Array:
        """Joint velocities at times t; (..., n)."""
        return self.derivative(1, t, k)

    def acceleration(self, t: npt.ArrayLike, k: npt.ArrayLike) -> Array:
        """Joint accelerations at times t; (..., n)."""
        return self.derivative(2, t, k)

    def enclose(self, order: int, t: Interval, k: Set) -> Set:
        """Set of positions (order 0), velocities or accelerations over times and parameters.

        t has shape (...,), within [0, duration]; k has shape (n,); the result (..., n). The curve
        of the middle k is one polynomial in time, so that its terms can cancel.
        """
        if np.any(t.lower < 0.0) or np.any(t.upper > self.duration):
            raise BoundError(f'times {t} are not within [0, {self.duration}] s')
        s = unit_time(t, self.duration)[..., None]
        offset, slope = self.affine(order)
        middle = k.center if isinstance(k, Interval) else k.coefficients[..., 0]
        curve = enclose_polynomial(offset + slope * middle[:, None], s)
        return (k - middle) * enclose_polynomial(slope, s) + curve

    def affine(self, order: int) -> tuple[Interval, Interval]:
        """Coefficients in s of a and b, (n, 6) and (1, 6), for derivative = a(s) + b(s) k."""
        return self._affine[order]

    @cached_property
    def affine_orders(self) -> tuple[Interval, Interval]:
        """Return the same of position, velocity and acceleration, (3, n, 6) and (3, 1, 6)."""
        offsets, slopes = zip(*self._affine, strict=True)
        return stack(offsets), stack(slopes)

    @cached_property
    def _affine(self) -> tuple[tuple[Interval, Interval], ...]:
        return tuple(self._affine_of(order) for order in range(3))

    def _affine_of(self, order: int) -> tuple[Interval, Interval]:
        T = Interval.of(self.duration)
        V, A, K = basis_derivative(order)
        start = Interval.of(self.q0[:, None]) * (np.eye(6)[0] if order == 0 else np.zeros(6))
        by_velocity = (T * self.qd0)[:, None] * V
        by_acceleration = (T.square() * self.qdd0)[:, None] * A
        if not self.ends_at_rest:
            V1, A1 = end_derivative(order)
            by_velocity = by_velocity + (T * self.qd1)[:, None] * V1
            by_acceleration = by_acceleration + (T.square() * self.qdd1)[:, None] * A1
        time_scale = Interval.of(1.0)
        for _ in range(order):
            time_scale = time_scale / T
        offset = start + (by_velocity + by_acceleration) * time_scale
        return offset, Interval.of(K[None]) * time_scale


def unit_time(t: Interval, duration: float) -> Interval:
    """Encloses t / duration, within [0, 1]."""
    s = t / duration
    return Interval(np.clip(s.lower, 0.0, 1.0), np.clip(s.upper, 0.0, 1.0))


def enclose_polynomial(coefficients: Interval, s: Interval) -> Interval:
    """Range of polynomials in s; (..., 6) coefficients and (...) intervals that broadcast.

    Expanded about the middle of s, so that for short intervals the result is wider than the range
    by the order of width squared, not of width.
    """
    middle = s.center
    offset = Interval.from_center_radius(np.zeros_like(middle), s.radius)
    shifted = [coefficients[..., i] for i in range(coefficients.shape[-1])]
    taylor: list[Interval] = []
    while shifted:  # repeated synthetic division gives the Taylor coefficients one by one
        for i in range(len(shifted) - 2, -1, -1):
            shifted[i] = shifted[i] + shifted[i + 1] * middle
        taylor.append(shifted.pop(0))
    total = taylor[-1] * offset
    for coefficient in taylor[-2:0:-1]:
        total = (total + coefficient) * offset
    return total + taylor[0]


def basis_derivative(order: int) -> Array:
    """Coefficients of the derivatives in s of V, A and K, (3, 6), exact."""
    return _BASES[order]


def end_derivative(order: int) -> Array:
    """Coefficients of the derivatives in s of V1 and A1, (2, 6), exact."""
    return _END_BASES[order]


def _derivatives(coefficients: Array) -> tuple[Array, ...]:
    """Return coefficients of polynomials in s, and of all derivatives that are not 0."""
    found = [coefficients]
    for _ in range(coefficients.shape[1] - 1):
        lowered = found[-1][:, 1:] * np.arange(1.0, 6.0)
        found.append(np.concatenate([lowered, np.zeros((len(coefficients), 1))], axis=1))
    for each in found:
        each.setflags(write=False)
    return tuple(found)


def _values(coefficients: Array, s: Array) -> Array:
    """Values (m, ...) of m polynomials at s, by Horner's rule."""
    rows = coefficients.reshape(*coefficients.shape, *(1,) * s.ndim)
    value = rows[:, -1]
    for i in range(rows.shape[1] - 2, -1, -1):
        value = rows[:, i] + value * s
    return np.asarray(value)


_BASES, _END_BASES = _derivatives(BASIS), _derivatives(END_BASIS)
