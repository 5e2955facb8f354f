"""Certificates among obstacles that move: never above what sampled motions of both come to."""

from dataclasses import replace

import numpy as np
from plan.kinova_problem import START, kinova_problem
import pytest
from reach.mujoco_distances import MujocoDistances

from safe_sysid.model.collision.moving_box import MotionBounds, MovingBox
from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.model.dynamics.forward_kinematics import joint_frames
from safe_sysid.plan.search.pieces import certified
from safe_sysid.reach.clearance import clearance_rows, clearances, whole_range
from safe_sysid.reach.margin import OBSTACLE
from safe_sysid.reach.reachable_set import ReachableSet
from safe_sysid.reach.swept_arm import SweptArm
from safe_sysid.sets.box import Box

BEGIN = 7_000_000_000_000  # [ns]
K = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])  # the arm swings about the vertical
PROMISED = MotionBounds(0.01, 0.05, 0.1, 0.6)
SIZE = np.full(3, 0.05)


@pytest.fixture(scope='module')
def problem():
    still = kinova_problem(START, intervals=48)
    return replace(still, horizon=replace(still.horizon, k_center=K))


def walking(place, velocity, stamp=BEGIN, promised=PROMISED):
    return MovingBox.of(Box(place, SIZE, np.eye(3)), stamp, np.array(velocity), promised)


def among(problem, boxes, start=BEGIN):
    return replace(problem, obstacles=Obstacles.of(boxes, start))


def clearance(problem, boxes, start=BEGIN):
    return ReachableSet.certify_center(among(problem, boxes, start)).margins[OBSTACLE].margin


def test_no_sampled_motion_comes_nearer_than_was_proven(problem, rng):
    model, curve = problem.model, problem.horizon.curve
    distances = MujocoDistances(model, SIZE)
    nearest = np.inf
    for _ in range(12):
        velocity = rng.normal(size=3)
        velocity *= 0.4 * rng.uniform() / np.linalg.norm(velocity)
        late = rng.uniform(0.0, 0.5)  # [s] the message is old when the plan begins
        times = np.linspace(0.0, 3.0, 13)
        meets = rng.choice(times)  # near the arm at this time
        there = hand(model, curve, meets) + rng.normal(size=3) * 0.35
        place = there - velocity * (meets + late)
        box = walking(place, velocity, BEGIN - round(late * 1e9))
        proven = clearance(problem, {'somebody': box})
        error = rng.normal(size=(3, 3))
        error /= np.linalg.norm(error, axis=1)[:, None]
        for t in times:
            tau = t + late
            away = PROMISED.position_error * error[0] + PROMISED.velocity_error * tau * error[1]
            away = away + 0.5 * PROMISED.acceleration * tau**2 * error[1]
            center = place + velocity * tau + away
            found = min(distances.at(desired(curve, t), center).values())
            nearest = min(nearest, found - proven)
            assert found >= proven
    assert nearest < 0.2  # the bound is not far off, either


def desired(curve, t):
    return curve.derivative(0, t, K)


def hand(model, curve, t):
    frames = joint_frames(model, desired(curve, t))
    return frames[1][-1]


def test_an_obstacle_that_comes_is_in_the_way_and_one_that_goes_is_not(problem):
    """The same place at the stamp, which is out of the way of what stands still there."""
    end = hand(problem.model, problem.horizon.curve, 3.0)
    out = end / np.linalg.norm(end) * [1.0, 1.0, 0.0]
    place = end + 0.7 * out
    exact = MotionBounds(0.0, 0.0, 0.0, 1.0)
    assert clearance(problem, {'still': Box(place, SIZE, np.eye(3))}) > 0.0
    assert clearance(problem, {'going': walking(place, 0.2 * out, promised=exact)}) > 0.0
    assert clearance(problem, {'coming': walking(place, -0.22 * out, promised=exact)}) < 0.0


def test_the_same_message_is_worth_less_the_older_it_is(problem):
    place = np.array([-0.9, -0.3, 0.3])
    ages = [0.0, 0.4, 1.0]
    boxes = [walking(place, np.zeros(3), BEGIN - round(age * 1e9)) for age in ages]
    found = [clearance(problem, {'somebody': box}) for box in boxes]
    assert found == sorted(found, reverse=True)
    assert found[0] > found[-1] + 0.05


def test_without_a_time_nobody_knows_where_it_is(problem):
    far = {'far': walking(np.full(3, 9.0), np.zeros(3))}
    assert clearance(problem, far) > 0.0
    assert clearance(problem, far, start=None) == -np.inf


def test_all_ways_to_look_at_a_plan_agree(problem):
    """Every row, only what is near, sets of a plan that was told, and ranges of plans."""
    boxes = {
        f'b{i}': walking(np.array([0.9 * np.cos(i), 0.9 * np.sin(i), 0.4]), [0.1, 0.05, 0.0])
        for i in range(9)
    }
    few = dict(list(boxes.items())[:7])
    by_rows = min(clearance(problem, few), clearance(problem, {n: boxes[n] for n in ('b7', 'b8')}))
    many = clearance(problem, boxes)
    assert many == pytest.approx(by_rows, abs=1e-12)
    certificate = ReachableSet.certify_center(among(problem, {}))
    told = SweptArm.of(certificate).nearest(Obstacles.of(boxes, BEGIN), 0.0)
    assert told.margin == pytest.approx(many, abs=1e-12)


def test_a_second_piece_goes_by_the_time_at_which_it_begins(problem):
    """An obstacle that is there only later is in the way of the second piece alone."""
    first = problem.horizon
    exact = MotionBounds(0.0, 0.0, 0.0, 1.0)
    end = hand(problem.model, first.curve, 3.0)
    coming = walking(end + np.array([0.0, 0.0, 2.0]), [0.0, 0.0, -0.4], promised=exact)
    problem = among(problem, {'coming': coming})
    one = ReachableSet.certify_center(problem)
    still = replace(first.curve, q0=desired(first.curve, 3.0))
    standing = replace(first, curve=still, k_center=np.zeros(7))
    two = certified(problem, standing, one)
    assert one.margins[OBSTACLE].margin > 0.0
    assert two.margins[OBSTACLE].margin < 0.0


def test_what_is_left_out_of_a_search_is_decided_for_all_plans(problem):
    """Rows of a range of plans are those that some plan of it may break, of any obstacle."""
    boxes = {
        f'b{i}': walking(
            np.array([0.2 * i * np.cos(i), 0.2 * i * np.sin(i), 0.4]), [0.1, 0.0, 0.0]
        )
        for i in range(1, 9)
    }
    wide = replace(problem.horizon, k_range=np.full(7, 0.2))
    several = replace(among(problem, boxes), horizon=wide)
    sets = ReachableSet.of(several)
    points, packed = whole_range(sets.occupancy), several.packed_obstacles
    every = clearance_rows(points, sets.shapes, packed)
    values = clearances(points, sets.shapes, packed, every)
    expected = every.obstacle[~(values[: len(every.obstacle)] > 0.0)]
    assert 0 < len(set(expected[:, 2].tolist())) < len(boxes)
    kept = {tuple(row) for row in sets.clearance_rows.obstacle.tolist()}
    assert kept <= {tuple(row) for row in expected.tolist()}
    assert {o for _, _, o in kept} == set(expected[:, 2].tolist())
