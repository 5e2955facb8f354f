"""Obstacles keep their order and names, and refuse what is not one."""

import numpy as np
import pytest

from safe_sysid.bench.experiments.reach import random_obstacles
from safe_sysid.errors import BoundError
from safe_sysid.model.collision.obstacles import NO_OBSTACLES, Obstacles, obstacle_distance
from safe_sysid.sets.box import Box
from safe_sysid.sets.zonotope import Zonotope

CUBE = Box(np.zeros(3), np.ones(3), np.eye(3))


def test_packed_distances_are_those_of_the_shapes(rng):
    obstacles = random_obstacles(rng, 20)
    kinds = {type(shape) for shape in obstacles.shapes}
    assert kinds == {Box, Zonotope}
    points = rng.normal(size=(50, 3))
    for o, shape in enumerate(obstacles.shapes):
        values, gradients = shape.distance(points)
        for i, point in enumerate(points):
            value, gradient = obstacle_distance(obstacles.packed, o, tuple(point))
            assert value == values[i]
            assert np.array_equal(gradient, gradients[i])


def test_no_obstacles_are_allowed():
    assert len(NO_OBSTACLES) == 0
    assert len(NO_OBSTACLES.packed.place) == 0


def test_two_obstacles_of_one_name_are_refused():
    with pytest.raises(BoundError, match="2 obstacles are called 'table'"):
        Obstacles(('table', 'table'), (CUBE, CUBE))


def test_an_obstacle_without_a_name_is_refused():
    with pytest.raises(BoundError, match='needs a name of its own'):
        Obstacles(('',), (CUBE,))


def test_names_and_shapes_of_different_number_are_refused():
    with pytest.raises(BoundError, match='1 names and 2 obstacles'):
        Obstacles(('table',), (CUBE, CUBE))


def test_what_is_not_a_shape_is_refused():
    with pytest.raises(BoundError, match="obstacle 'table' is a list"):
        Obstacles.of({'table': [0.0, 0.0, 0.0]})


@pytest.mark.parametrize('size', [0.0, -0.1, np.nan])
def test_obstacles_without_size_are_refused(size):
    with pytest.raises(BoundError, match='half sizes of a box'):
        Obstacles.of({'table': Box(np.zeros(3), np.array([1.0, size, 1.0]), np.eye(3))})


def test_a_sentence_says_where_something_is_that_is_among_them():
    assert NO_OBSTACLES.in_words == 'in an empty world'
    assert Obstacles.of({'table': CUBE}).in_words == 'among one obstacle (table)'
    many = Obstacles.of(dict.fromkeys('abcde', CUBE))
    assert many.in_words == 'among 5 obstacles (a, b, c, ...)'
