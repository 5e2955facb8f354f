"""Programs whose rows enter as they are needed: the optima and duals of all rows."""

import numpy as np
import pytest

from safe_sysid.identify.linear_programs import (
    Basis,
    Budget,
    GrowingPrograms,
    LinearPrograms,
    Polytope,
)


def polytope(rng, rows=400, columns=8):
    """Rows around an inner point, some of them on one side only."""
    A = rng.normal(size=(rows, columns))
    inner = rng.uniform(-0.3, 0.3, columns)
    lower, upper = A @ inner - rng.uniform(0.2, 2.0, rows), A @ inner + rng.uniform(0.2, 2.0, rows)
    upper[: rows // 10] = np.inf
    return Polytope(A, lower, upper, -np.ones(columns), np.ones(columns)), inner


@pytest.mark.parametrize('seed', range(3))
def test_optima_and_duals_are_those_of_all_rows(seed):
    rng = np.random.default_rng(seed)
    whole, inner = polytope(rng)
    numbers = np.arange(len(whole.A))
    every = LinearPrograms(whole, numbers, Budget(np.inf))
    growing = GrowingPrograms(whole, numbers, Budget(np.inf))
    for i in range(6):
        if i == 3:  # a cut that both have to keep
            cut = rng.normal(size=(1, 8))
            for programs in (every, growing):
                programs.add_rows(cut, cut @ inner - 0.1, np.array([-5]))
        cost = rng.normal(size=8)
        a, b = (x.maximum(cost, Basis()) for x in (every, growing))
        assert cost @ b.x == pytest.approx(cost @ a.x, abs=1e-6)
        assert len(b.dual) == len(a.dual)
        A = whole.A if i < 3 else np.concatenate([whole.A, cut])
        lower = whole.lower if i < 3 else np.append(whole.lower, cut @ inner - 0.1)
        upper = whole.upper if i < 3 else np.append(whole.upper, np.inf)
        slope = cost - A.T @ b.dual
        bound = np.where(b.dual > 0, upper, lower)
        proven = b.dual[b.dual != 0] @ bound[b.dual != 0] + np.abs(slope).sum()
        assert proven == pytest.approx(cost @ a.x, abs=1e-5)


def test_rows_that_exclude_each_other_are_found_to(rng):
    whole, _ = polytope(rng)
    whole.lower[-1] = whole.upper[-1] = 100.0  # beyond the box
    growing = GrowingPrograms(whole, np.arange(len(whole.A)), Budget(np.inf))
    assert not growing.maximum(np.ones(8), Basis()).feasible
