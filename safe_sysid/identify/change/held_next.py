"""What may be held after a change, as bounds on theta_e: a library of payloads, or nothing.

A payload that is not held quite where its file says is moved as a whole: none of its points is
farther than s from where it would be, if it is displaced by d and turned by no more than a about
the origin of its frame, s = d + 2 r sin(a / 2), and its shapes are within r of that origin. With
S_ij the integral of x_i x_j over its mass,

    |change of m c_i| <= m s,   |change of S_ij| <= s (sqrt(m S_ii) + sqrt(m S_jj)) + m s^2,

the second by Cauchy and Schwarz, and I_xx = S_yy + S_zz, I_xy = -S_xy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import ConfigError
from safe_sysid.model.grasp import GraspError, farthest
from safe_sysid.model.held_body import placed
from safe_sysid.model.inertia import LABELS, symmetric
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.payload import Payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval

ROUNDING = 1e-12  # share by which bounds are wider than computed


@dataclass(frozen=True, eq=False)
class HeldNext:
    """Bounds on theta_e after a change, and a body inside them."""

    bounds: Interval  # (10,)
    nominal: Array  # (10,)


def from_library(
    model: RobotModel, payloads: Sequence[Payload], error: GraspError, own: Interval
) -> HeldNext:
    """Any of these payloads, or none of them.

    `own` are bounds on theta_e of the empty hand; `model` is the arm with that hand.
    """
    bodies = [Interval(np.zeros(10), np.zeros(10))]
    bodies += [body_bounds(model, payload, error) for payload in payloads]
    lower = np.min([body.lower for body in bodies], axis=0)
    upper = np.max([body.upper for body in bodies], axis=0)
    bounds = own + Interval(lower, upper)
    empty = model.theta[model.layout.end_effector]
    held = [placed(model, payload) for payload in payloads]
    nominal = empty + np.mean([np.zeros(10), *held], axis=0)  # of bodies, so it is one
    if not bounds.contains(nominal):
        raise ConfigError(
            'the bounds on the empty hand do not contain the hand of the model: '
            f'{own.lower.tolist()} to {own.upper.tolist()}, and {empty.tolist()}'
        )
    return HeldNext(bounds, nominal)


def of_prior(prior: ParameterEstimate) -> HeldNext:
    """Anything the prior allows for."""
    return HeldNext(prior.end_effector_bounds, prior.end_effector)


def either(estimate: ParameterEstimate, held: HeldNext) -> HeldNext:
    """Return what an estimate says is held or may be held next: nobody knows which."""
    nominal = 0.5 * (estimate.end_effector + held.nominal)  # a body, if both are
    return HeldNext(estimate.end_effector_bounds.hull(held.bounds), nominal)


def within(held: HeldNext, prior: ParameterEstimate) -> HeldNext:
    """Return what of it the prior allows for: both say what is held.

    Of a library whose bodies the prior contains this cuts what the grasp error adds, no more.
    """
    box = prior.end_effector_bounds
    lower = np.maximum(held.bounds.lower, box.lower)
    upper = np.minimum(held.bounds.upper, box.upper)
    if np.any(lower > upper):
        i = int(np.argmax(lower > upper))
        raise ConfigError(
            f'{LABELS[i]} of what may be held next is {held.bounds.lower[i]:.6g} to '
            f'{held.bounds.upper[i]:.6g}, all beyond the prior, which is {box.lower[i]:.6g} to '
            f'{box.upper[i]:.6g}'
        )
    return HeldNext(Interval(lower, upper), np.clip(held.nominal, lower, upper))


def body_bounds(model: RobotModel, payload: Payload, error: GraspError) -> Interval:
    """Bounds on these ten parameters, for every way of holding it that is allowed for."""
    body = placed(model, payload)
    radius = _change(body, farthest(payload, error))
    radius = radius + error.weight * (np.abs(body) + radius)
    return Interval.from_center_radius(body, radius + ROUNDING * (np.abs(body) + radius))


def _change(body: Array, way: float) -> Array:
    """Largest change of ten parameters of a body whose points move by a way at most."""
    mass = float(body[0])
    inertia = symmetric(body[4:])
    second = 0.5 * np.trace(inertia) - np.diag(inertia)  # S_ii
    size = np.sqrt(mass * np.maximum(second, 0.0))
    change = way * (size[:, None] + size[None, :]) + mass * way**2
    x, y, z = np.diag(change)
    moments = [y + z, change[0, 1], x + z, change[0, 2], change[1, 2], x + y]
    return np.array([0.0, *(mass * way,) * 3, *moments])
