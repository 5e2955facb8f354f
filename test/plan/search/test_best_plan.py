"""A search gives a certified plan or a sentence, never an exception or an uncertified plan."""

from dataclasses import replace
from itertools import count
from threading import Event
import time
from types import SimpleNamespace

import numpy as np
from plan.kinova_problem import (
    QUICK,
    START,
    kinova_problem,
    with_unknown_payload,
    without_armature,
)
import pytest

from safe_sysid.bench.experiments.excitation_episodes import UPRIGHT
from safe_sysid.bench.experiments.kinova_dumbbell import kinova_prior
from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.aims import Approach, Excite
from safe_sysid.plan.result import SearchOutcome
from safe_sysid.plan.search import best_plan
from safe_sysid.plan.search.best_plan import (
    RESERVE,
    Budget,
    SearchSettings,
    search,
    stand_still,
)
from safe_sysid.plan.search.nominal_check import NominalCheck
from safe_sysid.reach.reachable_set import ReachableSet
from safe_sysid.sets.box import Box

PLENTY = 60.0  # [s]


def excite(problem):
    return Excite(problem.model, problem.bounds, 1.5)


def test_the_plan_found_is_certified_and_cheaper_than_standing_still():
    problem = with_unknown_payload(kinova_problem())
    found = search(problem, excite(problem), Budget.of(PLENTY), SearchSettings(rounds=1), 1)
    assert found.outcome is SearchOutcome.FOUND
    assert found.certificate.holds
    again = ReachableSet.certify_center(found.certificate.problem)
    assert again.holds
    unit = excite(problem).cost(found.certificate.problem.horizon)
    assert found.cost == pytest.approx(unit.evaluate(np.zeros(7)).value)
    still = replace(found.certificate.problem.horizon, k_center=np.zeros(7))
    assert found.cost < excite(problem).cost(still).evaluate(np.zeros(7)).value - 0.2
    assert found.first <= found.seconds['total']
    assert {'gentle', 'candidates', 'refine', 'total'} <= found.seconds.keys()
    assert str(found).startswith('new plan, smallest margin: ')


@pytest.mark.slow
def test_refining_lowers_the_cost():
    problem = with_unknown_payload(kinova_problem())
    costs = [
        search(problem, excite(problem), Budget.of(PLENTY), settings, 1).cost
        for settings in (QUICK, SearchSettings(candidates=40, rounds=2, ipopt_seconds=60.0))
    ]
    assert costs[1] < costs[0] - 0.01


def wide_bounds():
    """As wide as those of Table I, where sets of a range hardly ever prove anything."""
    model = RobotModel.named('kinova_gen3').with_payload(read_payload('dumbbell_8lb'))
    return replace(kinova_problem(UPRIGHT), model=model, bounds=kinova_prior(model))


@pytest.mark.slow
def test_looking_nearby_lowers_the_cost_where_sets_of_a_range_prove_nothing(monkeypatch):
    problem = wide_bounds()
    evaluated = []
    monkeypatch.setattr(best_plan, 'solve', lambda *a: evaluated.append(a))
    first, near = (
        search(problem, excite(problem), Budget.of(PLENTY), replace(QUICK, **more), 1)
        for more in ({'nearby': 0}, {'nearby': 2, 'rounds': 2})
    )
    assert near.cost < first.cost - 0.01
    assert near.certificate.holds
    assert ReachableSet.certify_center(near.certificate.problem).holds
    assert not evaluated  # Ipopt is not asked in vain
    again = search(
        problem, excite(problem), Budget.of(PLENTY), replace(QUICK, nearby=2, rounds=2), 1
    )
    assert np.array_equal(again.certificate.k, near.certificate.k)


def test_plans_nearby_that_cost_more_are_not_checked(monkeypatch):
    problem = with_unknown_payload(kinova_problem())
    aim, checked, margin = excite(problem), [], NominalCheck.margin
    monkeypatch.setattr(
        NominalCheck, 'margin', lambda check, k: checked.append(k) or margin(check, k)
    )
    settings = replace(QUICK, candidates=0, nearby=1, fewer=8, trials=0)
    search(problem, aim, Budget.of(PLENTY), settings, 1)
    horizon = problem.horizon
    cost = aim.cost(replace(horizon, k_center=np.zeros(7), k_range=np.ones(7))).value
    assert 0 < len(checked) < 8
    assert all(cost(k) < cost(np.zeros(7)) for k in checked)


def test_rounds_without_plans_are_none():
    problem = with_unknown_payload(kinova_problem())
    settings = replace(QUICK, nearby=2, fewer=0, rounds=0)
    assert search(problem, excite(problem), Budget.of(PLENTY), settings, 0).certificate is not None


def test_a_plan_from_motion_goes_on_from_there():
    problem = kinova_problem(qd=0.2)
    found = search(problem, excite(problem), Budget.of(PLENTY), QUICK, 0)
    assert found.outcome is SearchOutcome.FOUND
    curve = found.certificate.problem.horizon.curve
    np.testing.assert_allclose(curve.velocity(0.0, found.certificate.k), np.full(7, 0.2))


def test_a_goal_within_reach_is_where_the_plan_ends():
    problem = kinova_problem()
    goal = START + 0.3
    found = search(problem, Approach(problem.model, goal), Budget.of(PLENTY), QUICK, 0)
    np.testing.assert_allclose(START + found.certificate.k, goal)
    assert found.cost == pytest.approx(0.0, abs=1e-12)


def test_a_start_in_contact_is_refused_with_the_shapes():
    box = Obstacles.of({'table': Box(np.array([0.0, 0.0, 0.6]), np.full(3, 0.3), np.eye(3))})
    problem = kinova_problem(obstacles=box)
    found = search(problem, excite(problem), Budget.of(PLENTY), QUICK, 0)
    assert found.outcome is SearchOutcome.INFEASIBLE
    assert found.certificate is None
    assert 'no plan satisfies every constraint: obstacle clearance of ' in str(found)
    assert ' and table at t = ' in str(found)


def test_a_torque_that_is_too_large_is_named():
    stretched = kinova_problem(q=np.array([0.0, np.pi / 2, 0.0, 0.0, 0.0, 0.0, 0.0]))
    torque = stretched.model.limits.torque.copy()
    torque[1] = 20.0
    model = replace(stretched.model, limits=replace(stretched.model.limits, torque=torque))
    found = stand_still(replace(stretched, model=model), Budget.of(PLENTY), QUICK)
    assert found.outcome is SearchOutcome.INFEASIBLE
    assert 'torque of joint_2 at t = 0.00 to 0.02 s: ' in str(found)
    assert ' of 20 N m' in str(found) or ' of -20 N m' in str(found)


def test_a_start_outside_the_limits_is_refused():
    q = START.copy()
    q[3] = 3.0
    found = stand_still(kinova_problem(q), Budget.of(PLENTY), QUICK)
    assert found.outcome is SearchOutcome.INFEASIBLE
    assert found.certificate is None


def test_a_goal_outside_the_limits_is_refused_with_joint_value_and_limits():
    problem = kinova_problem()
    goal = START.copy()
    goal[1] = 3.0
    found = search(problem, Approach(problem.model, goal), Budget.of(PLENTY), QUICK, 0)
    assert found.outcome is SearchOutcome.UNUSABLE
    assert found.certificate is None
    assert 'the goal of joint_2 is 3.0 rad, outside its limits [-2.24, 2.24]' in str(found)


def test_bounds_that_promise_nothing_are_refused():
    problem = without_armature(kinova_problem())
    found = search(problem, excite(problem), Budget.of(PLENTY), QUICK, 0)
    assert found.outcome is SearchOutcome.UNUSABLE
    assert found.certificate is None
    assert 'no bound on the tracking error' in str(found)


def test_without_time_there_is_no_plan():
    problem = kinova_problem()
    found = search(problem, excite(problem), Budget.of(1e-3), QUICK, 0)
    assert (found.outcome, found.certificate, found.starts) == (SearchOutcome.OUT_OF_TIME, None, 0)
    assert str(found) == 'no plan within the time budget'


class Standing(Budget):
    """Of a clock that stands still."""

    @property
    def now(self):
        return 0.0


def test_steps_are_timed_by_the_clock_of_the_budget(monkeypatch):
    """Not by that of the machine, of which ten seconds pass at every look."""
    ticks = count(step=10.0)
    clock = SimpleNamespace(monotonic=lambda: next(ticks), process_time=time.process_time)
    monkeypatch.setattr(best_plan, 'time', clock)
    problem = with_unknown_payload(kinova_problem())
    settings = replace(QUICK, rounds=0)
    found = search(problem, excite(problem), Standing(1.0), settings, 1)
    assert found.outcome is SearchOutcome.FOUND
    assert np.any(found.certificate.k)


def test_what_has_no_plan_yet_looks_on_while_there_is_time_for_one_certificate():
    """What has one leaves time for two: that of the better plan, and what it takes to find it."""
    problem = with_unknown_payload(kinova_problem())
    needed = RESERVE * QUICK.slow
    look = best_plan._Search(problem, excite(problem), Standing(1.5 * needed), QUICK, 1)
    still = np.zeros(7)
    assert len(look._ranked([still], lambda _: 0.0)) == 1
    look._best = ReachableSet.certify_center(problem)
    assert look._ranked([still], lambda _: 0.0) == []


def test_a_cancelled_search_gives_what_it_has():
    problem, cancelled = kinova_problem(), Event()
    cancelled.set()
    found = search(problem, excite(problem), Budget.of(PLENTY, cancelled), QUICK, 0)
    assert (found.outcome, found.certificate) == (SearchOutcome.CANCELLED, None)


def test_a_rehearsal_is_short_and_leaves_out_no_phase():
    whole = SearchSettings()
    short = whole.rehearsing()
    for phase in ('candidates', 'nearby', 'fewer', 'rounds'):
        assert 0 < getattr(short, phase) < getattr(whole, phase)
        assert getattr(replace(whole, **{phase: 0}).rehearsing(), phase) == 0
    assert short.intervals == whole.intervals
