"""A belief after many rows at once is the belief after one row at a time."""

import numpy as np
import pytest

from safe_sysid.identify.change.shared_posterior import SharedPosterior
from safe_sysid.sets.interval import Interval

BODY, REST, JOINTS, ROWS = 10, 4, 3, 60


def before():
    unit = Interval(-np.ones(BODY), 2.0 * np.ones(BODY))
    return SharedPosterior.before(unit, unit[:REST], np.full(JOINTS, 0.02))


@pytest.mark.parametrize('errors', [1.0, 1e-3])
@pytest.mark.parametrize('is_correlated', [False, True])
def test_many_rows_at_once_are_one_row_after_the_other(is_correlated, errors, rng):
    believed, k = before(), BODY + REST + JOINTS
    H, b = rng.normal(size=(ROWS, k)), rng.normal(size=ROWS)
    H[:, 3] = 0.0  # what no row shows stays as it was
    variance = errors * rng.uniform(0.5, 2.0, size=ROWS)
    if is_correlated:
        believed = believed.updated(H[:2], b[:2], np.eye(2))
    one_by_one = believed
    for i in range(ROWS):
        one_by_one = one_by_one.updated(H[i : i + 1], b[i : i + 1], variance[i : i + 1, None])
    at_once = believed.after_all(H, b, variance)
    np.testing.assert_allclose(at_once.mean, one_by_one.mean, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(at_once.covariance, one_by_one.covariance, atol=1e-9)
    np.testing.assert_array_equal(at_once.scale, believed.scale)
