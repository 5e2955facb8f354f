"""Integrals over a window are right to within the error the sums state for them."""

from identify.known_recordings import sliding_joint
import numpy as np
import pytest

from safe_sysid.identify.window_sums import HELD, ErrorBounds, Rule, add_sample, empty_sums

VISCOUS = 11  # column of Fv of a single joint, where W_c is -qd


def sums_of(tree, t, velocity, rule):
    """Sums over samples of a sliding joint."""
    zero = np.zeros(1)
    bounds = ErrorBounds(zero, zero, zero, zero)
    sums = empty_sums(1)
    for step, qd in zip(np.diff(t, prepend=t[0]), velocity, strict=True):
        add_sample(tree, sums, np.array([[0.0], [qd], [0.0]]), float(step), bounds, rule)
    return sums


def share_of_remainder(sums, integral):
    """How much of the error stated for the integral of -qd is used up."""
    center, radius = sums.integral[0, VISCOUS]
    stated = radius + sums.remainder[0, VISCOUS] + sums.remainder_end[0, VISCOUS]
    return abs(center + integral) / stated


@pytest.mark.parametrize('even', [True, False])
def test_one_kink_is_covered_wherever_it_falls(rng, even):
    # by hand: qd is constant, then rises; safety 1.5 is enough for even steps, 2 for all
    tree = sliding_joint(rng, m=1.0).tree
    rule = Rule(trapezoid=True, torque=HELD, safety=1.5 if even else 2.0)
    largest = 0.0
    for _ in range(1000):
        cells = int(rng.integers(2, 6))
        steps = np.ones(cells) if even else rng.uniform(0.1, 1.0, size=cells)
        t = np.concatenate([[0.0], np.cumsum(steps)])
        kink, slope = rng.uniform(0.0, t[-1]), rng.normal()
        velocity = 0.5 + slope * np.maximum(t - kink, 0.0)
        integral = 0.5 * t[-1] + 0.5 * slope * (t[-1] - kink) ** 2
        share = share_of_remainder(sums_of(tree, t, velocity, rule), integral)
        assert share <= 1.0
        largest = max(largest, share)
    assert largest > 0.8


def test_the_remainder_of_a_parabola_is_what_the_rule_leaves(rng):
    # by hand: qd = t^2 bends by 2 everywhere, each of N cells of the trapezoid is h^3 / 6 off;
    # all bends are counted for two cells, those at the ends twice
    tree = sliding_joint(rng, m=1.0).tree
    t = np.linspace(0.0, 1.0, 11)
    sums = sums_of(tree, t, t**2, Rule(trapezoid=True, torque=HELD, safety=1.0))
    assert -sums.integral[0, VISCOUS, 0] - 1.0 / 3.0 == pytest.approx(10 * 0.1**3 / 6)
    stated = sums.remainder[0, VISCOUS] + sums.remainder_end[0, VISCOUS]
    assert stated == pytest.approx(11 * 2 * 0.1**3 / 6)


def test_the_remainder_of_euler_is_half_of_every_rise(rng):
    # by hand: qd = t over N cells, each h^2 / 2 short
    tree = sliding_joint(rng, m=1.0).tree
    t = np.linspace(0.0, 1.0, 11)
    sums = sums_of(tree, t, t, Rule(trapezoid=False, torque=HELD, safety=1.0))
    assert sums.remainder[0, VISCOUS] == pytest.approx(0.5 + sums.integral[0, VISCOUS, 0])
    assert sums.remainder[0, VISCOUS] == pytest.approx(10 * 0.1**2 / 2)


def test_a_straight_line_leaves_nothing(rng):
    tree = sliding_joint(rng, m=1.0).tree
    t = np.cumsum(rng.uniform(0.1, 1.0, size=8))
    sums = sums_of(tree, t, 3.0 - 2.0 * t, Rule(trapezoid=True, torque=HELD, safety=2.0))
    assert sums.remainder[0, VISCOUS] < 1e-13
    exact = 3.0 * (t[-1] - t[0]) - (t[-1] ** 2 - t[0] ** 2)
    assert -sums.integral[0, VISCOUS, 0] == pytest.approx(exact, abs=1e-13)
