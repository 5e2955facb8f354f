"""Derivatives by CasADi, and formulas of the theory written as expressions, as judges."""

import casadi as cs
import numpy as np

from safe_sysid.model.symbolic.recursions import SymbolicTree, slotine_li_regressor

RELATIVE = 1e-9


def near(value, expected, relative=RELATIVE):
    """Equal to a share of the largest entry."""
    value, expected = np.asarray(value), np.asarray(expected)
    assert value.shape == expected.shape
    atol = relative * max(float(np.abs(expected).max()), 1e-12)
    np.testing.assert_allclose(value, expected, rtol=0, atol=atol)


def value_of(expression, symbols, *at):
    """Numbers of an expression, (rows, columns)."""
    return cs.Function('f', symbols, [cs.densify(expression)])(*at).full()


def gradient_at(expression, symbol, at):
    """Gradient of a scalar."""
    return value_of(cs.gradient(expression, symbol), [symbol], at)[:, 0]


def smooth_rows(tree, width=None):
    """Function (q, qd, qdd) -> W (n, 14 n), with tanh(qd / width) or sign(qd)."""
    n = len(tree.parent)
    q, qd, qdd = (cs.SX.sym(name, n) for name in ('q', 'qd', 'qdd'))
    sign = cs.sign(qd) if width is None else cs.tanh(qd / width)
    W = slotine_li_regressor(SymbolicTree(tree, q), qd, qd, qdd, sign)
    return cs.Function('W', [q, qd, qdd], [cs.densify(W)])


def slopes_at(of_state, states):
    """Derivatives of a sum over samples of a scalar function of (q, qd, qdd), (3, N, n).

    `of_state(t, q, qd, qdd)` is the share of sample t.
    """
    slopes = np.empty_like(states)
    n = states.shape[2]
    symbols = [cs.SX.sym(name, n) for name in ('q', 'qd', 'qdd')]
    for t in range(states.shape[1]):
        share = of_state(t, *symbols)
        gradient = cs.Function('g', symbols, [cs.gradient(share, x) for x in symbols])
        for order, g in enumerate(gradient(*states[:, t])):
            slopes[order, t] = g.full()[:, 0]
    return slopes


def powers(table, x):
    """Monomials of a table, (M,)."""
    products = [cs.SX(1.0) for _ in table.exponents]
    for m, row in enumerate(table.exponents):
        for i, exponent in enumerate(row):
            for _ in range(exponent):
                products[m] *= x[i]
    return cs.vertcat(*products)


def quintic(horizon, s):
    """Position at a share s of the duration as a function of k, from its six end conditions."""
    curve, n = horizon.curve, len(horizon.curve.q0)
    T = curve.duration
    conditions = np.zeros((6, 6))
    for row in range(3):
        conditions[row, row] = (1.0, 1.0, 2.0)[row]
        powers = np.arange(6.0)
        falling = np.array([1.0, powers, powers * (powers - 1.0)][row] * np.ones(6))
        conditions[3 + row] = falling
    k = cs.MX.sym('k', n)
    starts = [curve.q0, curve.qd0 * T, curve.qdd0 * T**2]
    ends = [cs.MX(curve.q0) + k, curve.qd1 * T, curve.qdd1 * T**2]
    right = cs.horzcat(*[cs.MX(x) if not isinstance(x, cs.MX) else x for x in (*starts, *ends)])
    coefficients = cs.mtimes(right, np.linalg.inv(conditions).T)  # (n, 6)
    return k, cs.mtimes(coefficients, cs.vertcat(*[s**i for i in range(6)]))
