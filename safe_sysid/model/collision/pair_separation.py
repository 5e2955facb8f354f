"""Whether two capsules of an arm can touch anywhere inside its joint limits, decided.

Branch and bound over boxes of the joints between them. Turning a joint by an angle moves no point
of the capsule it moves by more than the angle times the point's distance from the axis; so the gap
in the middle of a box, less its half widths times these levers, bounds the gap in the whole box
from below. For a joint between two capsules it is the same which of the two is taken to move: the
lever is the smaller one. A prismatic joint moves every point as far as itself.

A pair is apart only where every box is: sampling decides nothing. What is decided within too many
boxes is not decided.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import AnyArray, Array, IntArray
from safe_sysid.model.collision.capsules import Capsules
from safe_sysid.model.tree import JointLimits, Tree

CERTAIN = 1e-6  # [m], far above rounding errors
MOST_BOXES = 200_000
SAMPLES = 1000  # poses looked at first, as most pairs that can touch do so often


class Verdict(Enum):
    """What branch and bound says about a pair."""

    APART = 'apart'  # in every pose, for certain
    TOUCHING = 'touching'  # in some pose
    UNDECIDED = 'undecided'


class Separation(NamedTuple):
    """Whether two capsules can touch, and a pose in which they do."""

    verdict: Verdict
    pose: Array  # (m,) of the joints between them in which they touch; NaN where none is known


class Chain(NamedTuple):
    """Two capsules and the joints between them."""

    joints: IntArray  # (m,) those that carry the first only, then those of the second, base first
    carried: int  # how many of them carry the second
    R: Array  # (m, 3, 3) joint frame at q = 0 in the frame of the joint below
    p: Array  # (m, 3) [m]
    axis: Array  # (m, 3)
    is_prismatic: AnyArray  # (m,)
    ends: Array  # (4, 3) a and b of the first, then of the second, in the frames that carry them
    radii: float  # of both [m]
    lower: Array  # (m,) positions that the joints can take; infinite where there is no limit
    upper: Array


def chain_between(
    tree: Tree, limits: JointLimits, capsules: Capsules, pair: tuple[int, int]
) -> Chain:
    """Return the joints between two capsules, which are given by their indices."""
    first, second = pair
    below, above = (_carrying(tree, int(capsules.joint[i])) for i in pair)
    on_first = [j for j in below if j not in above]
    on_second = [j for j in above if j not in below]
    joints = np.array(on_first + on_second, dtype=np.int64)
    lower, upper = limits.position_lower[joints], limits.position_upper[joints]
    turns = ~tree.is_prismatic[joints] & ~(upper - lower < 2.0 * np.pi)
    return Chain(
        joints,
        len(on_second),
        tree.R_parent_joint[joints],
        tree.p_parent_joint[joints],
        tree.axis[joints],
        tree.is_prismatic[joints],
        np.array([capsules.a[first], capsules.b[first], capsules.a[second], capsules.b[second]]),
        float(capsules.radius[first] + capsules.radius[second]),
        np.where(turns, -np.pi, lower),
        np.where(turns, np.pi, upper),
    )


def _carrying(tree: Tree, joint: int) -> list[int]:
    """Return a joint and those that carry it, base first."""
    path: list[int] = []
    while joint >= 0:
        path.insert(0, joint)
        joint = int(tree.parent[joint])
    return path


def levers(chain: Chain) -> Array:
    """How far a point of the nearer capsule moves at most per unit of each joint, (m,)."""
    farthest = np.maximum(np.abs(chain.lower), np.abs(chain.upper))
    travel = np.where(chain.is_prismatic, farthest, 0.0)
    split = len(chain.p) - chain.carried
    first, second = list(range(split)), list(range(split, len(chain.p)))
    from_first = _reaches(chain, travel, [*first[::-1], *second], chain.ends[:2], len(first))
    from_second = _reaches(chain, travel, [*second[::-1], *first], chain.ends[2:], len(second))
    lever = np.minimum(from_first, from_second)
    return np.where(chain.is_prismatic, 1.0, lever) * (1.0 + 1e-12)


def _reaches(chain: Chain, travel: Array, order: list[int], ends: Array, own: int) -> Array:
    """Distance of a capsule from every axis, going from it along the joints in `order`.

    The first `own` of them carry it; beyond the body where both ways meet, joints lead outward.
    """
    reach = np.zeros(len(order))
    if not order:
        return reach
    if own:
        beside = ends
        far = np.linalg.norm(ends, axis=1).max() + travel[order[0]]
    else:
        beside = (ends - chain.p[order[0]]) @ chain.R[order[0]]
        far = np.linalg.norm(beside, axis=1).max()
    reach[order[0]] = np.linalg.norm(np.cross(beside, chain.axis[order[0]]), axis=1).max()
    for place, (last, joint) in enumerate(pairwise(order), start=1):
        if place < own:  # towards the body where both ways meet
            far += np.linalg.norm(chain.p[last]) + travel[joint]
        elif place == own:  # across it
            far += np.linalg.norm(chain.p[last] - chain.p[joint])
        else:  # away from it
            far += np.linalg.norm(chain.p[joint]) + travel[last]
        reach[joint] = far
    return reach


def separation(chain: Chain) -> Separation:
    """Whether two capsules can touch in any position of the joints between them."""
    return decided(chain, levers(chain), lambda positions: gaps(chain, positions), MOST_BOXES)


def decided(
    chain: Chain, lever: Array, gap_at: Callable[[Array], Array], most_boxes: int
) -> Separation:
    """Whether two bodies can touch, whose gap at positions (N, m) is known, and their levers."""
    lower, upper = chain.lower, chain.upper
    unknown = np.full(len(lower), np.nan)
    if not np.all(np.isfinite(upper - lower)):
        return Separation(Verdict.UNDECIDED, unknown)
    center, half = ((lower + upper) / 2.0)[None], ((upper - lower) / 2.0)[None]
    tried, boxes = np.concatenate([center, lower + 2.0 * half * _spread(len(lower))]), 0
    while len(center):
        gap = gap_at(tried)
        if gap.min() <= 0.0:
            return Separation(Verdict.TOUCHING, tried[np.argmin(gap)])
        left = gap[: len(center)] - half @ lever <= CERTAIN
        center, half = _halved(center[left], half[left], lever)
        tried, boxes = center, boxes + len(center)
        if boxes > most_boxes:
            return Separation(Verdict.UNDECIDED, unknown)
    return Separation(Verdict.APART, unknown)


def _spread(dimensions: int) -> Array:
    """Points all over the unit cube (SAMPLES, dimensions), the same ones every time."""
    return np.asarray(np.random.default_rng(0).random((SAMPLES, dimensions)))


def _halved(center: Array, half: Array, lever: Array) -> tuple[Array, Array]:
    """Every box cut in two along the joint that matters most."""
    rows = np.arange(len(center))
    widest = np.argmax(half * lever, axis=1)
    half = half.copy()
    half[rows, widest] /= 2.0
    step = np.zeros_like(half)
    step[rows, widest] = half[rows, widest]
    return np.concatenate([center - step, center + step]), np.concatenate([half, half])


def gaps(chain: Chain, positions: Array) -> Array:
    """Distance between the surfaces for every row of positions (N, m), negative in contact."""
    split = len(chain.p) - chain.carried
    first = _carried(chain, positions, range(split), chain.ends[:2])
    second = _carried(chain, positions, range(split, len(chain.p)), chain.ends[2:])
    return segment_distances(first[0], first[1], second[0], second[1]) - chain.radii


def placed(chain: Chain, positions: Array, of_second: int) -> tuple[Array, Array]:
    """Where the frame of a body is, (N, 3, 3) and (N, 3), in the frame that both ways meet in."""
    split = len(chain.p) - chain.carried
    joints = range(split, len(chain.p)) if of_second else range(split)
    p, x, y, z = _carried(chain, positions, joints, np.concatenate([np.zeros((1, 3)), np.eye(3)]))
    return np.stack([x - p, y - p, z - p], axis=2), p


def _carried(chain: Chain, positions: Array, joints: range, points: Array) -> list[Array]:
    """Points (N, 3) each that some of the joints carry, outermost joint last."""
    found = [np.asarray(np.broadcast_to(point, (len(positions), 3))) for point in points]
    for k in reversed(joints):
        found = [_moved(chain, k, positions[:, k], x) for x in found]
    return found


def _moved(chain: Chain, k: int, position: Array, points: Array) -> Array:
    """Points of a joint's frame (N, 3) in the frame below it, by Rodrigues' formula."""
    axis, step = chain.axis[k], position[:, None]
    if chain.is_prismatic[k]:
        moved = points + step * axis
    else:
        along = (points @ axis)[:, None] * axis
        moved = along + np.cos(step) * (points - along) + np.sin(step) * np.cross(axis, points)
    return np.asarray(moved @ chain.R[k].T + chain.p[k])


def segment_distances(a: Array, b: Array, c: Array, d: Array) -> Array:
    """Distance between the segments from a to b and from c to d, row by row (N, 3) -> (N,)."""
    u, v, w = b - a, d - c, a - c
    uu, uv, vv = (u * u).sum(1), (u * v).sum(1), (v * v).sum(1)
    uw, vw = (u * w).sum(1), (v * w).sum(1)
    area = uu * vv - uv**2
    crossing = area > 1e-12 * uu * vv  # parallel segments are nearest at an end
    area = np.where(crossing, area, 1.0)
    s, t = (uv * vw - vv * uw) / area, (uu * vw - uv * uw) / area
    crossing &= (s >= 0.0) & (s <= 1.0) & (t >= 0.0) & (t <= 1.0)
    between = np.linalg.norm(w + s[:, None] * u - t[:, None] * v, axis=1)
    nearest = np.where(crossing, between, np.inf)
    for point, start, end in ((a, c, d), (b, c, d), (c, a, b), (d, a, b)):
        nearest = np.minimum(nearest, _to_segment(point, start, end))
    return nearest


def _to_segment(point: Array, a: Array, b: Array) -> Array:
    """Distance of points from the segments from a to b, row by row."""
    u = b - a
    length = (u * u).sum(1)
    s = ((point - a) * u).sum(1) / np.where(length > 0.0, length, 1.0)
    return np.asarray(np.linalg.norm(point - a - np.clip(s, 0.0, 1.0)[:, None] * u, axis=1))
