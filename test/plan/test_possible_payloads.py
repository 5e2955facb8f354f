"""How light, or how well known, what is held has to be: certified, and checked by statics by hand.

The two-link arm swings from hanging to level. There gravity alone asks joint 1 for
g (2 0.2 + 1 0.65 + 0.9 m) and joint 2 for g (0.25 + 0.5 m), m at the end of link 2.
"""

from dataclasses import replace

import numpy as np
import pytest

from safe_sysid.errors import BoundError
from safe_sysid.model.collision.obstacles import NO_OBSTACLES, Obstacles
from safe_sysid.model.dynamics.regressors import standard_regressor
from safe_sysid.model.parameters import ParameterEstimate, ratio_bounds
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.path.route import Follow, Route
from safe_sysid.plan.possible_payloads import exactly, known_to, largest_share, up_to
from safe_sysid.plan.rest_of_route import RestOfRoute, ways_along
from safe_sysid.plan.search.task_settings import TaskSettings
from safe_sysid.plan.task_need import (
    TooHeavyError,
    need_of,
    reason_to_stop,
    refuse_too_heavy,
)
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.reach.problem import Problem
from safe_sysid.sets.box import Box
from safe_sysid.sets.interval import Interval
from safe_sysid.track.gains import Gains
from safe_sysid.trajectory.bezier import Bezier

MODEL = RobotModel.named('two_link')
OWN = MODEL.own_end_effector
HANGING, LEVEL = np.array([-np.pi / 2, 0.0]), np.zeros(2)
PAYLOAD = np.array([1.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.25, 0.0, 0.0, 0.25])  # per kg, at the end
LIMIT = MODEL.limits.torque
G = 9.81


def prior(lower=0.0, nominal=4.0, upper=8.0, arm=0.001):
    """A payload at the end of link 2, of a mass in bounds, on an arm that is well known."""
    bounds, place = ratio_bounds(MODEL.theta, arm), MODEL.layout.end_effector
    low, high, theta = bounds.lower.copy(), bounds.upper.copy(), MODEL.theta.copy()
    low[place], high[place] = OWN + lower * PAYLOAD, OWN + upper * PAYLOAD
    theta[place] = OWN + nominal * PAYLOAD
    return ParameterEstimate(MODEL.layout, theta, Interval(low, high))


def rest_of(estimate, waypoints=(HANGING, LEVEL), longest=2.0, obstacles=NO_OBSTACLES):
    still = np.zeros(2)
    horizon = Horizon(Bezier(waypoints[0], still, still, 2.0), still, still, 16)
    gains = Gains(np.full(2, 10.0), V_M=0.002, alpha=25.0)
    problem = Problem(MODEL, estimate, horizon, gains, obstacles)
    route = Route(np.array(waypoints), MODEL.limits.is_continuous)
    return RestOfRoute.along(problem, Follow(route, 0.0), (1.0, 1.0), longest)


def held_level(mass):
    """Share of the limits that gravity takes with a mass at the end of the level arm."""
    torque = G * np.array([2.0 * 0.2 + 0.65 + 0.9 * mass, 0.25 + 0.5 * mass])
    return float((torque / LIMIT).max())


def test_the_heaviest_known_payload_can_be_held_where_the_route_ends_and_little_more():
    estimate = prior()
    found = largest_share(rest_of(estimate), exactly(estimate, OWN), most=2.0)
    assert np.allclose(found.estimate.end_effector, OWN + 4.0 * found.share * PAYLOAD)
    assert held_level(4.0 * found.share) < 1.0
    assert held_level(4.0 * found.refused) > 0.85  # what controller, motion and friction take
    assert found.refused - found.share <= 2.0 / 2**7
    assert 'torque of joint_' in str(found.refusal)


def test_what_is_certified_is_certified_again_and_what_is_refused_is_not():
    estimate = prior(1.0, 4.0, 6.5)
    rest = rest_of(estimate)
    for family in (up_to(estimate, OWN), known_to(estimate), exactly(estimate, OWN)):
        found = largest_share(rest, family, most=1.5)
        assert 0.0 < found.share < found.refused
        assert rest.proof(found.estimate).holds
        assert not rest.proof(family(found.refused)).holds


@pytest.mark.parametrize('corners', [False, True])
def test_torques_of_every_payload_up_to_the_largest_stay_within_the_limits(rng, corners):
    """By the regressor along the desired motion; the certificate allows for errors on top."""
    estimate = prior(1.0)
    rest = rest_of(estimate)
    found = largest_share(rest, up_to(estimate, OWN))
    times = np.linspace(0.0, 2.0, 41)
    states = [rest.motions[0].desired(t) for t in times]
    W = standard_regressor(MODEL, *(np.array(x) for x in zip(*states, strict=True)))
    bounds, largest = found.estimate.bounds, 0.0
    for _ in range(200):
        share = rng.uniform(size=bounds.shape)
        share = np.round(share) if corners else share
        theta = bounds.lower + share * (bounds.upper - bounds.lower)
        place = MODEL.layout.end_effector
        light = theta.copy()
        light[place] = OWN + rng.uniform() * found.share * 8.0 * PAYLOAD
        assert found.estimate.bounds.contains(light)
        for each in (theta, light):
            largest = max(largest, float(np.abs(W @ each / LIMIT).max()))
    assert largest < 1.0
    assert largest > 0.4


@pytest.mark.slow
def test_every_motion_to_the_end_of_the_route_counts():
    """Half way the torque is small; the payload is too heavy at the end alone."""
    estimate = prior()
    whole = rest_of(estimate, longest=0.6)
    ends = [motion.end_position for motion in whole.motions]
    assert len(ends) == 3
    assert np.allclose(ends[-1], LEVEL)
    starts = [motion.pieces[0].curve.q0 for motion in whole.motions]
    assert np.allclose(starts, [HANGING, *ends[:-1]])
    found = largest_share(whole, exactly(estimate, OWN), most=2.0)
    assert held_level(4.0 * found.share) < 1.0
    assert found.refusal.motion == 2
    assert len(whole.proof(found.estimate).certificates) == 6


@pytest.mark.slow
def test_what_is_in_the_way_is_named_and_no_mass_is_blamed():
    wall = Obstacles.of({'wall': Box(np.array([0.7, 0.0, 0.0]), np.full(3, 0.1), np.eye(3))})
    estimate = prior(1.0, 2.0, 3.0)
    need = need_of([rest_of(estimate, obstacles=wall)], estimate, OWN)
    assert 'wall' in str(need.refusal)
    assert need.largest_mass == np.inf
    assert need.share == 0.0
    assert 'is not what is held' in reason_to_stop(need, 0.0, 1.5, [1.0])
    refuse_too_heavy(need, estimate, OWN)


@pytest.mark.slow
def test_a_payload_that_is_certainly_too_heavy_is_refused_with_its_mass_and_the_largest_one():
    estimate = prior(6.5, 6.7, 7.0)
    need = need_of([rest_of(estimate)], estimate, OWN)
    assert held_level(need.largest_mass) < 1.02
    assert need.largest_mass > 4.5
    with pytest.raises(TooHeavyError, match=r'6\.50 to 7\.00 kg; .* at most [45]\.\d\d kg'):
        refuse_too_heavy(need, estimate, OWN)
    possible = prior(4.5, 6.7, 7.0)
    refuse_too_heavy(need_of([rest_of(possible)], possible, OWN), possible, OWN)


def test_the_width_that_is_needed_is_certified_and_weighs_what_decides():
    estimate = prior(0.0, 3.0, 6.0)
    rest = rest_of(estimate)
    need = need_of([rest], estimate, OWN)
    assert need.seconds == np.inf
    assert need.fastest == 2.0
    assert 0.05 < need.share < 0.9
    assert rest.proof(known_to(estimate)(need.share)).holds
    assert need.importance.sum() == pytest.approx(1.0)
    assert need.importance[[0, 1]].sum() > 0.8  # mass on joint 2, and its moment
    radius = estimate.end_effector_bounds.radius
    assert need.relative_width(0.5 * radius, radius) == pytest.approx(0.5)


@pytest.mark.slow
def test_shorter_motions_count_where_long_ones_are_refused():
    estimate = prior(0.5, 1.0, 1.5)
    far = (HANGING, np.array([2.6, 0.0]), np.array([0.0, -2.0]))
    long, short = rest_of(estimate, far, 8.0), rest_of(estimate, far, 1.0)
    assert not long.proof(estimate).holds
    need = need_of([long, short], estimate, OWN)
    assert need.seconds == short.seconds > long.seconds
    assert need.is_met  # what refuses the long one is no payload


def test_learning_stops_when_it_does_not_help_the_task():
    estimate = prior(0.5, 1.0, 1.5)
    met = need_of([rest_of(estimate)], estimate, OWN)
    assert reason_to_stop(met, 0.0, 1.5, [1.0]) == 'the rest of the task is certified'
    slow = replace(met, seconds=6.0, fastest=2.0)
    assert 'longer than it would save' in reason_to_stop(slow, 5.0, 1.5, [1.0])
    assert reason_to_stop(slow, 2.0, 1.5, [1.0]) == ''
    unknown = replace(met, seconds=np.inf, fastest=2.0)
    assert reason_to_stop(unknown, 8.0, 1.5, [2.0, 1.0]) == ''
    assert reason_to_stop(unknown, 8.0, 1.5, [2.0, 1.01, 1.0]).endswith('less than 3%')
    assert reason_to_stop(unknown, 8.0, 1.5, [2.0, 1.1, 1.0]) == ''
    assert 'not to be learnt in time' in reason_to_stop(unknown, np.inf, 1.5, [1.0])
    heavy = replace(unknown, fastest=np.inf)  # for the nominal payload: a lighter one may be held
    assert reason_to_stop(heavy, np.inf, 1.5, [1.0]) == ''


def test_the_same_way_is_looked_at_more_slowly_and_in_more_motions():
    problem = rest_of(prior()).problem
    turns, task = MODEL.limits.is_continuous, TaskSettings(longest=1.0, slower=(2.0, 1.25))
    for end, counts, seconds in (
        (0.8, [1, 1, 1, 2, 4], [2.0, 2.5, 4.0, 4.0, 8.0]),
        (1.5, [2, 2, 3, 2, 6], [4.0, 5.0, 6.0, 8.0, 12.0]),
    ):
        route = Route(np.array([HANGING, HANGING + np.array([end, 0.0])]), turns)
        ways = ways_along(problem, Follow(route, 0.0), task)
        assert [len(way.motions) for way in ways] == counts
        np.testing.assert_allclose([way.seconds for way in ways], seconds)
        ends = np.array([way.motions[-1].end_position for way in ways])
        np.testing.assert_allclose(ends, np.tile(route.at(end), (5, 1)), atol=1e-12)


def test_for_want_of_time_ways_count_as_refused_and_what_would_be_enough_is_not_said(monkeypatch):
    estimate, looks, proof = prior(0.0, 3.0, 6.0), [], RestOfRoute.proof
    ways = [rest_of(estimate), rest_of(estimate, longest=0.8)]
    assert need_of(ways, estimate, OWN).fastest == 2.0

    def counted(way, bounds):
        looks.append(way)
        return proof(way, bounds)

    monkeypatch.setattr(RestOfRoute, 'proof', counted)
    need = need_of(ways, estimate, OWN, lambda: False)
    assert looks == ways[:1]
    assert (need.seconds, need.fastest, need.share) == (np.inf, np.inf, 0.0)
    assert need.is_of_payload
    assert str(need.refusal) == str(ways[0].proof(estimate).refusal)


def test_shares_that_cannot_be_are_refused():
    estimate = prior()
    with pytest.raises(BoundError, match='above 0'):
        largest_share(rest_of(estimate), known_to(estimate), most=0.0)


def test_bodies_move_forward_only_as_the_model_says():
    """The hand formula above is the package's torque of the level arm at rest."""
    estimate = prior(nominal=3.0)
    still = np.zeros(2)
    torque = standard_regressor(MODEL, LEVEL, still, still) @ estimate.theta
    assert np.abs(torque / LIMIT).max() == pytest.approx(held_level(3.0), rel=1e-3)
