"""Random arms are arms: bodies that can exist, rotations, trees in the order they need."""

import numpy as np
import pinocchio as pin
import pytest

from safe_sysid.model import inertia
from safe_sysid.simulate.random_arm import random_body, random_rotation, random_tree


def test_bodies_can_exist(rng):
    for _ in range(200):
        phi = random_body(rng)
        assert inertia.is_consistent(phi)
        body = pin.Inertia.FromDynamicParameters(phi)
        about_com = np.sort(np.linalg.eigvalsh(body.inertia))
        assert body.mass > 0
        assert about_com[0] > 0
        assert about_com[0] + about_com[1] > about_com[2]


@pytest.mark.parametrize('n', [1, 2, 5, 12])
@pytest.mark.parametrize('serial', [True, False])
def test_trees_are_what_the_recursions_expect(rng, n, serial):
    for _ in range(20):
        model = random_tree(rng, n, serial)
        tree = model.tree
        parents = tree.parent.tolist()
        assert parents[0] == -1
        assert all(-1 <= parents[i] < i for i in range(n))
        if serial:
            assert parents == list(range(-1, n - 1))
        np.testing.assert_allclose(np.linalg.norm(tree.axis, axis=1), 1.0, rtol=1e-15)
        for R in tree.R_parent_joint:
            np.testing.assert_allclose(R.T @ R, np.eye(3), atol=1e-14)
            assert np.linalg.det(R) > 0
        for i in range(n):
            assert inertia.is_consistent(model.theta[model.layout.inertial(i)])
        assert (model.layout.friction(model.theta)[:2] > 0).all()  # dry and viscous


def test_branches_are_in_depth_first_order(rng):
    # a body's parent is the body before it, or one below that: Pinocchio needs subtrees in a row
    for _ in range(50):
        parents = random_tree(rng, 10, serial=False).tree.parent.tolist()
        for i in range(1, 10):
            below = i - 1
            while below != parents[i]:
                assert below >= 0
                below = parents[below]


def test_trees_differ_in_all_that_matters_to_the_dynamics(rng):
    trees = [random_tree(rng, 7, serial=False).tree for _ in range(50)]
    assert {bool(x) for tree in trees for x in tree.is_prismatic} == {True, False}
    assert any(tree.parent.tolist() != list(range(-1, 6)) for tree in trees)
    assert len({tree.gravity.tobytes() for tree in trees}) == 50


def test_armature_is_the_one_asked_for(rng):
    model = random_tree(rng, 4, serial=True, armature=0.25)
    np.testing.assert_array_equal(model.layout.friction(model.theta)[2], np.full(4, 0.25))
    np.testing.assert_array_equal(model.pinocchio().armature, np.full(4, 0.25))


def test_the_same_seed_gives_the_same_arm():
    a, b = (random_tree(np.random.default_rng(3), 5, serial=False) for _ in range(2))
    np.testing.assert_array_equal(a.theta, b.theta)
    for x, y in zip(a.tree, b.tree, strict=True):
        np.testing.assert_array_equal(x, y)


@pytest.mark.slow
def test_rotations_have_no_preferred_direction(rng):
    turned = np.array([random_rotation(rng)[:, 0] for _ in range(1500)])
    np.testing.assert_allclose(turned.mean(axis=0), 0.0, atol=0.05)
    np.testing.assert_allclose(turned.T @ turned / 1500, np.eye(3) / 3, atol=0.03)
