"""Boxes of an octree contain its occupied leaves; bytes are read as OctoMap writes them."""

import struct

import numpy as np
import pytest

from safe_sysid.errors import BoundError
from safe_sysid.model.collision.octree import LEVELS, MIDDLE, occupied_leaves, octree_cover

KINDS = {'OcTree': b'', 'ColorOcTree': b'\x01\x02\x03'}


def random_tree(rng, level=0):
    """A leaf is its log-odds; a node is a list of children, None where there is none."""
    if level == LEVELS or (level > 2 and rng.uniform() < 0.25):
        return float(rng.choice([-0.4, 0.0, 0.9, -0.0]))
    few = 0.35 if level < 5 else 0.13
    children = [random_tree(rng, level + 1) if rng.uniform() < few else None for _ in range(8)]
    return children if any(child is not None for child in children) else 0.5


def full(tree, colour):
    """Node after node, as `writeNodesRecurs` of OctoMap."""
    if isinstance(tree, float):
        return struct.pack('<f', tree) + colour + b'\0'
    mask = sum(1 << i for i, child in enumerate(tree) if child is not None)
    below = b''.join(full(child, colour) for child in tree if child is not None)
    return struct.pack('<f', 3.5) + colour + bytes([mask]) + below


def binary(tree):
    """Node after node, as `writeBinaryNode` of OctoMap; its bits are those of std::bitset."""
    bits = 0
    for i, child in enumerate(tree):
        if isinstance(child, list):
            bits |= 1 << 2 * i | 1 << 2 * i + 1
        elif child is not None:
            bits |= 1 << 2 * i + 1 if child >= 0.0 else 1 << 2 * i
    below = b''.join(binary(child) for child in tree if isinstance(child, list))
    return struct.pack('<H', bits) + below


def occupied(tree, corner=(0, 0, 0), size=2**LEVELS):
    if isinstance(tree, float):
        return {(*corner, size)} if tree >= 0.0 else set()
    found, half = set(), size // 2
    for i, child in enumerate(tree):
        if child is not None:
            place = tuple(corner[axis] + half * (i >> axis & 1) for axis in range(3))
            found |= occupied(child, place, half)
    return found


def test_leaves_are_those_that_were_written(rng):
    counts = []
    for _ in range(6):
        tree = random_tree(rng)
        expected = occupied(tree)
        counts.append(len(expected))
        told = [(binary(tree), 'OcTree', True)]
        told += [(full(tree, colour), kind, False) for kind, colour in KINDS.items()]
        for data, kind, is_binary in told:
            found = occupied_leaves(data, kind, is_binary)
            assert set(map(tuple, found.tolist())) == expected
            assert len(found) == len(expected)
    assert max(counts) > 100


@pytest.mark.parametrize('budget', [1, 9, 200])
def test_every_occupied_cell_is_in_a_box(budget, rng):
    tree = random_tree(rng)
    boxes = octree_cover(full(tree, b''), 'OcTree', False, 0.05, budget)
    assert 0 < len(boxes) <= budget
    for x, y, z, size in occupied(tree):
        lower = (np.array([x, y, z]) - MIDDLE) * 0.05
        corners = lower + size * 0.05 * np.array([[0, 0, 0], [1, 1, 1]])
        assert any(box.distance(corners)[0].max() <= 1e-9 for box in boxes)


def test_cells_in_a_row_are_one_box_no_larger_than_they_are():
    row = [0.9, 0.9, None, None, None, None, None, None]
    for _ in range(LEVELS - 1):
        row = [row, *[None] * 7]
    (box,) = octree_cover(binary(row), 'OcTree', True, 0.1, 200)
    np.testing.assert_allclose(2.0 * box.half_sizes, [0.2, 0.1, 0.1], atol=1e-7)


@pytest.mark.parametrize(
    ('data', 'kind', 'is_binary', 'said'),
    [
        (b'\x03\x00', 'OcTree', True, 'ends within a node'),
        (b'\x02\x00\x00', 'OcTree', True, 'has 1 bytes too many'),
        (b'\x03\x00' * (LEVELS + 1), 'OcTree', True, 'more than 16 levels'),
        (b'\0\0\0\0\x01' * (LEVELS + 1), 'OcTree', False, 'more than 16 levels'),
        (b'\0\0\0\0', 'OcTree', False, 'ends within a node'),
        (b'\0\0\0\0\0', 'OcTreeStamped', False, "'OcTreeStamped'"),
    ],
)
def test_what_is_no_octree_is_refused(data, kind, is_binary, said):
    with pytest.raises(BoundError, match=said):
        octree_cover(data, kind, is_binary, 0.1, 200)


def test_log_odds_that_are_no_number_count_as_occupied():
    data = struct.pack('<f', -np.nan) + b'\0'
    assert len(occupied_leaves(data, 'OcTree', False)) == 1
    assert len(occupied_leaves(b'', 'OcTree', True)) == 0


def test_a_map_that_would_fill_the_memory_is_refused_before_it_is_read():
    with pytest.raises(BoundError, match='may have 8000000 occupied leaves; there is room for'):
        octree_cover(b'\xaa' * 2_000_000, 'OcTree', True, 0.1, 200)
