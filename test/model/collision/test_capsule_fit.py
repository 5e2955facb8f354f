"""A capsule contains all points it was fitted to, whatever they are, as written to a file."""

import numpy as np
import pytest
import yaml

from safe_sysid.model.collision.capsule_fit import Capsule, fitted_capsule
from safe_sysid.model.collision.pair_separation import segment_distances

POINTS = {
    'ball': lambda rng: rng.normal(size=(500, 3)),
    'rod': lambda rng: rng.normal(size=(500, 3)) * [0.02, 0.03, 1.0],
    'plate': lambda rng: rng.normal(size=(200, 3)) * [1.0, 0.5, 0.0],
    'tilted plate': lambda rng: rng.normal(size=(200, 2)) @ rng.normal(size=(2, 3)),
    'line': lambda rng: np.outer(rng.normal(size=50), [1.0, 2.0, -1.0]),
    'point': lambda rng: np.repeat(rng.normal(size=(1, 3)), 4, axis=0),
    'one triangle': lambda rng: rng.normal(size=(3, 3)),
    'far away': lambda rng: rng.normal(size=(100, 3)) * 0.1 + 1e6,
    'tiny': lambda rng: rng.normal(size=(100, 3)) * 1e-3,
    'box': lambda _: np.array([[x, y, z] for x in (0, 1) for y in (0, 2) for z in (0, 5)], float),
}


@pytest.mark.parametrize('kind', POINTS)
def test_what_is_read_back_contains_every_point(kind, rng):
    points = POINTS[kind](rng)
    found = fitted_capsule(points)
    text = yaml.safe_dump([found.a.tolist(), found.b.tolist(), float(found.radius)])
    a, b, radius = yaml.safe_load(text)
    ends = (np.broadcast_to(np.array(end), points.shape) for end in (a, b))
    assert segment_distances(points, points, *ends).max() <= radius
    assert Capsule(np.array(a), np.array(b), radius).contains(points).all()
    assert [round(x, 5) for x in (*a, *b, radius)] == [*a, *b, radius]


def test_the_shortest_capsule_of_a_known_one_is_found(rng):
    ends = np.array([[0.1, -0.2, 0.3], [0.4, 0.1, 0.5]])
    beside = rng.normal(size=(4000, 3))
    beside /= np.linalg.norm(beside, axis=1)[:, None]
    points = ends[rng.integers(2, size=4000)] + 0.08 * beside
    found = fitted_capsule(points)
    assert found.volume <= 1.01 * Capsule(*ends, 0.08).volume


def test_a_point_that_is_moved_out_is_not_contained(rng):
    points = rng.normal(size=(100, 3))
    found = fitted_capsule(points)
    worst = points[np.argmax(found.distances(points))]
    away = worst + 1e-3 * (worst - 0.5 * (found.a + found.b)) / np.linalg.norm(worst)
    inside = found.contains(np.stack([worst, away]))
    assert inside.tolist() == [True, False]
