"""Octrees of OctoMap: leaves of a serialised tree that are occupied, and boxes that contain them.

A tree has 16 levels about the origin; child i of a node has the larger half of x, y and z where
bits 0, 1 and 2 of i are set. Nodes come one after the other, each followed by all
below its first child, then its second one, and so on (`readBinaryNode` and `readNodesRecurs` of
OctoMap). A binary node is two bytes with two bits for each child: 01 free, 10 occupied, 11 has
children, 00 not known. A full node is its log-odds as a float of 32 bits, in trees with colours
three bytes of these, and a byte of which children there are; without any it is a leaf.

Of room that no ray has met nothing is said; it is taken to be free.
"""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import AnyArray, IntArray
from safe_sysid.errors import BoundError
from safe_sysid.input_file import shortened
from safe_sysid.model.collision.enclosing_boxes import of_corners
from safe_sysid.model.collision.voxel_cover import runs_along_x
from safe_sysid.sets.box import Box
from safe_sysid.sets.compiled import jit
from safe_sysid.sets.interval import EPS

LEVELS = 16
MIDDLE = 2 ** (LEVELS - 1)  # cells below the origin
COLOURS = {'OcTree': 0, 'ColorOcTree': 3}  # bytes in a full node besides its log-odds
LEAVES = 5_000_000  # of a map, at most
ENDED, TOO_DEEP = -1, -2
OCCUPIED, BELOW = 2, 3


def octree_cover(
    data: bytes, kind: str, is_binary: bool, resolution: float, budget: int
) -> list[Box]:
    """At most `budget` boxes that contain all occupied leaves of a tree; its cells are in [m]."""
    if not 0.0 < resolution < np.inf:
        raise BoundError(f'the resolution of the octree is {resolution} m; it has to be above 0')
    leaves = occupied_leaves(data, kind, is_binary)
    corners = [np.zeros((0, 2, 3))]
    for size in np.unique(leaves[:, 3]):
        cells = leaves[leaves[:, 3] == size, :3] // size
        first, last = runs_along_x(cells)
        corners.append(np.stack([first * size, (last + 1) * size], axis=1).astype(float))
    edges = (np.concatenate(corners) - MIDDLE) * resolution
    slack = 64 * EPS * (np.abs(edges).sum(axis=1) + resolution)
    edges[:, 0] -= slack
    edges[:, 1] += slack
    return of_corners(edges, budget)


def occupied_leaves(data: bytes, kind: str, is_binary: bool) -> IntArray:
    """Lowest corner and size in cells of every occupied leaf, (N, 4); the origin is at MIDDLE."""
    if kind not in COLOURS:
        raise BoundError(f"the octree is a '{shortened(kind)}'; {sorted(COLOURS)} are known")
    told = np.frombuffer(data, dtype=np.uint8)
    if not len(told):
        return np.zeros((0, 4), dtype=np.int64)
    if is_binary:
        most, head = sum(int(np.sum(told >> i & 3 == 2)) for i in (0, 2, 4, 6)), 0
    else:
        head = 4 + COLOURS[kind]
        most = len(told) // (head + 1) + 1
    if most > LEAVES:
        raise BoundError(
            f'the octree may have {most} occupied leaves; there is room for {LEAVES}, crop it to '
            'what the arm reaches'
        )
    found = np.empty((most, 4), dtype=np.int64)
    end, count = _read(told, head, found)
    if end == TOO_DEEP:
        raise BoundError(f'the octree has more than {LEVELS} levels')
    if end != len(told):
        said = 'ends within a node' if end == ENDED else f'has {len(told) - end} bytes too many'
        raise BoundError(f'the data of the octree, {len(told)} bytes, {said}')
    return found[:count]


@jit
def _read(data: AnyArray, head: int, found: IntArray) -> tuple[int, int]:
    """Fill in occupied leaves; where the data ends, and how many there are. No head: binary."""
    waiting = np.empty((8 * LEVELS + 8, 4), dtype=np.int64)  # nodes to read: corner and level
    waiting[0] = 0
    left, at, count = 1, 0, 0
    length = 2 if head == 0 else head + 1
    while left > 0:
        left -= 1
        x, y, z, level = waiting[left]
        if at + length > len(data):
            return ENDED, 0
        if head > 0 and data[at + head] == 0:
            if _is_occupied(data, at):
                found[count] = x, y, z, 1 << (LEVELS - level)
                count += 1
            at += length
            continue
        if level >= LEVELS:
            return TOO_DEEP, 0
        half = 1 << (LEVELS - 1 - level)
        for j in range(8):
            i = 7 - j  # the first child is read first
            says = _of_child(data, at, head, i)
            child = x + half * (i & 1), y + half * (i >> 1 & 1), z + half * (i >> 2 & 1)
            if says == BELOW:
                waiting[left] = child[0], child[1], child[2], level + 1
                left += 1
            elif says == OCCUPIED:
                found[count] = child[0], child[1], child[2], half
                count += 1
        at += length
    return at, count


@jit
def _of_child(data: AnyArray, at: int, head: int, i: int) -> int:
    """Return what a node says of child i: OCCUPIED, BELOW (it has a node of its own) or less."""
    if head > 0:
        return BELOW if data[at + head] >> i & 1 else 0
    return data[at + i // 4] >> (2 * (i % 4)) & 3  # type: ignore[no-any-return]


@jit
def _is_occupied(data: AnyArray, at: int) -> bool:
    """Whether log-odds (little-endian) are not below zero, or are no number."""
    is_negative = data[at + 3] >= 128
    magnitude = (data[at + 3] & 127) | data[at + 2] | data[at + 1] | data[at]
    exponent = (data[at + 3] & 127) << 1 | data[at + 2] >> 7
    fraction = (data[at + 2] & 127) | data[at + 1] | data[at]
    is_number = not (exponent == 255 and fraction != 0)
    return not (is_negative and magnitude != 0 and is_number)
