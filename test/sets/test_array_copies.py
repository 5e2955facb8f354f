"""Copies are those of numpy, and an array of another shape is refused."""

import numpy as np
import pytest

from safe_sysid.sets.array_copies import copy_matrices, copy_matrix, copy_vector

COPIES = [(copy_vector, (3,)), (copy_matrix, (3, 2)), (copy_matrices, (3, 2, 4))]


@pytest.mark.parametrize(('copy', 'shape'), COPIES)
def test_a_copy_has_every_entry(copy, shape, rng):
    a, out = rng.normal(size=shape), np.full(shape, np.nan)
    copy(a, out)
    assert np.array_equal(a, out)


@pytest.mark.parametrize(('copy', 'shape'), COPIES)
def test_another_shape_is_refused_before_anything_is_written(copy, shape):
    for axis in range(len(shape)):
        for more in (-1, 1):
            other = list(shape)
            other[axis] += more
            out = np.zeros(shape)
            with pytest.raises(ValueError, match='another shape'):
                copy(np.ones(other), out)
            assert not out.any()
