"""Derivatives of what sets of plans leave to the limits, derived by hand, against AD."""

from dataclasses import replace

import casadi as cs
from gradients_by_ad.ad import near, powers, quintic
from gradients_by_ad.distances import of_segments, of_shape
import numpy as np
import pytest
import scipy.optimize

from safe_sysid.bench.experiments.reach import random_curve, random_obstacles
from safe_sysid.model.collision.sphere_cover import sphere_cover
from safe_sysid.model.reference_limits import ReferenceLimits
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.reach.clearance import Points, clearance_rows, clearances, points_at
from safe_sysid.reach.clearance_slopes import clearance_slopes, moved_points
from safe_sysid.reach.forward_occupancy import Occupancy
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.reach.limits import limit_margins
from safe_sysid.reach.torque_limits import every_row, torque_margins, torque_slopes
from safe_sysid.reach.tracking_error import TrackingError
from safe_sysid.sets.monomials import monomials

TABLE = monomials(3, 3)
X = cs.SX.sym('x', 3)


def polynomials(coefficients):
    """Polynomials in x whose coefficients are the last axis, as a column."""
    return cs.mtimes(cs.DM(coefficients.reshape(-1, TABLE.count)), powers(TABLE, X))


def at(x):
    return TABLE.values(x), TABLE.gradients(x)


def check(expected, x, values, jacobian):
    both = cs.Function('both', [X], [expected, cs.densify(cs.jacobian(expected, X))])
    value, slope = both(x)
    near(values, value.full()[:, 0])
    near(jacobian, slope.full())


def test_margins_to_the_torque_limits(rng):
    reach = rng.normal(size=(4, 2, TABLE.count + 1)), rng.uniform(0.0, 1.0, (4, 2))
    reach[0][..., -1] = np.abs(reach[0][..., -1])
    limit = np.array([5.0, 7.0])
    rows = every_row(4, limit)
    torque = cs.reshape(polynomials(reach[0][..., :-1]), 2, 4)
    spread = reach[0][..., -1] + reach[1]
    expected = [limit[j] - side * torque[int(j), int(t)] - spread[t, j] for t, j, side in rows]
    x = rng.uniform(-1.0, 1.0, 3)
    values, gradients = at(x)
    slopes = torque_slopes(rows, reach[0], gradients)
    check(cs.vertcat(*expected), x, torque_margins(rows, reach, limit, values), slopes)


def test_clearances_of_reachable_capsules(rng):
    shapes = sphere_cover(RobotModel.named('kinova_gen3').capsules)
    obstacles, count = random_obstacles(rng, 4), 2 * len(shapes.capsule_radius)
    rows = rng.normal(scale=0.2, size=(1, count, 3, TABLE.count + 1))
    none = np.zeros((1, count))
    places, x = np.zeros((1, count, 3)), rng.uniform(-1.0, 1.0, 3)
    occupancy = Occupancy(TABLE, rows, (places, places), none)
    chosen = clearance_rows(Points(places, none), shapes, obstacles.packed)
    values, gradients = at(x)
    points = points_at(occupancy, none, chosen, values)
    moved = moved_points(occupancy, chosen, gradients)
    found = clearances(points, shapes, obstacles.packed, chosen)
    slopes = clearance_slopes(points, moved, shapes, obstacles.packed, chosen)
    ends = cs.reshape(polynomials(rows[..., :-1]), 3, count)
    expected = []
    for (_, sphere, o), value in zip(chosen.obstacle, found, strict=False):
        a, s = int(shapes.sphere_capsule[sphere]), shapes.sphere_weight[sphere]
        point = (1.0 - s) * ends[:, a] + s * ends[:, a + count // 2]
        radius = shapes.sphere_radius[sphere]
        expected.append(of_shape(obstacles.shapes[o], point, value + radius) - radius)
    for _, pair in chosen.capsule:
        four = [ends[:, int(i) + half] for i in shapes.pairs[pair] for half in (0, count // 2)]
        expected.append(of_segments(*four) - shapes.capsule_radius[shapes.pairs[pair]].sum())
    assert len(chosen.obstacle) > 50
    assert len(chosen.capsule) > 5
    check(cs.vertcat(*expected), x, found, slopes)


@pytest.mark.parametrize('order', range(4))
def test_margins_to_the_limits_of_joints_and_drives(rng, order):
    """The time of an extremum moves with k, and its value no more than at a fixed time."""
    arm = RobotModel.named('lbr_med7')
    arm = replace(arm, reference=ReferenceLimits(np.full(7, 5.0), np.full(7, 50.0)))
    none = TrackingError(np.ones(7), *np.zeros((3, 7)))
    curve, k = random_curve(rng, 7), rng.uniform(-1.5, 1.5, 7)
    margins = limit_margins(curve, k, arm, none)[order]
    t = cs.MX.sym('t')
    symbols, state = quintic(Horizon(curve, np.zeros(7), np.ones(7)), t / curve.duration)
    for _ in range(order):
        state = cs.jacobian(state, t)
    slope = cs.Function('slope', [t, symbols], [cs.diag(cs.jacobian(state, symbols))])
    for row, sign in enumerate(np.repeat([1.0, -1.0], 7)):
        value = lambda at: sign * curve.derivative(order, at, k)[row % 7]  # noqa: B023, E731
        times = np.linspace(0.0, curve.duration, 200)
        first = times[np.argmin([value(at) for at in times])]
        around = np.clip([first - 0.02, first + 0.02], 0.0, curve.duration)
        best = scipy.optimize.minimize_scalar(value, bounds=around, options={'xatol': 1e-11}).x
        nearest = min((best, 0.0, curve.duration), key=value)
        near(margins.slope[row], sign * slope(nearest, k).full()[row % 7, 0], 1e-6)
