"""The hand leaves what it has placed straight off, and does nothing else with it."""

from dataclasses import replace

import numpy as np
from plan.kinova_problem import START, estimate_of, kinova_problem
import pytest
from reach.test_lift_off import HELD, POST, toward

from safe_sysid.bench.experiments.reach import kinova_with_dumbbell
from safe_sysid.measure.clock import Clock
from safe_sysid.model.collision.capsules_to_box import box_about, clearances
from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.model.dynamics.forward_kinematics import joint_frames
from safe_sysid.model.grasp import GraspError, holding_any
from safe_sysid.model.payload import read_payload
from safe_sysid.plan.early_stop import StopSettings
from safe_sysid.plan.path.leaving import is_clear, leaving_route
from safe_sysid.plan.scene_guard import SceneGuard
from safe_sysid.reach.margin import LIFT_OFF, OBSTACLE
from safe_sysid.reach.reachable_set import ReachableSet
from safe_sysid.reach.retreat import Retreat
from safe_sysid.sets.box import Box
from safe_sysid.trajectory.plan import Plan

NAME = 'placed: object/7'
ALLOWED = Retreat('placed: ', 0.03, 0.03)
FAR = {'far': Box(np.full(3, 4.0), np.ones(3), np.eye(3))}


@pytest.fixture(scope='module')
def problem():
    still, model = kinova_problem(START, intervals=64), kinova_with_dumbbell()
    return replace(still, model=model, bounds=estimate_of(model))


def among(problem, boxes, **other):
    return replace(problem, obstacles=Obstacles.of(boxes), **{'retreat': ALLOWED, **other})


@pytest.fixture(scope='module')
def placed(problem):
    """What the arm has let go where it is."""
    return box_about(problem.model, [HELD], START)


def off(problem, placed):
    """Straight off, of unit length."""
    way = joint_frames(problem.model, START)[1][problem.model.layout.tip] - placed.center
    return way / np.linalg.norm(way)


def certified(problem, way):
    horizon = replace(problem.horizon, k_center=toward(problem.model, way))
    return ReachableSet.certify_center(replace(problem, horizon=horizon))


def test_the_box_contains_what_was_held(problem, placed, rng):
    model = problem.model
    c = model.capsules.names.index(HELD)
    R, p = joint_frames(model, START)
    a, b = (R[6] @ end[c] + p[6] for end in (model.capsules.a, model.capsules.b))
    u = rng.normal(size=(500, 3))
    u *= model.capsules.radius[c] / np.linalg.norm(u, axis=1)[:, None]
    share = np.linspace(0.0, 1.0, 500)[:, None]
    assert placed.distance(a + share * (b - a) + u)[0].max() <= 0.0
    assert box_about(model, ['cup'], START) is None


def test_an_arm_that_has_placed_something_may_stand_and_go_straight_off(problem, placed):
    told = among(problem, {NAME: placed, **FAR})
    as_obstacle = certified(told, np.zeros(3))
    assert as_obstacle.margins[OBSTACLE].margin < 0.0
    leaving = told.lifting(START)
    assert leaving.obstacles.names == ('far',)
    for length in (0.0, 0.06):
        certificate = certified(leaving, length * off(problem, placed))
        assert certificate.holds, certificate
        said = f'while the hand may touch {NAME}, that stands'
        assert any(each.startswith(said) for each in certificate.assumptions)


@pytest.mark.parametrize('share', [(-1.0, 0.0), (0.0, 1.0), (1.0, 1.0)])
def test_what_was_placed_is_not_pushed(problem, placed, share):
    """On towards it, and to the side."""
    straight = off(problem, placed)
    aside = np.cross(straight, np.array([0.0, 0.0, 1.0]))
    aside /= np.linalg.norm(aside)
    way = 0.08 * (share[0] * straight + share[1] * aside)
    certificate = certified(among(problem, {NAME: placed}).lifting(START), way)
    assert certificate.margins[LIFT_OFF].margin < 0.0
    assert f'the hand and {NAME}' in str(certificate.margins[LIFT_OFF])


def test_what_the_hand_does_not_touch_at_rest_or_has_left_is_an_obstacle(problem, placed):
    model, straight = problem.model, off(problem, placed)
    tips = np.flatnonzero(model.capsules.joint == model.layout.tip)
    lower = [placed.moved([0.0, 0.0, -z]) for z in np.arange(0.0, 0.5, 0.01)]
    away = np.array([clearances(model, START, tips, each).min() for each in lower])
    beside = lower[int(np.argmax(away > 0.0))]  # nearer than an allowance, and not touched
    assert 0.0 < away[away > 0.0][0] < ALLOWED.depth
    assert among(problem, {NAME: beside}).lifting(START).lift is None
    assert among(problem, {'cup': placed}).lifting(START).lift is None
    route = leaving_route(model, among(problem, {NAME: placed}).lifting(START).lift, START)
    gone = route.waypoints[-1]
    curve = replace(problem.horizon.curve, q0=gone)
    later = replace(problem, horizon=replace(problem.horizon, curve=curve))
    again = among(later, {NAME: placed}).lifting(START)
    assert again.lift is None
    assert again.obstacles.names == (NAME,)
    tip = model.layout.tip
    shift = joint_frames(model, gone)[1][tip] - joint_frames(model, START)[1][tip]
    np.testing.assert_allclose(shift, np.linalg.norm(shift) * straight, atol=1e-4)


def test_only_parts_that_are_near_it_at_rest_may_touch(problem, placed):
    names = problem.model.capsules.names

    def may_touch(box):
        strict = replace(ALLOWED, depth=0.005)
        lift = among(problem, {NAME: box}, retreat=strict).lifting(START).lift
        return {names[c] for c in lift.capsules}

    assert may_touch(POST) == {HELD}
    assert may_touch(placed) > {HELD}


@pytest.mark.parametrize('first', [True, False])
def test_of_two_that_the_hand_touches_it_leaves_the_one_it_is_about(problem, placed, first):
    """The other one stays an obstacle, with which nothing is certified."""
    model, tip = (
        problem.model,
        np.flatnonzero(problem.model.capsules.joint == problem.model.layout.tip),
    )
    lower = [placed.moved([0.0, 0.0, -z]) for z in np.arange(0.01, 0.5, 0.01)]
    away = np.array([clearances(model, START, tip, each).min() for each in lower])
    touched = lower[int(np.argmax(away > 0.0)) - 1]
    two = {NAME: placed, 'placed: object/8': touched}
    order = list(two) if first else list(reversed(two))
    told = among(problem, {name: two[name] for name in order}).lifting(START)
    assert told.lift.name == NAME
    assert told.obstacles.names == ('placed: object/8',)
    assert not certified(told, np.zeros(3)).holds


def test_the_way_off_ends_where_the_hand_is_clear(problem, placed):
    model = problem.model
    lift = among(problem, {NAME: placed}).lifting(START).lift
    route = leaving_route(model, lift, START)
    assert not is_clear(model, lift, START)
    assert is_clear(model, lift, route.waypoints[-1])
    assert not is_clear(model, lift, route.waypoints[-2])
    away = clearances(model, route.waypoints[-1], lift.capsules, placed)
    assert away.min() > ALLOWED.depth


def test_a_payload_that_is_in_the_library_too_is_left_with_all_its_capsules(problem, placed):
    model = holding_any(problem.model, [read_payload('dumbbell_8lb')], GraspError())
    assert model.capsules.names.count(HELD) == 2
    twice = replace(problem, model=model, bounds=estimate_of(model))
    whole = box_about(model, [HELD], START)
    assert whole.half_sizes.min() > placed.half_sizes.min() + 0.01
    leaving = among(twice, {NAME: whole}).lifting(START)
    assert certified(leaving, np.zeros(3)).holds


def test_what_an_arm_that_stands_has_let_go_is_not_in_its_way(problem, placed):
    """Its plan was made before; what else appears there is in its way, and so is it in motion."""
    told = among(problem, FAR)
    curve, bounds = problem.horizon.curve, problem.bounds

    def guard(way):
        certificate = certified(told, way)
        plan = Plan(10.0, 11.5, curve, certificate.k, bounds.bounds, certificate, bounds.theta)
        watching = SceneGuard(StopSettings(), Clock(0).stamp)
        watching.watch(plan, 10.0)
        assert watching.look(FAR, 10.1) is None
        return watching

    assert guard(np.zeros(3)).look({**FAR, NAME: placed}, 10.2) is None
    assert guard(np.zeros(3)).look({**FAR, 'cup': placed}, 10.2) is not None
    assert guard(0.06 * off(problem, placed)).look({**FAR, NAME: placed}, 10.2) is not None


def partly_off(problem, placed):
    """Where the hand is clear of what it let go at START, by less than errors need."""
    lift = among(problem, {NAME: placed}).lifting(START).lift
    route = leaving_route(problem.model, lift, START)
    points = [route.at(x) for x in np.linspace(0.0, route.length, 60)]
    gaps = [clearances(problem.model, q, lift.capsules, placed).min() for q in points]
    return next(q for q, gap in zip(points, gaps, strict=True) if gap > 0.003)


def test_an_arm_that_comes_to_rest_on_its_way_off_goes_on_leaving(problem, placed):
    """It does not touch it there, and as an obstacle it would be too near even to stand."""
    q = partly_off(problem, placed)
    curve = replace(problem.horizon.curve, q0=q)
    told = among(replace(problem, horizon=replace(problem.horizon, curve=curve)), {NAME: placed})
    assert told.lifting(q).lift is None
    assert not certified(told.lifting(q), np.zeros(3)).holds
    rests = told.rests_at(q, [START])
    assert [list(each) for each in rests] == [list(q), list(START)]
    for length in (0.0, 0.06):
        assert certified(told.lifting(*rests), length * off(problem, placed)).holds
    assert not certified(told.lifting(*rests), -0.15 * off(problem, placed)).holds


def test_rests_whose_contact_was_left_are_forgotten(problem, placed):
    q = partly_off(problem, placed)
    told = among(problem, {NAME: placed})
    lift = told.lifting(START).lift
    gone = leaving_route(problem.model, lift, START).waypoints[-1]
    assert len(told.rests_at(gone, [q, START])) == 1
    assert len(among(problem, FAR).rests_at(q, [START])) == 1
    assert len(replace(told, retreat=None).rests_at(q, [START])) == 1
    assert len(told.rests_at(q, [START, START])) == 2
