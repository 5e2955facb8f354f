"""Taylor models: polynomials in k on [-1, 1]^d with a remainder that holds everything else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError
from safe_sysid.sets import taylor_batch as batch
from safe_sysid.sets.interval import EPS, TINY, Interval
from safe_sysid.sets.monomials import Monomials


@dataclass(frozen=True, eq=False)
class TaylorModel:
    """The functions f of k with |f(k) - coefficients . monomials(k)| <= remainder, elementwise.

    One row per entry of the array it stands for: M coefficients, then the remainder.
    """

    monomials: Monomials
    rows: Array  # (*shape, M + 1)

    __array_ufunc__ = None  # so that ndarray + TaylorModel asks TaylorModel

    def __post_init__(self) -> None:
        rows = np.ascontiguousarray(self.rows, dtype=np.float64)
        if rows.ndim == 0 or rows.shape[-1] != self.monomials.count + 1:
            raise BoundError(
                f'rows have shape {rows.shape}; the last axis has to be '
                f'{self.monomials.count} coefficients and one remainder'
            )
        if not (np.all(np.isfinite(rows)) and np.all(rows[..., -1] >= 0.0)):
            raise BoundError(
                'a Taylor model is not finite or has a negative remainder: the numbers put in '
                'are not finite, or the set has grown beyond what a float can hold'
            )
        rows = rows.view()
        rows.setflags(write=False)
        object.__setattr__(self, 'rows', rows)

    @staticmethod
    def constant(monomials: Monomials, value: Interval | npt.ArrayLike) -> TaylorModel:
        """Model that does not depend on k."""
        interval = Interval.of(value)
        rows = np.zeros((*interval.shape, monomials.count + 1))
        rows[..., 0], rows[..., -1] = interval.center, interval.radius
        return TaylorModel(monomials, rows)

    @staticmethod
    def variables(monomials: Monomials) -> TaylorModel:
        """Identity k itself, shape (d,)."""
        rows = np.zeros((monomials.variables, monomials.count + 1))
        rows[:, 1 : 1 + monomials.variables] = np.eye(monomials.variables)
        return TaylorModel(monomials, rows)

    @property
    def coefficients(self) -> Array:
        """Coefficients in the order of the monomials, (*shape, M)."""
        return self.rows[..., :-1]

    @property
    def remainder(self) -> Array:
        """Radius of the remainder, (*shape,)."""
        return self.rows[..., -1]

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array in the set."""
        return self.rows.shape[:-1]

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: Any) -> TaylorModel:
        index = index if isinstance(index, tuple) else (index,)
        tail = () if Ellipsis in index else (Ellipsis,)
        where = (*index, *tail, slice(None))
        return TaylorModel(self.monomials, self.rows[where])

    def reshape(self, *shape: int) -> TaylorModel:
        """Return the same entries in another shape."""
        return TaylorModel(self.monomials, self.rows.reshape(*shape, self.rows.shape[-1]))

    def __neg__(self) -> TaylorModel:
        rows = -self.rows
        rows[..., -1] = self.remainder
        return TaylorModel(self.monomials, rows)

    def __add__(self, other: Operand) -> TaylorModel:
        if isinstance(other, TaylorModel):
            return self._with(other, batch.add)
        return self._with_interval(Interval.of(other), batch.add_interval)

    __radd__ = __add__

    def __sub__(self, other: Operand) -> TaylorModel:
        if isinstance(other, TaylorModel):
            return self._with(other, batch.subtract)
        return self + -Interval.of(other)

    def __rsub__(self, other: Interval | npt.ArrayLike) -> TaylorModel:
        return -self + other

    def __mul__(self, other: Operand) -> TaylorModel:
        if isinstance(other, TaylorModel):
            table = self.monomials.kernel
            return self._with(other, lambda a, b: batch.multiply(a, b, table))
        return self._with_interval(Interval.of(other), batch.scale)

    __rmul__ = __mul__

    def square(self) -> TaylorModel:
        """Encloses the squares; tighter than self * self."""
        return self._each(batch.square(self._flat(), self.monomials.kernel))

    def power(self, exponent: int) -> TaylorModel:
        """Encloses a whole power; even ones go through squares."""
        if exponent < 1:
            raise BoundError(f'power {exponent} of a Taylor model; allowed are 1, 2, 3, ...')
        if exponent == 1:
            return self
        half = self.power(exponent // 2).square()
        return half if exponent % 2 == 0 else half * self

    def sine_cosine(self) -> tuple[TaylorModel, TaylorModel]:
        """Encloses sine and cosine."""
        sines, cosines = batch.waves(self._flat(), self.monomials.kernel)
        return self._each(sines), self._each(cosines)

    def bound(self) -> Interval:
        """Encloses the range over all k."""
        lower, upper = batch.bounds(self._flat(), self.monomials.kernel)
        return Interval(lower.reshape(self.shape), upper.reshape(self.shape))

    def polynomial(self, k: npt.ArrayLike) -> Array:
        """Value of the polynomial at one k, to rounding; (*shape,)."""
        return np.asarray(self.coefficients @ self.monomials.values(self._inside(k)))

    def evaluate(self, k: npt.ArrayLike) -> Interval:
        """Encloses f(k) of every f in the model.

        A monomial is off by a relative error below 3 D u (powers, then their product), and the sum
        of M of them adds M u, so (M + 3 D) EPS is twice what is needed.
        """
        values = self.monomials.values(self._inside(k))
        count = self.monomials.count + 3 * self.monomials.degree
        size = np.abs(self.coefficients) @ np.abs(values)
        slack = (count * EPS * size + self.remainder) * (1.0 + 2 * count * EPS) + count * TINY
        return Interval.from_center_radius(self.coefficients @ values, slack)

    def gradient(self, k: npt.ArrayLike) -> Array:
        """Return derivative of the polynomial in k at one k, to rounding; (*shape, d)."""
        return np.asarray(self.coefficients @ self.monomials.gradients(self._inside(k)))

    def _inside(self, k: npt.ArrayLike) -> Array:
        k = np.asarray(k, dtype=np.float64)
        if k.shape != (self.monomials.variables,) or not np.all(np.abs(k) <= 1.0):
            raise BoundError(
                f'k = {k} has to be {self.monomials.variables} numbers between -1 and 1'
            )
        return k

    def _flat(self) -> Array:
        return self.rows.reshape(-1, self.rows.shape[-1])

    def _each(self, flat: Array) -> TaylorModel:
        return TaylorModel(self.monomials, flat.reshape(self.rows.shape))

    def _with(self, other: TaylorModel, operation: RowOperation) -> TaylorModel:
        if other.monomials is not self.monomials:
            raise BoundError(
                f'models in {self.monomials.variables} variables of degree '
                f'{self.monomials.degree} and in {other.monomials.variables} of degree '
                f'{other.monomials.degree} do not go together'
            )
        width = self.rows.shape[-1]
        a, b = np.broadcast_arrays(self.rows, other.rows)
        rows = operation(a.reshape(-1, width), b.reshape(-1, width))
        return TaylorModel(self.monomials, rows.reshape(a.shape))

    def _with_interval(self, other: Interval, operation: IntervalOperation) -> TaylorModel:
        shape = np.broadcast_shapes(self.shape, other.shape)
        width = self.rows.shape[-1]
        rows = np.broadcast_to(self.rows, (*shape, width)).reshape(-1, width)
        center, radius = (
            np.array(np.broadcast_to(x, shape)).ravel() for x in (other.center, other.radius)
        )
        result = operation(rows, center, radius)
        return TaylorModel(self.monomials, result.reshape(*shape, width))


Operand: TypeAlias = 'TaylorModel | Interval | npt.ArrayLike'
RowOperation: TypeAlias = Callable[[Array, Array], Array]
IntervalOperation: TypeAlias = Callable[[Array, Array, Array], Array]


def stack(parts: Sequence[TaylorModel], axis: int = -1) -> TaylorModel:
    """Join models of one shape along a new axis; -1 makes it the last one."""
    where = axis if axis >= 0 else axis - 1
    return TaylorModel(parts[0].monomials, np.stack([part.rows for part in parts], where))
