"""Programs by interior points: optima of the simplex method, and duals that prove them nearly."""

import numpy as np
import pytest

from safe_sysid.identify.interior_programs import InteriorPrograms
from safe_sysid.identify.linear_programs import Basis, Budget, LinearPrograms, Polytope


def polytope(rng, rows=400, columns=8):
    """Rows around an inner point, some of them on one side only."""
    A = rng.normal(size=(rows, columns))
    inner = rng.uniform(-0.3, 0.3, columns)
    lower, upper = A @ inner - rng.uniform(0.2, 2.0, rows), A @ inner + rng.uniform(0.2, 2.0, rows)
    upper[: rows // 10] = np.inf
    return Polytope(A, lower, upper, -np.ones(columns), np.ones(columns)), inner


@pytest.mark.parametrize('seed', range(3))
@pytest.mark.parametrize('gap', [0.05, 1e-4])
def test_duals_prove_the_optima_of_the_simplex_method_but_for_the_gap(seed, gap):
    rng = np.random.default_rng(seed)
    whole, inner = polytope(rng)
    numbers = np.arange(len(whole.A))
    simplex = LinearPrograms(whole, numbers, Budget(np.inf))
    interior = InteriorPrograms(whole, numbers, Budget(np.inf), gap)
    costs = rng.normal(size=(6, 8))
    for i, cost in enumerate([*costs, costs[0]]):
        if i == 3:  # a cut that both have to keep
            cut = rng.normal(size=(1, 8))
            for programs in (simplex, interior):
                programs.add_rows(cut, cut @ inner - 0.1, np.array([-5]))
        a, b = (x.maximum(cost, Basis()) for x in (simplex, interior))
        assert len(b.dual) == len(a.dual)
        A = whole.A if i < 3 else np.concatenate([whole.A, cut])
        lower = whole.lower if i < 3 else np.append(whole.lower, cut @ inner - 0.1)
        upper = whole.upper if i < 3 else np.append(whole.upper, np.inf)
        slope = cost - A.T @ b.dual
        bound = np.where(b.dual > 0, upper, lower)
        proven = b.dual[b.dual != 0] @ bound[b.dual != 0] + np.abs(slope).sum()
        best = cost @ a.x
        assert best - 1e-6 <= proven <= best + 2.0 * gap
        assert cost @ b.x == pytest.approx(best, abs=2.0 * gap + 0.02)


def test_rows_that_exclude_each_other_are_found_to(rng):
    whole, _ = polytope(rng)
    whole.lower[-1] = whole.upper[-1] = 100.0  # beyond the box
    interior = InteriorPrograms(whole, np.arange(len(whole.A)), Budget(np.inf))
    assert not interior.maximum(np.ones(8), Basis()).feasible


def test_nothing_is_said_when_the_budget_is_spent(rng):
    whole, _ = polytope(rng)
    interior = InteriorPrograms(whole, np.arange(len(whole.A)), Budget(3.0))
    assert interior.maximum(np.ones(8), Basis()) is None
