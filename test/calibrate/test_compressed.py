"""A triangle says about every candidate exactly what all rows say."""

import numpy as np
import pytest

from safe_sysid.calibrate.compressed import compress, stacked


@pytest.mark.parametrize('rows', [4, 9, 10, 200])
def test_costs_are_those_of_all_rows(rng, rows):
    Y, tau = rng.normal(size=(rows, 9)), rng.normal(size=rows)
    data = compress(Y.copy(), tau)
    for _ in range(5):
        x = rng.normal(size=9)
        assert data.cost(x) == pytest.approx(np.sum((Y @ x - tau) ** 2))
        assert data.scaled(0.3).cost(x) == pytest.approx(0.09 * data.cost(x))
    assert data.count == rows
    assert data.R.shape[0] <= 9


def test_pieces_together_are_the_whole(rng):
    Y, tau, x = rng.normal(size=(60, 5)), rng.normal(size=60), rng.normal(size=5)
    parts = [compress(Y[k : k + 20], tau[k : k + 20]) for k in (0, 20, 40)]
    whole = stacked(parts)
    assert whole.cost(x) == pytest.approx(np.sum((Y @ x - tau) ** 2))
    assert whole.count == 60
