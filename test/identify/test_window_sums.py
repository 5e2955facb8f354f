"""Integrals over a window are right to within the error the sums state for them."""

from identify.known_recordings import sliding_joint
import numpy as np
import pytest

from safe_sysid.identify.step_path import ErrorBounds, Rule
from safe_sysid.identify.torque_impulse import (
    HELD,
    SAMPLED,
    UnseenTorque,
    add_torque,
    begin_torque,
    bend_of_torque,
    empty_torque_sums,
)
from safe_sysid.identify.window_sums import (
    Knowns,
    add_samples,
    add_windows,
    begin_again,
    begin_window,
    close_window,
    empty_sums,
)
from safe_sysid.sets.lanes import LANES
from safe_sysid.simulate.random_arm import random_tree

GRAVITY = 1  # column of m cx, on which gravity along -y pulls with cos q


def rule_of(**settings):
    """Exact samples of one joint without dry friction."""
    usual = {
        'zero': np.zeros(1),
        'bounds': ErrorBounds(*(np.zeros(1),) * 4),
        'dry': np.zeros(1),
        'trapezoid': True,
        'has_curvature': False,
        'torque': HELD,
        'safety': 2.0,
        'stride': 1,
    }
    return Rule(**{**usual, **settings})


def hinge(rng):
    """One joint that turns about z, gravity along -y."""
    tree = sliding_joint(rng, m=1.0).tree
    return tree._replace(
        parent=np.array([-1]),
        R_parent_joint=np.eye(3)[None],
        p_parent_joint=np.zeros((1, 3)),
        axis=np.array([[0.0, 0.0, 1.0]]),
        is_prismatic=np.array([False]),
        gravity=np.array([0.0, -1.0, 0.0]),
    )


def sums_of(tree, t, q, qd, rule):
    """Sums over samples of one joint."""
    sums = empty_sums(1)
    begin_window(tree, sums, np.array([[q[0]], [qd[0]], [0.0]]), rule)
    for step, *sample in zip(np.diff(t), q[1:], qd[1:], strict=True):
        now = np.array([[[sample[0]], [sample[1]], [0.0]]])
        add_samples(tree, sums, now, np.array([step], dtype=float), rule)
    return sums


def share_of_remainder(sums, integral, column=GRAVITY):
    """How much of the error stated for an integral is used up."""
    centre, radius = sums.integral[0, column]
    return abs(centre - integral) / (radius + sums.remainder[0, column])


def gauss(function, ends):
    """Integral over the pieces between `ends`, each by 20 points."""
    x, w = np.polynomial.legendre.leggauss(20)
    halves = 0.5 * np.diff(ends)[:, None]
    t = halves * x + 0.5 * (ends[:-1] + ends[1:])[:, None]
    return float((halves * w * function(t)).sum())


@pytest.mark.parametrize('kinks', ['at samples', 'anywhere'])
def test_gravity_along_a_motion_whose_acceleration_jumps(rng, kinks):
    # the integral of -cos q by Gauss: exact to rounding
    largest, tree = 0.0, hinge(rng)
    for _ in range(200):
        steps = rng.uniform(0.002, 0.01, size=int(rng.integers(2, 6)))
        t = np.concatenate([[0.0], np.cumsum(steps)])
        jumps = t[1:-1] if kinks == 'at samples' else rng.uniform(0.0, t[-1], size=1)
        slopes, q0, v0, a0 = 20.0 * rng.normal(size=len(jumps)), *rng.normal(size=3)

        def after(x, jumps=jumps):
            return np.maximum(np.asarray(x)[..., None] - jumps, 0.0)

        def q(x, slopes=slopes, q0=q0, v0=v0, a0=a0, after=after):
            return q0 + v0 * x + a0 * x**2 / 2 + after(x) ** 2 @ slopes / 2

        integral = gauss(lambda x, q=q: -np.cos(q(x)), np.unique(np.concatenate([t, jumps])))
        qd = v0 + a0 * t + after(t) @ slopes
        share = share_of_remainder(sums_of(tree, t, q(t), qd, rule_of()), integral)
        assert share <= 1.0
        largest = max(largest, share)
    # Simpson's rule is far better than its remainder, but for kinks inside a step
    assert largest > (0.001 if kinks == 'at samples' else 0.01)


def test_the_remainder_is_what_two_rules_differ_by(rng):
    # by hand: along q = v t, with v h = 0.1, of -cos q about q = 0
    tree, v, h = hinge(rng), 10.0, 0.01
    t = h * np.arange(2.0) - h / 2
    sums = sums_of(tree, t, v * t, 0.0 * t + v, rule_of())
    assert sums.integral[0, GRAVITY, 0] == pytest.approx(-2.0 * np.sin(v * h / 2) / v, rel=1e-7)
    trapezoid, simpson = h * np.cos(0.05), h / 6 * (2 * np.cos(0.05) + 4)
    assert sums.remainder[0, GRAVITY] == pytest.approx(simpson - trapezoid, rel=1e-6)
    euler = sums_of(tree, t, v * t, 0.0 * t + v, rule_of(trapezoid=False))
    assert euler.integral[0, GRAVITY, 0] == pytest.approx(-h * np.cos(0.05))
    assert euler.remainder[0, GRAVITY] == pytest.approx(2.0 * (simpson - trapezoid), rel=1e-6)


# several windows at once


def case_of_tree(rng, window, **settings):
    """Return an arm with branches, errors of all readings, and samples of a rough motion."""
    n = 5
    tree = random_tree(rng, n, serial=False).tree
    bounds = ErrorBounds(*rng.uniform(0.0, [[1e-4], [1e-2], [0.1], [0.5]], size=(4, n)))
    dry = rng.uniform(size=n) * (rng.random(n) < 0.5)
    rule = rule_of(bounds=bounds, zero=1e-3 * rng.random(n), dry=dry, stride=4, **settings)
    unseen = UnseenTorque(rng.random(n), np.array([0.0, 0.01]), 1e-5)
    largest = rng.random(14 * n)
    knowns = Knowns(window, rng.permutation(14 * n), largest, rng.random(n), unseen)
    return tree, rule, knowns, rng.normal(size=(100, 3, n)), rng.uniform(1e-3, 2e-3, size=100)


def one_by_one(tree, sums, samples, steps, rule, knowns):
    """Tables of the windows that end."""
    tables = []
    for k in range(len(steps)):
        add_samples(tree, sums, samples[k : k + 1], steps[k : k + 1], rule)
        if sums.clock[0] > knowns.window:
            table = np.full((samples.shape[2], 14 * samples.shape[2] + 2), np.nan)
            close_window(tree, sums, knowns, rule, table)
            begin_again(sums, rule)
            tables.append(table)
    return tables


@pytest.mark.parametrize(
    'settings',
    [{}, {'torque': SAMPLED}, {'trapezoid': False}, {'has_curvature': True}],
    ids=['held', 'sampled', 'euler', 'curvature'],
)
@pytest.mark.parametrize('window', [2, LANES - 1, LANES, 3 * LANES + 1])
def test_windows_at_once_have_the_rows_of_samples_one_by_one(rng, window, settings):
    tree, rule, knowns, samples, steps = case_of_tree(rng, window, **settings)
    n = samples.shape[2]
    alone, together = empty_sums(n), empty_sums(n)
    for sums in (alone, together):
        begin_window(tree, sums, samples[0], rule)
    first = 1
    while first < len(samples):  # batches that end anywhere in lanes and windows
        part = slice(first, first + int(rng.integers(1, 3 * LANES)))
        expected = one_by_one(tree, alone, samples[part], steps[part], rule, knowns)
        tables = np.full((len(expected), n, 14 * n + 2), np.nan)
        add_windows(tree, together, samples[part], steps[part], rule, knowns, tables)
        np.testing.assert_array_equal(tables, np.reshape(expected, tables.shape))
        for name in ('newest', 'rate', 'integral', 'remainder', 'coulomb', 'turns', 'clock'):
            np.testing.assert_array_equal(getattr(together, name), getattr(alone, name))
        first = part.stop


# torque


def impulse(t, torque, rule):
    """(impulse, radius, bend) of a sampled torque."""
    sums = empty_torque_sums(1)
    begin_torque(sums, torque[:1], rule.bounds)
    smooth = np.zeros((2, 1))
    for step, value in zip(np.diff(t), torque[1:], strict=True):
        add_torque(sums, np.array([value]), float(step), smooth, rule)
    return (*sums.impulse[0], bend_of_torque(sums, 0, rule))


@pytest.mark.parametrize('even', [True, False])
def test_one_kink_of_a_sampled_torque_is_covered_wherever_it_falls(rng, even):
    # by hand: constant, then rising; safety 1.5 is enough for even steps, 2 for all
    rule = rule_of(torque=SAMPLED, safety=1.5 if even else 2.0)
    largest = 0.0
    for _ in range(1000):
        cells = int(rng.integers(2, 6))
        steps = np.ones(cells) if even else rng.uniform(0.1, 1.0, size=cells)
        t = np.concatenate([[0.0], np.cumsum(steps)])
        kink, slope = rng.uniform(0.0, t[-1]), rng.normal()
        torque = 0.5 + slope * np.maximum(t - kink, 0.0)
        integral = 0.5 * t[-1] + 0.5 * slope * (t[-1] - kink) ** 2
        centre, radius, bend = impulse(t, torque, rule)
        share = abs(centre - integral) / (radius + bend)
        assert share <= 1.0
        largest = max(largest, share)
    assert largest > 0.8


def noisy(size):
    return rule_of(
        torque=SAMPLED, stride=20, bounds=ErrorBounds(*(np.zeros(1),) * 3, np.array([size]))
    )


def test_promised_noise_does_not_count_as_a_bend(rng):
    t = 0.001 * np.arange(101)
    for _ in range(20):
        noise = rng.uniform(-0.1, 0.1, size=101)
        centre, radius, bend = impulse(t, 3.0 * np.sin(5.0 * t) + noise, noisy(0.1))
        integral = 0.6 * (1.0 - np.cos(0.5))
        assert abs(centre - integral) <= radius + bend
        assert bend < 0.02 * radius
        # without the promise it counts in full
        assert impulse(t, 3.0 * np.sin(5.0 * t) + noise, noisy(0.0))[2] > 0.2 * radius


def test_a_torque_with_all_of_its_error_in_one_direction_is_covered(rng):
    # what a bend adds comes on top of an error that uses up the whole promise
    largest = 0.0
    for _ in range(300):
        t = 0.002 * np.concatenate([[0.0], np.cumsum(rng.uniform(0.7, 1.3, size=100))])
        w, phase = rng.uniform(0.5, 60.0, size=3), rng.uniform(0.0, 7.0, size=3)
        true = np.sin(np.outer(t, w) + phase).sum(axis=1)
        integral = ((np.cos(phase) - np.cos(t[-1] * w + phase)) / w).sum()
        error = 0.05 * rng.choice([-1.0, 1.0])
        centre, radius, bend = impulse(t, true - error, noisy(0.05))
        share = abs(centre - integral) / (radius + bend)
        assert share <= 1.0
        largest = max(largest, share)
    assert largest > 0.98


def test_a_jump_beyond_the_promise_counts(rng):
    t = 0.001 * np.arange(101)
    for _ in range(200):
        jump, at = rng.uniform(-3.0, 3.0), rng.uniform(0.0, 0.1)
        error = 0.1 * rng.choice([-1.0, 1.0])
        centre, radius, bend = impulse(t, np.where(t < at, 0.0, jump) - error, noisy(0.1))
        if abs(jump) > 0.8:  # twice what the errors of three samples can hide
            assert abs(centre - jump * (0.1 - at)) <= radius + bend


def test_where_dry_friction_may_change_all_that_noise_hides_counts():
    rule = noisy(0.1)._replace(stride=1000)
    sums = empty_torque_sums(1)
    begin_torque(sums, np.zeros(1), rule.bounds)
    for step in range(10):
        rough = np.array([[step == 5], [step == 4]], dtype=float)
        add_torque(sums, np.zeros(1), 0.001, rough, rule)
    # two middles with four errors each, the second once more for the bend after it
    assert sums.shown[0, 0] == pytest.approx(3 * 2.0 * (2 * 0.001**3 / 12) * 0.4 / 0.001**2)
