"""A horizon as a nonlinear program: cost and margins side by side, over the box of x."""

from dataclasses import dataclass

import numpy as np
import pytest

from safe_sysid.errors import BoundError
from safe_sysid.plan.cost.terms import CostValue
from safe_sysid.plan.search.ipopt import SolverOutcome, solve
from safe_sysid.plan.search.trajectory_problem import TrajectoryProblem


@dataclass(frozen=True, eq=False)
class Margins:
    values: np.ndarray
    jacobian: np.ndarray

    @property
    def variables(self):
        return self.jacobian.shape[1]

    @property
    def slopes(self):
        return self.jacobian.__getitem__


class Distance:
    """Half the squared distance to (3, 3)."""

    def evaluate(self, x):
        away = np.asarray(x) - 3.0
        return CostValue(0.5 * float(away @ away), away)


class BelowLine:
    """x + y <= 1."""

    def evaluate(self, x):
        return Margins(np.array([1.0 - np.sum(x)]), np.array([[-1.0, -1.0]]))


def test_the_solution_is_the_nearest_point_allowed():
    result = solve(TrajectoryProblem(Distance(), BelowLine(), 2), np.zeros(2), 10.0)
    assert result.outcome is SolverOutcome.SOLVED
    assert np.allclose(result.x, 0.5, atol=1e-3)


def test_x_stays_in_its_box():
    class Anything:
        def evaluate(self, x):
            del x
            return Margins(np.zeros(0), np.zeros((0, 2)))

    result = solve(TrajectoryProblem(Distance(), Anything(), 2), np.full(2, 9.0), 10.0)
    assert np.allclose(result.x, 1.0, atol=1e-5)
    assert np.all(result.x <= 1.0)


def test_refuses_sets_of_a_single_plan():
    class Single:
        def evaluate(self, x):
            del x
            return Margins(np.ones(4), np.zeros((4, 0)))

    with pytest.raises(BoundError, match='nothing to optimise'):
        TrajectoryProblem(Distance(), Single(), 2).evaluate(np.zeros(2))
    with pytest.raises(BoundError, match='without joints'):
        TrajectoryProblem(Distance(), Single(), 0)
