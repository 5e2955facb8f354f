"""What may be held so that the rest of a route is certified: how light, how well known.

Bounds of one parameter s are tried, and the largest s is looked for by bisection. Nothing is
concluded from other s: the answer is an s for which every piece of the route has a certificate, so
it is right whether or not certificates get harder with s, and at most too small. With own the part
of theta_e that belongs to the arm, and payload = theta_e - own:

    up to s     own + s hull(0, [payload]): every payload that is at most this share of another one
    known to s  theta_0 + s ([theta_e] - theta_0): half widths of this share of those of now
    exactly s   own + s payload_0: one body, of a mass in proportion, with its centre where it is
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.plan.rest_of_route import Refusal, RestOfRoute
from safe_sysid.sets.interval import EPS, Interval

TRIES = 8  # certificates of a route
Bounds = Callable[[float], ParameterEstimate]


def always() -> bool:
    """There is time for another try."""
    return True


@dataclass(frozen=True, eq=False)
class LargestShare:
    """The largest share found, and what refuses the next larger one that was tried."""

    share: float  # certified; 0: none that was tried
    refused: float  # next larger one that was tried; inf: none
    estimate: ParameterEstimate | None  # it is certified for; None: for nothing
    refusal: Refusal | None  # None: the largest share asked for is certified


def up_to(estimate: ParameterEstimate, own: Array) -> Bounds:
    """Every payload that is a share of one within the bounds."""
    payload = estimate.end_effector_bounds - own
    zero = np.zeros_like(own)
    lightest, heaviest = np.minimum(payload.lower, zero), np.maximum(payload.upper, zero)

    def at(share: float) -> ParameterEstimate:
        box = Interval(lightest, heaviest) * share + own
        return _replaced(estimate, own + share * (estimate.end_effector - own), box)

    return at


def known_to(estimate: ParameterEstimate) -> Bounds:
    """Return bounds about the nominal payload that are narrower by a share."""
    nominal = estimate.end_effector
    off = estimate.end_effector_bounds - nominal

    def at(share: float) -> ParameterEstimate:
        return _replaced(estimate, nominal, off * share + nominal)

    return at


def exactly(estimate: ParameterEstimate, own: Array) -> Bounds:
    """One payload, known exactly, of a share of the nominal mass."""

    def at(share: float) -> ParameterEstimate:
        body = own + share * (estimate.end_effector - own)
        return _replaced(estimate, body, Interval(body, body))

    return at


def largest_share(
    rest: RestOfRoute,
    bounds: Bounds,
    most: float = 1.0,
    tries: int = TRIES,
    has_time: Callable[[], bool] = always,
) -> LargestShare:
    """Return the largest share up to `most` that is found for which the rest is certified."""
    if not most > 0.0 or tries < 1:
        raise BoundError(f'most is {most} and tries {tries}; they have to be above 0')
    low, high, share = 0.0, np.inf, most
    known: ParameterEstimate | None = None
    refusal: Refusal | None = None
    for number in range(tries):
        if number and not has_time():
            break
        estimate = bounds(share)
        proof = rest.proof(estimate)
        if proof.holds:
            low, known = share, estimate
            if share == most:
                break
        else:
            high, refusal = share, proof.refusal
        share = 0.5 * (low + high)
    return LargestShare(low, high, known, refusal)


def _replaced(estimate: ParameterEstimate, body: Array, box: Interval) -> ParameterEstimate:
    """Return the same but for theta_e; rounding of its bounds takes no nominal value out."""
    place = estimate.layout.end_effector
    theta = estimate.theta.copy()
    lower, upper = estimate.bounds.lower.copy(), estimate.bounds.upper.copy()
    spread = 4.0 * EPS * (np.abs(body) + box.magnitude)
    theta[place] = body
    lower[place] = np.minimum(box.lower, body - spread)
    upper[place] = np.maximum(box.upper, body + spread)
    return ParameterEstimate(estimate.layout, theta, Interval(lower, upper))
