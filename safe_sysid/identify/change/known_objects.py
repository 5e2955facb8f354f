"""Which known object is held, as probabilities, with "none of these" among them; statistics.

What was measured is the belief in theta_e divided by the belief before, L(x) = p(x) / p_0(x). An
object k that lies anywhere within its grasp error, x ~ N(b_k, G_k), explains it as well as

    Z_k = integral of L(x) N(x; b_k, G_k) dx,

and "none of these" is a body of the belief before, for which it is 1, or as likely one that is
like an object of the library without being it: off by ALIKE. Without these an object that misses
by several deviations would still win against one that may be anything at all. Directions of
theta_e that the motion has not shown cancel. No bound rests on this: an object's own bounds may be
taken for what is held only where the guaranteed interval lies inside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import ConfigError
from safe_sysid.identify.change.shared_posterior import BODY, SharedPosterior
from safe_sysid.model.grasp import GraspError
from safe_sysid.model.held_body import placed
from safe_sysid.model.inertia import moved
from safe_sysid.model.payload import Payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.rotation import rotation_from_rpy
from safe_sysid.sets.interval import Interval

NONE = 'none of these'
STEP = 1e-6  # [m, rad] of differences
ALIKE = GraspError(displaced=0.1, turned=0.5, weight=0.3)  # of what is like an object, and another


@dataclass(frozen=True, eq=False)
class KnownObject:
    """theta_e while an object is held: mean, and covariance of the ways of holding it."""

    name: str
    mean: Array  # (10,)
    covariance: Array  # (10, 10)
    alike: Array  # (10, 10) the same of others that are like it


def known_object(
    model: RobotModel, payload: Payload, error: GraspError, own: Interval
) -> KnownObject:
    """Object of a payload file in a hand that is known to these bounds."""
    body = placed(model, payload)
    link, _, p = payload.placed_on(model.name)
    frame = model.frames[link]
    hand = np.diag(own.radius**2) / 3.0
    spreads = (_spread(body, frame.R @ p + frame.p, each) + hand for each in (error, ALIKE))
    empty = model.theta[model.layout.end_effector]
    return KnownObject(payload.name, empty + body, *spreads)


def _spread(body: Array, origin: Array, error: GraspError) -> Array:
    """Covariance of ten parameters of a body held up to an error off its place, (10, 10)."""
    ways = []
    for i in range(3):
        step = STEP * np.eye(3)[i]
        turned = rotation_from_rpy(step)
        ways.append((moved(body, np.eye(3), step) - body) / STEP * error.displaced)
        there = moved(body, turned, origin - turned @ origin)
        ways.append((there - body) / STEP * error.turned)
    spread = np.array([*ways, error.weight * body]) / np.sqrt(3.0)
    return np.asarray(spread.T @ spread)


def recognised(
    belief: SharedPosterior, before: Interval, objects: Sequence[KnownObject], none: float = 0.5
) -> dict[str, float]:
    """Probability of each object, the likeliest first, and of none of them.

    `before` are the bounds that the belief in this body began with; `none` is the probability of
    an unknown body before anything was measured, and all objects share the rest.
    """
    if not 0.0 < none < 1.0:
        raise ConfigError(f'none is {none}; a probability above 0 and below 1 is needed')
    scale = belief.scale[:BODY]
    information = np.linalg.inv(belief.covariance[:BODY, :BODY])
    first = 1.0 / (np.maximum(before.radius, 1e-12) / scale) ** 2
    middle = before.center / scale
    L = np.subtract(information, np.diag(first), dtype=np.float64)
    h = information @ belief.mean[:BODY] - first * middle
    unknown = _log_evidence(L, h, middle, np.diag(1.0 / first))
    others = [np.log(0.5 * none)]  # of what is none of them
    scores = {}
    for each in objects:
        held, alike = (
            _log_evidence(L, h, each.mean / scale, spread / np.outer(scale, scale)) - unknown
            for spread in (each.covariance, each.alike)
        )
        scores[each.name] = held + np.log((1.0 - none) / len(objects))
        others.append(alike + np.log(0.5 * none / len(objects)))
    scores[NONE] = float(np.logaddexp.reduce(others))
    largest = max(scores.values())
    weight = {name: float(np.exp(score - largest)) for name, score in scores.items()}
    total = sum(weight.values())
    ranked = sorted(weight, key=lambda name: -weight[name])
    return {name: weight[name] / total for name in ranked}


def _log_evidence(L: Array, h: Array, mean: Array, covariance: Array) -> float:
    """Log of the integral of exp(h x - x L x / 2) N(x; mean, covariance)."""
    g = h - L @ mean
    mixed = np.eye(len(mean)) + covariance @ L
    gained = g @ np.linalg.solve(mixed, covariance @ g)
    size = np.linalg.slogdet(mixed)[1]
    return float(h @ mean - 0.5 * mean @ L @ mean + 0.5 * gained - 0.5 * size)
