"""The distance to a box is Euclidean, never above the exact one, and its gradient is right."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

from safe_sysid.errors import BoundError
from safe_sysid.sets.box import Box


def random_box(rng):
    rotation = Rotation.from_rotvec(rng.normal(size=3)).as_matrix()
    return Box(rng.normal(size=3), rng.uniform(0.1, 1.0, 3), rotation)


def nearest_distance(box, point):
    """Distance by numerical minimisation over the box."""
    start = np.zeros(3)
    result = minimize(
        lambda u: np.sum((box.center + box.rotation @ u - point) ** 2),
        start,
        bounds=[(-h, h) for h in box.half_sizes],
        tol=1e-14,
    )
    return np.sqrt(result.fun)


def test_distance_outside_is_euclidean(rng):
    for _ in range(20):
        box = random_box(rng)
        point = box.center + 3.0 * rng.normal(size=3)
        value = box.distance([point])[0][0]
        assert max(value, 0.0) == pytest.approx(nearest_distance(box, point), abs=1e-6)


def test_depth_inside_is_the_distance_to_the_nearest_face(rng):
    box = random_box(rng)
    local = np.array([0.9, 0.1, -0.2]) * box.half_sizes
    value, gradient = box.distance([box.center + box.rotation @ local])
    depths = box.half_sizes - np.abs(local)
    assert value[0] == pytest.approx(-depths.min(), abs=1e-12)
    face = int(np.argmin(depths))
    assert np.allclose(gradient[0], np.sign(local[face]) * box.rotation[:, face])


def test_distance_is_never_above_the_exact_one(rng):
    """Axis-parallel box, where the squared distance is rational."""
    for _ in range(300):
        center, half = rng.normal(size=3), rng.uniform(0.01, 1, 3)
        point = center + (half + rng.uniform(0, 1, 3) * [1, 1, 0]) * rng.choice([-1, 1], 3)
        value = Fraction(float(Box(center, half, np.eye(3)).distance([point])[0][0]))
        excess = [
            abs(Fraction(float(p)) - Fraction(float(c))) - Fraction(float(h))
            for p, c, h in zip(point, center, half, strict=True)
        ]
        outside = sum(max(e, Fraction(0)) ** 2 for e in excess)
        assert value <= 0 or value**2 <= outside


def test_distance_is_tight_to_rounding():
    box = Box(np.zeros(3), np.ones(3), np.eye(3))
    assert box.distance([[3.0, 0.0, 0.0]])[0][0] == pytest.approx(2.0, abs=1e-12)
    assert box.distance([[4.0, 5.0, 0.0]])[0][0] == pytest.approx(5.0, abs=1e-12)
    assert box.distance([[0.0, 0.0, 0.0]])[0][0] == pytest.approx(-1.0, abs=1e-12)


def test_gradient_is_the_derivative(rng):
    for _ in range(20):
        box = random_box(rng)
        points = box.center + 2.0 * rng.normal(size=(10, 3))
        _, gradient = box.distance(points)
        steps = 1e-6 * np.eye(3)
        numeric = [
            (box.distance(points + s)[0] - box.distance(points - s)[0]) / 2e-6 for s in steps
        ]
        assert np.allclose(gradient, np.stack(numeric, axis=-1), atol=1e-5)


def test_a_ball_lowers_the_distance_by_its_radius(rng):
    box = random_box(rng)
    points = rng.normal(size=(20, 3)) * 3
    assert np.allclose(
        box.plus_ball(0.3).plus_ball(0.1).distance(points)[0], box.distance(points)[0] - 0.4
    )


@pytest.mark.parametrize(
    ('half_sizes', 'message'),
    [([0.1, 0.0, 0.1], 'positive'), ([0.1, -1, 0.1], 'positive'), ([0.1, np.nan, 1], 'finite')],
)
def test_refuses_sizes_that_are_not_positive(half_sizes, message):
    with pytest.raises(BoundError, match=message):
        Box(np.zeros(3), np.array(half_sizes), np.eye(3))


def test_refuses_bad_placement():
    with pytest.raises(BoundError, match='center of a box'):
        Box(np.array([0, np.nan, 0]), np.ones(3), np.eye(3))
    with pytest.raises(BoundError, match='not a rotation'):
        Box(np.zeros(3), np.ones(3), np.diag([1.0, 1.0, -1.0]))
    with pytest.raises(BoundError, match='not a rotation'):
        Box(np.zeros(3), np.ones(3), 1.001 * np.eye(3))
    with pytest.raises(BoundError, match='points'):
        Box(np.zeros(3), np.ones(3), np.eye(3)).distance([[0.0, np.inf, 0.0]])
    with pytest.raises(BoundError, match='radius of a ball'):
        Box(np.zeros(3), np.ones(3), np.eye(3)).plus_ball(-0.1)


def test_a_moved_box_contains_the_exact_one_at_its_new_place(rng):
    for size in (1.0, 1e3, 1e9):
        box, shift = random_box(rng).plus_ball(0.1), size * rng.normal(size=3)
        before = box.packed
        moved = box.moved(shift)
        error = [
            Fraction(there) - Fraction(here) - Fraction(by)
            for there, here, by in zip(moved.center, box.center, shift, strict=True)
        ]
        assert sum(x * x for x in error) <= (Fraction(moved.radius) - Fraction(box.radius)) ** 2
        np.testing.assert_array_equal(moved.packed[:3], moved.center)
        np.testing.assert_array_equal(moved.packed[3:15], before[3:15])
        assert box.packed is before


@pytest.mark.parametrize('shift', [[np.nan, 0.0, 0.0], [np.inf, 0.0, 0.0], [1e308] * 3])
def test_a_box_is_not_moved_to_where_nothing_is(shift):
    with pytest.raises(BoundError, match='finite'):
        Box(np.full(3, 1e308), np.ones(3), np.eye(3)).moved(shift)
