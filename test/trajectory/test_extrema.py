"""Extrema over time contain every exact value of the curve and are attained."""

from fractions import Fraction

import numpy as np
import pytest
from tiers import slow_after
from trajectory.exact_curve import (
    exact_derivative,
    exact_range_of_samples,
    random_curve,
    random_curve_in_motion,
    random_k,
    rational,
)

from safe_sysid.errors import BoundError
from safe_sysid.sets.interval import Interval
from safe_sysid.trajectory.bezier import Bezier
from safe_sysid.trajectory.extrema import (
    acceleration_extrema,
    jerk_extrema,
    position_extrema,
    velocity_extrema,
)

CASES = [(0, position_extrema), (1, velocity_extrema)]
OF_ONE = [(2, acceleration_extrema), (3, jerk_extrema)]  # for one k


def one_joint(q, qd, qdd, duration=3.0):
    return Bezier(np.array([q]), np.array([qd]), np.array([qdd]), duration)


def adversarial_curves(rng):
    """Random ones, and coefficients that make the quadratic linear, constant or a square."""
    for _ in range(12):
        curve = random_curve(rng, 1)
        yield curve, random_k(rng, 1)
        v, a = curve.qd0 * curve.duration, curve.qdd0 * curve.duration**2
        yield curve, (15 * v + 2.5 * a) / 30  # A = 0
        yield curve, v / 3 - (2 * v + a) * (2 * v + a) / (120 * v) if v[0] else np.zeros(1)
    yield one_joint(0.3, 0.0, 0.0), np.array([0.7])
    yield one_joint(0.3, 0.0, 0.0), np.array([0.0])
    yield one_joint(1e3, 1e-9, -1e-9), np.array([1e-12])
    yield one_joint(0.0, 1e5, -1e6, 0.01), np.array([3.0])
    yield one_joint(0.0, 1.0, -2.0 / 3.0), np.array([1.0])  # A = B = 0 to rounding


@pytest.mark.parametrize(('order', 'extrema'), slow_after(1, reversed(CASES)))
def test_range_contains_exact_samples_and_is_tight(order, extrema, rng):
    for curve, k in adversarial_curves(rng):
        found = extrema(curve, k).range
        low, high = exact_range_of_samples(curve, 0, order, k[0], 80)
        assert Fraction(float(found.lower[0])) <= low
        assert high <= Fraction(float(found.upper[0]))
        jerk = 60 * (abs(k[0]) + abs(curve.qd0[0]) + abs(curve.qdd0[0])) * curve.duration**2
        grid = jerk / curve.duration ** min(order, 1) / 80**2
        size = abs(curve.q0[0]) + jerk
        assert found.lower[0] >= float(low) - grid - 1e-11 * size
        assert found.upper[0] <= float(high) + grid + 1e-11 * size


@pytest.mark.parametrize(('order', 'extrema'), CASES)
def test_exact_value_at_the_extremal_time_is_inside(order, extrema, rng):
    """Next to an extremum, where samples on a grid never are."""
    for _ in range(100):
        curve, k = random_curve(rng, 1), random_k(rng, 1)
        found = extrema(curve, k).range
        t = np.linspace(0, curve.duration, 2001)
        values = curve.derivative(order, t, k)[:, 0]
        for index in (values.argmin(), values.argmax()):
            near = np.linspace(t[max(index - 1, 0)], t[min(index + 1, 2000)], 9)
            for time in near:
                exact = exact_derivative(curve, 0, order, Fraction(time), Fraction(float(k[0])))
                lower, upper = (Fraction(float(b[0])) for b in (found.lower, found.upper))
                assert lower <= exact <= upper


@pytest.mark.parametrize(('order', 'extrema'), CASES)
def test_range_over_a_shifted_interval_of_parameters(order, extrema, rng):
    for _ in range(10):
        curve = random_curve(rng)
        k = Interval.from_center_radius(rng.uniform(-1, 1, 3), 0.2)
        found = extrema(curve, k).range
        corners = [extrema(curve, end).range for end in (k.lower, k.upper)]
        assert np.allclose(found.lower, corners[0].lower, atol=1e-10)
        assert np.allclose(found.upper, corners[1].upper, atol=1e-10)
        for j in range(3):
            t = rational(rng, 0.0, curve.duration)
            exact = exact_derivative(curve, j, order, t, rational(rng, k.lower[j], k.upper[j]))
            assert Fraction(float(found.lower[j])) <= exact <= Fraction(float(found.upper[j]))


@pytest.mark.parametrize(('order', 'extrema'), CASES)
def test_slopes_are_derivatives_in_k(order, extrema, rng):
    del order
    for _ in range(20):
        curve, k, h = random_curve(rng), rng.uniform(0.2, 1.0, 3), 1e-6  # k = 0 can be a kink
        found, ahead, behind = (extrema(curve, k + shift) for shift in (0.0, h, -h))
        lower = (ahead.range.lower - behind.range.lower) / (2 * h)
        upper = (ahead.range.upper - behind.range.upper) / (2 * h)
        assert np.allclose(found.lower_slope, lower, atol=1e-4)
        assert np.allclose(found.upper_slope, upper, atol=1e-4)


@pytest.mark.parametrize(('order', 'extrema'), slow_after(1, reversed(CASES)))
def test_range_of_a_curve_that_ends_in_motion(order, extrema, rng):
    """Contains exact samples at every parameter, and is wider than theirs by little."""
    for radius in (0.0, 0.2):
        for _ in range(2):
            curve = random_curve_in_motion(rng)
            k = Interval.from_center_radius(random_k(rng), radius)
            found = extrema(curve, k).range
            for j in range(3):
                low, _ = exact_range_of_samples(curve, j, order, k.lower[j], 100)
                _, high = exact_range_of_samples(curve, j, order, k.upper[j], 100)
                assert Fraction(float(found.lower[j])) <= low
                assert high <= Fraction(float(found.upper[j]))
                assert found.lower[j] >= float(low) - 5e-3
                assert found.upper[j] <= float(high) + 5e-3


@pytest.mark.parametrize(('order', 'extrema'), CASES)
def test_slopes_of_a_curve_that_ends_in_motion(order, extrema, rng):
    del order
    for _ in range(10):
        curve, k, h = random_curve_in_motion(rng), rng.uniform(0.2, 1.0, 3), 1e-6
        found, ahead, behind = (extrema(curve, k + shift) for shift in (0.0, h, -h))
        lower = (ahead.range.lower - behind.range.lower) / (2 * h)
        upper = (ahead.range.upper - behind.range.upper) / (2 * h)
        assert np.allclose(found.lower_slope, lower, atol=0.05)
        assert np.allclose(found.upper_slope, upper, atol=0.05)


def test_a_move_from_rest_has_its_extrema_by_hand():
    curve = one_joint(0.5, 0.0, 0.0, 2.0)
    position, velocity = position_extrema(curve, [0.4]).range, velocity_extrema(curve, [0.4]).range
    assert (position.lower[0], position.upper[0]) == pytest.approx((0.5, 0.9), abs=1e-12)
    assert velocity.lower[0] == pytest.approx(0.0, abs=1e-12)
    assert velocity.upper[0] == pytest.approx(30 / 16 * 0.4 / 2.0, abs=1e-12)


@pytest.mark.parametrize(('order', 'extrema'), slow_after(1, OF_ONE))
@pytest.mark.parametrize('make', slow_after(1, [random_curve, random_curve_in_motion]))
def test_accelerations_and_jerks_are_inside_and_reached(order, extrema, make, rng):
    for _ in range(15):
        curve, k = make(rng, 1), random_k(rng, 1)
        found = extrema(curve, k)
        lower, upper = (Fraction(float(b[0])) for b in (found.range.lower, found.range.upper))
        times = np.linspace(0.0, curve.duration, 201)
        exact = [
            exact_derivative(curve, 0, order, Fraction(float(t)), Fraction(float(k[0])))
            for t in times
        ]
        assert lower <= min(exact)
        assert max(exact) <= upper
        size = 1e-3 * float(max(map(abs, exact))) + 1e-9
        assert float(min(exact)) - float(lower) <= size
        assert float(upper) - float(max(exact)) <= size


@pytest.mark.parametrize('extrema', [acceleration_extrema, jerk_extrema])
def test_their_slopes_are_those_of_differences(extrema, rng):
    for _ in range(20):
        curve, k, step = random_curve_in_motion(rng), random_k(rng), 1e-6
        found = extrema(curve, k)
        before, after = extrema(curve, k - step).range, extrema(curve, k + step).range
        for slope, ends in (
            (found.lower_slope, (before.lower, after.lower)),
            (found.upper_slope, (before.upper, after.upper)),
        ):
            difference = (ends[1] - ends[0]) / (2.0 * step)
            assert np.median(np.abs(slope - difference)) <= 1e-4 * (1.0 + np.abs(slope).max())


@pytest.mark.parametrize('extrema', [each for _, each in CASES + OF_ONE])
@pytest.mark.parametrize(('qd', 'k'), [(0.0, 1e308), (1e308, 1e308), (1e308, -1e308)])
def test_what_is_too_large_for_a_float_has_no_extrema(extrema, qd, k):
    with np.errstate(over='ignore', invalid='ignore'), pytest.raises(BoundError):
        extrema(one_joint(0.3, qd, 0.0), np.array([k]))
