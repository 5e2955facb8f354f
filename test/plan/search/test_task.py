"""Task motions are proven in both pieces, begin in the state given, and end as far as they can."""

from dataclasses import replace
import re
from threading import Event

import numpy as np
from plan.kinova_problem import START, kinova_problem, without_armature
import pytest

from safe_sysid.bench.experiments.planning import violations
from safe_sysid.errors import ConfigError
from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.plan.path.route import Follow, Route
from safe_sysid.plan.result import SearchOutcome
from safe_sysid.plan.search.best_plan import Budget
from safe_sysid.plan.search.task import find_motion
from safe_sysid.plan.search.task_settings import TaskSettings
from safe_sysid.reach.margin import VELOCITY
from safe_sysid.sets.box import Box
from safe_sysid.trajectory.plan import Plan
from safe_sysid.trajectory.task_motion import Piece

REST = np.zeros(7)
SECONDS = 600.0
SETTINGS = TaskSettings(slow=0.01)
WALL = Obstacles.of(
    {'wall': Box(np.array([0.2, -0.35, 0.6]), np.array([0.3, 0.02, 0.6]), np.eye(3))}
)


def straight(way, begin=0.0):
    turning = kinova_problem().model.limits.is_continuous
    return Follow(Route(np.stack([START, START + way]), turning), begin)


def found(problem, follow, settings=SETTINGS, budget=None):
    return find_motion(problem, follow, budget or Budget.of(SECONDS), settings)


def limited(problem, velocity):
    limits = replace(problem.model.limits, velocity=np.full(7, velocity))
    return replace(problem, model=replace(problem.model, limits=limits))


def plan_of(certificate, start=0.0):
    curve = certificate.problem.horizon.curve
    then = tuple(Piece(c.problem.horizon.curve, c.k) for c in certificate.then)
    return Plan(start, start + curve.duration, curve, certificate.k, then=then)


@pytest.fixture(scope='module')
def problem():
    return kinova_problem(intervals=64)


def test_both_pieces_are_certified_and_lead_to_the_goal(problem):
    finding = found(problem, straight(0.3 * np.ones(7)))
    certificate = finding.certificate
    assert finding.outcome is SearchOutcome.FOUND
    assert certificate.holds
    assert [each.holds for each in certificate.then] == [True]
    plan = plan_of(certificate)
    np.testing.assert_array_equal(plan.desired(0.0), [START, np.zeros(7), np.zeros(7)])
    np.testing.assert_allclose(plan.end_position, START + 0.3, atol=1e-12)
    assert plan.end_time == 2.0
    assert np.abs(plan.desired(1.0)[1]).min() > 0.1  # in motion where the next plan takes over
    assert finding.cost == 0.0


def test_no_sample_of_time_parameters_and_error_breaks_a_limit_in_either_piece(problem, rng):
    certificate = found(problem, straight(0.3 * np.ones(7))).certificate
    for piece in (certificate, *certificate.then):
        assert violations(rng, piece, 800) == 0
    fastest = certificate.margins[VELOCITY].value
    careless = replace(problem.model.limits, velocity=REST + 0.6 * abs(fastest))
    slow = replace(certificate.problem, model=replace(problem.model, limits=careless))
    assert violations(rng, replace(certificate, problem=slow), 800) > 0


def test_a_motion_begins_in_the_state_of_the_plan_before(problem):
    q, qd, qdd = np.random.default_rng(1).normal(scale=0.05, size=(3, 7))
    q = q + START
    curve = replace(problem.horizon.curve, q0=q, qd0=qd, qdd0=qdd)
    moving = replace(problem, horizon=replace(problem.horizon, curve=curve))
    plan = plan_of(found(moving, straight(0.4 * np.ones(7))).certificate)
    np.testing.assert_array_equal(plan.desired(0.0), [q, qd, qdd])


def test_a_far_goal_is_approached_as_far_as_limits_allow(problem):
    """Two seconds are too short for 3 rad at 1.4 rad/s, so the motion is shorter."""
    way, no_slower = 3.0 * np.eye(7)[0], replace(SETTINGS, slower=())
    near = found(problem, straight(way), replace(SETTINGS, longest=0.2))
    far = found(problem, straight(way), no_slower)
    moved = [plan_of(each.certificate).end_position[0] - START[0] for each in (near, far)]
    assert moved[0] == pytest.approx(0.2)
    assert 0.4 < moved[1] < 1.6
    assert far.cost == pytest.approx(3.0 - moved[1])


def test_the_longest_motion_is_made_slower_before_it_is_made_shorter(problem):
    """As fast as is proven: at the next faster pace that is allowed it is not."""
    way = 1.6 * np.eye(7)[0]
    plan = plan_of(found(problem, straight(way)).certificate)
    np.testing.assert_allclose(plan.end_position, START + way, atol=1e-12)
    pace = 0.5 * plan.end_time
    assert pace in SETTINGS.slower
    assert plan.switch_time == pace
    faster = tuple(each for each in SETTINGS.slower if each < pace)
    short = plan_of(found(problem, straight(way), replace(SETTINGS, slower=faster)).certificate)
    assert short.end_position[0] < START[0] + 1.6


def test_two_motions_of_half_the_length_come_before_one_that_takes_longer(problem):
    """At 1 rad/s two seconds are enough for 0.8 rad, and four for 1.6 rad."""
    way, settings = 1.6 * np.eye(7)[0], replace(SETTINGS, shorter=0.5, slower=(2.0,))
    careful = limited(problem, 1.0)
    half, whole = (
        plan_of(found(careful, straight(way), replace(settings, shortest=shortest)).certificate)
        for shortest in (0.8, 1.0)
    )
    assert (half.end_time, whole.end_time) == (2.0, 4.0)
    np.testing.assert_allclose(half.end_position, START + 0.5 * way, atol=1e-12)
    np.testing.assert_allclose(whole.end_position, START + way, atol=1e-12)


def test_shorter_motions_are_made_slower_where_none_is_proven_as_fast(problem):
    """At 0.6 rad/s four seconds are enough for 0.8 rad; two are not, nor four for 1.6 rad."""
    careful = limited(problem, 0.6)
    way, settings = 1.6 * np.eye(7)[0], replace(SETTINGS, shorter=0.5, shortest=0.8)
    plan = plan_of(found(careful, straight(way), settings).certificate)
    np.testing.assert_allclose(plan.end_position, START + 0.5 * way, atol=1e-12)
    assert plan.end_time == 4.0
    finding = found(careful, straight(way), replace(settings, slower=()))
    assert finding.outcome is SearchOutcome.NONE_CERTIFIED


def test_motions_go_on_from_where_the_plan_in_force_ends(problem):
    follow = straight(0.6 * np.eye(7)[0], begin=0.25)
    plan = plan_of(found(problem, follow, replace(SETTINGS, longest=0.1)).certificate)
    np.testing.assert_allclose(plan.end_position, START + 0.35 * np.eye(7)[0], atol=1e-12)


@pytest.mark.slow
def test_no_motion_goes_through_a_wall():
    walled = kinova_problem(obstacles=WALL, intervals=64)
    finding = found(walled, straight(1.6 * np.eye(7)[0]))
    free = found(kinova_problem(intervals=64), straight(1.6 * np.eye(7)[0]))
    assert plan_of(free.certificate).end_position[0] > plan_of(finding.certificate).end_position[0]
    assert finding.certificate.holds


def test_whatever_stops_a_search_is_said_and_nothing_is_returned(problem):
    follow = straight(0.3 * np.ones(7))
    cancelled = Event()
    cancelled.set()
    outcomes = {
        SearchOutcome.CANCELLED: found(problem, follow, budget=Budget.of(SECONDS, cancelled)),
        SearchOutcome.OUT_OF_TIME: found(problem, follow, budget=Budget.of(1e-3)),
        SearchOutcome.UNUSABLE: found(without_armature(problem), follow),
    }
    for outcome, finding in outcomes.items():
        assert finding.outcome is outcome
        assert finding.certificate is None
    assert 'no bound on the tracking error' in str(outcomes[SearchOutcome.UNUSABLE])


def test_the_constraint_that_stops_all_motions_is_named(problem):
    inside = Obstacles.of({'box': Box(np.array([0.3, 0.0, 0.6]), np.full(3, 0.3), np.eye(3))})
    finding = found(replace(problem, obstacles=inside), straight(0.3 * np.ones(7)))
    assert finding.outcome is SearchOutcome.NONE_CERTIFIED
    assert finding.certificate is None
    assert re.search('every constraint: obstacle clearance of .* and box', str(finding))


@pytest.mark.parametrize(
    'wrong',
    [
        {'durations': (1.0, 0.0)},
        {'slower': (1.0,)},
        {'longest': 0.0},
        {'shorter': 1.0},
        {'vias': ()},
        {'vias': (1.0,)},
        {'checks': 1},
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        TaskSettings(**wrong)
