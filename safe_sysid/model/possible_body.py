"""Whether any body can have its ten inertial parameters within bounds, and if none can, why.

A body has a pseudo-inertia J(phi) that is positive semidefinite. The largest least eigenvalue over
a box is looked for by a barrier method. That none is 0 or larger is said only with a proof: a
positive semidefinite Y for which <Y, J(phi)> is negative everywhere in the box.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.model.inertia import LABELS, pseudo_inertia
from safe_sysid.sets.interval import Interval

ROUNDING = 1e-11  # share of what is summed up
SHRINKS = 0.2  # of the weight of the barrier from round to round
LEAST_WEIGHT = 1e-10
STEPS = 30  # of Newton's method in a round
ENOUGH = 1e-6  # of what a step would gain, after which the next round begins
MOMENTS = (4, 6, 9)  # Ixx, Iyy, Izz
ENTRIES = pseudo_inertia(np.eye(10))  # J(phi) = sum_i phi_i ENTRIES_i


def why_no_body(bounds: Interval) -> str:
    """Why no body has parameters within these bounds, (10,); empty: nothing says so."""
    lower, upper = bounds.lower, bounds.upper
    if upper[0] < 0.0:
        return f'the mass is at most {upper[0]:.4g} kg'
    for j, axis in enumerate('xyz'):
        if trouble := _moment_trouble(lower, upper, j, axis):
            return trouble
    proof = _proof(bounds)
    return '' if proof is None else _said(proof, bounds)


def _moment_trouble(lower: Array, upper: Array, j: int, axis: str) -> str:
    """Why the moment about one axis fits no body, whatever else is so."""
    own, others = MOMENTS[j], [MOMENTS[i] for i in range(3) if i != j]
    most = float(upper[others].sum())
    if _is_above(float(lower[own]), most):
        return (
            f'{LABELS[own]} is at least {lower[own]:.4g} kg m^2, and the sum of the other two '
            f'moments at most {most:.4g}; no body has one that is above the sum of the others'
        )
    beside = [1 + i for i in range(3) if i != j]
    least = np.maximum(np.maximum(lower[beside], -upper[beside]), 0.0)
    square = float(least @ least)
    if _is_above(square, float(upper[0] * upper[own])):
        names = ' and '.join(LABELS[i] for i, x in zip(beside, least, strict=True) if x > 0.0)
        return (
            f'{LABELS[own]} is at most {upper[own]:.4g} kg m^2; what weighs at most '
            f'{upper[0]:.4g} kg, with {names} so far from 0, is farther from the {axis} axis '
            'than that'
        )
    return ''


def _is_above(least: float, most: float) -> bool:
    return least - most > ROUNDING * (abs(least) + abs(most))


def _proof(bounds: Interval) -> Array | None:
    """Y for which <Y, J> is negative in all of a box; None where there is none."""
    scale = _scale(bounds)
    entries = scale[:, None] * ENTRIES * scale
    size = np.abs(entries).max(axis=(1, 2))  # of each parameter, which is 1 where it is as a box
    box = _Box(bounds.lower * size, bounds.upper * size, entries / size[:, None, None])
    try:
        Y = box.separating()
    except np.linalg.LinAlgError:  # then nothing is proven
        return None
    if Y is None:
        return None
    proof: Array = scale[:, None] * Y * scale
    return proof if _is_negative(proof, bounds) else None


def _scale(bounds: Interval) -> Array:
    """Scales of x, y, z and 1 that make entries of J about as large as 1."""
    size = bounds.magnitude
    mass = max(float(size[0]), 1e-9)
    length = max(float(np.sqrt(size[4:].max() / mass)), float(size[1:4].max() / mass), 1e-6)
    return np.asarray([*(1.0 / length,) * 3, 1.0]) / float(np.sqrt(mass))


def _is_negative(Y: Array, bounds: Interval) -> bool:
    """Whether <Y, J> is below 0 in all of a box, whatever is rounded."""
    terms = Interval(bounds.lower, bounds.upper) * np.einsum('ijk,jk->i', ENTRIES, Y)
    return bool(terms.upper.sum() < -ROUNDING * terms.magnitude.sum())


@dataclass(frozen=True, eq=False)
class _Box:
    """Parameters phi from lower to upper, with J = sum_i phi_i entries_i."""

    lower: Array  # (10,)
    upper: Array
    entries: Array  # (10, 4, 4)

    @property
    def free(self) -> IntArray:
        """Parameters that are not known exactly."""
        return np.flatnonzero(self.upper - self.lower > 1e-12)

    def separating(self) -> Array | None:
        """Y of trace 1 that is about the best; None where some J is positive definite."""
        free, phi = self.free, 0.5 * (self.lower + self.upper)
        t = float(np.linalg.eigvalsh(self._at(phi))[0]) - 1.0
        z, weight = np.append(phi[free], t), 1.0
        while weight > LEAST_WEIGHT:
            for _ in range(STEPS):
                gradient, hessian = self._slopes(z, phi, weight)
                step = np.asarray(-np.linalg.solve(hessian, gradient), dtype=np.float64)
                gain = float(-gradient @ step)
                z = self._stepped(z, step, phi, weight, gain)
                phi[free] = z[:-1]
                if np.linalg.eigvalsh(self._at(phi))[0] > 0.0:
                    return None
                if gain < ENOUGH:
                    break
            weight *= SHRINKS
        Y = np.linalg.inv(self._at(phi) - z[-1] * np.eye(4))
        return np.asarray(Y / np.trace(Y))

    def _at(self, phi: Array) -> Array:
        """Return J(phi)."""
        return np.asarray(np.einsum('i,ijk->jk', phi, self.entries))

    def _value(self, z: Array, phi: Array, weight: float) -> float:
        """Return what the barrier method makes small; infinite outside."""
        free, phi = self.free, phi.copy()
        phi[free] = z[:-1]
        below, above = z[:-1] - self.lower[free], self.upper[free] - z[:-1]
        values = np.linalg.eigvalsh(self._at(phi) - z[-1] * np.eye(4))
        if min([float(values[0]), *below, *above]) <= 0.0:
            return float('inf')
        barrier = np.log(values).sum() + np.log(below).sum() + np.log(above).sum()
        return float(-z[-1] / weight - barrier)

    def _slopes(self, z: Array, phi: Array, weight: float) -> tuple[Array, Array]:
        """First and second derivatives of it."""
        free = self.free
        below, above = z[:-1] - self.lower[free], self.upper[free] - z[:-1]
        X = np.linalg.inv(self._at(phi) - z[-1] * np.eye(4))
        A = np.concatenate([self.entries[free], -np.eye(4)[None]])
        XA = X @ A
        gradient = -np.trace(XA, axis1=1, axis2=2)
        gradient[:-1] += 1.0 / above - 1.0 / below
        gradient[-1] -= 1.0 / weight
        hessian = np.einsum('ajk,bkj->ab', XA, XA)
        hessian[np.diag_indices(len(free))] += 1.0 / above**2 + 1.0 / below**2
        return gradient, hessian

    def _stepped(self, z: Array, step: Array, phi: Array, weight: float, gain: float) -> Array:
        """As far along a step as that makes it smaller."""
        now, share = self._value(z, phi, weight), 1.0
        while share > 1e-8:
            if self._value(z + share * step, phi, weight) <= now - 0.1 * share * gain:
                return np.asarray(z + share * step)
            share *= 0.5
        return z


def _said(Y: Array, bounds: Interval) -> str:
    """Say what a proof means: <vv', J> is the square distance of all mass from a plane."""
    _, vectors = np.linalg.eigh(Y)
    v = vectors[:, -1]
    length = float(np.linalg.norm(v[:3]))
    if length > 0.0 and _is_negative(np.outer(v, v), bounds):
        normal, away = np.round(v[:3] / length, 2).tolist(), -v[3] / length
        return (
            'each bound by itself may hold, but not all together: the mean square distance of '
            f'the mass from a plane, {normal} x = {away:.3g} m, would be negative'
        )
    return (
        'each bound by itself may hold, but not all together: masses, moments and products '
        'within them leave no pseudo-inertia without a negative eigenvalue'
    )
