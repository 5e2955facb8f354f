"""Sets of an obstacle that moves contain it, however it moves within what is promised of it."""

import numpy as np
import pytest

from safe_sysid.errors import BoundError
from safe_sysid.model.collision.moving_box import MotionBounds, MovingBox
from safe_sysid.sets.box import Box
from safe_sysid.sets.interval import Interval
from safe_sysid.simulate.random_arm import random_rotation

STAMP = 5_000_000_000  # [ns]
STEPS = 40
FINE = 25  # samples in a time step


def bounds(rng):
    """Some promises, of which one or the other decides."""
    infinite = rng.integers(0, 3)
    speed = rng.uniform(0.5, 1.5) if infinite != 1 else np.inf
    error, acceleration = rng.uniform(0.05, 0.3), rng.uniform(0.0, 2.0)
    if infinite == 2:
        error = np.inf
    return MotionBounds(rng.uniform(0.0, 0.05), error, acceleration, speed)


def velocities(rng, box, tau):
    """Of one point at times tau from the stamp on: at the edge of what is promised, in turns."""
    promised = box.bounds
    direction = rng.normal(size=3)
    direction /= np.linalg.norm(direction)
    slow = np.minimum(promised.velocity_error + promised.acceleration * np.abs(tau), 1e3)
    turn = np.sign(np.cos(rng.uniform(0.0, 3.0) * tau + rng.uniform(0.0, 1.0)))
    found = box.velocity + (slow * rng.choice([turn, np.ones_like(tau)]))[:, None] * direction
    fast = np.linalg.norm(found, axis=1)
    found *= np.minimum(1.0, promised.speed / np.maximum(fast, 1e-12))[:, None]
    # whoever slows down to keep one promise may break the other; such motions are none
    off = np.linalg.norm(found - box.velocity, axis=1)
    return found if np.all(off <= slow + 1e-12) else None


def moved(rng, box, tau):
    """Displacement of one point at the times, by the trapezoidal rule and what that may be off."""
    found = velocities(rng, box, tau)
    if found is None:
        return None
    steps = 0.5 * (found[1:] + found[:-1]) * np.diff(tau)[:, None]
    return np.concatenate([np.zeros((1, 3)), np.cumsum(steps, axis=0)])


def outside(box, points):
    """Distance of points to a box with rounded edges, by clipping."""
    local = (points - box.center) @ box.rotation
    nearest = np.clip(local, -box.half_sizes, box.half_sizes)
    return np.linalg.norm(local - nearest, axis=1) - box.radius


@pytest.mark.parametrize('late', [0.0, 0.7, -0.4])
def test_every_motion_that_keeps_the_promises_stays_within_the_sets(rng, late):
    kept = 0
    for _ in range(60):
        here = Box(rng.normal(size=3), rng.uniform(0.05, 0.3, 3), random_rotation(rng))
        promised = bounds(rng)
        speed = min(promised.speed, 1.0) * rng.uniform(0.0, 1.0)
        way = rng.normal(size=3)
        box = MovingBox.of(here, STAMP, speed * way / np.linalg.norm(way), promised)
        edges = np.linspace(0.0, 2.0, STEPS + 1)
        shift, growth = box.over(STAMP + round(late * 1e9), Interval(edges[:-1], edges[1:]))
        ends = np.array([min(late, 0.0), late + 2.0])
        tau = np.linspace(0.0, ends[1], STEPS * FINE + 1)
        way = moved(rng, box, tau)
        if way is None:
            continue
        corner = here.center + here.rotation @ (here.half_sizes * rng.choice([-1.0, 1.0], 3))
        error = rng.normal(size=3)
        corner = corner + promised.position_error * error / np.linalg.norm(error)
        step = np.floor((tau - late) / 2.0 * STEPS).astype(int)
        for t in range(STEPS):
            at = step == t
            if np.any(at):
                points = corner + way[at] - shift[t]
                assert outside(box, points).max() <= growth[t] + 1e-9
                kept += 1
    assert kept > 500


def test_the_stated_velocity_is_followed_and_the_largest_speed_clips():
    box = Box(np.zeros(3), np.full(3, 0.1), np.eye(3))
    promised = MotionBounds(0.0, 0.1, 2.0, 0.6)
    going = MovingBox.of(box, STAMP, np.array([0.5, 0.0, 0.0]), promised)
    time = Interval(np.array([0.0, 1.9]), np.array([0.1, 2.0]))
    shift, growth = going.over(STAMP, time)
    np.testing.assert_allclose(shift, [[0.025, 0, 0], [0, 0, 0]], atol=1e-6)
    np.testing.assert_allclose(growth, [0.025 + 0.01 + 0.01, 1.2], atol=1e-6)


def test_what_is_not_promised_is_everywhere():
    box = Box(np.zeros(3), np.full(3, 0.1), np.eye(3))
    assert not MotionBounds().are_known
    unknown = MotionBounds(position_error=0.01)
    assert not unknown.are_known
    time = Interval(np.zeros(1), np.ones(1))
    _, growth = MovingBox.of(box, STAMP, np.zeros(3), unknown).over(STAMP, time)
    assert np.isinf(growth).all()
    with pytest.raises(BoundError, match='radius of a ball'):
        MovingBox.of(box, STAMP, np.zeros(3), MotionBounds(speed=1.0))


def test_an_obstacle_that_is_faster_than_was_promised_is_refused():
    box, promised = Box(np.zeros(3), np.full(3, 0.1), np.eye(3)), MotionBounds(0.0, 0.1, 0.0, 1.0)
    with pytest.raises(BoundError, match=r'moves at 1.2 m/s; at most 1.0 m/s'):
        MovingBox.of(box, STAMP, np.array([1.2, 0.0, 0.0]), promised)


def test_a_larger_box_goes_on_as_before():
    promised = MotionBounds(0.0, 0.1, 0.0, 1.0)
    box = Box(np.zeros(3), np.full(3, 0.1), np.eye(3))
    going = MovingBox.of(box, STAMP, np.array([0.5, 0.0, 0.0]), promised).plus_ball(0.2)
    assert going.radius >= 0.2
    assert going.stamp == STAMP
    np.testing.assert_array_equal(going.velocity, [0.5, 0.0, 0.0])


@pytest.mark.parametrize('error', [0.0, 0.5, np.inf])
def test_who_says_to_be_faster_than_promised_is_refused(error):
    """Where no velocity is promised, that is no leave to be faster."""
    box = Box(np.zeros(3), np.full(3, 0.1), np.eye(3))
    promised = MotionBounds(position_error=0.1, velocity_error=error, speed=1.6)
    MovingBox.of(box, STAMP, np.array([1.5, 0.0, 0.0]), promised)
    with pytest.raises(BoundError, match='moves at 5 m/s'):
        MovingBox.of(box, STAMP, np.array([5.0, 0.0, 0.0]), promised)
