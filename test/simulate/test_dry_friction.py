"""Dry friction: the one solution there is, found by trying all others too."""

import itertools

import numpy as np
import pytest

from safe_sysid.simulate.dry_friction import (
    BREAKAWAY,
    NOT_FINITE,
    NOT_POSITIVE_DEFINITE,
    OK,
    accelerate,
    decide,
)


def decided(H, load, coulomb, qd):
    mode, qdd, dry = (np.full(len(load), np.nan) for _ in range(3))
    return decide(H, load, coulomb, qd, mode, qdd, dry), mode, qdd, dry


def random_matrix(rng, n):
    A = rng.normal(size=(n, n + 1))
    return A @ A.T


def solutions(H, load, coulomb, qd):
    """Accelerations of every choice of modes that contradicts nothing."""
    n = len(load)
    for choice in itertools.product((-1.0, 0.0, 1.0), repeat=n):
        mode = np.array(choice)
        if (mode != np.sign(qd))[qd != 0.0].any():
            continue
        sliding = np.flatnonzero(mode)
        qdd = np.zeros(n)
        qdd[sliding] = np.linalg.solve(
            H[np.ix_(sliding, sliding)], (load - coulomb * mode)[sliding]
        )
        needed = load - H @ qdd
        rest = qd == 0.0
        if (np.abs(needed)[mode == 0.0] > coulomb[mode == 0.0]).any():
            continue
        if ((mode * qdd < 0.0) & rest).any():
            continue
        yield qdd


@pytest.mark.parametrize('n', [1, 2, 3, 4])
def test_the_acceleration_is_the_only_one_that_contradicts_nothing(rng, n):
    for _ in range(60):
        H, load = random_matrix(rng, n), 3 * rng.normal(size=n)
        coulomb = rng.uniform(0.1, 4.0, size=n)
        qd = rng.normal(size=n) * (rng.random(n) < 0.4)
        status, _, qdd, dry = decided(H, load, coulomb, qd)
        assert status == OK
        found = list(solutions(H, load, coulomb, qd))
        assert found
        for other in found:
            np.testing.assert_allclose(qdd, other, atol=1e-8)
        np.testing.assert_allclose(H @ qdd + dry, load, atol=1e-9)


def test_friction_opposes_motion_and_is_never_more_than_there_is(rng):
    for _ in range(200):
        n = int(rng.integers(1, 13))
        H, load, coulomb = random_matrix(rng, n), rng.normal(size=n), rng.uniform(0, 2, size=n)
        coulomb[rng.random(n) < 0.2] = 0.0
        qd = rng.normal(size=n) * (rng.random(n) < 0.5)
        status, mode, qdd, dry = decided(H, load, coulomb, qd)
        assert status == OK
        assert (np.abs(dry) <= coulomb * (1 + BREAKAWAY) + BREAKAWAY).all()
        np.testing.assert_array_equal(dry[qd != 0], (coulomb * np.sign(qd))[qd != 0])
        assert (dry * qdd >= 0)[qd == 0].all()
        stands = (mode == 0.0) & (coulomb > 0.0)
        assert (qdd[stands] == 0.0).all()
        np.testing.assert_allclose(H @ qdd + dry, load, atol=1e-8)


def test_a_joint_without_dry_friction_never_stands():
    H, load = np.eye(2), np.array([0.0, 1e-30])
    _, mode, qdd, dry = decided(H, load, np.zeros(2), np.zeros(2))
    assert (mode != 0.0).all()
    np.testing.assert_array_equal(qdd, load)
    np.testing.assert_array_equal(dry, [0.0, 0.0])


def test_a_block_by_hand():
    H, Fc, rest = np.array([[2.0]]), np.array([3.0]), np.zeros(1)
    for load, acceleration, friction in [(2.9, 0.0, 2.9), (-2.9, 0.0, -2.9), (5.0, 1.0, 3.0)]:
        _, _, qdd, dry = decided(H, np.array([load]), Fc, rest)
        assert (qdd[0], dry[0]) == pytest.approx((acceleration, friction))
    _, _, qdd, _ = decided(H, np.array([2.0]), Fc, np.array([-1e-9]))  # friction helps to stop
    assert qdd[0] == pytest.approx(2.5)


@pytest.mark.parametrize(
    ('H', 'expected'),
    [
        (-np.eye(2), NOT_POSITIVE_DEFINITE),
        (np.ones((2, 2)), NOT_POSITIVE_DEFINITE),
        (np.full((2, 2), np.nan), NOT_FINITE),
    ],
)
def test_matrices_of_no_arm_are_reported(H, expected):
    one, qdd, dry = np.ones(2), np.zeros(2), np.zeros(2)
    assert accelerate(H, one, one, one, qdd, dry) == expected
    assert decided(H, one, one, one)[0] == expected
