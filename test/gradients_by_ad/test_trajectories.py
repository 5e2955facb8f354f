"""Derivatives of curves in time, derived by hand, against AD."""

import itertools

import casadi as cs
from gradients_by_ad.ad import near, powers, quintic, value_of
import numpy as np
import pytest

from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.sets.monomials import monomials
from safe_sysid.trajectory.bezier import Bezier
from safe_sysid.trajectory.bspline import DEGREE, SplineBasis
from safe_sysid.trajectory.fourier import FourierBasis
from safe_sysid.trajectory.motion_basis import MotionBasis

DURATION = 3.0  # [s]


def time_derivatives(position, t):
    """Position, velocity, acceleration."""
    velocity = cs.jacobian(position, t)
    return [position, velocity, cs.jacobian(velocity, t)]


@pytest.mark.parametrize('moving_end', [False, True])
def test_bezier_curves_are_the_quintic_of_their_end_conditions(rng, moving_end):
    q0, qd0, qdd0, qd1, qdd1, k = rng.normal(size=(6, 4))
    end = {'qd1': qd1, 'qdd1': qdd1} if moving_end else {}
    curve = Bezier(q0, qd0, qdd0, DURATION, **end)
    t = cs.MX.sym('t')
    symbols, position = quintic(Horizon(curve, np.zeros(4), np.ones(4)), t / DURATION)
    for order, expression in enumerate(time_derivatives(position, t)):
        for at in rng.uniform(0.0, DURATION, 5):
            expected = value_of(expression, [t, symbols], at, k)[:, 0]
            near(curve.derivative(order, at, k), expected, 1e-11)


def test_fourier_rows_are_derivatives_of_the_position(rng):
    basis: MotionBasis = FourierBasis(DURATION, 3)
    t = cs.SX.sym('t')
    rate = 2.0 * np.pi / DURATION * np.arange(1, 4)
    series = cs.vertcat(1, cs.sin(rate * t) / rate, (1.0 - cs.cos(rate * t)) / rate)
    mixed = np.zeros((7, basis.count))
    mixed[0, 0], mixed[1:, 1:] = 1.0, basis._resting
    position = cs.mtimes(mixed.T, series)
    for order, expression in enumerate(time_derivatives(position, t)):
        for at in rng.uniform(0.0, DURATION, 5):
            near(basis.rows(np.array([at]), order)[0], value_of(expression, [t], at)[:, 0])


def test_spline_rows_are_derivatives_of_the_position(rng):
    basis = SplineBasis(DURATION, 4)
    t, knots = cs.SX.sym('t'), basis._knots
    pieces = [cs.logic_and(a <= t, t < b) for a, b in itertools.pairwise(knots)]
    for degree in range(1, DEGREE + 1):
        pieces = [
            _ramp(t, knots[i], knots[i + degree]) * pieces[i]
            + _ramp(-t, -knots[i + degree + 1], -knots[i + 1]) * pieces[i + 1]
            for i in range(len(pieces) - 1)
        ]
    position = cs.mtimes(basis._points.T, cs.vertcat(*pieces))
    for order, expression in enumerate(time_derivatives(position, t)):
        for at in rng.uniform(0.0, DURATION, 5):
            near(basis.rows(np.array([at]), order)[0], value_of(expression, [t], at)[:, 0])


def _ramp(t, start, end):
    return (t - start) / (end - start) if end > start else cs.SX(0.0)


def test_gradients_of_monomials(rng):
    table = monomials(4, 3)
    symbols = cs.SX.sym('k', 4)
    products = powers(table, symbols)
    k = rng.uniform(-1, 1, 4)
    near(table.values(k), value_of(products, [symbols], k)[:, 0])
    near(table.gradients(k), value_of(cs.jacobian(products, symbols), [symbols], k))
