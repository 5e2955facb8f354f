"""Derivatives of excitation criteria, in eigenvalues and through a whole motion, against AD."""

import casadi as cs
from excite.excite_problem import small_problem
from gradients_by_ad.ad import gradient_at, near, smooth_rows, value_of
import numpy as np
import pytest

from safe_sysid.excite import criteria


def norm(values, power):
    """Schatten norm."""
    return cs.sum1(values**power) ** (1.0 / power)


def rho(power):
    return lambda e: 0.5 * (cs.log(norm(e, power)) + cs.log(norm(1.0 / e, power)))


FORMULAS = {  # of the docstrings; eigenvalues ascending
    'kappa': (criteria.log_condition, lambda e: 0.5 * cs.log(e[-1] / e[0])),
    'rho_2': (criteria.smooth_condition(2.0), rho(2.0)),
    'rho_8': (criteria.smooth_condition(8.0), rho(8.0)),
    'D': (criteria.negative_log_determinant, lambda e: -cs.sum1(cs.log(e))),
    'D mean': (criteria.mean_log_variance, lambda e: -cs.sum1(cs.log(e)) / e.shape[0]),
    'A': (criteria.total_variance, lambda e: cs.sum1(1.0 / e)),
    'log A': (criteria.log_total_variance, lambda e: cs.log(cs.sum1(1.0 / e))),
    'E': (criteria.negative_log_smallest, lambda e: -cs.log(e[0])),
    'smooth E': (criteria.smooth_smallest(4.0), lambda e: cs.log(norm(1.0 / e, 4.0))),
    'r_c': (criteria.frobenius_sum, lambda e: 0.5 * (norm(e, 2.0) + norm(1.0 / e, 2.0))),
    'log r_c': (
        criteria.log_frobenius_sum,
        lambda e: cs.log(0.5 * (norm(e, 2.0) + norm(1.0 / e, 2.0))),
    ),
}


@pytest.mark.parametrize('name', FORMULAS)
def test_criteria_of_eigenvalues(rng, name):
    criterion, formula = FORMULAS[name]
    e = cs.SX.sym('e', 6)
    for _ in range(20):
        eigenvalues = np.sort(np.exp(rng.normal(size=6)))
        value, g = criterion(eigenvalues)
        near(value, value_of(formula(e), [e], eigenvalues)[0, 0])
        near(g, gradient_at(formula(e), e, eigenvalues))


@pytest.mark.parametrize(
    ('criterion', 'formula'),
    [
        (criteria.negative_log_determinant, lambda H: -cs.log(cs.det(H))),
        (criteria.total_variance, lambda H: cs.trace(cs.inv(H))),
        (
            criteria.smooth_condition(2.0),
            lambda H: 0.25 * (cs.log(cs.sumsqr(H)) + cs.log(cs.sumsqr(cs.inv(H)))),
        ),
    ],
)
def test_gradient_of_a_whole_motion(rng, criterion, formula):
    problem = small_problem()
    information, columns = problem.information, problem.information.columns
    x = cs.MX.sym('x', problem.shape[0] * problem.shape[1])
    coefficients = cs.reshape(x, problem.shape[1], problem.shape[0])  # rows of joints in order
    states = [
        cs.mtimes(problem.basis.rows(problem.samples, order), coefficients) for order in range(3)
    ]
    W = smooth_rows(information.model.tree, columns.layout.smooth)
    H = cs.MX.zeros(columns.count, columns.count)
    for t in range(len(problem.samples)):
        rows = W(*(state[t, :].T for state in states))
        for k, part in enumerate(columns.parts):
            used = np.flatnonzero(columns.layout.column[k] >= 0)
            row = cs.MX.zeros(1, columns.count)
            row[0, [int(part[c]) for c in columns.layout.column[k, used]]] = rows[k, used.tolist()]
            H += cs.mtimes(row.T, row) / information.noise[k] ** 2
    at = rng.uniform(-0.3, 0.3, problem.shape)
    value, gradient = problem.criterion(criterion, at)
    near(value, value_of(formula(H), [x], at.ravel())[0, 0], 1e-7)
    near(gradient.ravel(), gradient_at(formula(H), x, at.ravel()), 1e-6)
