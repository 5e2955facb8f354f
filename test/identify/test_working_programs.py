"""Programs over few rows have the optima of all rows, and duals that prove them."""

from dataclasses import replace

import numpy as np
import pytest

from safe_sysid.identify.linear_programs import Basis, Budget, LinearPrograms, Polytope
from safe_sysid.identify.working_programs import NEW, WorkingRows

COLUMNS = 8


def polytope(rng, rows):
    """Rows around an inner point: some one-sided, some twice, some nearly so, some through it."""
    A = rng.normal(size=(rows, COLUMNS))
    A[1::7] = A[: len(A[1::7])]
    A[2::9] = A[: len(A[2::9])] * (1.0 + 1e-9 * rng.normal(size=(len(A[2::9]), COLUMNS)))
    inner = rng.uniform(-0.3, 0.3, COLUMNS)
    below, above = rng.uniform(0.0, 2.0, (2, rows))
    below[::40] = 0.0  # a corner with more rows than it needs, if there are many
    upper = A @ inner + above
    upper[: rows // 10] = np.inf
    return Polytope(A, A @ inner - below, upper, -np.ones(COLUMNS), np.ones(COLUMNS)), inner


def test_a_basis_is_the_same_for_the_program_that_it_is_of_and_for_others(rng):
    """To a program that rows were added to, and to one with some of its rows, in another order."""
    whole, inner = polytope(rng, 40)
    programs, basis = LinearPrograms(whole, np.arange(40), Budget(np.inf)), Basis()
    programs.maximum(rng.normal(size=COLUMNS), basis)
    cut = rng.normal(size=(2, COLUMNS))
    programs.add_rows(cut, cut @ inner - 0.1, np.array([-1, -2]))
    numbers = [*range(40), -1, -2]
    assert numbers == basis.numbers
    of_same, of_another = basis.of_rows(basis.numbers), basis.of_rows(numbers)
    assert of_same == of_another
    assert len(set(of_same)) > 1
    some = rng.permutation(numbers)[:30].tolist()
    assert basis.of_rows(some) == [of_same[numbers.index(number)] for number in some]


def proven(whole, cost, dual):
    """Largest cost . x that a dual allows."""
    bound = np.where(dual > 0, whole.upper, whole.lower)
    slope = cost - whole.A.T @ dual
    return dual[dual != 0] @ bound[dual != 0] + np.abs(slope).sum()


@pytest.mark.parametrize('rows', [40, 3 * NEW])
def test_optima_are_those_of_all_rows(rows, rng):
    """Over solves between which rows come and go, with a cut in the middle of each."""
    working, bases = WorkingRows(), [Basis() for _ in range(5)]
    costs = rng.normal(size=(5, COLUMNS))
    whole, inner = polytope(rng, rows)
    for solve in range(4):
        kept = np.sort(rng.choice(rows, size=rows - 5 * solve, replace=False))
        part = replace(whole, A=whole.A[kept], lower=whole.lower[kept], upper=whole.upper[kept])
        few = working(part, kept, Budget(np.inf))
        every = LinearPrograms(part, kept, Budget(np.inf))
        for i, cost in enumerate(costs):
            if i == 3:
                cut = rng.normal(size=(1, COLUMNS))
                low = cut @ inner - 0.1
                few.add_rows(cut, low, np.array([-1 - solve]))
                every.add_rows(cut, low, np.array([-1 - solve]))
                part = replace(
                    part,
                    A=np.concatenate([part.A, cut]),
                    lower=np.append(part.lower, low),
                    upper=np.append(part.upper, np.inf),
                )
            a, b = few.maximum(cost, bases[i]), every.maximum(cost, Basis())
            assert cost @ a.x == pytest.approx(cost @ b.x, abs=1e-6)
            assert len(a.dual) == len(part.A)
            assert proven(part, cost, a.dual) == pytest.approx(cost @ b.x, abs=1e-6)
            value = part.A @ a.x
            assert np.all(value >= part.lower - 1e-6)
            assert np.all(value <= part.upper + 1e-6)


def test_what_excludes_each_other_is_found_among_rows_that_were_left_out(rng):
    working = WorkingRows()
    whole, _ = polytope(rng, 3 * NEW)
    assert (
        working(whole, np.arange(len(whole.A)), Budget(np.inf))
        .maximum(np.ones(COLUMNS), Basis())
        .feasible
    )
    whole.lower[-1] = whole.upper[-1] = 100.0  # beyond the box
    later = working(whole, np.arange(len(whole.A)), Budget(np.inf))
    assert not later.maximum(np.ones(COLUMNS), Basis()).feasible


def test_all_rows_together_spend_one_budget(rng):
    whole, _ = polytope(rng, 3 * NEW)
    budget = Budget(3.0)
    programs = WorkingRows()(whole, np.arange(len(whole.A)), budget)
    assert programs.maximum(np.ones(COLUMNS), Basis()) is None
    assert budget.pivots <= 0.0
