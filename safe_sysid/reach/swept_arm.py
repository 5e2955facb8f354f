"""SweptArm: where the arm can be on a certified plan, to compare it with obstacles that are new.

Of a plan that was certified before, only its clearance from what changed has to be proven again:
its sets do not depend on obstacles. They are computed once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.model.collision.sphere_cover import sphere_cover
from safe_sysid.reach.certificate import PlanCertificate
from safe_sysid.reach.clearance import whole_range
from safe_sysid.reach.margin import OBSTACLE, Margin
from safe_sysid.reach.nearest_obstacle import EnclosedArm
from safe_sysid.reach.reachable_set import occupancy_of
from safe_sysid.sets.interval import Interval


class _Piece(NamedTuple):
    """One piece of a plan."""

    start: float  # [s] since the start of the plan
    lower: Array  # (T,) [s] time steps, since the start of the piece
    upper: Array  # (T,)
    arm: EnclosedArm


@dataclass(frozen=True, eq=False)
class SweptArm:
    """Sets of one certified plan; `names` are those of its capsules."""

    pieces: tuple[_Piece, ...]
    names: tuple[str, ...]

    @staticmethod
    def of(certificate: PlanCertificate) -> SweptArm:
        """Return sets of the motion that a certificate is about, all pieces of it."""
        capsules = certificate.problem.model.capsules
        shapes = sphere_cover(capsules)
        pieces, start = [], 0.0
        for each in (certificate, *certificate.then):
            time = each.problem.horizon.time
            points = whole_range(occupancy_of(each.problem, each.error))
            arm = EnclosedArm.of(points, shapes)
            pieces.append(_Piece(start, time.lower, time.upper, arm))
            start += each.problem.horizon.curve.duration
        return SweptArm(tuple(pieces), capsules.names)

    def nearest(self, obstacles: Obstacles, since: float) -> Margin | None:
        """Smallest clearance from obstacles from a time on [s since the start of the plan].

        None where there is no obstacle, or where the arm is at rest by then. Times of obstacles
        that move have to begin with the plan.
        """
        if not len(obstacles):
            return None
        smallest: Margin | None = None
        for piece in self.pieces:
            first = int(np.searchsorted(piece.upper, since - piece.start))
            if first == len(piece.upper):
                continue
            steps = Interval(piece.start + piece.lower, piece.start + piece.upper)
            value, t, capsule, o = piece.arm.nearest(obstacles, steps, first)
            if smallest is None or not value >= smallest.margin:
                where = f'{self.names[capsule]} and {obstacles.names[o]}'
                time = piece.start + float(piece.lower[t]), piece.start + float(piece.upper[t])
                smallest = Margin(OBSTACLE, value, where, time, value, 0.0, 'm')
        return smallest
