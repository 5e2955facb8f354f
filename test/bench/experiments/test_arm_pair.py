"""Two arms on one base plan together, and neither comes to where the other may be."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from safe_sysid.bench.experiments.arm_pair import PAIR_RANGE, at_rest_side_by_side, kinova_pair
from safe_sysid.bench.experiments.planning import violations
from safe_sysid.bench.experiments.reach import kinova_with_dumbbell
from safe_sysid.model.collision.contact import ContactGauge
from safe_sysid.plan.aims import Approach
from safe_sysid.plan.search.best_plan import Budget, SearchSettings, search
from safe_sysid.reach.margin import CAPSULES
from safe_sysid.reach.reachable_set import ReachableSet
from safe_sysid.trajectory.bezier import Bezier

INWARD = np.zeros(14)
INWARD[[0, 7]] = [-1.2, 1.2]  # [rad] that turn the arms towards each other


def test_each_moves_as_it_does_alone_and_does_not_feel_the_other(rng):
    model, one = kinova_pair(), kinova_with_dumbbell()
    q = rng.uniform(-2.0, 2.0, 14)

    def mass_matrix(arm, at):
        found = arm.pinocchio()
        H = pin.crba(found, found.createData(), at)
        return np.triu(H) + np.triu(H, 1).T

    both = mass_matrix(model, q)
    assert both[:7, :7] == pytest.approx(mass_matrix(one, q[:7]))
    assert both[7:, 7:] == pytest.approx(mass_matrix(one, q[7:]))
    assert np.array_equal(both[:7, 7:], np.zeros((7, 7)))


@pytest.fixture(scope='module')
def problem():
    return at_rest_side_by_side()


def test_plans_keep_the_arms_apart(problem, rng):
    """They go on as far as that, and no sample of them touches."""
    start = problem.horizon.curve.q0
    aim = Approach(problem.model, start + INWARD)
    found = search(problem, aim, Budget.of(1000.0), SearchSettings(), 1)
    certificate = found.certificate
    assert certificate is not None and certificate.holds
    assert np.abs(certificate.k).max() > 0.05
    assert violations(rng, certificate, 300) == 0


def test_a_plan_that_leads_one_arm_to_the_other_is_not_certified(problem):
    start, rest = problem.horizon.curve.q0, np.zeros(14)
    model, share = problem.model, 1.0
    while ContactGauge(model).clearance(start + share * INWARD).distance > 0.0:
        share *= 1.1
    horizon = replace(problem.horizon, curve=Bezier(start, rest, rest, 3.0))
    met = replace(problem, horizon=replace(horizon, k_center=share * INWARD))
    margin = ReachableSet.certify_center(met).margins[CAPSULES]
    assert margin.margin < 0.0
    assert 'left_' in margin.where and 'right_' in margin.where


def test_sets_of_fourteen_joints_contain_what_plans_of_them_reach(problem, rng):
    sets = ReachableSet.of(replace(problem, horizon=replace(problem.horizon, intervals=32)))
    assert np.array_equal(sets.problem.horizon.k_range, PAIR_RANGE)
    for x in rng.uniform(-1.0, 1.0, (3, 14)):
        plan = sets.of_plan(sets.k(x))
        own, all_of_them = plan.torque.bound(), sets.torque.bound()
        assert np.all(own.center >= all_of_them.lower) and np.all(own.center <= all_of_them.upper)
