"""Gradients of distances to obstacles, derived by hand, against AD."""

import casadi as cs
from gradients_by_ad.ad import gradient_at, near, value_of

from safe_sysid.sets.box import Box
from safe_sysid.sets.zonotope import Zonotope
from safe_sysid.simulate.random_arm import random_rotation


def test_distance_of_a_point_to_a_box(rng):
    box = Box(rng.normal(size=3), rng.uniform(0.1, 0.5, 3), random_rotation(rng), 0.05)
    x = cs.SX.sym('x', 3)
    away = cs.fabs(cs.mtimes(box.rotation.T, x - box.center)) - box.half_sizes
    outside = cs.norm_2(cs.fmax(away, 0.0)) - box.radius
    inside = cs.mmax(away) - box.radius
    points = box.center + rng.normal(size=(40, 3))
    values, gradients = box.distance(points)
    for point, value, gradient in zip(points, values, gradients, strict=True):
        expected = outside if value > -box.radius else inside
        near(value, value_of(expected, [x], point)[0, 0], 1e-9)
        near(gradient, gradient_at(expected, x, point))


def test_distance_of_a_point_to_a_zonotope(rng):
    zonotope = Zonotope(rng.normal(size=3), rng.normal(scale=0.2, size=(4, 3)))
    A, b = zonotope.half_spaces
    x = cs.SX.sym('x', 3)
    distance = cs.mmax(cs.mtimes(A, x) - b)
    points = rng.normal(size=(20, 3))
    values, gradients = zonotope.distance(points)
    for point, value, gradient in zip(points, values, gradients, strict=True):
        near(value, value_of(distance, [x], point)[0, 0], 1e-9)
        near(gradient, gradient_at(distance, x, point))
