"""Bodies whose mass matrix is not above that of the arm: as bounded, as points, or left out.

The kinetic energy of a body of mass m about its centre of mass c,

    1/2 m |v + w x c|^2 + 1/2 w' I_c w  >=  1/2 m_least |v + w x c|^2  >=  0,

is at least that of a point of its least mass at its centre, and never negative, if it can exist.
A box of parameters does not say so: once the mass of a payload is known and its moments are not
yet, the box contains bodies of negative energy, more of it than the other links make up for. So
a body may count as its bounds have it, as a point, or for nothing. Which of the three bounds the
mass matrix most closely depends on the motion, and is for who asks to try.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.reach.congruent_inertia import BodyParameters
from safe_sysid.reach.joint_inertia import energy_gaps
from safe_sysid.reach.plan_inertia import body_parameters
from safe_sysid.sets.interval import Interval, stack

LOOSE = 0.3  # share of its mass; a body that is known less well does not count as bounded
LARGEST_ENERGY_GAP = 4.0  # share of its energy, the same; up to here others make up for it
UNSURE = 0.3  # above this a body may bound more as a point, or as nothing; above 1 its bounds
# contain negative energies
LEAST_MASS = 1e-6  # [kg] of a body that may count as a point


class Counts(IntEnum):
    """What a body counts as."""

    BOUNDED = 0
    POINT = 1
    NOTHING = 2


@dataclass(frozen=True, eq=False)
class InertiaFloors:
    """Every body as its bounds have it and as a point, and how well it is known."""

    bounded: BodyParameters
    point: BodyParameters
    energy_gap: Array  # (n,) infinite where the mass is hardly known

    def of(self, counts: IntArray) -> BodyParameters:
        """Bodies that count so, (n,)."""
        as_bounded, as_point = ((counts == way)[:, None] for way in (Counts.BOUNDED, Counts.POINT))
        middle, radius = (
            np.where(as_bounded, a, np.where(as_point, b, 0.0))
            for a, b in zip(self.bounded[:2], self.point[:2], strict=True)
        )
        return self.bounded._replace(middle=middle, radius=radius)

    @property
    def plain(self) -> IntArray:
        """Count bodies as bounded, and those that others do not make up for as nothing."""
        return self._known(LARGEST_ENERGY_GAP)

    @property
    def most(self) -> IntArray:
        """Count all bodies as bounded of which the mass is known."""
        return self._known(np.finfo(np.float64).max)

    @property
    def points(self) -> IntArray:
        """Count all bodies that are not known well as points."""
        counts: IntArray = np.where(self.energy_gap <= UNSURE, Counts.BOUNDED, Counts.POINT)
        return counts

    def _known(self, energy_gap: float) -> IntArray:
        is_known = self.energy_gap <= energy_gap
        counts: IntArray = np.where(is_known, Counts.BOUNDED, Counts.NOTHING)
        return counts

    def closest(self, size: Callable[[BodyParameters], float]) -> IntArray:
        """Count those that are not known well as makes a size smallest, one after the other."""
        best = self.plain
        if np.all(self.energy_gap <= UNSURE):
            return best
        least = size(self.of(best))
        for body in np.argsort(-self.energy_gap):
            if self.energy_gap[body] <= UNSURE:
                break
            for way in Counts:
                tried = best.copy()
                tried[body] = way
                if tried[body] != best[body] and self._makes_sense(body, way):
                    found = size(self.of(tried))
                    best, least = (tried, found) if found < least else (best, least)
        return best

    def _makes_sense(self, body: int, way: Counts) -> bool:
        if way is Counts.BOUNDED:
            return bool(np.isfinite(self.energy_gap[body]))
        return way is Counts.NOTHING or bool(self.point.middle[body, 0] > 0.0)


@lru_cache(maxsize=8)  # every certificate of a search asks for the same
def inertia_floors(model: RobotModel, theta: Interval) -> InertiaFloors:
    """Return what the bodies of an arm whose parameters are in [theta] may count as."""
    bounded = body_parameters(model, theta)
    point = _points(theta[: 10 * model.n].reshape(model.n, 10))
    is_felt = bounded.radius[:, 0] <= LOOSE * bounded.middle[:, 0]
    return InertiaFloors(
        bounded,
        bounded._replace(middle=point.center, radius=point.radius),
        np.where(is_felt, energy_gaps(model, theta), np.inf),
    )


def _points(bodies: Interval) -> Interval:
    """Points of the least masses of bodies (n, 10) at their centres; nothing where that is 0."""
    has_mass = bodies.lower[:, :1] >= LEAST_MASS
    one = np.array([1.0, *np.zeros(9)])
    known = Interval(np.where(has_mass, bodies.lower, one), np.where(has_mass, bodies.upper, one))
    m = Interval.of(known.lower[:, 0])
    x, y, z = (known[:, k] / known[:, 0] for k in (1, 2, 3))
    xx, yy, zz = x.square(), y.square(), z.square()
    products = (yy + zz, -(x * y), xx + zz, -(x * z), -(y * z), xx + yy)
    found = stack([m, m * x, m * y, m * z, *(m * each for each in products)], axis=-1)
    return Interval(np.where(has_mass, found.lower, 0.0), np.where(has_mass, found.upper, 0.0))
