"""A payload that stands on something may leave it, and do nothing else with it."""

from dataclasses import replace
import re

import numpy as np
from plan.kinova_problem import START, estimate_of, kinova_problem
import pytest
from reach.mujoco_distances import MujocoDistances

from safe_sysid.bench.experiments.reach import kinova_with_dumbbell
from safe_sysid.errors import BoundError
from safe_sysid.measure.clock import Clock
from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.model.dynamics.forward_kinematics import joint_frames
from safe_sysid.plan.early_stop import StopSettings
from safe_sysid.plan.scene_guard import SceneGuard
from safe_sysid.reach.lift_off import LiftOff, Standing
from safe_sysid.reach.margin import LIFT_OFF, OBSTACLE
from safe_sysid.reach.reachable_set import ReachableSet
from safe_sysid.sets.box import Box
from safe_sysid.trajectory.plan import Plan

HELD = 'dumbbell_8lb.dumbbell'
UP = np.array([0.0, 0.0, 1.0])
HALF = np.array([0.02, 0.012, 0.1])
POST = Box(np.array([0.632, -0.115, 0.363]), HALF, np.eye(3))  # 1 mm into one end of the dumbbell
DEPTH, SLIDE = 0.03, 0.03


@pytest.fixture(scope='module')
def problem():
    still, model = kinova_problem(START, intervals=64), kinova_with_dumbbell()
    return replace(still, model=model, bounds=estimate_of(model))


def lift(model, **other):
    told = {'support': ('post', POST), 'payload': [HELD], 'direction': UP} | other
    return LiftOff.at(model, START, **told, allowed=(DEPTH, SLIDE))


def ends(model, q):
    """End points of what is held, (2, 3)."""
    capsules, c = model.capsules, model.capsules.names.index(HELD)
    R, p = joint_frames(model, q)
    j = capsules.joint[c]
    return np.array([R[j] @ end[c] + p[j] for end in (capsules.a, capsules.b)])


def toward(model, way):
    """K of a plan on which the middle of what is held goes some way, without turning."""
    J, step = np.zeros((6, 7)), 1e-6
    before, R = ends(model, START).mean(axis=0), joint_frames(model, START)[0][6]
    for i in range(7):
        q = START + step * np.eye(7)[i]
        turn = (joint_frames(model, q)[0][6] @ R.T - np.eye(3)) / step
        J[:3, i] = (ends(model, q).mean(axis=0) - before) / step
        J[3:, i] = turn[2, 1], turn[0, 2], turn[1, 0]
    return np.linalg.lstsq(J, np.concatenate([way, np.zeros(3)]), rcond=None)[0]


def certified(problem, way, **other):
    horizon = replace(problem.horizon, k_center=toward(problem.model, np.array(way)))
    told = {'lift': lift(problem.model)} | other
    return ReachableSet.certify_center(replace(problem, horizon=horizon, **told))


@pytest.mark.parametrize('way', [(0.0, 0.0, 0.0), (0.0, 0.0, 0.08), (0.0, 0.0, 0.12)])
def test_plans_that_stand_or_lift_are_certified_and_say_what_may_touch(problem, way, rng):
    certificate = certified(problem, way)
    assert certificate.holds, certificate
    assert any('leaves V <= V_M' in each for each in certificate.assumptions)
    as_obstacle = certified(problem, way, lift=None, obstacles=Obstacles.of({'post': POST}))
    assert as_obstacle.margins[OBSTACLE].margin < 0.0
    model, curve = problem.model, problem.horizon.curve
    rest, touches = ends(model, START), 0
    distances = MujocoDistances(model, HALF)
    shape = np.linalg.cholesky(certificate.error_shape(0.0) + 1e-18 * np.eye(7))
    may_touch = until(problem, certificate)
    assert (may_touch < 3.0) == (way[2] > 0.0)
    for _ in range(12):
        u = rng.normal(size=7)
        error = shape @ (u / np.linalg.norm(u))
        highest = np.zeros(2)
        for t in np.linspace(0.0, 3.0, 16):
            q = curve.derivative(0, t, certificate.k)
            away = ends(model, q - error) - rest
            highest = np.maximum(highest, (ends(model, q) - rest) @ UP)
            found = distances.at(q - error, POST.center)
            held = found.pop(HELD)
            assert min(found.values()) > 0.0
            touches += held < 0.0
            if t > may_touch:
                assert held > 0.0
            else:
                assert np.all(away @ UP >= highest - DEPTH)
                assert np.linalg.norm(away[:, :2], axis=1).max() <= SLIDE
    assert touches > 0  # it does stand on it


def until(problem, certificate):
    """When what is held is clear, as a narrower allowance makes the margin say."""
    model, horizon = problem.model, certificate.problem.horizon
    narrow = replace(lift(model), depth=1e-3)
    refused = ReachableSet.certify_center(replace(problem, horizon=horizon, lift=narrow))
    said = re.search(r'which it may touch until ([\d.]+) s', str(refused.margins[LIFT_OFF]))
    return float(said.group(1))


@pytest.mark.parametrize(
    'way', [(0.0, 0.0, -0.08), (0.08, 0.0, 0.0), (0.0, -0.08, 0.0), (0.06, 0.0, 0.06)]
)
def test_plans_that_press_or_slide_are_refused(problem, way):
    certificate = certified(problem, way)
    assert certificate.margins[LIFT_OFF].margin < 0.0
    assert certificate.smallest.kind == LIFT_OFF
    assert 'what is held and post' in str(certificate)


def test_what_was_lifted_does_not_come_back(problem):
    """A plan from the height of a hand down to where it stood."""
    model = problem.model
    high = START + toward(model, np.array([0.0, 0.0, 0.08]))
    curve = replace(problem.horizon.curve, q0=high)
    back = replace(problem, horizon=replace(problem.horizon, curve=curve))
    assert certified(back, (0.0, 0.0, 0.0)).margins[LIFT_OFF].margin > 0.0
    assert certified(back, (0.0, 0.0, -0.08)).margins[LIFT_OFF].margin < 0.0


def test_only_what_is_held_may_touch(problem):
    """A wider support reaches to the gripper."""
    wide = Box(POST.center, HALF + np.array([0.0, 0.06, 0.0]), np.eye(3))
    certificate = certified(
        problem, (0.0, 0.0, 0.08), lift=lift(problem.model, support=('post', wide))
    )
    assert 'gripper and post' in str(certificate.margins[LIFT_OFF])
    assert not certificate.holds


def test_a_lift_that_makes_no_sense_is_refused(problem):
    model = problem.model
    with pytest.raises(BoundError, match='capsules are'):
        lift(model, payload=['cup'])
    with pytest.raises(BoundError, match='moved by a joint'):
        lift(model, payload=['base'])
    with pytest.raises(BoundError, match='of length 1'):
        lift(model, direction=2.0 * UP)
    with pytest.raises(BoundError, match='it can be only one of these'):
        replace(problem, lift=lift(model), obstacles=Obstacles.of({'post': POST}))


def test_a_planner_lifts_what_stands_where_the_arm_rests(problem):
    """Standing still is certified, and the support is an obstacle again once it is another one."""
    standing = Standing('post', (HELD,), (0.0, 0.0, 1.0), DEPTH, SLIDE)
    boxes = {'post': POST, 'far': Box(np.full(3, 4.0), np.ones(3), np.eye(3))}
    told = replace(problem, standing=standing, obstacles=Obstacles.of(boxes))
    lifting = told.lifting(START)
    assert lifting.obstacles.names == ('far',)
    assert lifting.lift.support is POST
    np.testing.assert_allclose(lifting.lift.rest[:, 0], ends(problem.model, START), atol=1e-12)
    assert replace(told, obstacles=Obstacles.of({})).lifting(START).lift is None
    horizon = replace(problem.horizon, k_center=toward(problem.model, 0.08 * UP))
    certificate = ReachableSet.certify_center(replace(lifting, horizon=horizon))
    assert certificate.holds
    bounds = problem.bounds
    plan = Plan(10.0, 11.5, horizon.curve, certificate.k, bounds.bounds, certificate, bounds.theta)
    guard = SceneGuard(StopSettings(), Clock(0).stamp)
    guard.watch(plan, 10.0)
    assert guard.look(boxes, 10.2) is None
    assert guard.admits(plan)
    moved = Box(POST.center + np.array([0.0, 0.0, 0.001]), HALF, np.eye(3))
    assert guard.look(boxes | {'post': moved}, 10.3) is not None
    assert not guard.admits(plan)
