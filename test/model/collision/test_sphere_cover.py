"""The spheres cover every capsule, ends included, and do not stand out far."""

import numpy as np
import pytest

from safe_sysid.bench.experiments.reach import kinova_with_dumbbell
from safe_sysid.model.collision.capsules import Capsules
from safe_sysid.model.collision.sphere_cover import EXCESS, sphere_cover


def surface_points(rng, a, b, radius, count):
    """Points on the surface of a capsule, both end caps included."""
    direction = rng.normal(size=(count, 3))
    direction /= np.linalg.norm(direction, axis=1)[:, None]
    along = b - a
    length = np.linalg.norm(along)
    share = rng.random(count)
    # The nearest point of the segment decides which side of the ball is on the surface.
    if length > 0.0:
        axis = along / length
        side = direction @ axis
        share = np.where(rng.random(count) < 0.5, share, (side > 0.0).astype(float))
        inside = (share > 0.0) & (share < 1.0)
        across = direction - side[:, None] * axis
        across /= np.linalg.norm(across, axis=1)[:, None]
        direction = np.where(inside[:, None], across, direction)
    return a + share[:, None] * along + radius * direction


def uncovered(shapes, capsules, c, points):
    """Largest distance by which points of capsule c are outside all of its spheres."""
    own = shapes.sphere_capsule == c
    weight = shapes.sphere_weight[own][:, None]
    centers = (1.0 - weight) * capsules.a[c] + weight * capsules.b[c]
    distances = np.linalg.norm(points[:, None] - centers, axis=-1) - shapes.sphere_radius[own]
    return distances.min(axis=1).max()


def some_capsules(rng, count):
    length = np.where(rng.random((count, 1)) < 0.2, 0.0, rng.uniform(0.0, 0.6, (count, 1)))
    a = rng.normal(size=(count, 3))
    direction = rng.normal(size=(count, 3))
    direction /= np.linalg.norm(direction, axis=1)[:, None]
    names = tuple(f'c{i}' for i in range(count))
    no_pairs = np.zeros((0, 2), dtype=np.int64)
    radius = rng.uniform(0.005, 0.15, count)
    return Capsules(
        names, np.zeros(count, dtype=np.int64), a, a + length * direction, radius, no_pairs
    )


def test_every_surface_point_is_in_a_sphere(rng):
    capsules = some_capsules(rng, 100)
    shapes = sphere_cover(capsules)
    for c in range(100):
        points = surface_points(rng, capsules.a[c], capsules.b[c], capsules.radius[c], 400)
        assert uncovered(shapes, capsules, c, points) <= 1e-15


def test_spheres_stand_out_by_little(rng):
    for capsules in (some_capsules(rng, 100), kinova_with_dumbbell().capsules):
        shapes = sphere_cover(capsules)
        excess = shapes.sphere_radius - capsules.radius[shapes.sphere_capsule]
        assert np.all((excess >= 0.0) & (excess <= EXCESS + 1e-12))


def test_the_kinova_with_a_dumbbell_needs_about_thirty_spheres():
    capsules = kinova_with_dumbbell().capsules
    shapes = sphere_cover(capsules)
    assert set(shapes.sphere_capsule) == set(np.flatnonzero(capsules.joint >= 0))
    assert 20 <= len(shapes.sphere_radius) <= 35


def test_equal_pieces_would_leave_the_ends_uncovered(rng):
    """The radius sqrt(r^2 + (L / 2 m)^2) about middles of m pieces is not a cover."""
    a, b, radius, m = np.zeros(3), np.array([0.3, 0.0, 0.0]), 0.05, 3
    names, no_pairs = ('c',), np.zeros((0, 2), dtype=np.int64)
    capsules = Capsules(names, np.zeros(1, int), a[None], b[None], np.array([radius]), no_pairs)
    naive = sphere_cover(capsules)._replace(
        sphere_capsule=np.zeros(m, int),
        sphere_weight=(np.arange(m) + 0.5) / m,
        sphere_radius=np.full(m, np.hypot(radius, 0.3 / (2 * m))),
    )
    assert uncovered(naive, capsules, 0, surface_points(rng, a, b, radius, 400)) > 0.01


@pytest.mark.parametrize('length', [0.0, 1e-9, 2.0 * EXCESS])
def test_short_capsules_are_one_sphere(length):
    b = np.array([[length, 0.0, 0.0]])
    no_pairs = np.zeros((0, 2), dtype=np.int64)
    capsules = Capsules(('c',), np.zeros(1, int), np.zeros((1, 3)), b, np.array([0.1]), no_pairs)
    shapes = sphere_cover(capsules)
    assert len(shapes.sphere_radius) == 1
    assert shapes.sphere_radius[0] == pytest.approx(0.1 + length / 2)
