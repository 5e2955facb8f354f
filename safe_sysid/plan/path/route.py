"""Route: waypoints that lead to a far goal, by how far along it they are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from safe_sysid.arrays import AnyArray, Array
from safe_sysid.errors import BoundError
from safe_sysid.plan.cost.terms import shortest_way

FINE = 0.02  # [rad] between the points that the nearest one is looked for among


@dataclass(frozen=True, eq=False)
class Route:
    """Straight edges between waypoints, the last of which is the goal.

    Lengths count the joint that moves most [rad].
    """

    waypoints: Array  # (W, n) [rad]
    is_continuous: AnyArray  # (n,) joints that turn without end

    def __post_init__(self) -> None:
        if self.waypoints.ndim != 2 or len(self.waypoints) < 1:
            raise BoundError(f'a route of shape {self.waypoints.shape} has no waypoint')

    @cached_property
    def _lengths(self) -> Array:
        """From the first waypoint to each."""
        steps = np.abs(np.diff(self.waypoints, axis=0)).max(axis=1)
        return np.concatenate([[0.0], np.cumsum(steps)])

    @property
    def length(self) -> float:
        """Of the whole way."""
        return float(self._lengths[-1])

    def at(self, length: float) -> Array:
        """Point on the way, (n,); beyond its end the goal."""
        columns = [np.interp(length, self._lengths, column) for column in self.waypoints.T]
        return np.array(columns)

    def nearest(self, q: Array) -> tuple[float, float]:
        """How far along the point nearest to q is, and how far q is from it."""
        count = int(np.ceil(self.length / FINE)) + 1
        lengths = np.linspace(0.0, self.length, count)
        points = np.array([self.at(length) for length in lengths])
        away = np.abs(shortest_way(q, points, self.is_continuous)).max(axis=1)
        best = int(away.argmin())
        return float(lengths[best]), float(away[best])

    def toward(self, q: Array, length: float) -> Array:
        """Return the point at a length, without full turns from q."""
        return np.asarray(q + shortest_way(q, self.at(length), self.is_continuous))


@dataclass(frozen=True, eq=False)
class Follow:
    """Aim: go on along a route, by motions that end at rest on it."""

    route: Route
    begin: float  # [rad] along it, where the plan in force ends
