"""Paths lead from start to goal without contact, or there is a sentence why not."""

from dataclasses import replace
from threading import Event

import numpy as np
import pytest

from safe_sysid.errors import BoundError, ConfigError
from safe_sysid.model.collision.arm_clearance import arm_clearance
from safe_sysid.model.collision.obstacles import NO_OBSTACLES, Obstacles
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.path.rrt_connect import (
    PathOutcome,
    PathQuery,
    PathSettings,
    find_path,
    with_spacing,
)
from safe_sysid.sets.box import Box

ARM = RobotModel.named('kinova_gen3')
HOME = np.array([0.0, 0.3, 0.0, 1.9, 0.0, 0.9, 0.0])
FIRST, SECOND = np.eye(7)[:2]  # turns of one joint by 1 rad
SWUNG = HOME + 1.6 * FIRST
# A post in the way of the outstretched arm when it swings about the vertical
POST = Obstacles.of(
    {'post': Box(np.array([0.34, -0.34, 0.5]), np.array([0.03, 0.03, 0.5]), np.eye(3))}
)
LONG = 60.0  # [s]


def clearances(obstacles, path):
    return [arm_clearance(ARM, obstacles, q).distance for q in with_spacing(path, 0.02)]


def test_the_post_is_in_the_way():
    straight = np.stack([HOME, SWUNG])
    assert min(clearances(POST, straight)) < 0.0
    assert min(clearances(POST, straight[[0, 0]])) > 0.0


def test_path_around_a_post():
    settings = PathSettings()
    result = find_path(PathQuery(ARM, POST, HOME, SWUNG), LONG, settings)
    assert result.outcome is PathOutcome.FOUND
    assert str(result) == 'path found'
    assert np.array_equal(result.waypoints[0], HOME)
    gone = result.waypoints[-1] - SWUNG
    assert np.allclose(np.cos(gone), 1.0)
    assert np.allclose(gone[~ARM.limits.is_continuous], 0.0)
    assert np.abs(np.diff(result.waypoints, axis=0)).max() <= settings.spacing + 1e-12
    assert min(clearances(POST, result.waypoints)) > 0.0
    limits = ARM.limits
    assert np.all(result.waypoints >= limits.position_lower)
    assert np.all(result.waypoints <= limits.position_upper)


def test_the_same_seed_gives_the_same_path():
    query = PathQuery(ARM, POST, HOME, SWUNG)
    first, second, other = (find_path(query, LONG, PathSettings(seed=seed)) for seed in (1, 1, 2))
    assert np.array_equal(first.waypoints, second.waypoints)
    assert not np.array_equal(first.waypoints, other.waypoints)


def test_a_free_straight_way_is_taken_over_whole_turns():
    goal = HOME + (2 * np.pi - 0.2) * FIRST
    result = find_path(PathQuery(ARM, NO_OBSTACLES, HOME, goal), LONG)
    assert result.samples == 0
    assert np.allclose(result.waypoints, [HOME, HOME - 0.2 * FIRST])


def test_says_which_joint_is_outside_its_limits():
    outside = HOME + 3.0 * SECOND
    result = find_path(PathQuery(ARM, NO_OBSTACLES, HOME, outside), LONG)
    assert result.outcome is PathOutcome.GOAL_OUTSIDE
    name = ARM.layout.joint_names[1]
    assert str(result) == (
        f'the goal is outside the joint limits: {name} at 3.3, allowed -2.24 to 2.24'
    )
    result = find_path(PathQuery(ARM, NO_OBSTACLES, outside * np.nan, HOME), LONG)
    assert result.outcome is PathOutcome.START_OUTSIDE
    assert 'at nan' in str(result)


def test_says_what_is_in_contact():
    around = Obstacles.of({'crate': Box(np.array([0.0, 0.0, 0.6]), np.full(3, 0.2), np.eye(3))})
    result = find_path(PathQuery(ARM, around, HOME, SWUNG), LONG)
    assert result.outcome is PathOutcome.START_IN_CONTACT
    assert 'and crate: -' in str(result)
    down = Obstacles.of({'crate': Box(np.array([0.34, -0.34, 0.4]), np.full(3, 0.15), np.eye(3))})
    result = find_path(PathQuery(ARM, down, HOME, HOME + 0.8 * FIRST), LONG)
    assert result.outcome is PathOutcome.GOAL_IN_CONTACT
    assert len(result.waypoints) == 0


def test_stops_without_time_and_when_cancelled():
    query, cancelled = PathQuery(ARM, POST, HOME, SWUNG), Event()
    result = find_path(query, 0.0)
    assert result.outcome is PathOutcome.OUT_OF_TIME
    assert str(result).endswith('0 configurations tried')
    cancelled.set()
    assert find_path(query, LONG, cancelled=cancelled).outcome is PathOutcome.CANCELLED


def test_without_a_clock_a_search_ends_by_its_count():
    """Walls from the base outwards, before and behind the arm, and a low ceiling."""
    half = np.sqrt(0.5)
    turned = np.array([[half, half, 0.0], [-half, half, 0.0], [0.0, 0.0, 1.0]])
    walls = {
        name: Box(side * 1.2 * turned[:, 0], np.array([1.0, 0.02, 2.0]), turned)
        for name, side in (('before', 1.0), ('behind', -1.0))
    }
    walls['ceiling'] = Box(np.array([0.0, 0.0, 1.4]), np.array([2.0, 2.0, 0.1]), np.eye(3))
    query = PathQuery(ARM, Obstacles.of(walls), HOME, SWUNG)
    result = find_path(query, np.inf, PathSettings(most=40))
    assert result.outcome is PathOutcome.NONE_FOUND
    assert str(result) == 'no path to the goal was found: 40 configurations tried'


def test_a_start_near_an_obstacle_can_be_left():
    near = arm_clearance(ARM, POST, HOME).distance
    settings = PathSettings(clearance=2.0 * near)
    assert (
        find_path(PathQuery(ARM, POST, HOME, SWUNG), LONG, settings).outcome is PathOutcome.FOUND
    )


def test_spacing_keeps_the_corners(rng):
    path = rng.normal(size=(5, 3))
    dense = with_spacing(path, 0.1)
    assert all(np.abs(dense - corner).max(axis=1).min() < 1e-12 for corner in path)
    assert np.abs(np.diff(dense, axis=0)).max() <= 0.1 + 1e-12


def test_refuses_queries_and_settings_that_make_no_sense():
    with pytest.raises(BoundError, match='7 joints'):
        PathQuery(ARM, POST, HOME[:3], SWUNG)
    with pytest.raises(ConfigError, match='resolution'):
        replace(PathSettings(), resolution=0.0)
    with pytest.raises(ConfigError, match='clearance'):
        replace(PathSettings(), clearance=-0.1)
