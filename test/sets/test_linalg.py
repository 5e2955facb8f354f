"""Set-valued linear algebra contains the exact rational result for members of its operands."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from sets.exact_polynomials import exact_polynomial, members, random_box_point, random_model

from safe_sysid.sets import linalg
from safe_sysid.sets.elementary import cos, sin
from safe_sysid.sets.interval import Interval
from safe_sysid.sets.monomials import monomials
from safe_sysid.sets.taylor_model import TaylorModel

TABLE = monomials(2, 2)


def exact_member(rng, model, k):
    """Array of rationals: one member of every entry of a model, at k."""
    flat = model.reshape(int(np.prod(model.shape)))
    picked = [members(rng, flat[i], k)[int(rng.integers(3))] for i in range(len(flat))]
    return np.array(picked, dtype=object).reshape(model.shape)


def contains(result, exact, k) -> bool:
    flat, values = result.reshape(int(np.prod(result.shape))), np.ravel(exact)
    return all(
        abs(exact_polynomial(flat[i], k) - value) <= Fraction(float(flat[i].remainder))
        for i, value in enumerate(values)
    )


CASES = [
    (linalg.cross, np.cross, (3,), (3,)),
    (linalg.dot, np.dot, (3,), (3,)),
    (linalg.matrix_vector, np.dot, (3, 3), (3,)),
    (linalg.matrix_matrix, np.dot, (6, 6), (6, 6)),
]


@pytest.mark.parametrize(('operation', 'oracle', 'left', 'right'), CASES)
def test_product_of_models_contains_the_exact_product(operation, oracle, left, right, rng):
    a, b = random_model(rng, TABLE, left), random_model(rng, TABLE, right)
    result = operation(a, b)
    for _ in range(3):
        k = random_box_point(rng, 2)
        assert contains(result, oracle(exact_member(rng, a, k), exact_member(rng, b, k)), k)


@pytest.mark.parametrize(('operation', 'oracle', 'left', 'right'), CASES)
def test_product_with_intervals_and_numbers(operation, oracle, left, right, rng):
    numbers, center = rng.normal(size=left), rng.normal(size=right)
    for matrix in (numbers, Interval.from_center_radius(numbers, 0.1)):
        result = operation(matrix, Interval.from_center_radius(center, 0.2))
        assert result.contains(oracle(numbers, center))
        assert result.contains(oracle(numbers, center + 0.2))
        assert np.all(result.radius < 10.0)


def test_batches_work_entry_by_entry(rng):
    a, b = random_model(rng, TABLE, (4, 3, 3)), random_model(rng, TABLE, (4, 3))
    together = linalg.matrix_vector(a, b)
    assert together.shape == (4, 3)
    assert np.array_equal(together[2].rows, linalg.matrix_vector(a[2], b[2]).rows)


def test_rotation_turns_about_the_axis(rng):
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    angle = 0.7
    exact = Rotation.from_rotvec(angle * axis).as_matrix()
    fixed, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    sets = linalg.rotation(fixed, axis, sin(Interval.of(angle)), cos(Interval.of(angle)))
    assert np.all(np.abs(sets.center - fixed @ exact) < 1e-14)
    assert np.all(sets.radius < 1e-14)


def test_rotation_of_a_range_of_angles_contains_each(rng):
    k = TaylorModel.variables(TABLE)
    sine, cosine = (k[0] * 0.3 + k[1] * 0.1 + 0.5).sine_cosine()
    sets = linalg.rotation(np.eye(3), np.array([0.0, 0.0, 1.0]), sine, cosine)
    for point in rng.uniform(-1, 1, (20, 2)):
        angle = 0.5 + 0.3 * point[0] + 0.1 * point[1]
        s, c = np.sin(angle), np.cos(angle)
        exact = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        value = sets.evaluate(point)
        assert np.all(value.lower - 1e-15 <= exact)
        assert np.all(exact <= value.upper + 1e-15)
