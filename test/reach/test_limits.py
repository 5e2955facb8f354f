"""Position and velocity margins: sampled motions stay outside them, slopes are right."""

from dataclasses import replace

import numpy as np
import pytest

from safe_sysid.bench.experiments.reach import random_curve
from safe_sysid.errors import BoundError
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.reach.limits import position_margins, velocity_margins
from safe_sysid.reach.tracking_error import TrackingError

MARGINS = {'position': position_margins, 'velocity': velocity_margins}


@pytest.fixture
def limits():
    limits = RobotModel.named('kinova_gen3').limits
    return replace(
        limits,
        position_lower=np.array([-np.inf, -2.0, -1.0, -2.0, -np.inf, -2.0, -3.0]),
        position_upper=np.array([np.inf, 2.0, 1.0, 2.0, np.inf, np.inf, 3.0]),
    )


@pytest.fixture
def error():
    K_r = np.full(7, 5.0)
    position = np.linspace(0.01, 0.04, 7)
    return TrackingError(K_r, K_r * position, position, 2.0 * K_r * position)


def limit_of(limits, kind, j):
    if kind == 'velocity':
        return -limits.velocity[j], limits.velocity[j]
    return limits.position_lower[j], limits.position_upper[j]


def largest_excess(margins, limits, kind, states):
    """By how much sampled states leave less room than the margins say."""
    n = states.shape[1]
    lower, upper = (np.array([limit_of(limits, kind, j)[i] for j in range(n)]) for i in range(2))
    room = np.concatenate([(states - lower).min(axis=0), (upper - states).min(axis=0)])
    finite = np.isfinite(room)
    return (margins.margin[finite] - room[finite]).max()


def sampled_states(rng, curve, k, error, order):
    t = np.linspace(0.0, curve.duration, 2001)
    bound = (error.position, error.velocity)[order]
    return curve.derivative(order, t, k) - bound * rng.choice([-1.0, 1.0], size=(2001, 7))


@pytest.mark.parametrize('kind', MARGINS)
def test_sampled_motions_leave_at_least_the_margin(rng, limits, error, kind):
    for _ in range(50):
        curve, k = random_curve(rng, 7), rng.uniform(-1.5, 1.5, 7)
        margins = MARGINS[kind](curve, k, limits, error)
        states = sampled_states(rng, curve, k, error, list(MARGINS).index(kind))
        assert largest_excess(margins, limits, kind, states) <= 0.0


@pytest.mark.parametrize('kind', MARGINS)
def test_margins_are_as_large_as_samples_allow(rng, limits, error, kind):
    order = list(MARGINS).index(kind)
    curve, k = random_curve(rng, 7), rng.uniform(-1.5, 1.5, 7)
    margins = MARGINS[kind](curve, k, limits, error)
    t = np.linspace(0.0, curve.duration, 20001)
    bound = (error.position, error.velocity)[order]
    desired = curve.derivative(order, t, k)
    states = np.concatenate([desired - bound, desired + bound])
    assert largest_excess(margins, limits, kind, states) > -1e-6


@pytest.mark.parametrize('kind', MARGINS)
def test_samples_find_a_forgotten_tracking_error(rng, limits, error, kind):
    curve, k = random_curve(rng, 7), rng.uniform(-1.5, 1.5, 7)
    none = TrackingError(error.K_r, *np.zeros((3, 7)))
    margins = MARGINS[kind](curve, k, limits, none)
    states = sampled_states(rng, curve, k, error, list(MARGINS).index(kind))
    assert largest_excess(margins, limits, kind, states) > 1e-3


@pytest.mark.parametrize('kind', MARGINS)
def test_slopes_are_those_of_finite_differences(rng, limits, error, kind):
    step = 1e-6
    for _ in range(20):
        curve, k = random_curve(rng, 7), rng.uniform(-1.5, 1.5, 7)
        slope = MARGINS[kind](curve, k, limits, error).slope
        after = MARGINS[kind](curve, k + step, limits, error).margin
        before = MARGINS[kind](curve, k - step, limits, error).margin
        finite = np.isfinite(after)
        numeric = (after[finite] - before[finite]) / (2 * step)
        assert np.allclose(numeric, slope[finite], atol=1e-5)


def test_continuous_joints_have_no_position_limit(rng, error):
    limits = RobotModel.named('kinova_gen3').limits
    margins = position_margins(random_curve(rng, 7), np.full(7, 100.0), limits, error)
    turning = np.tile(limits.is_continuous, 2)
    assert turning.any()
    assert np.all(margins.margin[turning] == np.inf)
    assert np.all(margins.margin[~turning][3:] < 0.0)


def test_limits_out_of_order_are_refused(rng, limits, error):
    wrong = replace(limits, velocity=np.full(7, -1.0))
    with pytest.raises(BoundError, match='not in order'):
        velocity_margins(random_curve(rng, 7), np.zeros(7), wrong, error)
