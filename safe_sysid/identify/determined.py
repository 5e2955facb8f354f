"""Which parameters of a body a motion has determined, and a body to hand on where it has not.

A mass or a moment of inertia is determined when its upper bound is at most three times the lower
one, a product when it is known to half of the geometric mean of its moments, a centre of mass
when it is known to half of its distance, or to 2 cm.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from safe_sysid.arrays import AnyArray, Array
from safe_sysid.identify.payload_in_frame import Body
from safe_sysid.model import inertia
from safe_sysid.sets.interval import Interval

FACTOR = 3.0  # between the bounds of a mass or a moment
HALF = 0.5
NEAR = 0.02  # [m] of a centre of mass
DENSITY = 1000.0  # [kg/m^3] of the sphere that stands for an inertia nobody knows
NAMES = ('mass', 'cx', 'cy', 'cz', 'Ixx', 'Ixy', 'Iyy', 'Ixz', 'Iyz', 'Izz')  # about the centre
ROUNDING = 1e-12  # of a bound
ROUND = (1e-2, 1e-3, 1e-4, 1e-5)  # least second moment of a body, as share of its largest
PRODUCTS = {5: (4, 6), 7: (4, 9), 8: (6, 9)}


def determined(bounds: Interval) -> AnyArray:
    """Of ten parameters about the origin of their frame, (10,)."""
    moved = np.abs(0.5 * (bounds.lower + bounds.upper))[1:4]
    enough = np.maximum(HALF * moved, NEAR * bounds.lower[0])
    return _determined(bounds, enough)


def determined_about_com(body: Body) -> AnyArray:
    """Of the mass, the centre of mass, and the inertia about it, (10,) in the order of NAMES."""
    com, moments = body.com_bounds, body.inertia_bounds
    lower = np.concatenate([body.bounds.lower[:1], com.lower, moments.lower])
    upper = np.concatenate([body.bounds.upper[:1], com.upper, moments.upper])
    with np.errstate(invalid='ignore'):  # a centre that may be anywhere
        distance = np.nan_to_num(np.abs(0.5 * (com.lower + com.upper)), posinf=0.0)
    return _determined(Interval(lower, upper), np.maximum(HALF * distance, NEAR))


def _determined(bounds: Interval, enough: Array) -> AnyArray:
    """`enough` is the half width at which entries 1 to 3 are."""
    lower, upper = bounds.lower, bounds.upper
    known = np.zeros(10, dtype=bool)
    for place in (0, 4, 6, 9):
        known[place] = 0.0 < upper[place] <= FACTOR * lower[place]
    known[1:4] = 0.5 * (upper - lower)[1:4] <= enough
    for place, (i, j) in PRODUCTS.items():
        size = np.sqrt(max(lower[i], 0.0) * max(lower[j], 0.0))
        known[place] = 0.5 * (upper[place] - lower[place]) <= HALF * size
    return known


def handed_on(body: Body) -> Body:
    """Return the nominal body with an inertia that is well inside of what a body can have.

    In the place of entries that are determined neither about the centre of mass nor about the
    origin stand those of a sphere of that mass, as near as the bounds let them; bounds of what is
    not determined may leave no moment that a body has, and then they have no say. No body is
    thinner than a tenth of its length, where the bounds let it.
    """
    mass, com, about = inertia.mass_com_inertia(body.nominal)
    if not mass > 0.0:
        return body
    sphere = 0.4 * mass * (0.75 * mass / (np.pi * DENSITY)) ** (2.0 / 3.0)
    guess = sphere * np.array([1.0, 0.0, 1.0, 0.0, 0.0, 1.0])
    of_centre, bounds = determined_about_com(body)[4:], body.inertia_bounds
    of_origin = determined(body.bounds)[4:]
    most = np.where((guess > 0.0) & (bounds.upper < ROUND[0] * guess), guess, bounds.upper)
    entries = np.where(
        of_centre | of_origin,
        inertia.symmetric_entries(about),
        np.clip(guess, bounds.lower, np.maximum(most, bounds.lower)),
    )
    for share in ROUND:
        rounded = _rounded(inertia.symmetric(entries), share)
        nominal = inertia.from_mass_com_inertia(mass, com, rounded)
        found = inertia.symmetric_entries(rounded)
        if _within(found, bounds, of_centre) and _within(nominal[4:], body.bounds[4:], of_origin):
            return replace(body, nominal=nominal)
    return body


def _within(values: Array, bounds: Interval, chosen: AnyArray) -> bool:
    room = ROUNDING * bounds.magnitude
    inside = (bounds.lower - room <= values) & (values <= bounds.upper + room)
    return bool(inside[chosen].all())


def _rounded(about_com: Array, share: float) -> Array:
    """Return the inertia with no second moment below a share of the largest."""
    sigma = 0.5 * np.trace(about_com) * np.eye(3) - about_com
    values, vectors = np.linalg.eigh(sigma)
    sigma = vectors @ np.diag(np.maximum(values, share * values.max())) @ vectors.T
    rounded: Array = np.trace(sigma) * np.eye(3) - sigma
    return rounded
