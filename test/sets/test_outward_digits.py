"""A bound that is printed is one of what it was printed from."""

from decimal import Decimal

import numpy as np
import pytest

from safe_sysid.sets.outward_digits import at_least, at_most


@pytest.mark.parametrize('digits', [1, 3, 6])
def test_text_is_on_the_outer_side_and_near(digits, rng):
    values = rng.normal(size=300) * 10.0 ** rng.integers(-9, 9, 300)
    for x in [*values.tolist(), 0.0, -0.0, 1.0, 1.4581772529, 1.950066, -1e-300, 9.9999999]:
        low, high = Decimal(at_least(x, digits)), Decimal(at_most(x, digits))
        assert low <= Decimal(x) <= high
        assert float(high - low) <= 1.01 * 10.0 ** (1 - digits) * abs(x)


def test_what_has_no_bound_says_so():
    assert (at_least(-np.inf), at_most(np.inf), at_least(np.nan)) == ('-inf', 'inf', 'nan')
    assert (at_least(1.4581772529), at_most(1.950066, 3)) == ('1.45817', '1.96')
