"""Rational oracle: the curve of one joint in Bernstein form, from its six control points."""

from dataclasses import replace
from fractions import Fraction
from math import comb

import numpy as np

from safe_sysid.trajectory.bezier import Bezier


def control_points(curve: Bezier, joint: int, k: Fraction) -> list[Fraction]:
    """Exact control points: three fix the start state, three the end."""
    q, v, a = (Fraction(float(x[joint])) for x in (curve.q0, curve.qd0, curve.qdd0))
    v1, a1 = (Fraction(float(x[joint])) for x in (curve.qd1, curve.qdd1))
    T = Fraction(curve.duration)
    start = [q, q + v * T / 5, q + 2 * v * T / 5 + a * T * T / 20]
    return [*start, q + k - 2 * v1 * T / 5 + a1 * T * T / 20, q + k - v1 * T / 5, q + k]


def exact_derivative(curve: Bezier, joint: int, order: int, t: Fraction, k: Fraction) -> Fraction:
    """Derivative in time by differences of control points (hodograph)."""
    points, T = control_points(curve, joint, k), Fraction(curve.duration)
    for n in range(order):
        pairs = zip(points[1:], points[:-1], strict=True)
        points = [(5 - n) * (b - a) / T for b, a in pairs]
    s, degree = t / T, 5 - order
    return sum(
        (comb(degree, i) * s**i * (1 - s) ** (degree - i) * p for i, p in enumerate(points)),
        Fraction(0),
    )


def random_curve(rng, joints=3) -> Bezier:
    """Curve in motion, or from rest, with magnitudes of a robot arm."""
    moving = rng.random(joints) < 0.7
    return Bezier(
        rng.uniform(-3, 3, joints),
        rng.uniform(-1, 1, joints) * moving,
        rng.uniform(-2, 2, joints) * (rng.random(joints) < 0.7),
        float(rng.choice([1.0, 3.0, 0.7])),
    )


def random_curve_in_motion(rng, joints=3) -> Bezier:
    """The same, but some joints still move at the end."""
    curve = random_curve(rng, joints)
    moving = rng.random(joints) < 0.7
    qd1, qdd1 = rng.uniform(-1, 1, joints) * moving, rng.uniform(-2, 2, joints)
    return replace(curve, qd1=qd1, qdd1=qdd1)


CURVES = (random_curve, random_curve_in_motion)


def random_k(rng, joints=3):
    return rng.uniform(-1, 1, joints) * rng.choice([1.0, 0.05, 0.0], joints)


def rational(rng, low: float, high: float) -> Fraction:
    """Rational number between two floats, ends included."""
    weight = Fraction(int(rng.integers(0, 65)), 64)
    return Fraction(float(low)) * (1 - weight) + Fraction(float(high)) * weight


def exact_range_of_samples(curve, joint, order, k: float, count=400):
    """Smallest and largest exact value on a grid of times."""
    times = [Fraction(curve.duration) * i / count for i in range(count + 1)]
    values = [exact_derivative(curve, joint, order, t, Fraction(float(k))) for t in times]
    return min(values), max(values)


def state(curve, t, k):
    return np.stack([curve.derivative(order, t, k) for order in range(3)])
