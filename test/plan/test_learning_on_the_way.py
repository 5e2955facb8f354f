"""Learning on the way: plans that teach until the rest is certified, then those of the goal."""

from dataclasses import replace
import re
import sys

import numpy as np
from plan.cost.derivatives import numerical_gradient
from plan.test_possible_payloads import HANGING, LEVEL, MODEL, prior, rest_of
import pytest

from safe_sysid.bench.experiments.learning_on_the_way import carry, random_carry
from safe_sysid.errors import BoundError
from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.plan.aims import Approach, Excite, LearnOnTheWay
from safe_sysid.plan.cost.on_the_way import ExpectedWidth, OnTheWayCost, attention
from safe_sysid.plan.cost.predicted_observations import ObservationError
from safe_sysid.plan.learning_on_the_way import LearningOnTheWay
from safe_sysid.plan.mission import Mission, MissionSettings, NoRouteError
from safe_sysid.plan.path.route import Follow, Route
from safe_sysid.plan.purpose import Ahead
from safe_sysid.plan.search.best_plan import Budget
from safe_sysid.plan.task_need import TooHeavyError
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.sets.box import Box
from safe_sysid.trajectory.bezier import Bezier
from safe_sysid.trajectory.plan import Plan

SETTINGS = MissionSettings(on_the_way=True, route_seconds=600.0)
STILL = np.zeros(2)
ALONG = Follow(Route(np.stack([HANGING, LEVEL]), MODEL.limits.is_continuous), 0.0)
RATHER_WIDE = 0.0, 3.0, 6.0  # kg: least, nominal, most


def ahead_of(estimate):
    return Ahead(rest_of(estimate).problem, HANGING, 1.0, Budget.of(600.0))


def asked(mission, masses):
    """Kinds of aims when estimates have these masses, each plan being followed."""
    kinds = []
    for each in masses:
        estimate = prior(*each)
        aim = mission.due(ahead_of(estimate))
        kinds.append(type(aim))
        curve = Bezier(HANGING, STILL, STILL, 2.0)
        mission.planned(aim, Plan(0.0, 1.0, curve, np.full(2, 0.3)), estimate)
    return kinds


def test_plans_teach_until_the_rest_is_certified_and_begin_again_with_another_payload():
    mission = Mission(MODEL, LEVEL, SETTINGS)
    masses = (RATHER_WIDE, (1.0, 3.0, 5.0), (2.8, 3.0, 3.2), (2.8, 3.0, 3.2), RATHER_WIDE)
    kinds = [LearnOnTheWay, LearnOnTheWay, Follow, Follow, LearnOnTheWay]
    assert asked(mission, masses) == kinds


def disturbed(estimate, torque_error=0.0, until=1.0):
    """What lies ahead where more acts on joints than the law says."""
    ahead = replace(ahead_of(estimate), until=until)
    gains = replace(ahead.problem.gains, torque_error=torque_error)
    return replace(ahead, problem=replace(ahead.problem, gains=gains))


def test_plans_that_teach_lead_on_as_well_and_expect_the_errors_that_are_promised():
    """At most half of the attention is for learning, however little is known."""
    aims = [
        Mission(MODEL, LEVEL, SETTINGS).due(disturbed(prior(*RATHER_WIDE), error))
        for error in (0.0, 0.1)
    ]
    assert [aim.beta for aim in aims] == [0.5, 0.5]
    assert [aim.excite.promise.torque_floor for aim in aims] == pytest.approx([0.05, 0.1])


def test_nothing_is_learnt_that_motions_do_not_teach():
    """In a thousandth of a second the hanging arm feels nothing of a mass."""
    ahead, way = disturbed(prior(*RATHER_WIDE), until=1e-3), LearningOnTheWay(MODEL)
    assert way.aim(ahead, ALONG) is ALONG
    assert 'not to be learnt in time' in way.reason


def test_where_no_route_is_known_all_is_tried_to_learn_of_one():
    """What refuses the straight way need not refuse another one, once more is known."""
    wall = Obstacles.of({'wall': Box(np.array([0.7, 0.0, 0.0]), np.full(3, 0.1), np.eye(3))})
    for each in (disturbed(prior(*RATHER_WIDE), until=1e-3), ahead_of(prior(*RATHER_WIDE))):
        ahead = replace(each, problem=replace(each.problem, obstacles=wall))
        aim = LearningOnTheWay(MODEL).aim_without_route(ahead, ALONG)
        assert isinstance(aim, LearnOnTheWay)
        assert aim.needed_width == 1.0  # of now, as no width would be enough here
        assert LearningOnTheWay(MODEL).aim(ahead, ALONG) is ALONG


def test_what_a_plan_teaches_counts_one_plan_later(monkeypatch):
    """The next plan is made when it begins, so what it saves has to be more than two plans."""
    asked, way = [], LearningOnTheWay(MODEL)

    def reason(_, predicted, duration, widths):
        asked.append((duration, predicted, widths))
        return ''

    monkeypatch.setattr(sys.modules[LearningOnTheWay.__module__], 'reason_to_stop', reason)
    way.aim(disturbed(prior(*RATHER_WIDE), until=1.5), ALONG)
    assert asked == [(3.0, 2.0, [pytest.approx(1.0)])]


def test_more_plans_leave_less_and_promised_errors_do_not_average_out(rng):
    curve, k = Bezier(HANGING, STILL, STILL, 2.0), rng.uniform(0.3, 0.6, 2)
    excite = Excite(MODEL, prior(*RATHER_WIDE), 1.0, promise=ObservationError(0.0, 2.0))
    one, four = (excite.shares_left(curve, k, plans) for plans in (1, 4))
    assert np.all((four <= one) & (one <= 1.0))
    assert 0.0 < four[1] < 0.7 * one[1] < 0.7  # of the moment that it feels
    finer = replace(excite, samples=240).shares_left(curve, k, 1)  # four times the rows
    np.testing.assert_allclose(finer, one, rtol=0.02)
    width = excite.expected_width(Horizon(curve, k, STILL, 1)).value(STILL)
    assert width < float(excite.importance @ one)  # with errors that do


def test_nothing_is_learnt_for_its_own_sake():
    assert asked(Mission(MODEL, LEVEL, SETTINGS), [(2.8, 3.0, 3.2)]) == [Follow]


@pytest.mark.slow
def test_what_does_not_get_narrower_is_not_learnt_for_ever():
    mission = Mission(MODEL, LEVEL, SETTINGS)
    assert asked(mission, [RATHER_WIDE] * 2) == [LearnOnTheWay] * 2
    with pytest.raises(NoRouteError, match='could not hold itself at the goal'):
        asked(mission, [RATHER_WIDE])


def test_what_is_held_is_blamed_where_the_arm_alone_could_hold_itself():
    mission = Mission(MODEL, LEVEL, MissionSettings(exciting=0))
    ahead = ahead_of(prior(*RATHER_WIDE))
    with pytest.raises(NoRouteError, match=r'torque limit with up to 6\.00 kg held$'):
        mission.due(ahead)
    limits = replace(MODEL.limits, torque=0.05 * MODEL.limits.torque)
    weak = replace(ahead.problem, model=replace(MODEL, limits=limits))
    with pytest.raises(NoRouteError, match='times its torque limit$'):
        mission.due(replace(ahead, problem=weak, end=np.array([0.0, 0.5])))


@pytest.mark.slow
def test_a_payload_that_cannot_be_carried_is_refused_where_it_is_known():
    mission = Mission(MODEL, LEVEL, SETTINGS)
    with pytest.raises(TooHeavyError, match='weighs 6'):
        mission.due(ahead_of(prior(6.5, 6.7, 7.0)))


@pytest.mark.slow
def test_a_goal_that_is_asked_for_is_given_up_where_what_is_held_is_too_heavy_for_it():
    """Whoever asked hears both masses, and nothing is left to do: no fault comes of it."""
    mission = Mission(MODEL, None, SETTINGS)
    mission.lead_to([LEVEL])
    assert mission.due(ahead_of(prior(6.5, 6.7, 7.0))) is None
    said = (
        r'weighs 6\.50 to 7\.00 kg; .* carried to the goal is at most [45]\.\d\d kg, however well'
    )
    assert re.search(said, mission.given_up)


def test_nothing_is_learnt_before_a_task_that_learns_on_its_way():
    """A wish for narrow bounds counts, and so does that the goal is reached."""
    task = Mission(MODEL, None, replace(SETTINGS, exciting=0))
    learning = Mission(MODEL, None, SETTINGS, task)
    ahead = ahead_of(prior(*RATHER_WIDE))
    assert isinstance(learning.due(ahead), Excite)
    task.lead_to([LEVEL])
    assert learning.due(ahead) is None
    assert isinstance(learning.due(replace(ahead, end=LEVEL)), Excite)
    learning.learn_to(np.full(10, 1e-3))
    assert isinstance(learning.due(ahead), Excite)
    learning.learn_to(None)
    without = Mission(MODEL, None, replace(SETTINGS, exciting=0, on_the_way=False))
    without.lead_to([LEVEL])
    assert isinstance(Mission(MODEL, None, SETTINGS, without).due(ahead), Excite)


def test_attention_to_learning_falls_from_all_to_none():
    assert [attention(now, 1.0, 3.0) for now in (4.0, 3.0, 2.0, 1.0, 0.5)] == [1, 1, 0.5, 0, 0]
    assert attention(2.0, 1.0, 1.0) == 1.0


def aim_of(beta):
    estimate = prior(*RATHER_WIDE)
    return LearnOnTheWay(Excite(MODEL, estimate, 1.0), Approach(MODEL, LEVEL), beta, 0.2)


def horizon_in_motion(rng):
    curve = Bezier(HANGING, rng.uniform(-0.2, 0.2, 2), rng.uniform(-0.2, 0.2, 2), 2.0)
    return Horizon(curve, rng.uniform(-0.5, 0.5, 2), np.full(2, 0.4))


@pytest.mark.parametrize('beta', [0.0, 0.3, 1.0])
def test_the_cost_is_the_sum_of_both_shares_with_their_gradients(rng, beta):
    aim, horizon, x = aim_of(beta), horizon_in_motion(rng), rng.uniform(-0.9, 0.9, 2)
    cost = aim.cost(horizon)
    at = cost.evaluate(x)
    assert at.value == pytest.approx(cost.value(x), rel=1e-12)
    expected = numerical_gradient(cost.value, x, 2e-4)
    assert np.allclose(at.gradient, expected, rtol=1e-5, atol=1e-7)
    way = LEVEL - horizon.curve.q0
    left = horizon.curve.q0 + horizon.k_center + horizon.k_range * x - LEVEL
    left = left + horizon.curve.position(2.0, np.zeros(2)) - horizon.curve.q0
    distance = float(left @ left) / float(way @ way)
    width = aim.excite.expected_width(horizon).value(x) / 0.2
    assert at.value == pytest.approx((1.0 - beta) * distance + beta * width, rel=1e-9)


def test_the_expected_width_is_the_share_of_half_widths_that_is_left(rng):
    """Rows worth nothing leave all of it, and more rows never leave more."""
    aim, horizon = aim_of(1.0), horizon_in_motion(rng)
    cost = aim.excite.expected_width(horizon)
    assert isinstance(cost, ExpectedWidth)
    value = cost.value(np.zeros(2))
    known = replace(aim.excite, estimate=prior(2.999, 3.0, 3.001))
    assert 0.0 < value < 1.0
    assert known.expected_width(horizon).value(np.zeros(2)) > 0.9


def test_costs_are_divided_by_units_above_zero():
    parts = aim_of(0.5).cost(horizon_in_motion(np.random.default_rng(1)))
    with pytest.raises(BoundError, match='beta = 1.5'):
        OnTheWayCost(parts.distance, parts.width, 1.5, 1.0, 1.0)
    with pytest.raises(BoundError, match='above 0'):
        OnTheWayCost(parts.distance, parts.width, 0.5, 1.0, 0.0)


@pytest.mark.slow
def test_learning_on_the_way_takes_less_time_than_learning_first():
    task = random_carry(seed=1, number=0)
    first, on_the_way = (carry(task, on_the_way=each) for each in (False, True))
    assert on_the_way.seconds < first.seconds < np.inf
    assert on_the_way.taught < first.taught
    assert first.truth_outside == on_the_way.truth_outside == 0
    assert max(first.largest_torque, on_the_way.largest_torque) < 1.0


def test_where_no_route_is_known_the_way_to_learn_on_is_the_shortest(monkeypatch):
    """Along turns that lead nowhere there would be far too much to look at."""
    limits = replace(MODEL.limits, is_continuous=np.array([True, False]))
    around = LEVEL + np.array([20.0 * np.pi, 0.0])
    mission, ways = Mission(replace(MODEL, limits=limits), around, SETTINGS), []

    def no_route(_):
        raise NoRouteError('too little is known')

    def aim(_, follow):
        ways.append(follow.route.waypoints)

    monkeypatch.setattr(mission, '_follow', no_route)
    monkeypatch.setattr(mission._on_the_way, 'aim_without_route', aim)
    mission._toward(ahead_of(prior(*RATHER_WIDE)))
    np.testing.assert_allclose(ways[0], [HANGING, LEVEL], atol=1e-9)
