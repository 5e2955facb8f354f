"""Nearest neighbours over whole turns, and the way back to the root."""

import numpy as np

from safe_sysid.plan.path.search_tree import SearchTree


def test_nearest_node_over_whole_turns(rng):
    tree = SearchTree(rng.uniform(-np.pi, np.pi, 2), np.array([True, False]))
    for _ in range(200):
        tree.add(rng.uniform(-np.pi, np.pi, 2), 0)
    for _ in range(50):
        q = rng.uniform(-np.pi, np.pi, 2)
        turned = np.angle(np.exp(1j * (tree.nodes[:, 0] - q[0])))
        expected = np.hypot(turned, tree.nodes[:, 1] - q[1]).argmin()
        assert tree.nearest(q + np.array([4 * np.pi, 0.0])) == expected


def test_path_goes_back_to_the_root(rng):
    tree, points = SearchTree(np.zeros(3), np.zeros(3, dtype=bool)), rng.normal(size=(100, 3))
    node = 0
    for point in points:
        tree.add(-point, node)  # a dead end
        node = tree.add(point, node)
    assert np.array_equal(tree.path(node), [*points[::-1], np.zeros(3)])
