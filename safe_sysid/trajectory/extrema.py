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

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.sets.interval import EPS, TINY, Interval, IntervalLike
from safe_sysid.trajectory.bezier import Bezier, basis_derivative, end_derivative

# Coefficients in s^0, s^1, s^2 that v, a and k contribute to Q.
FACTORS = {
    0: np.array([[1.0, 2.0, -15.0], [0.0, 1.0, -2.5], [0.0, 0.0, 30.0]]),
    1: np.array([[0.0, -36.0, 60.0], [1.0, -8.0, 10.0], [0.0, 60.0, -120.0]]),
}

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
    T, joints = curve.duration, np.arange(len(k))
    parts = np.stack([curve.qd0 * T, curve.qdd0 * T**2, k, curve.qd1 * T, curve.qdd1 * T**2])
    basis, following = (
        np.concatenate([basis_derivative(i), end_derivative(i)]) for i in (order, order + 1)
    )
    quadratic = following[:, :3]
    r1, r2, residual = _roots(quadratic.T @ parts, np.abs(quadratic).sum(axis=1) @ np.abs(parts))
    s = np.stack([np.zeros_like(r1), np.ones_like(r1), r1, r2])
    values = np.polynomial.polynomial.polyval(s, basis.T @ parts, tensor=False)
    slack = residual + 64 * EPS * (np.abs(basis).sum(axis=1) @ np.abs(parts)) + TINY
    first, last = values.argmin(axis=0), values.argmax(axis=0)
    low = (values[first, joints] - slack) / T**order
    high = (values[last, joints] + slack) / T**order
    rounding = 8 * EPS * np.maximum(np.abs(low), np.abs(high)) + TINY
    slopes = [_slope(curve, order, s[at, joints]) for at in (first, last)]
    return Extrema(Interval(low - rounding, high + rounding), *slopes)


def _extrema(curve: Bezier, order: int, k: Interval) -> Extrema:
    """Smallest values belong to the smallest k, largest to the largest: K and K' are >= 0."""
    if not curve.ends_at_rest:
        return _extrema_by_steps(curve, order, k)
    joints = np.arange(len(k))
    s_low, low, low_slack = s_high, high, high_slack = _candidates(curve, order, k.lower)
    if not np.array_equal(k.lower, k.upper):
        s_high, high, high_slack = _candidates(curve, order, k.upper)
    first, last = low.argmin(axis=0), high.argmax(axis=0)
    lower = np.nextafter(low[first, joints] - low_slack, -np.inf)
    upper = np.nextafter(high[last, joints] + high_slack, np.inf)
    return Extrema(
        Interval(lower, upper),
        _slope(curve, order, s_low[first, joints]),
        _slope(curve, order, s_high[last, joints]),
    )


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


def _candidates(curve: Bezier, order: int, k: Array) -> tuple[Array, Array, Array]:
    """Return times s of candidates, values there (4, n), and the values' slack (n,)."""
    T = curve.duration
    parts = np.stack([curve.qd0 * T, curve.qdd0 * T**2, k])  # v, a, k: (3, n)
    r1, r2, residual = _roots(FACTORS[order].T @ parts, np.abs(FACTORS[order]).sum(1) @ abs(parts))
    s = np.stack([np.zeros_like(k), np.ones_like(k), r1, r2])
    values = curve.derivative(order, s * T, k)[..., np.arange(len(k)), np.arange(len(k))]
    basis = basis_derivative(order)
    start = np.abs(curve.q0) if order == 0 else 0.0
    size = start + np.abs(basis).sum(axis=1) @ np.abs(parts) / T**order
    slope = np.abs(basis_derivative(order + 1)).sum(axis=1) @ np.abs(parts) / T**order
    # s T / T is off by EPS, which moves the value by the derivative times that.
    slack = residual / T**order * (1.0 + 8 * EPS) + 32 * EPS * size + 4 * EPS * slope + TINY
    return s, values, slack


def _roots(Q: Array, size: Array) -> tuple[Array, Array, Array]:
    """Roots of Q in [0, 1] (else the nearest end), and how far Q is from having exactly these.

    `size` is the sum of all absolute terms of Q, for the rounding of its own coefficients. No root
    is needed when Q, moved by rounding at most, keeps one sign: when the discriminant comes out
    negative, or the constant is larger than the other two together. Q is also within `size` of
    zero, whose curve is constant and takes its extrema anywhere.
    """
    C, B, A = Q
    discriminant = B * B - 4.0 * A * C
    real = discriminant >= 0.0
    q = -0.5 * (B + np.where(B >= 0.0, 1.0, -1.0) * np.sqrt(np.where(real, discriminant, 0.0)))
    with np.errstate(divide='ignore', invalid='ignore', over='ignore'):
        r1 = np.where(A == 0.0, np.inf, q / A)
        r2 = np.where(q == 0.0, 0.0, C / q)
        distance = np.abs(B + A * r2 + q) + np.abs(C - q * r2)
    rootless = ~real | (np.abs(C) > np.abs(A) + np.abs(B))
    residual = np.where(rootless, 0.0, distance)
    residual = np.fmin(residual, size) + 64 * EPS * size + TINY
    return np.clip(r1, 0.0, 1.0), np.clip(r2, 0.0, 1.0), residual
