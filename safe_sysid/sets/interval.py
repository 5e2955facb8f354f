"""Closed real intervals on arrays, rounded outward so the exact result is always inside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError

EPS = float(np.finfo(np.float64).eps)  # 2u, twice the relative error of one operation
TINY = float(
    np.finfo(np.float64).tiny
)  # more than the absolute error of a product that underflows


@dataclass(frozen=True, eq=False)
class Interval:
    """The set of arrays x with lower <= x <= upper, elementwise; bounds may be infinite."""

    lower: Array
    upper: Array

    __array_ufunc__ = None  # so that ndarray + Interval asks Interval

    def __post_init__(self) -> None:
        lower = np.array(self.lower, dtype=np.float64)
        upper = np.array(self.upper, dtype=np.float64)
        if lower.shape != upper.shape:
            lower, upper = (np.array(x) for x in np.broadcast_arrays(lower, upper))
        ordered = (lower <= upper) & (lower < np.inf) & (upper > -np.inf)  # False for NaN
        if not ordered.all():
            at = tuple(int(i) for i in np.argwhere(~ordered)[0])
            raise BoundError(
                f'not an interval at index {at}: lower = {lower[at]}, upper = {upper[at]}; '
                'lower has to be at most upper, and neither may be NaN'
            )
        lower.setflags(write=False)
        upper.setflags(write=False)
        object.__setattr__(self, 'lower', lower)
        object.__setattr__(self, 'upper', upper)

    @staticmethod
    def of(value: IntervalLike) -> Interval:
        """Interval itself, or the single point that an array is."""
        return value if isinstance(value, Interval) else Interval(_array(value), _array(value))

    @staticmethod
    def from_center_radius(center: npt.ArrayLike, radius: npt.ArrayLike) -> Interval:
        """Encloses [center - radius, center + radius]."""
        center, radius = _array(center), _array(radius)
        if not np.all(radius >= 0.0):
            raise BoundError(f'radius = {radius} has to be at least zero everywhere')
        return _outward(center - radius, center + radius)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the arrays in the set."""
        return self.lower.shape

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self.lower.ndim

    @property
    def center(self) -> Array:
        """Midpoint rounded to a float; `radius` is about this float."""
        unbounded = ~(np.isfinite(self.lower) & np.isfinite(self.upper))
        if unbounded.any():
            first = np.unravel_index(int(unbounded.argmax()), self.shape)
            raise BoundError(
                'there is no midpoint of the unbounded interval '
                f'[{self.lower[first]:.4g}, {self.upper[first]:.4g}]'
            )
        return np.clip(0.5 * self.lower + 0.5 * self.upper, self.lower, self.upper)

    @property
    def radius(self) -> Array:
        """Half width rounded up: center - radius <= x <= center + radius in exact arithmetic."""
        center = self.center
        radius = np.maximum(self.upper - center, center - self.lower)
        return np.where(radius == 0.0, 0.0, _up(radius))  # a difference is zero only when exact

    @property
    def magnitude(self) -> Array:
        """Largest absolute value, exact."""
        return np.maximum(np.abs(self.lower), np.abs(self.upper))

    def __getitem__(self, index: Any) -> Interval:
        return Interval(self.lower[index], self.upper[index])

    def __len__(self) -> int:
        return len(self.lower)

    def __neg__(self) -> Interval:
        return Interval(-self.upper, -self.lower)

    def __add__(self, other: IntervalLike) -> Interval:
        if _is_other_set(other):
            return NotImplemented
        other = Interval.of(other)
        return _outward(self.lower + other.lower, self.upper + other.upper)

    __radd__ = __add__

    def __sub__(self, other: IntervalLike) -> Interval:
        if _is_other_set(other):
            return NotImplemented
        other = Interval.of(other)
        return _outward(self.lower - other.upper, self.upper - other.lower)

    def __rsub__(self, other: IntervalLike) -> Interval:
        return Interval.of(other) - self

    def __mul__(self, other: IntervalLike) -> Interval:
        if _is_other_set(other):
            return NotImplemented
        return _outward(*_extreme_products(self, Interval.of(other)))

    __rmul__ = __mul__

    def __truediv__(self, other: IntervalLike) -> Interval:
        other = Interval.of(other)
        if np.any((other.lower <= 0.0) & (other.upper >= 0.0)):
            raise BoundError(f'division by {other}, which contains zero')
        return self * _outward(1.0 / other.upper, 1.0 / other.lower)

    def __rtruediv__(self, other: IntervalLike) -> Interval:
        return Interval.of(other) / self

    def __matmul__(self, other: IntervalLike) -> Interval:
        other = Interval.of(other)
        if np.array_equal(self.lower, self.upper):
            return _point_matmul(self.lower, other)
        if np.array_equal(other.lower, other.upper):
            transposed = _point_matmul(_swap(other.lower), _transpose(self))
            return _transpose(transposed) if min(self.ndim, other.ndim) > 1 else transposed
        return _interval_matmul(self, other)

    def __rmatmul__(self, other: IntervalLike) -> Interval:
        return Interval.of(other) @ self

    def __abs__(self) -> Interval:
        """Set of absolute values, exact."""
        smallest = np.maximum(0.0, np.maximum(self.lower, -self.upper))
        return Interval(smallest, self.magnitude)

    def square(self) -> Interval:
        """Encloses the squares; tighter than self * self across zero."""
        size = abs(self)
        squares = _outward(size.lower * size.lower, size.upper * size.upper)
        return Interval(np.maximum(squares.lower, 0.0), squares.upper)

    def sum(self, axis: int = -1) -> Interval:
        """Encloses the sums along one axis."""
        count = self.shape[axis]
        return Interval(
            _down(self.lower.sum(axis) - _sum_error(count, np.abs(self.lower).sum(axis))),
            _up(self.upper.sum(axis) + _sum_error(count, np.abs(self.upper).sum(axis))),
        )

    def hull(self, other: IntervalLike) -> Interval:
        """Smallest interval that contains both, exact."""
        other = Interval.of(other)
        return Interval(np.minimum(self.lower, other.lower), np.maximum(self.upper, other.upper))

    def intersection(self, other: IntervalLike) -> Interval | None:
        """Set of arrays in both, exact; None when there is no such array."""
        other = Interval.of(other)
        if np.any(self.disjoint(other)):
            return None
        return Interval(np.maximum(self.lower, other.lower), np.minimum(self.upper, other.upper))

    def disjoint(self, other: IntervalLike) -> npt.NDArray[np.bool_]:
        """Entries in which the two have no number in common."""
        other = Interval.of(other)
        return np.asarray((self.lower > other.upper) | (other.lower > self.upper))

    def contains(self, other: IntervalLike) -> bool:
        """Whether every array of `other` is in this set."""
        other = Interval.of(other)
        return bool(np.all((self.lower <= other.lower) & (other.upper <= self.upper)))

    def reshape(self, *shape: int) -> Interval:
        """Return the same entries in another shape."""
        return Interval(self.lower.reshape(shape), self.upper.reshape(shape))


IntervalLike: TypeAlias = 'Interval | npt.ArrayLike'


def concatenate(parts: Sequence[Interval], axis: int = 0) -> Interval:
    """Join intervals along an axis they have."""
    return Interval(
        np.concatenate([part.lower for part in parts], axis),
        np.concatenate([part.upper for part in parts], axis),
    )


def stack(parts: Sequence[Interval], axis: int = 0) -> Interval:
    """Join intervals of one shape along a new axis."""
    return Interval(
        np.stack([part.lower for part in parts], axis),
        np.stack([part.upper for part in parts], axis),
    )


def _is_other_set(value: object) -> bool:
    """Whether the value is a set of a richer kind, whose own operators then do the work."""
    return not isinstance(value, Interval) and getattr(value, '__array_ufunc__', 0) is None


def _array(value: npt.ArrayLike) -> Array:
    return np.asarray(value, dtype=np.float64)


def _down(x: Array) -> Array:
    return np.asarray(np.nextafter(x, -np.inf))


def _up(x: Array) -> Array:
    return np.asarray(np.nextafter(x, np.inf))


def _outward(lower: Array, upper: Array) -> Interval:
    """Widen by one float on each side; IEEE operations are off by less than that."""
    return Interval(_down(lower), _up(upper))


def _extreme_products(a: Interval, b: Interval) -> tuple[Array, Array]:
    """Extreme products of end points, rounded to nearest; zero times infinity is zero."""
    pairs = [(x, y) for x in (a.lower, a.upper) for y in (b.lower, b.upper)]
    with np.errstate(invalid='ignore'):
        products = np.array([np.where((x == 0.0) | (y == 0.0), 0.0, x * y) for x, y in pairs])
    return products.min(axis=0), products.max(axis=0)


def _sum_error(count: int, size: Array) -> Array:
    """Bound on the error of a float sum of `count` products in any order, with or without FMA.

    The textbook bound is gamma_n T, gamma_n = n u / (1 - n u), T the exact sum of the absolute
    terms. The float sum `size` is at least (1 - gamma_n) T, so for n u < 0.01 the error is below
    1.03 n u size < n EPS size; two more EPS and the factor that is left over (EPS = 2 u) cover the
    rounding of this very expression. Products that underflow err by less than TINY each.
    """
    if count * EPS > 0.01:
        raise BoundError(f'sum of {count} terms is too long for its rounding bound')
    return np.asarray((count + 2) * EPS * size + (count + 1) * TINY)


def _point_matmul(matrix: Array, x: Interval) -> Interval:
    """Matrix of numbers times an interval: each sign meets the end point that is extreme."""
    _require_finite(x)
    count = matrix.shape[-1]
    plus, minus = np.maximum(matrix, 0.0), np.minimum(matrix, 0.0)
    error = _sum_error(2 * count, np.abs(matrix) @ x.magnitude)
    return Interval(
        _down(plus @ x.lower + minus @ x.upper - error),
        _up(plus @ x.upper + minus @ x.lower + error),
    )


def _interval_matmul(a: Interval, b: Interval) -> Interval:
    """Tight for every entry: the extreme products are taken one by one."""
    _require_finite(a)
    _require_finite(b)
    row_by_column = (
        a[..., :, None] if b.ndim > 1 else a,
        b[..., None, :, :] if b.ndim > 1 and a.ndim > 1 else b,
    )
    lower, upper = _extreme_products(*row_by_column)
    axis = -1 if b.ndim == 1 else -2
    count = a.shape[-1]
    lower_error = _sum_error(count, np.abs(lower).sum(axis))
    upper_error = _sum_error(count, np.abs(upper).sum(axis))
    return Interval(_down(lower.sum(axis) - lower_error), _up(upper.sum(axis) + upper_error))


def _require_finite(x: Interval) -> None:
    if not (np.all(np.isfinite(x.lower)) and np.all(np.isfinite(x.upper))):
        raise BoundError(f'matrix product with the unbounded interval {x}')


def _swap(matrix: Array) -> Array:
    return np.swapaxes(matrix, -1, -2) if matrix.ndim > 1 else matrix


def _transpose(x: Interval) -> Interval:
    return Interval(_swap(x.lower), _swap(x.upper))
