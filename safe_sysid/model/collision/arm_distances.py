"""Distances of an arm's capsules to each other and to the floor, with their derivatives in q."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import AnyArray, Array, IntArray
from safe_sysid.errors import BoundError
from safe_sysid.model.collision.capsules import Capsules
from safe_sysid.model.collision.segment_distance import segment_distance
from safe_sysid.model.dynamics.forward_kinematics import joint_frames_into
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.tree import Tree
from safe_sysid.sets.compiled import jit
from safe_sysid.sets.points import Point, between, point_at

POSES = 300  # random poses that show which capsules always overlap
APART = 2  # joints between two bodies that can touch at all
OF_WIDEST = 0.75  # of what two capsules are apart at most: more is never asked of them
UP = (0.0, 0.0, 1.0)
UPRIGHT = 1e-5  # [rad] that an axis may lean in a URDF whose angles are rounded


class CapsuleBodies(NamedTuple):
    """Capsules and what of them can touch, as arrays for compiled code."""

    tree: Tree
    joint: IntArray  # (m,) -1: the base
    ends: Array  # (m, 2, 3) in the frame of the joint [m]
    radius: Array  # (m,)
    pairs: IntArray  # (P, 2) P pairs
    over_floor: IntArray  # (F,) F capsules that move
    floor: float  # [m] height, minus infinity if there is none
    between: IntArray  # (P + F, n) 1 where a joint moves only the second, -1 only the first
    reach: Array  # (P + F, n) [m] most that a point of the moved one can be from the joint


@dataclass(frozen=True, eq=False)
class Contacts:
    """What an arm could touch, with names."""

    bodies: CapsuleBodies
    names: tuple[str, ...]  # (P + F,)
    left_out: tuple[str, ...]  # pairs that overlap in every pose, so that nothing can be said
    share: Array  # (P + F,) of a distance that is asked for; below 1 where no pose has all of it

    def distances(self, q: Array) -> Array:
        """Distances at q (N, n), not above the exact ones by more than rounding, (N, P + F)."""
        gaps = np.empty((len(q), len(self.names)))
        distances_into(self.bodies, np.ascontiguousarray(q), gaps)
        return gaps

    def nearest(self, q: Array) -> tuple[float, str]:
        """Smallest distance over all rows of q and what it is between."""
        if not self.names:
            return np.inf, 'nothing'
        gaps = self.distances(q)
        least = int(np.argmin(gaps.min(axis=0)))
        return float(gaps[:, least].min()), self.names[least]

    def sharing(self, distance: float, poses: Array) -> Contacts:
        """Ask less of pairs that are nearer than a distance [m] in all of some poses.

        Such are bodies two joints apart, as base and upper arm of a UR: no motion moves them
        away from each other. The floor is not of the arm, so nothing is given up there.
        """
        widest = self.distances(poses)[:, : len(self.bodies.pairs)].max(axis=0, initial=-np.inf)
        is_narrow = (widest > 0.0) & (widest < distance)
        share = np.ones(len(self.names))
        share[: len(widest)][is_narrow] = OF_WIDEST * widest[is_narrow] / distance
        return replace(self, share=share)

    def narrow(self, distance: float) -> dict[str, float]:
        """Return what narrow pairs keep [m], where all others keep a distance [m]."""
        some = np.flatnonzero(self.share < 1.0)
        return {self.names[pair]: float(self.share[pair] * distance) for pair in some}


def contacts_of(
    bare: RobotModel, model: RobotModel, floor: float | None, poses: Array
) -> Contacts:
    """Return pairs that can touch: those of the bare arm, and added shapes with all others.

    What is on `model` but not on `bare` can touch every capsule two or more joints away.
    """
    held = range(len(bare.capsules.names), len(model.capsules.names))
    pairs = {(int(min(p)), int(max(p))) for p in model.capsules.pairs}
    for i in held:
        for j in range(len(bare.capsules.names)):
            if len(_joints_between(model.tree, model.capsules, j, i)) >= APART:
                pairs.add((j, i))
    listed = _contacts(model, sorted(pairs), floor)
    gaps = listed.distances(poses)
    always: AnyArray = np.all(gaps[:, : len(pairs)] < 0.0, axis=0)
    kept = [pair for pair, out in zip(sorted(pairs), always, strict=True) if not out]
    found = _contacts(model, kept, floor)
    out = tuple(name for name, always_out in zip(listed.names, always, strict=False) if always_out)
    return replace(found, left_out=out)


def _contacts(model: RobotModel, pairs: list[tuple[int, int]], floor: float | None) -> Contacts:
    capsules, names = model.capsules, model.capsules.names
    rising = [floor is not None and _rises(model.tree, int(j)) for j in capsules.joint]
    moving = np.flatnonzero(rising)
    either = [*pairs, *((-1, int(i)) for i in moving)]  # the floor is fixed to the base
    between = np.zeros((len(either), model.n), dtype=np.int64)
    reach = np.zeros((len(either), model.n))
    for row, (first, second) in enumerate(either):
        for joint, sign in _joints_between(model.tree, capsules, first, second).items():
            between[row, joint] = sign
            moved = second if sign > 0 else first
            reach[row, joint] = _reach(model, joint, moved)
    bodies = CapsuleBodies(
        model.tree,
        capsules.joint,
        np.ascontiguousarray(np.stack([capsules.a, capsules.b], axis=1)),
        capsules.radius,
        np.array(pairs, dtype=np.int64).reshape(-1, 2),
        moving.astype(np.int64),
        -np.inf if floor is None else floor,
        between,
        reach,
    )
    words = [f'{names[i]} and {names[j]}' for i, j in pairs]
    every = (*words, *(f'{names[i]} and the floor' for i in moving))
    return Contacts(bodies, every, (), np.ones(len(every)))


def _rises(tree: Tree, joint: int) -> bool:
    """Whether a body can change its height; one that turns about the vertical keeps it."""
    path, R = sorted(_above_base(tree, joint)), np.eye(3)
    for on in path:  # parents come before children
        R = R @ tree.R_parent_joint[on]
        x, y, z = R @ tree.axis[on]
        if (abs(z) if tree.is_prismatic[on] else np.hypot(x, y)) > UPRIGHT:
            return True
    return False


def _above_base(tree: Tree, joint: int) -> set[int]:
    """Joints that move what is fixed to a joint."""
    path = set()
    while joint >= 0:
        path.add(joint)
        joint = int(tree.parent[joint])
    return path


def _joints_between(tree: Tree, capsules: Capsules, first: int, second: int) -> dict[int, int]:
    """Joints that move one of two capsules only: 1 for the second, -1 for the first."""
    of_first = _above_base(tree, int(capsules.joint[first])) if first >= 0 else set()
    of_second = _above_base(tree, int(capsules.joint[second]))
    return dict.fromkeys(of_second - of_first, 1) | dict.fromkeys(of_first - of_second, -1)


def _reach(model: RobotModel, joint: int, capsule: int) -> float:
    """Most that a point of a capsule's axis can be from the origin of a joint's frame.

    For a prismatic joint it is 1: it moves every point as far as itself.
    """
    tree, capsules, limits = model.tree, model.capsules, model.limits
    if tree.is_prismatic[joint]:
        return 1.0
    ends = np.stack([capsules.a[capsule], capsules.b[capsule]])
    total = float(np.linalg.norm(ends, axis=1).max())
    on = int(capsules.joint[capsule])
    while on != joint:
        total += float(np.linalg.norm(tree.p_parent_joint[on]))
        if tree.is_prismatic[on]:
            total += max(abs(limits.position_lower[on]), abs(limits.position_upper[on]))
        on = int(tree.parent[on])
    if not np.isfinite(total):
        raise BoundError(
            f'{model.name} has a prismatic joint without position limits, so nothing can be said '
            'about contact between two samples; add its limits to the URDF'
        )
    return total * (1.0 + 1e-12)


@jit
def distances_into(bodies: CapsuleBodies, q: Array, gaps: Array) -> None:
    """Distances at every row of q, into gaps (N, P + F)."""
    n, m = len(bodies.tree.parent), len(bodies.joint)
    R, p = np.empty((n, 3, 3)), np.empty((n, 3))
    ends = np.empty((m, 2, 3))
    for t in range(len(q)):
        _place(bodies, q[t], R, p, ends)
        for row in range(len(bodies.pairs)):
            gaps[t, row], _, _ = _pair_gap(bodies, ends, row)
        for f in range(len(bodies.over_floor)):
            i = bodies.over_floor[f]
            low = min(ends[i, 0, 2], ends[i, 1, 2])
            gaps[t, len(bodies.pairs) + f] = low - bodies.radius[i] - bodies.floor


@jit
def near_slopes_into(
    bodies: CapsuleBodies, q: Array, near: float, gaps: Array, slopes: Array
) -> None:
    """Distances at every row of q, and derivatives (N, P + F, n) of those below `near`."""
    n, m = len(bodies.tree.parent), len(bodies.joint)
    R, p = np.empty((n, 3, 3)), np.empty((n, 3))
    ends = np.empty((m, 2, 3))
    for t in range(len(q)):
        _place(bodies, q[t], R, p, ends)
        for row in range(len(bodies.pairs)):
            gap, normal, point = _pair_gap(bodies, ends, row)
            gaps[t, row] = gap
            if gap < near:
                _turn(bodies, row, R, p, point, normal, slopes[t, row])
        for f in range(len(bodies.over_floor)):
            i, row = bodies.over_floor[f], len(bodies.pairs) + f
            low = 0 if ends[i, 0, 2] <= ends[i, 1, 2] else 1
            gaps[t, row] = ends[i, low, 2] - bodies.radius[i] - bodies.floor
            if gaps[t, row] < near:
                _turn(bodies, row, R, p, point_at(ends, i, low), UP, slopes[t, row])


@jit
def _place(bodies: CapsuleBodies, q: Array, R: Array, p: Array, ends: Array) -> None:
    """End points of all capsules in the base frame."""
    joint_frames_into(bodies.tree, q, R, p)
    for i in range(len(bodies.joint)):
        j = bodies.joint[i]
        for e in range(2):
            for r in range(3):
                if j < 0:
                    ends[i, e, r] = bodies.ends[i, e, r]
                    continue
                x, y, z = bodies.ends[i, e, 0], bodies.ends[i, e, 1], bodies.ends[i, e, 2]
                ends[i, e, r] = p[j, r] + R[j, r, 0] * x + R[j, r, 1] * y + R[j, r, 2] * z


@jit
def _pair_gap(bodies: CapsuleBodies, ends: Array, row: int) -> tuple[float, Point, Point]:
    """Distance of one pair, its direction, and where on the axis of the second it is."""
    i, j = bodies.pairs[row, 0], bodies.pairs[row, 1]
    c, d = point_at(ends, j, 0), point_at(ends, j, 1)
    first = point_at(ends, i, 0), point_at(ends, i, 1)
    distance, normal, _, t = segment_distance(first, (c, d))
    return distance - bodies.radius[i] - bodies.radius[j], normal, between(c, d, t)


@jit
def _turn(
    bodies: CapsuleBodies, row: int, R: Array, p: Array, point: Point, normal: Point, slope: Array
) -> None:
    """Return the derivative of normal . (second - first) for fixed nearest points."""
    tree = bodies.tree
    for j in range(len(tree.parent)):
        slope[j] = 0.0
        sign = bodies.between[row, j]
        if sign == 0:
            continue
        ax = ay = az = 0.0
        for c in range(3):
            ax += R[j, 0, c] * tree.axis[j, c]
            ay += R[j, 1, c] * tree.axis[j, c]
            az += R[j, 2, c] * tree.axis[j, c]
        if tree.is_prismatic[j]:
            slope[j] = sign * (normal[0] * ax + normal[1] * ay + normal[2] * az)
            continue
        # nearest points of both lie on the normal, so either of them gives the same moment
        x, y, z = point[0] - p[j, 0], point[1] - p[j, 1], point[2] - p[j, 2]
        slope[j] = sign * (
            normal[0] * (ay * z - az * y)
            + normal[1] * (az * x - ax * z)
            + normal[2] * (ax * y - ay * x)
        )
