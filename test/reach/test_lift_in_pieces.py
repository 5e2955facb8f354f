"""What has left its support does not come back, whatever plans and pieces its way is made of."""

from dataclasses import replace

import numpy as np
from plan.kinova_problem import START
from plan.test_leaving_what_was_placed import mission_to
from plan.test_receding_horizon import ORIGIN, SETTINGS, at, on
import pytest
from reach.test_lift_off import DEPTH, HALF, HELD, POST, SLIDE, UP, lift, toward
from reach.test_lift_off import problem as problem
from reach.test_retreat import ALLOWED, NAME, off
from reach.test_retreat import placed as placed

from safe_sysid.measure.clock import Clock
from safe_sysid.model.collision.obstacles import NO_OBSTACLES, Obstacles
from safe_sysid.plan.early_stop import find_stop
from safe_sysid.plan.receding_horizon import RecedingHorizonPlanner
from safe_sysid.plan.search.pieces import certified, horizon_of
from safe_sysid.reach.lift_off import Standing
from safe_sysid.reach.margin import LIFT_OFF, OBSTACLE
from safe_sysid.reach.reachable_set import ReachableSet
from safe_sysid.sets.box import Box
from safe_sysid.trajectory.bezier import Bezier
from safe_sysid.trajectory.plan import Plan
from safe_sysid.trajectory.task_motion import Piece

STILL = np.zeros(7)
ALONG = {'support': 'post', 'payload': (HELD,), 'direction': (0.0, 0.0, 1.0)}


def pieces(problem, ways):
    """One certificate for each way, every piece from rest to rest."""
    q, proven = START, []
    for way in ways:
        k = START + toward(problem.model, np.asarray(way)) - q
        piece = Piece(Bezier(q, STILL, STILL, 3.0), k)
        before = proven[-1] if proven else None
        proven.append(certified(problem, horizon_of(problem, piece), before))
        q = q + k
    return proven


def up(problem, heights, **other):
    lifting = replace(problem, lift=replace(lift(problem.model), **other))
    return pieces(lifting, [height * UP for height in heights])


@pytest.mark.parametrize('depth', [0.03, 0.06])
def test_a_piece_does_not_lead_back_onto_what_the_one_before_has_left(problem, depth):
    there, back = up(problem, (0.035, 0.0), depth=depth)
    assert there.holds
    assert back.margins[LIFT_OFF].margin < 0.0
    assert 'which it has left' in str(back.margins[LIFT_OFF])
    assert not any('may touch' in each for each in back.assumptions)


def test_pieces_that_go_on_leading_off_are_certified(problem):
    for heights in ((0.035, 0.035, 0.06), (0.02, 0.02, 0.05, 0.1)):
        assert all(each.holds for each in up(problem, heights))


def test_the_height_of_earlier_pieces_counts_for_later_ones(problem):
    """Down by less than the allowance in each, and by more than it in both."""
    first, second, third = up(problem, (0.012, 0.004, -0.006))
    assert first.holds
    assert second.holds
    assert third.margins[LIFT_OFF].margin < 0.0
    assert up(problem, (0.004, -0.006))[-1].holds


def test_a_hand_does_not_go_back_to_what_a_piece_has_left(problem, placed):
    told = replace(problem, retreat=ALLOWED, obstacles=Obstacles.of({NAME: placed}))
    away = off(problem, placed)
    lengths = (0.05, 0.04, 0.03, 0.02, 0.01)  # nearer by less than the allowance in each
    there, *back = pieces(told.lifting(START), [length * away for length in lengths])
    assert there.holds
    assert back[-1].margins[LIFT_OFF].margin < 0.0


def test_what_a_plan_had_as_an_obstacle_is_not_left_but_stays_one(problem, placed):
    """A hand that comes back near what it let go at START has no leave, but after other plans."""
    gone = START + toward(problem.model, 0.15 * off(problem, placed))
    horizon = replace(problem.horizon, curve=replace(problem.horizon.curve, q0=gone))
    told = replace(problem, retreat=ALLOWED, obstacles=Obstacles.of({NAME: placed}))
    before = ReachableSet.certify_center(replace(told, horizon=horizon))
    assert before.holds
    assert before.continued(told.lifting(START), 3.0).lift.is_left
    alone = replace(before.problem, obstacles=NO_OBSTACLES)
    other = ReachableSet.certify_center(alone)
    assert not other.continued(told.lifting(START), 3.0).lift.is_left


def test_an_early_stop_does_not_lead_back(problem):
    """Of a plan of two pieces, the second of which keeps clear; its stop has no leave either."""
    first, then = up(problem, (0.08, 0.06))
    bounds = problem.bounds
    plan = Plan(
        10.0,
        13.0,
        first.problem.horizon.curve,
        first.k,
        bounds.bounds,
        replace(first, then=(then,)),
        bounds.theta,
        (Piece(then.problem.horizon.curve, then.k),),
    )
    early = find_stop(plan, 10.2, NO_OBSTACLES, np.inf).certificate
    late = find_stop(plan, 14.0, NO_OBSTACLES, np.inf).certificate
    assert not early.problem.lift.is_left
    assert late.problem.lift.is_left
    moved = Obstacles.of({'post': Box(POST.center - 0.2 * UP, HALF, np.eye(3))})
    assert find_stop(plan, 14.0, moved, np.inf).certificate.problem.lift is None


def test_a_successor_has_the_leave_that_its_plan_leaves(problem):
    """A planner whose arm has gone up, and is asked where plans lead that come back."""
    standing = Standing(**ALONG, depth=DEPTH, slide=SLIDE)
    boxes = Obstacles.of({'post': POST})
    told = replace(problem, standing=standing, obstacles=boxes)
    mission = mission_to(None, 0)
    planner = RecedingHorizonPlanner(told, mission, Clock(ORIGIN), SETTINGS)
    seen = []
    mission.due = lambda ahead: seen.append(ahead.problem)
    resting = planner.step(at(0.0), problem.bounds).in_force
    assert [each.lift.is_left for each in seen] == [False]
    horizon = replace(problem.horizon, k_center=toward(problem.model, 0.08 * UP))
    up_there = ReachableSet.certify_center(replace(seen[0], horizon=horizon))
    start = resting.switch_time
    plan = planner._plan_of(up_there, start)
    planner._successor = plan
    assert planner.step(on(plan, start), problem.bounds).in_force is plan
    left = seen[-1]
    assert left.lift.is_left
    np.testing.assert_allclose(left.lift.highest, 0.04, atol=2e-3)
    back = replace(left.horizon, k_center=START - left.horizon.curve.q0)
    alone = replace(left, lift=None, obstacles=boxes, horizon=back)
    refused = ReachableSet.certify_center(alone).margins[OBSTACLE]
    asked = ReachableSet.certify_center(replace(left, horizon=back)).margins[LIFT_OFF]
    assert asked.margin == pytest.approx(refused.margin, abs=1e-6)
