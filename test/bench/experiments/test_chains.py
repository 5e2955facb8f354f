"""Longer and shorter Kinovas are arms, and move as the Kinova does."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from safe_sysid.bench.experiments import chains
from safe_sysid.bench.experiments.planning import at_rest, bare_estimate
from safe_sysid.bench.experiments.reach import kinova_with_dumbbell
from safe_sysid.model.collision.obstacles import NO_OBSTACLES
from safe_sysid.reach.reachable_set import ReachableSet


def mass_matrix(model, q):
    arm = model.pinocchio()
    H = pin.crba(arm, arm.createData(), q)
    return np.triu(H) + np.triu(H, 1).T


def test_seven_joints_are_the_kinova(rng):
    q = rng.uniform(-2.0, 2.0, 7)
    expected = mass_matrix(kinova_with_dumbbell(), q)
    assert mass_matrix(chains.kinova_chain(7), q) == pytest.approx(expected)


@pytest.mark.parametrize('n', [8, 12])
def test_on_other_joints_it_moves_as_it_does_alone(n, rng):
    q = rng.uniform(-2.0, 2.0, n)
    own = mass_matrix(chains.kinova_chain(n), q)[n - 6 :, n - 6 :]
    assert own == pytest.approx(mass_matrix(kinova_with_dumbbell(), q[n - 7 :])[1:, 1:])


@pytest.mark.parametrize('n', [2, 12])
def test_plans_of_any_number_of_joints_are_certified(n):
    model = chains.kinova_chain(n)
    problem = at_rest(model, bare_estimate(model), chains.start_of(n), NO_OBSTACLES)
    problem = replace(problem, gains=chains.gains_of(n))
    assert ReachableSet.certify_center(problem).holds
    assert len(chains.range_of(n)) == n
