"""Distance of segments: nearest, never above the exact one, and a direction that proves it."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize

from safe_sysid.model.collision.segment_distance import segment_distance


def distance(ends):
    a, b, c, d = np.asarray(ends, dtype=float)
    value, normal, s, t = segment_distance((tuple(a), tuple(b)), (tuple(c), tuple(d)))
    return value, s, t, np.array(normal)


def random_ends(rng):
    """Segments in general position, and parallel, crossing, or shrunk to points."""
    ends = rng.normal(size=(4, 3))
    kind = rng.integers(5)
    if kind == 0:
        ends[3] = ends[2] + rng.normal() * (ends[1] - ends[0])
    elif kind == 1:
        ends[1] = ends[0]
    elif kind == 2:
        ends[3] = ends[2]
    elif kind == 3:
        ends[:, 2] = np.repeat(rng.normal(size=2), 2)
    return ends


def by_minimisation(ends):
    def squared(z):
        p = ends[0] + z[0] * (ends[1] - ends[0])
        return np.sum((p - ends[2] - z[1] * (ends[3] - ends[2])) ** 2)

    starts = [(0.0, 0.0), (1.0, 1.0), (0.0, 1.0), (1.0, 0.0), (0.5, 0.5)]
    found = [minimize(squared, z, bounds=[(0, 1)] * 2, tol=1e-15).fun for z in starts]
    return np.sqrt(min(found))


def test_distance_is_that_of_a_minimisation(rng):
    for _ in range(30):
        ends = random_ends(rng)
        assert distance(ends)[0] == pytest.approx(by_minimisation(ends), abs=1e-6)


def test_distance_is_never_above_the_exact_one(rng):
    """Exact rational distance of the very points it names, which are at least as far apart."""
    for _ in range(500):
        ends = random_ends(rng) * 10.0 ** rng.uniform(-3, 3)
        value, s, t, _ = distance(ends)
        a, b, c, d = ([Fraction(x) for x in row] for row in ends.tolist())
        s, t = Fraction(s), Fraction(t)
        apart = sum((c[i] + t * (d[i] - c[i]) - a[i] - s * (b[i] - a[i])) ** 2 for i in range(3))
        assert value <= 0 or Fraction(value) ** 2 <= apart


def test_normal_is_not_longer_than_one_and_separates(rng):
    for _ in range(500):
        ends = random_ends(rng)
        value, _, _, normal = distance(ends)
        exact = [Fraction(x) for x in normal.tolist()]
        assert sum(x * x for x in exact) <= 1
        heights = [
            sum(n * Fraction(x) for n, x in zip(exact, row, strict=True)) for row in ends.tolist()
        ]
        assert min(heights[2:]) - max(heights[:2]) >= Fraction(value) or value == 0.0


def test_by_hand():
    ends = [[0, 0, 0], [1, 0, 0], [0.5, -1, 2], [0.5, 1, 2]]
    value, s, t, normal = distance(ends)
    assert value == pytest.approx(2.0)
    assert (s, t) == (pytest.approx(0.5), pytest.approx(0.5))
    assert np.allclose(normal, [0, 0, 1])


def test_touching_segments_have_no_distance_and_no_direction():
    value, _, _, normal = distance([[-1, 0, 0], [1, 0, 0], [0, -1, 0], [0, 1, 0]])
    assert value == 0.0
    assert np.all(normal == 0.0)
