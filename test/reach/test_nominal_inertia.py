"""The nominal mass matrix is within its bounds wherever the arm may be in a time step."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from reach.reach_samples import random_error, random_horizon, sample

from safe_sysid.errors import BoundError
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.reach.joint_reach import joint_reach
from safe_sysid.reach.nominal_inertia import mass_matrix, missing_inertia, nominal_inertia
from safe_sysid.simulate.random_arm import random_tree

CASES = [(1, 0.0), (2, 0.0), (3, 0.3), (5, 0.0), (7, 0.02), (7, 0.5)]


def case_of(rng, n, k_range, armature=0.3, size=0.02):
    model = random_tree(rng, n, serial=bool(n % 2), armature=armature)
    horizon = random_horizon(rng, n, k_range, 64)
    error = random_error(rng, n, size)
    return model, horizon, error, joint_reach(model, horizon, error)


def true_matrix(model, q):
    """H + diag(Ia) by Pinocchio."""
    rigid = model.pinocchio()
    upper = np.triu(pin.crba(rigid, rigid.createData(), q))
    return upper + np.triu(upper, 1).T


def worst_shares(rng, bounds, case, samples=120):
    """Largest share of both bounds that a sample uses."""
    model, horizon, error, _ = case
    diagonal = inverse = 0.0
    for _ in range(samples):
        _, step, values = sample(rng, horizon, error)
        M = true_matrix(model, values['q'])
        diagonal = max(diagonal, np.max(np.diag(M) / bounds.diagonal[step]))
        w = rng.normal(size=model.n) * np.sqrt(np.diag(M))
        allowed = np.abs(w) @ bounds.inverse[step] @ np.abs(w)
        inverse = max(inverse, (w @ np.linalg.solve(M, w)) / allowed)
    return diagonal, inverse


@pytest.mark.parametrize(('n', 'k_range'), CASES)
def test_mass_matrices_of_random_trees_are_within_their_bounds(rng, n, k_range):
    for _ in range(1):
        case = case_of(rng, n, k_range)
        bounds = nominal_inertia(case[0], case[3], case[0].theta)
        assert max(worst_shares(rng, bounds, case)) <= 1.0


@pytest.mark.parametrize('count', [1, 9, 20])
def test_a_mass_matrix_is_what_it_is_without_other_time_steps(rng, count):
    model, horizon, error, _ = case_of(rng, 4, 0.1)
    reach = joint_reach(model, replace(horizon, intervals=count), error)
    every = mass_matrix(model, reach, model.theta)
    for t in range(count):
        alone = replace(reach, rows=reach.rows[:, t : t + 1])
        for part, same in zip(every, mass_matrix(model, alone, model.theta), strict=True):
            np.testing.assert_array_equal(part[t : t + 1], same)


def test_bounds_of_one_plan_are_close(rng):
    """Of an arm that hardly errs, within a few per cent."""
    model, _, _, reach = case = case_of(rng, 4, 0.0, 1.0, 1e-4)
    bounds = nominal_inertia(model, reach, model.theta)
    shares = worst_shares(rng, bounds, case, 300)
    assert min(shares) > 0.9
    assert max(shares) <= 1.0


def test_without_the_way_of_the_arm_within_a_step_bounds_are_too_small(rng):
    """Mutant: positions at their middle."""
    broken = 0
    for _ in range(4):
        case = case_of(rng, 3, 0.0, 0.05, 0.3)
        rows = case[3].rows.copy()
        rows[..., -1] = 0.0
        bounds = nominal_inertia(case[0], replace(case[3], rows=rows), case[0].theta)
        broken += max(worst_shares(rng, bounds, case)) > 1.0
    assert broken > 0


def test_armature_alone_bounds_an_arm_whose_position_is_unknown(rng):
    model, _, _, reach = case = case_of(rng, 3, 20.0, 0.01)
    bounds = nominal_inertia(model, reach, model.theta)
    assert max(worst_shares(rng, bounds, case)) <= 1.0
    np.testing.assert_allclose(bounds.inverse[-1], np.eye(3) / model.theta[-6:-3], rtol=1e-9)


def test_what_is_missing_of_the_inertia_of_a_body():
    """By Pinocchio about the centre of mass; the last eigenvalue of the third body is -0.2."""
    about_center = np.diag([0.3, 0.2, 0.4]), np.zeros((3, 3)), np.diag([0.5, 0.4, 0.3])
    bodies = [
        pin.Inertia(2.0, np.array([0.1, -0.3, 0.2]), inertia).toDynamicParameters()
        for inertia in about_center
    ]
    bodies[2][-1] -= 0.5  # I_zz, the last entry of both
    bodies += [np.zeros(10), np.eye(10)[1], np.full(10, np.nan)]
    missing = missing_inertia(np.array(bodies))
    np.testing.assert_allclose(missing, [0.0, 0.0, 0.2, 0.0, np.inf, np.inf], atol=1e-13)


def test_nominal_bodies_that_cannot_exist_take_from_the_armature():
    """A point mass told to have no inertia about a joint that it is away from."""
    model = RobotModel.named('two_link')
    theta = model.theta.copy()
    theta[model.layout.end_effector] = [1.0, 0.3, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    rng = np.random.default_rng(0)
    horizon, error = random_horizon(rng, 2, 20.0, 16), random_error(rng, 2)
    reach = joint_reach(model, horizon, error)
    with pytest.raises(BoundError, match='without inertia'):
        nominal_inertia(model, reach, theta)
    theta[model.layout.joint_entries('Ia')] = 0.2
    inverse = nominal_inertia(model, reach, theta).inverse[-1]
    np.testing.assert_allclose(inverse, np.eye(2) / (0.2 - 2 * 0.09), rtol=1e-9)
