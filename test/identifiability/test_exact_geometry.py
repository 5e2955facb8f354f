"""Geometry without rounding, and arithmetic modulo primes."""

from fractions import Fraction
import math

import numpy as np
import pinocchio as pin
import pytest

from safe_sysid.identifiability.exact_geometry import (
    AXES,
    ExactAngle,
    Turn,
    cosine_sine,
    exact_angle,
    exact_direction,
    exact_length,
    exact_rotation,
    rotation,
)
from safe_sysid.identifiability.residue_field import PRIMES, ResidueField

TIGHT = 1e-9
FIELDS = [ResidueField(prime) for prime in PRIMES]


@pytest.mark.parametrize('steps', range(-24, 25))
def test_sines_of_multiples_of_15_degrees(steps):
    c, s = cosine_sine(ExactAngle(steps))
    assert (c, s) == pytest.approx(
        (math.cos(steps * math.pi / 12), math.sin(steps * math.pi / 12))
    )
    assert c in (0.0, 1.0, -1.0) or steps % 6


@pytest.mark.parametrize('given', [1.5708, 1.57079, 1.570796327, math.pi / 2, 1.5708 - 2e-6])
def test_a_rounded_right_angle_is_one(given):
    assert exact_angle(given) == ExactAngle(6)


@pytest.mark.parametrize('given', [1.571, 0.3, -2.0, 3.0, 1e-3])
def test_other_angles_keep_their_value(given):
    angle = exact_angle(given)
    assert angle.tan_half
    assert angle.radians == pytest.approx(given, abs=1e-11)
    assert cosine_sine(angle) == pytest.approx((math.cos(given), math.sin(given)), abs=1e-11)


def test_lengths_are_the_decimals_that_were_written():
    assert exact_length(0.1 + 0.2, 1e-6) == Fraction(3, 10)
    assert exact_length(-3e-7, 1e-6) == 0


def test_rotations_and_directions_are_met(rng):
    for _ in range(100):
        R, u = pin.exp3(rng.normal(size=3)), rng.normal(size=3)
        np.testing.assert_allclose(rotation(exact_rotation(R, TIGHT)), R, atol=1e-10)
        found = rotation(exact_direction(u, TIGHT))[:, 2]
        np.testing.assert_allclose(found, u / np.linalg.norm(u), atol=1e-10)


def test_a_right_angle_between_generic_ones_is_found(rng):
    """Axes that are at a right angle stay so, whichever turns lie around it."""
    for first in range(3):
        for second in {0, 1, 2} - {first}:
            a, b = rng.uniform(0.2, 1.3, size=2)
            turns = (
                Turn(first, exact_angle(a)),
                Turn(second, ExactAngle(6)),
                Turn(first, exact_angle(b)),
            )
            R = rotation(turns)
            assert abs(R[first, first]) < 1e-15
            found = exact_rotation(R)
            assert sum(turn.angle.tan_half == 0 for turn in found) >= len(found) - 2
            assert abs(rotation(found)[first, first]) < 1e-15


def test_coordinate_axes_are_themselves():
    for k, axis in enumerate(AXES):
        np.testing.assert_array_equal(rotation(axis)[:, 2], np.eye(3)[k])
        np.testing.assert_array_equal(rotation(exact_direction(np.eye(3)[k]))[:, 2], np.eye(3)[k])


@pytest.mark.parametrize('field', FIELDS, ids=lambda field: str(field.prime))
def test_sines_modulo_a_prime_keep_their_identities(field):
    p = field.prime
    for steps in range(24):
        c, s = field.cosine_sine(ExactAngle(steps))
        assert (c * c + s * s) % p == 1
        half, double = (
            field.cosine_sine(ExactAngle(steps)),
            field.cosine_sine(ExactAngle(2 * steps)),
        )
        assert double == ((half[0] ** 2 - half[1] ** 2) % p, 2 * half[0] * half[1] % p)
        angle = ExactAngle(steps, Fraction(3, 7))
        c, s = field.cosine_sine(angle)
        assert (c * c + s * s) % p == 1
    assert field.cosine_sine(ExactAngle(6)) == (0, 1)
    assert field.cosine_sine(ExactAngle(4))[0] * 2 % p == 1


@pytest.mark.parametrize('field', FIELDS[:2], ids=lambda field: str(field.prime))
def test_spans_modulo_a_prime_have_the_rank_of_whole_numbers(field, rng):
    for _ in range(50):
        rank, size = rng.integers(1, 6, size=2)
        A = rng.integers(-9, 10, size=(8, rank)) @ rng.integers(-9, 10, size=(rank, size))
        expected = np.linalg.matrix_rank(A.astype(float))
        empty = field.array(np.zeros((0, size), dtype=np.int64))
        basis, added = field.extended(empty, field.array(A))
        assert len(basis) == len(added) == expected
        assert len(field.extended(basis, field.array(7 * A[:3]))[1]) == 0
        chosen, W = field.dependence(field.array(A))
        others = np.delete(np.arange(size), chosen)
        rebuilt = field.product(field.array(A[:, chosen]), W)
        np.testing.assert_array_equal(rebuilt, field.array(A[:, others]))
        for column in others:  # greedy: what is left out depends on what stands before it
            before = A[:, :column].astype(float)
            assert np.linalg.matrix_rank(A[:, : column + 1]) == np.linalg.matrix_rank(before)


def test_large_remainders_do_not_overflow():
    field = FIELDS[0]
    A = np.full((1, 20), field.prime - 1, dtype=np.int64)
    assert field.product(A, A.T) == 20
