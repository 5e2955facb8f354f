"""Payloads whose weight alone is too much, among those that bounds allow."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from safe_sysid.bench.experiments.kinova_dumbbell import kinova_prior
from safe_sysid.bench.experiments.reach import kinova_with_dumbbell
from safe_sysid.bench.experiments.static_torque import static_share
from safe_sysid.sets.interval import Interval

STRETCHED = np.array([0.0, np.pi / 2, 0.0, 0.0, 0.0, 0.0, 0.0])


@pytest.fixture(scope='module')
def model():
    return kinova_with_dumbbell()


def gravity_share(model, q):
    other = model.pinocchio()
    torque = pin.computeGeneralizedGravity(other, other.createData(), q)
    return np.max(np.abs(torque) / model.limits.torque)


def test_of_an_arm_that_is_known_it_is_that_of_its_weight(model, rng):
    exact = Interval(model.theta, model.theta)
    for q in rng.uniform(-2.0, 2.0, (5, 7)):
        assert static_share(model, exact, q) == pytest.approx(gravity_share(model, q))


@pytest.mark.slow
def test_wider_bounds_allow_more_weight(model):
    theta, shares = model.theta, []
    for ratio in (0.0, 0.02, 0.1):
        bounds = Interval.from_center_radius(theta, ratio * np.abs(theta))
        shares.append(static_share(model, bounds, STRETCHED))
    assert shares[0] < shares[1] < shares[2] < 1.12 * shares[0]


@pytest.mark.slow
def test_some_payload_of_table_1_is_too_much_for_an_outstretched_arm(model):
    bounds = kinova_prior(model).bounds
    assert static_share(model, bounds, STRETCHED) > 1.0
    strong = replace(model, limits=replace(model.limits, torque=np.full(7, 90.0)))
    assert static_share(strong, bounds, STRETCHED) < 1.0


@pytest.mark.slow
def test_bodies_that_cannot_exist_do_not_count(model):
    """Without a bound on its inertia, the last body could be heavy and far away at once."""
    bounds = kinova_prior(model).bounds
    lower, upper = bounds.lower.copy(), bounds.upper.copy()
    inertia = np.arange(lower.size)[model.layout.end_effector][4:]
    lower[inertia], upper[inertia] = -10.0, 10.0
    free = static_share(model, Interval(lower, upper), STRETCHED)
    assert static_share(model, bounds, STRETCHED) < free - 0.01
