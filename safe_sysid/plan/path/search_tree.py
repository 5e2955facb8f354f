"""Tree of joint configurations with nearest-neighbour search, for RRT."""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import AnyArray, Array
from safe_sysid.plan.cost.terms import shortest_way


class SearchTree:
    """Configurations, each with the one it was reached from."""

    def __init__(self, root: Array, is_continuous: AnyArray) -> None:
        self._is_continuous = is_continuous
        self._nodes = np.zeros((64, len(root)))
        self._nodes[0] = root
        self._parents = [-1]

    @property
    def nodes(self) -> Array:
        """All configurations, (N, n), the root first."""
        return self._nodes[: len(self._parents)]

    def add(self, q: Array, parent: int) -> int:
        """Return number of the new node."""
        if len(self._parents) == len(self._nodes):
            self._nodes = np.concatenate([self._nodes, np.zeros_like(self._nodes)])
        self._nodes[len(self._parents)] = q
        self._parents.append(parent)
        return len(self._parents) - 1

    def nearest(self, q: Array) -> int:
        """Node with the smallest sum of squared joint moves to q."""
        ways = shortest_way(self.nodes, q, self._is_continuous)
        return int((ways**2).sum(axis=1).argmin())

    def path(self, node: int) -> Array:
        """From a node back to the root, (N, n)."""
        numbers = []
        while node >= 0:
            numbers.append(node)
            node = self._parents[node]
        return self.nodes[numbers]
