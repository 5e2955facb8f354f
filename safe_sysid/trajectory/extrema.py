"""Extrema in time of a Bezier curve: of position, velocity, acceleration and jerk.

For a curve that ends at rest they have a closed form. With v = qd0 T and a = qdd0 T^2
its derivatives in s factor into (1 - s)^2 Q and (1 - s) Q,

    velocity      Q = v (1 + 2 s - 15 s^2) + a (s - 5/2 s^2) + 30 k s^2
    acceleration  Q = v (-36 s + 60 s^2) + a (1 - 8 s + 10 s^2) + k (60 s - 120 s^2)

so extrema are at s = 0, at s = 1 and at roots of one quadratic Q = A s^2 + B s + C per joint.

Rounding. The roots r1, r2 found are the exact roots of (A s - A r1)(s - r2), which differs from Q
on [0, 1] by at most the `residual`. Integrated, the curve P differs by at most the residual from
one whose extrema are exactly at the candidates, hence max P <= max over candidates of P plus twice
half of it. Evaluation adds a multiple of EPS of its terms. The ranges returned are widened by
both and contain the exact ones; they are wider by about 1e-13 of the largest coefficient.

A curve that ends in motion is enclosed step by step in time instead. With STEPS steps that is
wider by about the largest second derivative in time of what is enclosed times
(T / STEPS)^2 / 8: 8e-6 rad in 1 s at 8 rad/s^2.

Derivatives of acceleration and jerk are quadratic in s themselves, however the curve ends. But K''
has both signs: the two are those of one k.
"""

from __future__ import annotations

from dataclasses import dataclass
import math

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.sets.compiled import inline_jit, jit
from safe_sysid.sets.interval import EPS, TINY, Interval, IntervalLike
from safe_sysid.trajectory.bezier import Bezier, basis_derivative, end_derivative

# Coefficients in s^0, s^1, s^2 that v, a and k contribute to Q.
FACTORS = {
    0: np.array([[1.0, 2.0, -15.0], [0.0, 1.0, -2.5], [0.0, 0.0, 30.0]]),
    1: np.array([[0.0, -36.0, 60.0], [1.0, -8.0, 10.0], [0.0, 60.0, -120.0]]),
}

NOTHING_BUT_K = np.array([0.0, 0.0, 1.0])
STEPS = 128  # in time, for curves that end in motion


@dataclass(frozen=True, eq=False)
class Extrema:
    """Range over time and how its ends move with k (their derivative, by the envelope theorem)."""

    range: Interval  # (n,)
    lower_slope: Array  # (n,), d range.lower / d k
    upper_slope: Array  # (n,)


def position_extrema(curve: Bezier, k: IntervalLike) -> Extrema:
    """Range of every joint position over [0, duration] and over k; (n,)."""
    return _extrema(curve, 0, Interval.of(k))


def velocity_extrema(curve: Bezier, k: IntervalLike) -> Extrema:
    """Range of every joint velocity over [0, duration] and over k; (n,)."""
    return _extrema(curve, 1, Interval.of(k))


def acceleration_extrema(curve: Bezier, k: Array) -> Extrema:
    """Range of every joint acceleration over [0, duration] for one k; (n,)."""
    return _extrema_of_one(curve, 2, k)


def jerk_extrema(curve: Bezier, k: Array) -> Extrema:
    """Range of the derivative of every acceleration over [0, duration] for one k; (n,)."""
    return _extrema_of_one(curve, 3, k)


def _extrema_of_one(curve: Bezier, order: int, k: Array) -> Extrema:
    """At both ends of the curve and where the next derivative, which is quadratic, is zero."""
    T = curve.duration
    parts = np.stack([curve.qd0 * T, curve.qdd0 * T**2, k, curve.qd1 * T, curve.qdd1 * T**2])
    basis, following = (
        np.concatenate([basis_derivative(i), end_derivative(i)]) for i in (order, order + 1)
    )
    return _extrema_of(curve, order, np.stack([parts, parts]), (following[:, :3], basis))


def _extrema(curve: Bezier, order: int, k: Interval) -> Extrema:
    """Smallest values belong to the smallest k, largest to the largest: K and K' are >= 0."""
    if not curve.ends_at_rest:
        return _extrema_by_steps(curve, order, k)
    T = curve.duration
    still = (curve.qd0 * T, curve.qdd0 * T**2)
    parts = np.array([[*still, k.lower], [*still, k.upper]])
    return _extrema_of(curve, order, parts, (FACTORS[order], basis_derivative(order)))


def _extrema_of(
    curve: Bezier, order: int, parts: Array, polynomials: tuple[Array, Array]
) -> Extrema:
    """Extrema of a derivative in time from those in s, of parts (2, P, n) for either end."""
    found = np.empty((2, parts.shape[2], 3))  # value, slack, slope in k
    _extremes_into(parts, *polynomials, found)
    start, scale = (curve.q0 if order == 0 else 0.0), curve.duration**order
    value, slack, slope = found.transpose(2, 0, 1)
    low, high = start + (value[0] - slack[0]) / scale, start + (value[1] + slack[1]) / scale
    rounding = 8 * EPS * (np.maximum(np.abs(low), np.abs(high)) + np.abs(start)) + TINY
    slope /= scale
    return Extrema(Interval(low - rounding, high + rounding), slope[0], slope[1])


def _extrema_by_steps(curve: Bezier, order: int, k: Interval) -> Extrema:
    edges = curve.duration * np.arange(STEPS + 1) / STEPS
    edges[-1] = curve.duration
    time, joints = Interval(edges[:-1], edges[1:]), np.arange(len(k))
    lower = curve.enclose(order, time, Interval.of(k.lower)).lower
    upper = curve.enclose(order, time, Interval.of(k.upper)).upper
    first, last = lower.argmin(axis=0), upper.argmax(axis=0)
    return Extrema(
        Interval(lower[first, joints], upper[last, joints]),
        _slope(curve, order, (first + 0.5) / STEPS),
        _slope(curve, order, (last + 0.5) / STEPS),
    )


def _slope(curve: Bezier, order: int, s: Array) -> Array:
    slope = np.polynomial.polynomial.polyval(s, basis_derivative(order)[2])
    return np.asarray(slope / curve.duration**order)


@jit
def _extremes_into(parts: Array, quadratic: Array, basis: Array, found: Array) -> None:
    """Smallest (0) and largest (1) value of the polynomials in s, its slack and slope in k.

    The third of the parts is k. Polynomials are basis' parts and have their extrema where
    quadratic' parts is zero. Nothing is known of what is too large for a float: its value is NaN.
    """
    for side in range(2):
        for j in range(parts.shape[2]):
            r1, r2, residual = _roots(parts[side, :, j], quadratic)
            at = 0.0
            best, size = _value(parts[side, :, j], basis, at)
            for s in (1.0, r1, r2):
                value, _ = _value(parts[side, :, j], basis, s)
                if (value < best if side == 0 else value > best) or value != value:
                    at, best = s, value
            found[side, j, 0] = best
            found[side, j, 1] = residual + 64.0 * EPS * size + TINY
            found[side, j, 2], _ = _value(NOTHING_BUT_K, basis[:3], at)


@jit
def _value(parts: Array, basis: Array, s: float) -> tuple[float, float]:
    """Value at s, and the sum of all absolute terms at s = 1."""
    value = size = 0.0
    for m in range(basis.shape[1] - 1, -1, -1):
        coefficient = 0.0
        for p in range(len(parts)):
            coefficient += basis[p, m] * parts[p]
            size += abs(basis[p, m] * parts[p])
        value = value * s + coefficient
    return value, size


@jit
def _roots(parts: Array, quadratic: Array) -> tuple[float, float, float]:
    """Roots of Q in [0, 1] (else the nearest end), and how far Q is from having exactly these.

    No root is needed when Q, moved by rounding at most, keeps one sign: when the discriminant
    comes out negative, or the constant is larger than the other two together. Q is also within
    `size`, the sum of its absolute terms, of zero, whose curve is constant and takes its extrema
    anywhere.
    """
    C = B = A = size = 0.0
    for p in range(len(parts)):
        C += quadratic[p, 0] * parts[p]
        B += quadratic[p, 1] * parts[p]
        A += quadratic[p, 2] * parts[p]
        for m in range(3):
            size += abs(quadratic[p, m] * parts[p])
    discriminant = B * B - 4.0 * A * C
    q = -0.5 * (B + math.copysign(math.sqrt(max(discriminant, 0.0)), B))
    r1 = math.inf if A == 0.0 else q / A
    r2 = 0.0 if q == 0.0 else C / q
    residual = abs(B + A * r2 + q) + abs(C - q * r2)
    if not discriminant >= 0.0 or abs(C) > abs(A) + abs(B):
        residual = 0.0
    residual = residual if residual < size else size
    return _clipped(r1), _clipped(r2), residual + 64.0 * EPS * size + TINY


@inline_jit
def _clipped(s: float) -> float:
    """Return the nearest number in [0, 1]; of NaN NaN."""
    return 0.0 if s < 0.0 else (1.0 if s > 1.0 else s)
