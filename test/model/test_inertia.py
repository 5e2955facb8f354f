"""Inertial parameters of bodies whose point masses are known."""

import numpy as np
import pinocchio as pin
import pytest

from safe_sysid.model import inertia
from safe_sysid.simulate.random_arm import random_body, random_rotation


def test_parameters_of_a_point_mass_by_hand():
    phi = inertia.from_mass_com_inertia(np.array(2.0), np.array([1.0, 0.0, 3.0]), np.zeros((3, 3)))
    # I = m (c'c 1 - c c'): Ixx = 2*9, Ixy = 0, Iyy = 2*10, Ixz = -2*3, Iyz = 0, Izz = 2*1
    np.testing.assert_allclose(phi, [2, 2, 0, 6, 18, 0, 20, -6, 0, 2])


def test_order_is_that_of_pinocchio(rng):
    phi = random_body(rng)
    body = pin.Inertia.FromDynamicParameters(phi)
    mass, com, about_com = inertia.mass_com_inertia(phi)
    assert mass == pytest.approx(body.mass)
    np.testing.assert_allclose(com, body.lever, rtol=1e-12)
    np.testing.assert_allclose(about_com, body.inertia, atol=1e-12)
    np.testing.assert_allclose(
        inertia.from_mass_com_inertia(mass, com, about_com), phi, atol=1e-12
    )


def test_a_moved_body_is_the_body_pinocchio_moves(rng):
    for _ in range(20):
        phi, p = random_body(rng), rng.normal(size=3)
        R = random_rotation(rng)
        expected = pin.SE3(R, p).act(pin.Inertia.FromDynamicParameters(phi))
        np.testing.assert_allclose(
            inertia.moved(phi, R, p), expected.toDynamicParameters(), atol=1e-11
        )


def test_pseudo_inertia_is_the_second_moment_of_the_masses(rng):
    points, masses = rng.normal(size=(6, 3)), rng.uniform(0.1, 1.0, size=6)
    phi = inertia.from_mass_com_inertia(masses, points, np.zeros((6, 3, 3))).sum(axis=0)
    one = np.concatenate([points, np.ones((6, 1))], axis=1)
    J = inertia.pseudo_inertia(phi)
    np.testing.assert_allclose(J, np.einsum('a,ai,aj->ij', masses, one, one), atol=1e-12)
    np.testing.assert_allclose(inertia.from_pseudo_inertia(J), phi, atol=1e-12)


def test_consistency_is_more_than_a_positive_definite_inertia():
    # 1, 1, 3 violates the triangle inequality: no body has it, although I > 0
    phi = inertia.from_mass_com_inertia(np.array(1.0), np.zeros(3), np.diag([1.0, 1.0, 3.0]))
    assert not inertia.is_consistent(phi)
    phi = inertia.from_mass_com_inertia(np.array(1.0), np.zeros(3), np.diag([1.0, 1.0, 1.9]))
    assert inertia.is_consistent(phi)
    assert not inertia.is_consistent(-phi)


def test_batches_are_their_bodies_one_by_one(rng):
    phi = np.array([random_body(rng) for _ in range(12)]).reshape(3, 4, 10)
    np.testing.assert_allclose(
        inertia.pseudo_inertia(phi)[1, 2], inertia.pseudo_inertia(phi[1, 2])
    )
    assert inertia.is_consistent(phi).shape == (3, 4)
