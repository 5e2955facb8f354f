"""Feature points and ellipsoids: EM climbs, covers cover, and the published inflation does not."""

import numpy as np
import pytest

from safe_sysid.bench.experiments.ellipsoids import (
    Ellipsoid,
    _improved,
    around_capsule,
    best_mixture,
    capsule_corners,
    covering_radius,
    fit_mixture,
)
from safe_sysid.errors import BoundError


def directions(rng, count):
    u = rng.normal(size=(count, 3))
    return u / np.linalg.norm(u, axis=1, keepdims=True)


def capsule(rng):
    a, b = 0.2 * rng.normal(size=(2, 3))
    return a, b, float(rng.uniform(0.01, 0.2))


def test_an_ellipsoid_around_a_capsule_contains_it_and_touches_it(rng):
    for _ in range(50):
        a, b, radius = capsule(rng)
        u = directions(rng, 3000)
        points = a + rng.integers(0, 2, (3000, 1)) * (b - a) + radius * u
        g = around_capsule(a, b, radius).outside(points)
        assert g.max() < 1e-7
        assert g.max() > -0.05


def test_a_capsule_without_length_is_a_ball():
    ellipsoid = around_capsule(np.ones(3), np.ones(3), 0.1)
    np.testing.assert_allclose(ellipsoid.axes, 0.1)


def test_a_grown_ellipsoid_contains_all_points_within_the_radius(rng):
    for _ in range(50):
        axes, radius = rng.uniform(0.02, 0.5, size=3), float(rng.uniform(0.01, 0.2))
        on = directions(rng, 3000) * axes
        normal = on / axes**2
        normal /= np.linalg.norm(normal, axis=1, keepdims=True)
        grown = Ellipsoid(np.zeros(3), np.eye(3), axes).grown(radius)
        assert grown.outside(on + radius * normal).max() <= 1e-12


def test_adding_the_radius_to_the_axes_is_not_enough():
    axes, radius = np.array([0.4, 0.1, 0.1]), 0.05
    on = axes * np.array([np.cos(0.7), np.sin(0.7), 0.0])
    normal = on / axes**2 / np.linalg.norm(on / axes**2)
    point = on + radius * normal
    assert Ellipsoid(np.zeros(3), np.eye(3), axes + radius).outside(point) > 0.01
    assert Ellipsoid(np.zeros(3), np.eye(3), axes).grown(radius).outside(point) <= 0.0


def test_the_covering_radius_is_the_least_one(rng):
    for _ in range(50):
        a, b, radius = capsule(rng)
        means = 0.2 * rng.normal(size=(4, 3))
        s = np.linspace(0.0, 1.0, 4001)[:, None]
        apart = np.linalg.norm((a + s * (b - a))[:, None] - means, axis=2).min(axis=1)
        covered = covering_radius(a, b, radius, means)
        assert apart.max() + radius <= covered + 1e-12
        assert covered == pytest.approx(apart.max() + radius, abs=1e-3)


def test_every_round_of_em_raises_the_likelihood(rng):
    points = np.concatenate([capsule_corners(*capsule(rng)) for _ in range(2)])
    mixture = _improved(points, fit_mixture(points, 3, rng))
    before = fit_mixture(points, 1, rng)
    assert mixture.log_likelihood > before.log_likelihood
    mixture = fit_mixture(points, 4, rng)
    assert mixture.shares.sum() == pytest.approx(1.0)
    again = _improved(points, mixture)
    assert again.log_likelihood >= mixture.log_likelihood - 1e-6 * abs(mixture.log_likelihood)


def test_two_clouds_are_two_clusters(rng):
    clouds = [np.array([0.0, 0.0, z]) + 0.01 * rng.normal(size=(60, 3)) for z in (0.0, 1.0)]
    found = best_mixture(np.concatenate(clouds), 5, rng)
    assert len(found.shares) == 2
    np.testing.assert_allclose(np.sort(found.means[:, 2]), [0.0, 1.0], atol=0.01)
    np.testing.assert_allclose(found.shares, 0.5, atol=1e-6)


def test_more_clusters_than_points_are_refused(rng):
    with pytest.raises(BoundError, match='5 clusters of 3 points'):
        fit_mixture(np.eye(3), 5, rng)
