"""Whether any controller could hold an arm still: gravity torque of bodies within bounds of theta.

A payload that can exist, within the bounds, whose weight alone asks for more than a joint can give
proves that nobody can promise to hold it there. What is found is such a payload, not the worst
one, so a share below 1 proves nothing.
"""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.model.dynamics.regressors import standard_regressor
from safe_sysid.model.inertia import pseudo_inertia, symmetric
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval

SHARES = np.linspace(1.0, 0.0, 41)  # of the way from the middle to the end of the bounds
COMPACT = 1e-6  # [kg m^2] about its centre of mass, of a body that is nearly a point


def static_share(model: RobotModel, bounds: Interval, q: Array) -> float:
    """Largest share of a torque limit that the weight of a possible arm at q asks for."""
    W = standard_regressor(model, q[None], 0.0 * q[None], 0.0 * q[None])[0]
    worst = 0.0
    for joint in range(model.n):
        for sign in (-1.0, 1.0):
            towards = np.where(sign * W[joint] > 0.0, bounds.upper, bounds.lower)
            theta = _possible(model, bounds, towards)
            worst = max(worst, float(np.max(np.abs(W @ theta) / model.limits.torque)))
    return worst


def _possible(model: RobotModel, bounds: Interval, towards: Array) -> Array:
    """Parameters of bodies that can exist, as far towards a corner of the bounds as is found."""
    theta = np.array(towards)
    for i in range(model.n):
        body = model.layout.inertial(i)
        theta[body] = _possible_body(bounds[body], towards[body], model.theta[body])
    return theta


def _possible_body(bounds: Interval, towards: Array, described: Array) -> Array:
    """Return a body within bounds; `described` is what is taken when none is found."""
    about_center = (
        symmetric(described[4:]) - _shift(described[0], described[1:4]),
        COMPACT * np.eye(3),
    )
    for share in SHARES:
        m, *mc = (bounds.center + share * (towards - bounds.center))[:4]
        for own in about_center:
            inertia = own + _shift(m, np.array(mc))
            phi = np.array([m, *mc, *inertia[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]])
            exists = np.linalg.eigvalsh(pseudo_inertia(phi))[0] > 0.0
            if exists and bounds.contains(Interval(phi, phi)):
                return phi
    return described


def _shift(m: float, mc: Array) -> Array:
    """Return what a mass adds to the inertia about the origin when it is not there."""
    matrix: Array = ((mc @ mc) * np.eye(3) - np.outer(mc, mc)) / m
    return matrix
