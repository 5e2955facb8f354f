"""How much W_s theta may change between states that are near: those of an arm, and as seen.

Of a row of numbers, a polynomial with a remainder, let c + l x + g z +- R contain f(x), and
c + g z +- R_0 contain f(0) of the same state, x in [-1, 1]^n being how far, in which joint, the
state is moved. Rows are such that

    f(x) - f(0) is in l x +- (R - R_0).

That is so of the states that are put in, and stays so: sums add all of it, and a product adds to
its remainder the 1-norm of l of one factor times all that the other one may be, which is more than
what (f g)(x) - (f g)(0) has beside its linear terms. So W_s theta changes by |l|_1 + R - R_0 at
most: what cancels in the linear terms does so, and only products of a difference with how wide the
states are count by their size.

One kind of state is moved after the other: first by what the remainders grow (qd_a, qd_d, qdd_a,
whose differences are small), then q, then qd, each with all states that were reached before.
"""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.reach.joint_reach import COS, QD, QD_A, QDD_A, SIN, JointReach, Q
from safe_sysid.reach.newton_euler import rigid_body_torque
from safe_sysid.reach.state_differences import OF_Q, OF_QD, wider
from safe_sysid.sets.monomials import monomials

UP = 1.0 + 1e-9


def torque_change(
    model: RobotModel, estimate: ParameterEstimate, reach: JointReach, by: Array, pull: Array
) -> Array:
    """Largest change of W_s theta without dry friction, (T, n), for differences `by` (6, n)."""
    slowly, moved = by.copy(), np.zeros_like(by)
    slowly[[OF_Q, OF_QD]] = 0.0
    moved[OF_Q] = by[OF_Q]
    none = np.zeros_like(pull)
    after = wider(reach, slowly, pull)
    turned = wider(after, moved, none)
    own = _sizes(model, estimate, after)
    change = _difference(own, _sizes(model, estimate, reach))
    change += _difference(_sizes(model, estimate, _by_position(after, by[OF_Q])), own)
    own = _sizes(model, estimate, turned)
    change += _difference(_sizes(model, estimate, _by_velocity(turned, by[OF_QD])), own)
    theta, layout = estimate.bounds, model.layout
    Fv, Ia = (theta[layout.joint_entries(name)].magnitude for name in ('Fv', 'Ia'))
    slower, gentler = (after.rows[k, ..., -1] - reach.rows[k, ..., -1] for k in (QD_A, QDD_A))
    return np.asarray((change + Fv * slower + Ia * gentler) * UP + 1e-9)


def _difference(of: Array, before: Array) -> Array:
    """Return how much larger, with what rounding of either may hide."""
    return np.maximum(of - before, 0.0) + 1e-12 * of


def _sizes(model: RobotModel, estimate: ParameterEstimate, reach: JointReach) -> Array:
    """|l|_1 + R of the torque for the middle of theta, and what the rest of theta adds, (T, n)."""
    rigid = rigid_body_torque(model, reach, estimate.theta, estimate.bounds)
    count = reach.monomials.count
    total = np.array(rigid.spread)
    for part in (rigid.nominal, rigid.offset):
        total += part[..., -1] + np.abs(part[..., 1:count]).sum(axis=-1)
    return total


def _by_position(reach: JointReach, b: Array) -> JointReach:
    """States whose positions move by b x: cos(q + b x) = cos q - sin q b x to b^2 / 2."""
    rows = _with_variables(reach)
    n = len(b)
    each = np.arange(n)
    rows[Q, :, each, 1 + each] = b[:, None]
    for kind, other, sign in ((COS, SIN, -1.0), (SIN, COS, 1.0)):
        middle = reach.rows[other, ..., 0]
        width = np.abs(reach.rows[other, ..., 1:]).sum(axis=-1)
        rows[kind, :, each, 1 + each] = (sign * middle * b).T
        rows[kind, ..., -1] += ((width + 1e-15) * b + 0.5 * b**2) * UP
    return JointReach(monomials(n, 1), reach.time, rows)


def _by_velocity(reach: JointReach, b: Array) -> JointReach:
    """States whose velocities move by b x."""
    rows = _with_variables(reach)
    each = np.arange(len(b))
    rows[QD, :, each, 1 + each] = b[:, None]
    return JointReach(monomials(len(b), 1), reach.time, rows)


def _with_variables(reach: JointReach) -> Array:
    """Rows of one plan with n variables that nothing depends on yet."""
    kinds, T, n, width = reach.rows.shape
    rows = np.zeros((kinds, T, n, width + n))
    rows[..., 0], rows[..., 1 + n :] = reach.rows[..., 0], reach.rows[..., 1:]
    return rows
