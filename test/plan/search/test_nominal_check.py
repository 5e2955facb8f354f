"""Cheap checks refuse what certificates refuse, and seldom anything else."""

from dataclasses import replace

import numpy as np
from plan.kinova_problem import START, kinova_problem
import pytest

from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.plan.search.candidates import spread
from safe_sysid.plan.search.nominal_check import NominalCheck
from safe_sysid.reach.margin import TORQUE
from safe_sysid.reach.reachable_set import ReachableSet
from safe_sysid.sets.box import Box
from safe_sysid.sets.interval import Interval


def certified(problem, k):
    horizon = replace(problem.horizon, k_center=k)
    return ReachableSet.certify_center(replace(problem, horizon=horizon)).holds


@pytest.mark.slow
def test_checks_agree_with_most_certificates():
    box = Box(np.array([0.4, 0.3, 0.5]), np.full(3, 0.15), np.eye(3))
    problem = kinova_problem(obstacles=Obstacles.of({'box': box}))
    check = NominalCheck(problem, 12)
    plans = 1.5 * spread(0, 40, 7)
    plausible = np.array([check.margin(k) > 0.0 for k in plans])
    proven = np.array([certified(problem, k) for k in plans])
    assert 5 < proven.sum() < 35
    assert (plausible == proven).mean() > 0.85
    assert (plausible | ~proven).mean() > 0.95  # hardly any plan is missed


def test_each_kind_of_constraint_is_looked_at():
    problem = kinova_problem()
    assert NominalCheck(problem, 12).margin(np.zeros(7)) > 0.0
    for joint, k in ((1, 3.0), (0, 2.2)):  # position, velocity
        wrong = np.zeros(7)
        wrong[joint] = k
        assert NominalCheck(problem, 12).margin(wrong) < 0.0
    stretched = kinova_problem(q=np.array([0.0, np.pi / 2, 0.0, 0.0, 0.0, 0.0, 0.0]))
    weak = replace(stretched.model.limits, torque=np.full(7, 20.0))
    weak = replace(stretched, model=replace(stretched.model, limits=weak))
    assert NominalCheck(weak, 12).margin(np.zeros(7)) < 0.0
    box = Obstacles.of({'box': Box(np.array([0.0, 0.0, 0.6]), np.full(3, 0.2), np.eye(3))})
    touching = kinova_problem(q=START, obstacles=box)
    assert NominalCheck(touching, 12).margin(np.zeros(7)) < 0.0


def test_what_a_certificate_costs_is_asked_of_others():
    box = Box(np.array([0.4, 0.3, 0.5]), np.full(3, 0.15), np.eye(3))
    problem = kinova_problem(obstacles=Obstacles.of({'box': box}))
    check = NominalCheck(problem, 12)
    beside = check.beside(ReachableSet.certify_center(problem))
    assert 0.0 < beside.kept_clearance < 0.05
    assert beside.margin(np.zeros(7)) < check.margin(np.zeros(7))
    theta = problem.bounds.theta
    wide = Interval.from_center_radius(theta, 0.3 * np.abs(theta))
    bounds = ParameterEstimate(problem.model.layout, theta, wide)
    doubtful = replace(problem, bounds=bounds)
    certificate = ReachableSet.certify_center(doubtful)
    beside, torque = NominalCheck(doubtful, 12).beside(certificate), certificate.margins[TORQUE]
    assert 0.0 < abs(beside.kept_torque) < 0.5
    left = beside.torque_margin(np.zeros(7)) - beside.kept_torque
    assert left == pytest.approx(torque.margin / abs(torque.limit))
