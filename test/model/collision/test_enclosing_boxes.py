"""Boxes contain the shapes they stand for: points of the true shapes, distances by coal."""

import coal
import numpy as np
import pytest

from safe_sysid.errors import BoundError
from safe_sysid.model.collision.enclosing_boxes import (
    at_most,
    box_of_points,
    cuboid,
    ellipsoid,
    elliptic_cylinder,
    extents,
    moved_to,
    segment,
    volume,
)
from safe_sysid.model.placement import Placement
from safe_sysid.sets.box import Box
from safe_sysid.sets.zonotope import Zonotope
from safe_sysid.simulate.random_arm import random_rotation

TINY = 1e-6  # [m] radius of the ball that stands for a point
COAL = 1e-7  # [m] what coal's distances may be off


def sticks_out(box, points):
    """How far points stick out of a box, by coal."""
    cuboid_ = coal.Box(*(2.0 * box.half_sizes))
    place = coal.Transform3s(box.rotation, box.center)
    ball, request = coal.Sphere(TINY), coal.DistanceRequest()
    worst = -np.inf
    for point in points:
        result = coal.DistanceResult()
        at = coal.Transform3s(np.eye(3), point)
        distance = coal.distance(cuboid_, place, ball, at, request, result)
        worst = max(worst, distance + TINY - box.radius)
    return worst


def on_ball(rng, count):
    x = rng.normal(size=(count, 3))
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def of_cuboid(rng, sizes):
    del rng
    corners = np.array(np.meshgrid(*[[-0.5, 0.5]] * 3)).reshape(3, -1).T
    return corners * sizes


def of_ellipsoid(rng, sizes):
    return np.vstack([on_ball(rng, 300), np.eye(3), -np.eye(3)]) * sizes / 2.0


def of_cylinder(rng, sizes):
    angle = np.append(rng.uniform(0.0, 2.0 * np.pi, 150), np.arange(4) * np.pi / 2.0)
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1) * sizes[:2] / 2.0
    return np.concatenate(
        [
            np.column_stack([circle, np.full(len(circle), h)])
            for h in sizes[2] * np.array([-0.5, 0.5])
        ]
    )


SHAPES = {
    'cuboid': (cuboid, of_cuboid),
    'ellipsoid': (ellipsoid, of_ellipsoid),
    'cylinder': (elliptic_cylinder, of_cylinder),
}


@pytest.mark.parametrize('name', SHAPES)
def test_a_placed_box_contains_the_placed_shape(rng, name):
    enclose, points_of = SHAPES[name]
    for _ in range(12):
        sizes = 10.0 ** rng.uniform(-2.0, 0.5, 3)
        q = rng.normal(size=4)
        place = Placement.of(rng.normal(size=3), q / np.linalg.norm(q))
        box = place.of_box(enclose(sizes))
        points = points_of(rng, sizes) @ place.R.T + place.p
        assert sticks_out(box, points) <= COAL
        # the same without coal: the support of the shape is below that of the box, exactly
        for n in on_ball(rng, 40):
            reach = np.abs(box.rotation.T @ n) @ box.half_sizes + box.radius + box.center @ n
            assert (points @ n).max() <= reach


@pytest.mark.parametrize('name', SHAPES)
def test_a_box_that_is_a_little_smaller_does_not(rng, name):
    enclose, points_of = SHAPES[name]
    sizes = np.array([0.3, 0.5, 0.2])
    box = enclose(sizes)
    smaller = Box(box.center, 0.999 * box.half_sizes, box.rotation, 0.999 * box.radius)
    assert sticks_out(smaller, points_of(rng, sizes)) > 1e-5


def test_boxes_are_not_larger_than_need_be():
    ball = ellipsoid([0.2, 0.2, 0.2])
    assert volume(ball) == pytest.approx(4.0 / 3.0 * np.pi * 0.1**3, rel=1e-6)
    assert volume(elliptic_cylinder([0.1, 0.1, 2.0])) < 0.9 * 0.1 * 0.1 * 2.0  # rounded
    assert volume(elliptic_cylinder([1.0, 1.0, 0.1])) == pytest.approx(0.1, rel=1e-6)  # flat
    assert volume(ellipsoid([0.4, 0.3, 0.2])) < 0.4 * 0.3 * 0.2


def test_a_line_is_contained_with_its_width(rng):
    for _ in range(30):
        a, b, width = rng.normal(size=3), rng.normal(size=3), float(rng.uniform(1e-3, 0.1))
        if rng.random() < 0.2:
            b = a
        along = a + rng.random((100, 1)) * (b - a)
        points = np.vstack([a, b, along]) + 0.5 * width * on_ball(rng, 102)
        assert sticks_out(segment(a, b, width), points) <= COAL


def test_a_cloud_is_contained_whatever_the_budget(rng):
    points = rng.normal(size=(500, 3))
    assert sticks_out(box_of_points(points), points) <= COAL
    element = cuboid([0.1, 0.02, 0.3])
    boxes = moved_to(element, points)
    corners = (points[:, None] + of_cuboid(rng, np.array([0.1, 0.02, 0.3]))).reshape(-1, 3)
    for most in (1, 7, 200, 500):
        fewer = at_most(boxes, most)
        assert len(fewer) <= most
        low, high = extents(fewer)[:, 0], extents(fewer)[:, 1]
        inside = (low[:, None] <= corners) & (corners <= high[:, None])
        assert inside.all(axis=2).any(axis=0).all()
    assert at_most([], 5) == []


def test_extents_contain_turned_shapes(rng):
    for _ in range(20):
        box = Box(rng.normal(size=3), rng.uniform(0.01, 1.0, 3), random_rotation(rng), 0.05)
        zonotope = Zonotope(rng.normal(size=3), rng.normal(size=(5, 3)), 0.1)
        corners = np.array(np.meshgrid(*[[-1.0, 1.0]] * 3)).reshape(3, -1).T * box.half_sizes
        of_box = corners @ box.rotation.T + box.center
        signs = rng.choice([-1.0, 1.0], size=(200, 5))
        of_zonotope = signs @ zonotope.generators + zonotope.center
        for shape, points in ((box, of_box), (zonotope, of_zonotope)):
            ((low, high),) = extents([shape])
            grown = points + shape.radius * on_ball(rng, len(points))
            assert np.all(low <= grown.min(axis=0))
            assert np.all(grown.max(axis=0) <= high)


@pytest.mark.parametrize('sizes', [[0.0, 1, 1], [1, -1, 1], [1, 1, np.nan], [np.inf, 1, 1]])
def test_sizes_that_mean_nothing_are_refused(sizes):
    for enclose in (cuboid, ellipsoid, elliptic_cylinder):
        with pytest.raises(BoundError, match='sizes'):
            enclose(sizes)


@pytest.mark.parametrize('q', [[0, 0, 0, 0], [1.2, 0, 0, 0], [np.nan, 0, 0, 1]])
def test_an_orientation_that_is_no_rotation_is_refused(q):
    with pytest.raises(BoundError, match='orientation'):
        Placement.of([0.0, 0, 0], q)
