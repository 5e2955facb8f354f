"""Half-spaces of a zonotope contain it, touch it, and bound the distance from below."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

from safe_sysid.errors import BoundError
from safe_sysid.sets.box import Box
from safe_sysid.sets.zonotope import Zonotope


def random_zonotope(rng, count=5):
    return Zonotope(rng.normal(size=3), rng.normal(size=(count, 3)) * 0.3)


def corners(zonotope):
    signs = np.array(list(itertools.product([-1.0, 1.0], repeat=len(zonotope.generators))))
    return zonotope.center + signs @ zonotope.generators


def nearest_distance(zonotope, point):
    """Euclidean distance by numerical minimisation over the generator factors."""
    result = minimize(
        lambda u: np.sum((zonotope.center + u @ zonotope.generators - point) ** 2),
        np.zeros(len(zonotope.generators)),
        bounds=[(-1.0, 1.0)] * len(zonotope.generators),
        tol=1e-14,
    )
    return np.sqrt(result.fun)


@pytest.mark.parametrize('count', [3, 4, 6])
def test_half_spaces_contain_every_corner_and_each_touches(count, rng):
    zonotope = random_zonotope(rng, count)
    A, b = zonotope.half_spaces
    assert len(b) == count * (count - 1)
    excess = A @ corners(zonotope).T - b[:, None]
    assert np.all(excess <= 0.0)
    assert np.allclose(excess.max(axis=1), 0.0, atol=1e-13)


def test_value_outside_is_a_lower_bound_of_the_distance(rng):
    tight = 0
    for _ in range(40):
        zonotope = random_zonotope(rng)
        point = zonotope.center + 2.0 * rng.normal(size=3)
        value, truth = zonotope.distance([point])[0][0], nearest_distance(zonotope, point)
        assert value <= truth + 1e-6
        tight += value > 0.99 * truth
    assert tight > 5


def test_value_inside_is_the_penetration_depth():
    zonotope = Zonotope(np.zeros(3), np.diag([1.0, 2.0, 3.0]))
    values, gradients = zonotope.distance([[0.7, 0.0, 0.0], [0.0, -1.9, 0.0]])
    assert np.allclose(values, [-0.3, -0.1], atol=1e-13)
    assert np.allclose(gradients, [[1, 0, 0], [0, -1, 0]])


def test_of_box_agrees_with_the_box_in_front_of_faces_and_inside(rng):
    rotation = Rotation.from_rotvec(rng.normal(size=3)).as_matrix()
    box = Box(rng.normal(size=3), rng.uniform(0.1, 1.0, 3), rotation)
    local = rng.uniform(-1, 1, (50, 3)) * box.half_sizes
    local[:, 0] *= 3.0
    points = box.center + local @ rotation.T
    zonotope = Zonotope.of_box(box)
    assert np.allclose(zonotope.distance(points)[0], box.distance(points)[0], atol=1e-12)
    everywhere = rng.normal(size=(200, 3)) * 3
    assert np.all(zonotope.distance(everywhere)[0] <= box.distance(everywhere)[0] + 1e-12)


def test_minkowski_sum_contains_sums_of_points(rng):
    a, b = random_zonotope(rng, 3), random_zonotope(rng, 4).plus_ball(0.2)
    A, offsets = a.plus(b).half_spaces
    u, w = rng.uniform(-1, 1, (1000, 3)), rng.uniform(-1, 1, (1000, 4))
    ball = rng.normal(size=(1000, 3))
    ball *= 0.2 / np.linalg.norm(ball, axis=1, keepdims=True)
    sums = a.center + u @ a.generators + b.center + w @ b.generators + ball
    assert np.all(sums @ A.T <= offsets)
    extreme = corners(a)[:, None] + corners(b)[None]
    touch = (extreme.reshape(-1, 3) @ A.T - offsets).max(axis=0)
    assert np.allclose(touch, -0.2, atol=1e-12)


def test_gradient_is_the_derivative(rng):
    zonotope = random_zonotope(rng)
    points = zonotope.center + 2.0 * rng.normal(size=(30, 3))
    _, gradient = zonotope.distance(points)
    numeric = [
        (zonotope.distance(points + s)[0] - zonotope.distance(points - s)[0]) / 2e-6
        for s in 1e-6 * np.eye(3)
    ]
    assert np.allclose(gradient, np.stack(numeric, axis=-1), atol=1e-6)


def test_parallel_generators_do_not_disturb():
    generators = np.array([[1.0, 0, 0], [2.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0], [0, 0, 1e-14]])
    values, _ = Zonotope(np.zeros(3), generators).distance([[5.0, 0.0, 0.0]])
    assert values[0] == pytest.approx(2.0, abs=1e-12)


def test_refuses_what_has_no_volume():
    with pytest.raises(BoundError, match='span no volume'):
        Zonotope(np.zeros(3), np.array([[1.0, 0, 0], [0, 1.0, 0], [1.0, 1.0, 0]]))
    with pytest.raises(BoundError, match='span no volume'):
        Zonotope(np.zeros(3), np.eye(3)[:2])
    with pytest.raises(BoundError, match='finite'):
        Zonotope(np.zeros(3), np.array([[np.nan, 0, 0], [0, 1.0, 0], [0, 0, 1.0]]))
    with pytest.raises(BoundError, match='rounding radius'):
        Zonotope(np.zeros(3), np.eye(3), -1.0)
