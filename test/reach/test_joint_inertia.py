"""No joint of an arm feels less inertia than its bound, wherever the arm and theta are."""

import numpy as np
import pytest
from tiers import slow_after

from safe_sysid.model import inertia
from safe_sysid.model.dynamics.regressors import slotine_li_regressor
from safe_sysid.model.parameters import ratio_bounds
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.reach import joint_inertia as module
from safe_sysid.reach.joint_inertia import joint_inertia, spatial_inertia
from safe_sysid.sets.interval import Interval
from safe_sysid.simulate.random_arm import random_body, random_tree


def felt_inertia(model, q, theta):
    """1 / [(H + diag(Ia))^-1]_jj, from accelerations one by one."""
    n = model.n
    still = np.zeros((n + 1, n))
    accelerations = np.vstack([np.eye(n), np.zeros(n)])
    W = slotine_li_regressor(model, np.tile(q, (n + 1, 1)), still, still, accelerations)
    torque = W @ theta
    return 1.0 / np.diag(np.linalg.inv((torque[:n] - torque[n]).T))


def consistent_theta(rng, model, bounds):
    """Parameters in the bounds, of bodies that can exist."""
    theta = rng.uniform(bounds.lower, bounds.upper)
    for i in range(model.n):
        place, share = model.layout.inertial(i), 1.0
        while not inertia.is_consistent(theta[place]):
            share *= 0.7
            theta[place] = model.theta[place] + share * (theta[place] - model.theta[place])
    return theta


def least_ratio(rng, model, bounds, samples=60):
    """Smallest inertia felt, in units of the bound, (n,)."""
    bound = joint_inertia(model, bounds)
    felt = [
        felt_inertia(model, rng.uniform(-3, 3, model.n), consistent_theta(rng, model, bounds))
        for _ in range(samples)
    ]
    with np.errstate(divide='ignore'):
        return np.min(felt, axis=0) / bound


@pytest.mark.parametrize('ratio', slow_after(1, [0.05, 0.0, 0.01]))
@pytest.mark.parametrize('armature', [0.0, 0.3])
def test_no_joint_of_a_random_tree_feels_less(ratio, armature, rng):
    for n in (1, 2, 5):
        for _ in range(5):
            model = random_tree(rng, n, serial=False, armature=armature)
            bounds = ratio_bounds(model.theta, ratio)
            assert np.all(least_ratio(rng, model, bounds) >= 1.0 - 1e-12)


def test_the_bound_is_reached_by_a_single_joint(rng):
    for _ in range(10):
        model = random_tree(rng, 1, serial=True)
        ratio = least_ratio(rng, model, Interval.of(model.theta), samples=1)
        assert ratio == pytest.approx(1.0)


def test_forgetting_the_body_below_is_noticed(rng, monkeypatch):
    monkeypatch.setattr(module, '_inverse_form', lambda *forms: forgetful(*forms))
    right, calls = module.__dict__['_inverse_factor'], []

    def forgetful(body, functional):
        calls.append(functional)
        X, _ = right(body.center)
        squares = ((X @ functional.center[..., None]) ** 2).sum(axis=(-1, -2))
        return squares if len(calls) % 2 else 0.0 * squares

    smallest = [
        least_ratio(rng, model, Interval.of(model.theta)).min()
        for model in (random_tree(rng, 3, serial=True) for _ in range(5))
    ]
    assert min(smallest) < 1.0


def test_a_box_of_theta_is_more_than_its_middle(rng):
    model = random_tree(rng, 4, serial=True)
    middle = joint_inertia(model, Interval.of(model.theta))
    box = joint_inertia(model, ratio_bounds(model.theta, 0.01))
    assert np.all(box < middle)
    assert np.all(box > 0.0)


def test_a_body_that_may_have_no_inertia_bounds_nothing(rng):
    model = random_tree(rng, 2, serial=True)
    theta = ratio_bounds(model.theta, 3.0)
    assert np.array_equal(joint_inertia(model, theta), [0.0, 0.0])


@pytest.mark.parametrize('robot', ['kinova_gen3', 'lbr_med7', 'two_link'])
def test_known_arms_have_a_bound(robot):
    model = RobotModel.named(robot)
    assert np.all(joint_inertia(model, ratio_bounds(model.theta, 0.05)) > 0.0)


def test_spatial_inertia_is_the_kinetic_energy(rng):
    phi, motion = random_body(rng), rng.normal(size=6)
    body = spatial_inertia(Interval.of(phi))
    m, c, I_o = phi[0], phi[1:4] / phi[0], inertia.pseudo_inertia(phi)[:3, :3]
    I_o = np.trace(I_o) * np.eye(3) - I_o
    v, w = motion[:3], motion[3:]
    energy = m * v @ v + 2 * m * v @ np.cross(w, c) + w @ I_o @ w
    assert motion @ body.lower @ motion == pytest.approx(energy)


def test_forms_of_inverses_are_bounded_over_a_box_of_matrices(rng):
    beyond_the_middle = 0
    for _ in range(40):
        factor, a = rng.normal(size=(6, 6)), rng.normal(size=6)
        middle = factor @ factor.T + 0.1 * np.eye(6)
        radius = np.abs(rng.normal(size=(6, 6))) * 3e-3
        radius = radius + radius.T
        box = Interval.from_center_radius(middle, radius)
        bound = module._inverse_form(box, Interval.of(a))
        for _ in range(50):
            signs = np.triu(rng.choice([-1.0, 1.0], (6, 6)))
            signs += np.triu(signs, 1).T
            form = a @ np.linalg.solve(middle + signs * radius, a)
            assert form <= bound * (1 + 1e-12)
            beyond_the_middle += form > a @ np.linalg.solve(middle, a)
    assert beyond_the_middle > 0
