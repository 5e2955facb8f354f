"""The monomial tables are those of polynomials in d variables of total degree at most D."""

import math

import numpy as np
import pytest

from safe_sysid.errors import BoundError
from safe_sysid.sets.monomials import monomials


@pytest.mark.parametrize('size', [(0, 1), (1, 4), (3, 2), (7, 2), (7, 3), (12, 4)])
def test_there_are_as_many_monomials_as_the_binomial_coefficient_says(size):
    d, D = size
    table = monomials(d, D)
    assert table.count == math.comb(d + D, D)
    assert len({tuple(row) for row in table.exponents}) == table.count


@pytest.mark.parametrize('size', [(1, 3), (3, 4), (7, 2)])
def test_product_table_adds_exponents(size):
    d, D = size
    table = monomials(d, D)
    row = 4 + D + d + table.count
    pairs = 0
    for i in range(1, table.count):
        for j in range(table.kernel[3 + D - table.exponents[i].sum()]):
            product = table.exponents[table.kernel[row + j]]
            assert np.array_equal(product, table.exponents[i] + table.exponents[j])
            pairs += 1
        row += j + 1
    assert row == len(table.kernel)
    totals = table.exponents.sum(axis=1)
    assert pairs == np.count_nonzero(totals[1:, None] + totals[None, :] <= D)


def test_values_and_gradients_by_hand():
    table = monomials(2, 2)  # 1, k0, k1, k0^2, k0 k1, k1^2
    k = np.array([2.0, 3.0])
    assert table.values(k).tolist() == [1, 2, 3, 4, 6, 9]
    assert table.gradients(k).tolist() == [[0, 0], [1, 0], [0, 1], [4, 0], [3, 2], [0, 6]]
    assert table.gradients(np.zeros(2))[1:3].tolist() == [[1, 0], [0, 1]]


def test_refuses_sizes_it_has_no_bounds_for():
    with pytest.raises(BoundError, match='degree 5'):
        monomials(2, 5)
    with pytest.raises(BoundError, match='17 variables'):
        monomials(17, 2)
