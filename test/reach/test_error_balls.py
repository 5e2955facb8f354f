"""Balls for the tracking error contain what samples reach, and are not much larger."""

import numpy as np
import pytest

from safe_sysid.bench.experiments.reach import (
    box_errors,
    energy_errors,
    kinova_with_dumbbell,
    placed_points,
    random_arm,
)
from safe_sysid.reach.error_balls import ErrorSet, error_balls, error_set, levers
from safe_sysid.reach.tracking_error import TrackingError

V_M = 0.02  # [J]


def tracking_error(armature, K_r):
    r_max = np.sqrt(2.0 * V_M / armature)
    return TrackingError(K_r, r_max, r_max / K_r, 2.0 * r_max)


def some_errors(rng, n, scale=1.0):
    armature = scale * rng.uniform(0.5, 10.0, size=n)
    error = tracking_error(armature, rng.uniform(3.0, 8.0, size=n))
    return error, error_set(error, armature, V_M)


def balls_at(model, q, errors):
    """Balls about all capsule ends where the plan is at one position, (2 m,)."""
    n, capsules = model.n, model.capsules
    joint = np.concatenate([capsules.joint, capsules.joint])
    points = np.concatenate([capsules.a, capsules.b])
    every = np.concatenate([joint, np.arange(n), np.arange(n)])
    all_points = np.concatenate([points, np.zeros((n, 3)), model.tree.axis])
    centers = placed_points(model.tree, q[None], every, all_points)
    lever = levers(model.tree, joint, points, np.abs(q) + errors.position)
    return error_balls(lever, errors, centers, np.zeros_like(centers))[0]


def moved(model, q, e):
    """How far capsule ends are from where the plan has them, (N, 2 m)."""
    capsules = model.capsules
    joint = np.concatenate([capsules.joint, capsules.joint])
    points = np.concatenate([capsules.a, capsules.b])
    true = placed_points(model.tree, q - e, joint, points)
    return np.linalg.norm(true - placed_points(model.tree, q[None], joint, points), axis=-1)


@pytest.mark.parametrize('scale', [1.0, 0.01])  # the second has errors of half a radian
def test_balls_contain_errors_that_are_bounded_one_by_one(rng, scale):
    for _ in range(30):
        n = int(rng.integers(1, 8))
        model, q = random_arm(rng, n), rng.normal(size=n)
        error, errors = some_errors(rng, n, scale)
        errors = errors._replace(half_axes=np.full(n, np.inf))
        e = box_errors(rng, error, 400).position
        assert np.all(moved(model, q, e) <= balls_at(model, q, errors) + 1e-12)


@pytest.mark.parametrize('scale', [1.0, 0.01])
def test_balls_contain_errors_of_bounded_energy(rng, scale):
    for _ in range(30):
        n = int(rng.integers(1, 8))
        model, q = random_arm(rng, n), rng.normal(size=n)
        error, errors = some_errors(rng, n, scale)
        e = energy_errors(rng, error, errors, 400).position
        assert np.all(moved(model, q, e) <= balls_at(model, q, errors) + 1e-12)


def test_samples_find_errors_that_are_larger_than_promised(rng):
    model, q = kinova_with_dumbbell(), rng.normal(size=7)
    error, errors = some_errors(rng, 7)
    e = box_errors(rng, error, 2000).position
    assert np.any(moved(model, q, e) > balls_at(model, q, errors))  # the box is not the ellipsoid
    half = ErrorSet(0.5 * errors.position, 0.5 * errors.half_axes)
    e = energy_errors(rng, error, errors, 2000).position
    assert np.any(moved(model, q, e) > balls_at(model, q, half))


def test_balls_are_within_two_times_what_is_reached(rng):
    model, q = kinova_with_dumbbell(), rng.normal(size=7)
    error, errors = some_errors(rng, 7)
    e = energy_errors(rng, error, errors, 20000).position
    reached, balls = moved(model, q, e).max(axis=0), balls_at(model, q, errors)
    assert np.all(balls[reached > 1e-3] < 2.0 * reached[reached > 1e-3])


def test_position_errors_follow_from_their_energy(rng):
    """Filter de/dt = r - K_r e with the worst r of bounded energy, step by step."""
    n, step = 4, 1e-3
    error, errors = some_errors(rng, n)
    e, r, largest = np.zeros(n), np.zeros(n), 0.0
    half_axes_of_r = errors.half_axes * error.K_r.min()
    for _ in range(5000):
        if rng.random() < 0.01:
            direction = rng.normal(size=n)
            r = half_axes_of_r * direction / np.linalg.norm(direction)
        elif rng.random() < 0.01:
            scaled = e / errors.half_axes**2 * half_axes_of_r**2
            r = scaled / max(np.linalg.norm(scaled / half_axes_of_r), 1e-12)
        decay = np.exp(-error.K_r * step)
        e = decay * e + (1.0 - decay) / error.K_r * r
        largest = max(largest, np.linalg.norm(e / errors.half_axes))
    assert 0.3 < largest <= 1.0


def test_an_arm_without_armature_has_only_the_box(rng):
    error, _ = some_errors(rng, 3)
    errors = error_set(error, np.array([1.0, 0.0, 1.0]), V_M)
    assert np.all(errors.half_axes == np.inf)
    model, q = random_arm(rng, 3), rng.normal(size=3)
    assert np.all(np.isfinite(balls_at(model, q, errors)))
