"""Plans are told once each, however many results they are in."""

import numpy as np

from safe_sysid.measure.clock import Clock
from safe_sysid.plan.announced import Announced
from safe_sysid.plan.result import PlanResult, SearchFinding, SearchOutcome
from safe_sysid.trajectory.bezier import Bezier
from safe_sysid.trajectory.plan import Plan

CLOCK, REST = Clock(7_000_000_000), np.zeros(2)


def plan_from(start):
    return Plan(start, start + 1.5, Bezier(REST, REST, REST, 3.0), REST)


def result_of(plan, successor=None):
    return PlanResult(plan, successor, SearchFinding(SearchOutcome.FOUND), 0.0)


def test_a_plan_and_its_successor_are_told_in_their_order():
    announced, first, second = Announced(), plan_from(0.0), plan_from(1.5)
    assert announced.new(result_of(first, second), CLOCK) == [first, second]
    assert announced.newest == '8500000000'


def test_a_plan_is_told_once():
    announced, first, second, third = Announced(), *(plan_from(1.5 * i) for i in range(3))
    announced.new(result_of(first, second), CLOCK)
    assert announced.new(result_of(first, second), CLOCK) == []
    assert announced.new(result_of(second, third), CLOCK) == [third]
    assert announced.new(result_of(second), CLOCK) == []
    assert announced.newest == '10000000000'


def test_a_plan_is_the_same_by_its_start_alone():
    announced = Announced()
    announced.new(result_of(plan_from(1.5)), CLOCK)
    assert announced.new(result_of(plan_from(1.5)), CLOCK) == []


def test_a_plan_in_the_place_of_one_that_was_told_is_told():
    announced, other, instead = Announced(), plan_from(0.0), plan_from(1.5)
    announced.new(result_of(other, plan_from(1.5)), CLOCK)
    announced.take_back(result_of(instead), CLOCK)
    assert announced.new(result_of(other), CLOCK) == []
    assert announced.new(result_of(instead), CLOCK) == [instead]


def test_without_a_plan_there_is_nothing_to_tell():
    announced = Announced()
    assert announced.new(result_of(None), CLOCK) == []
    assert announced.newest == ''


def test_only_the_last_plans_are_remembered():
    announced, plans = Announced(), [plan_from(float(i)) for i in range(5)]
    for plan in plans:
        announced.new(result_of(plan), CLOCK)
    assert announced.new(result_of(plans[1]), CLOCK) == []
    assert announced.new(result_of(plans[0]), CLOCK) == [plans[0]]
