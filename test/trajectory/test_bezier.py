"""The curve meets its end conditions, its sets contain the exact curve."""

from fractions import Fraction

import numpy as np
import pytest
from trajectory.exact_curve import (
    CURVES,
    exact_derivative,
    random_curve,
    random_curve_in_motion,
    random_k,
    rational,
    state,
)

from safe_sysid.errors import BoundError
from safe_sysid.sets.interval import Interval
from safe_sysid.sets.monomials import monomials
from safe_sysid.sets.taylor_model import TaylorModel
from safe_sysid.trajectory.bezier import Bezier


def test_starts_in_the_given_state_and_ends_at_rest(rng):
    for _ in range(10):
        curve, k = random_curve(rng), random_k(rng)
        assert np.allclose(state(curve, 0.0, k), [curve.q0, curve.qd0, curve.qdd0])
        assert np.allclose(state(curve, curve.duration, k), [curve.q0 + k, 0 * k, 0 * k])


def test_ends_in_the_given_state(rng):
    for _ in range(10):
        curve, k = random_curve_in_motion(rng), random_k(rng)
        assert not curve.ends_at_rest
        assert np.allclose(state(curve, 0.0, k), [curve.q0, curve.qd0, curve.qdd0])
        end = [curve.q0 + k, curve.qd1, curve.qdd1]
        assert np.allclose(state(curve, curve.duration, k), end)


@pytest.mark.parametrize('random_curve', CURVES)
@pytest.mark.parametrize('order', [0, 1, 2])
def test_is_the_bezier_curve_of_its_control_points(order, random_curve, rng):
    for _ in range(20):
        curve, k = random_curve(rng), random_k(rng)
        t = float(rng.uniform(0, curve.duration))
        exact = [
            float(exact_derivative(curve, j, order, Fraction(t), Fraction(float(k[j]))))
            for j in range(3)
        ]
        assert np.allclose(curve.derivative(order, t, k), exact, atol=1e-12)


def test_velocity_and_acceleration_are_numerical_derivatives(rng):
    curve, k, h = random_curve(rng), random_k(rng), 1e-5
    t = np.linspace(0.1, curve.duration - 0.1, 7)
    numeric = (curve.position(t + h, k) - curve.position(t - h, k)) / (2 * h)
    assert np.allclose(curve.velocity(t, k), numeric, atol=1e-7)
    numeric = (curve.velocity(t + h, k) - curve.velocity(t - h, k)) / (2 * h)
    assert np.allclose(curve.acceleration(t, k), numeric, atol=1e-7)


def time_intervals(curve, count):
    ends = np.linspace(0.0, curve.duration, count + 1)
    return Interval(ends[:-1], ends[1:])


def interval_escapes(rng, enclose, curve, order, k) -> int:
    """How many exact values at rational times and parameters lie outside the enclosure."""
    t = time_intervals(curve, 16)
    values = enclose(curve, order, t, k)
    count = 0
    for i in range(16):
        for j in range(3):
            at = rational(rng, t.lower[i], t.upper[i])
            exact = exact_derivative(curve, j, order, at, rational(rng, k.lower[j], k.upper[j]))
            lower, upper = (Fraction(float(v[i, j])) for v in (values.lower, values.upper))
            count += not lower <= exact <= upper
    return count


@pytest.mark.parametrize('random_curve', CURVES)
@pytest.mark.parametrize('order', [0, 1, 2])
def test_interval_enclosure_contains_the_exact_curve(order, random_curve, rng):
    for radius in (0.0, 0.1):
        for _ in range(2):
            curve = random_curve(rng)
            k = Interval.from_center_radius(random_k(rng), radius)
            assert interval_escapes(rng, Bezier.enclose, curve, order, k) == 0


def test_the_check_finds_an_enclosure_by_sampling_the_ends(rng):
    def ends_only(curve, order, t, k):
        a, b = (
            curve.derivative(order, t.lower, k.center),
            curve.derivative(order, t.upper, k.center),
        )
        return Interval.of(a).hull(b)

    k = Interval.of(np.zeros(3))
    found = [interval_escapes(rng, ends_only, random_curve(rng), 2, k) for _ in range(5)]
    assert sum(found) > 0


@pytest.mark.parametrize('random_curve', CURVES)
@pytest.mark.parametrize('order', [0, 1, 2])
def test_model_enclosure_contains_the_exact_curve(order, random_curve, rng):
    table = monomials(3, 2)
    for _ in range(5):
        curve, center, radius = random_curve(rng), random_k(rng), rng.uniform(0, 0.3, 3)
        k = TaylorModel.variables(table) * radius + center
        t = time_intervals(curve, 8)
        models = curve.enclose(order, t, k)
        assert models.shape == (8, 3)
        for i in range(8):
            point = rng.integers(-4, 5, 3) / 4.0  # exact in binary
            values = models[i].evaluate(point)
            for j in range(3):
                parameter = Fraction(float(center[j])) + Fraction(float(radius[j])) * Fraction(
                    float(point[j])
                )
                at = rational(rng, t.lower[i], t.upper[i])
                exact = exact_derivative(curve, j, order, at, parameter)
                lower, upper = (Fraction(float(v[j])) for v in (values.lower, values.upper))
                assert lower <= exact <= upper


def test_enclosure_is_little_wider_than_the_range(rng):
    curve, k = random_curve(rng), random_k(rng)
    t = time_intervals(curve, 128)
    samples = curve.position(np.linspace(t.lower, t.upper, 50), k)
    width = np.ptp(samples, axis=0)
    found = curve.enclose(0, t, Interval.of(k))
    assert np.all(found.upper - found.lower <= 1.02 * width + 1e-2 * width.max())


def test_refuses_impossible_curves():
    zero = np.zeros(2)
    with pytest.raises(BoundError, match='duration'):
        Bezier(zero, zero, zero, 0.0)
    with pytest.raises(BoundError, match='qd0 has shape'):
        Bezier(zero, np.zeros(3), zero, 1.0)
    with pytest.raises(BoundError, match='qd1 has shape'):
        Bezier(zero, zero, zero, 1.0, qd1=np.zeros(3))
    with pytest.raises(BoundError, match='qdd0'):
        Bezier(zero, zero, np.array([0.0, np.nan]), 1.0)
    with pytest.raises(BoundError, match='not within'):
        Bezier(zero, zero, zero, 1.0).enclose(0, Interval([0.5], [1.5]), Interval.of(zero))
