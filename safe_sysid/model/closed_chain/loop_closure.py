"""Loop closures of a tree of joints: gap c(q), its Jacobian J = dc/dq and the bias dJ/dt qd."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.errors import ModelError
from safe_sysid.model.dynamics.forward_kinematics import joint_frames_into
from safe_sysid.model.facts import LoopFacts
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.tree import Tree
from safe_sysid.sets.compiled import jit

IN_PLANE = 1e-4  # [rad] by which an axis of a planar loop may be off


class Loops(NamedTuple):
    """Pairs of points that coincide, and the directions in which they do, for compiled code."""

    body: IntArray  # (L, 2) joint whose body carries the point, -1: the base
    point: Array  # (L, 2, 3) [m] in the frame of that joint
    loop: IntArray  # (m,) loop of every row of c
    carrier: IntArray  # (L,) joint whose body carries the directions, -1: the base
    direction: Array  # (m, 3) of every row, in the frame of that joint


def loops_of(model: RobotModel, loops: dict[str, LoopFacts], home: Array) -> Loops:
    """Return the loops of a robot as arrays; an error names the loop that can't be.

    Planes of planar loops are described where the joints are at `home` (n,); they turn with the
    body from which both ends of the loop branch off.
    """
    n = model.n
    R, p, axis = np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 3))
    _frames_and_axes(model.tree, home, R, p, axis)
    bodies, points, rows, carriers, directions = [], [], [], [], []
    for index, (name, loop) in enumerate(loops.items()):
        ends = []
        for link, point in ((loop.link_a, loop.point_a), (loop.link_b, loop.point_b)):
            if link not in model.frames:
                raise ModelError(
                    f"{model.name}: loop {name} names link '{link}', which the URDF does not "
                    f'have; its links are {list(model.frames)}'
                )
            frame = model.frames[link]
            ends.append((frame.joint, frame.R @ np.array(point) + frame.p))
        if ends[0][0] == ends[1][0]:
            raise ModelError(
                f'{model.name}: both ends of loop {name} are on {_body(model, ends[0][0])}; a '
                'loop joins two bodies'
            )
        bodies.append([body for body, _ in ends])
        points.append([point for _, point in ends])
        carrier, along = -1, np.eye(3)
        if loop.normal is not None:
            normal = np.array(loop.normal) / np.abs(loop.normal).max()
            ways = [_way(model, body) for body, _ in ends]
            carrier = next((j for j in ways[0] if j in ways[1]), -1)
            _check_plane(model, name, normal, axis, set(ways[0]) ^ set(ways[1]))
            along = _across(normal) if carrier < 0 else _across(normal) @ R[carrier]
        rows += [index] * len(along)
        carriers.append(carrier)
        directions.append(along)
    return Loops(
        np.array(bodies, dtype=np.int64).reshape(-1, 2),
        np.array(points, dtype=float).reshape(-1, 2, 3),
        np.array(rows, dtype=np.int64),
        np.array(carriers, dtype=np.int64),
        np.concatenate([np.zeros((0, 3)), *directions]),
    )


def _body(model: RobotModel, joint: int) -> str:
    if joint < 0:
        return 'the base'
    return f"the body that joint '{model.layout.joint_names[joint]}' moves"


def _way(model: RobotModel, joint: int) -> list[int]:
    """Joints from one down to the base."""
    way = []
    while joint >= 0:
        way.append(joint)
        joint = int(model.tree.parent[joint])
    return way


def _check_plane(
    model: RobotModel, loop: str, normal: Array, axis: Array, joints: set[int]
) -> None:
    """Refuse a planar loop of which a joint turns about another axis, or leaves the plane."""
    unit = normal / np.linalg.norm(normal)
    for joint in sorted(joints):
        along, slides = axis[joint], model.tree.is_prismatic[joint]
        off = abs(along @ unit) if slides else np.linalg.norm(np.cross(along, unit))
        if off > IN_PLANE:
            raise ModelError(
                f'{model.name}: loop {loop} is planar with the normal {_rounded(unit)}, but joint '
                f"'{model.layout.joint_names[joint]}' "
                f'{"slides along" if slides else "turns about"} {_rounded(along)} (base frame, '
                'joints at home); joints of a planar loop turn about its normal or slide across '
                'it. A loop in space is of kind point'
            )


def _rounded(vector: Array) -> str:
    return '(' + ', '.join(f'{x:.4g}' for x in vector) + ')'


def _across(normal: Array) -> Array:
    """Two unit vectors (2, 3) that are normal to a vector and to each other."""
    return np.linalg.svd(normal[None])[2][1:]


@jit
def gap_into(tree: Tree, loops: Loops, q: Array, c: Array, J: Array) -> None:
    """Write the gap c (m,) and its Jacobian J (m, n)."""
    n = len(q)
    R, p, axis = np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 3))
    _frames_and_axes(tree, q, R, p, axis)
    directions = _directions(R, loops)
    c[:], J[:] = 0.0, 0.0
    point, moved = np.empty(3), np.empty(3)
    for loop in range(len(loops.body)):
        for end in range(2):
            sign = 1.0 if end == 0 else -1.0
            _place(R, p, loops, loop, end, point)
            _add_rows(loops, directions, loop, sign, point, c)
            j = loops.body[loop, end]
            while j != loops.carrier[loop]:
                _velocity_of_point(tree, axis, p, j, point, moved)
                _add_rows(loops, directions, loop, sign, moved, J[:, j])
                j = tree.parent[j]


@jit
def bias_into(tree: Tree, loops: Loops, q: Array, qd: Array, bias: Array) -> None:
    """Write dJ/dt qd (m,): how the gap accelerates when no joint does, and qd keeps it as it is.

    In the frame of the body that carries a planar loop: what turns with it stays closed.
    """
    n = len(q)
    R, p, axis = np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 3))
    _frames_and_axes(tree, q, R, p, axis)
    omega, alpha, origin = np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 3))
    for i in range(n):
        _move_on(tree, i, qd[i], p, axis, omega, alpha, origin)
    directions = _directions(R, loops)
    bias[:] = 0.0
    point, moved, arm = np.empty(3), np.empty(3), np.empty(3)
    for loop in range(len(loops.body)):
        carrier = loops.carrier[loop]
        for end in range(2):
            body = loops.body[loop, end]
            if body < 0:
                continue
            _place(R, p, loops, loop, end, point)
            for r in range(3):
                arm[r] = point[r] - p[body, r]
                moved[r] = origin[body, r]
            _add_turning(omega[body], alpha[body], arm, moved)
            sign = 1.0 if end == 0 else -1.0
            _add_rows(loops, directions, loop, sign, moved, bias)
            if carrier >= 0:  # as it would accelerate if it were fixed to the carrier
                for r in range(3):
                    arm[r], moved[r] = point[r] - p[carrier, r], 0.0
                _add_turning(omega[carrier], alpha[carrier], arm, moved)
                _add_rows(loops, directions, loop, -sign, moved, bias)


@jit
def _frames_and_axes(tree: Tree, q: Array, R: Array, p: Array, axis: Array) -> None:
    """Joint frames, and the joint axes in the base frame."""
    joint_frames_into(tree, q, R, p)
    for i in range(len(q)):
        for r in range(3):
            axis[i, r] = (
                R[i, r, 0] * tree.axis[i, 0]
                + R[i, r, 1] * tree.axis[i, 1]
                + R[i, r, 2] * tree.axis[i, 2]
            )


@jit
def _place(R: Array, p: Array, loops: Loops, loop: int, end: int, out: Array) -> None:
    """Where one end of a loop is in the base frame."""
    body = loops.body[loop, end]
    for r in range(3):
        out[r] = loops.point[loop, end, r]
    if body >= 0:
        x, y, z = out[0], out[1], out[2]
        for r in range(3):
            out[r] = p[body, r] + R[body, r, 0] * x + R[body, r, 1] * y + R[body, r, 2] * z


@jit
def _directions(R: Array, loops: Loops) -> Array:
    """Directions (m, 3) of all rows in the base frame."""
    found: Array = loops.direction.copy()
    for row in range(len(found)):
        carrier = loops.carrier[loops.loop[row]]
        if carrier >= 0:
            x, y, z = loops.direction[row, 0], loops.direction[row, 1], loops.direction[row, 2]
            for r in range(3):
                found[row, r] = R[carrier, r, 0] * x + R[carrier, r, 1] * y + R[carrier, r, 2] * z
    return found


@jit
def _add_rows(loops: Loops, d: Array, loop: int, sign: float, vector: Array, rows: Array) -> None:
    """Add a vector along the directions of a loop to its rows."""
    for row in range(len(loops.loop)):
        if loops.loop[row] == loop:
            along = d[row, 0] * vector[0] + d[row, 1] * vector[1] + d[row, 2] * vector[2]
            rows[row] += sign * along


@jit
def _velocity_of_point(
    tree: Tree, axis: Array, p: Array, j: int, point: Array, out: Array
) -> None:
    """Velocity of a point when joint j moves at unit speed."""
    a, b, c = axis[j, 0], axis[j, 1], axis[j, 2]
    if tree.is_prismatic[j]:
        out[0], out[1], out[2] = a, b, c
        return
    x, y, z = point[0] - p[j, 0], point[1] - p[j, 1], point[2] - p[j, 2]
    out[0], out[1], out[2] = b * z - c * y, c * x - a * z, a * y - b * x


@jit
def _move_on(
    tree: Tree,
    i: int,
    rate: float,
    p: Array,
    axis: Array,
    omega: Array,
    alpha: Array,
    origin: Array,
) -> None:
    """Angular velocity and acceleration of body i, and acceleration of its origin."""
    up = tree.parent[i]
    a, b, c = rate * axis[i, 0], rate * axis[i, 1], rate * axis[i, 2]
    if up >= 0:
        arm = p[i] - p[up]
        for r in range(3):
            omega[i, r], alpha[i, r], origin[i, r] = omega[up, r], alpha[up, r], origin[up, r]
        _add_turning(omega[up], alpha[up], arm, origin[i])
        x, y, z = omega[up, 0], omega[up, 1], omega[up, 2]
        changed, factor = (origin, 2.0) if tree.is_prismatic[i] else (alpha, 1.0)
        changed[i, 0] += factor * (y * c - z * b)
        changed[i, 1] += factor * (z * a - x * c)
        changed[i, 2] += factor * (x * b - y * a)
    if not tree.is_prismatic[i]:
        omega[i, 0] += a
        omega[i, 1] += b
        omega[i, 2] += c


@jit
def _add_turning(omega: Array, alpha: Array, arm: Array, out: Array) -> None:
    """Add alpha x arm + omega x (omega x arm)."""
    x, y, z = arm[0], arm[1], arm[2]
    along = omega[0] * x + omega[1] * y + omega[2] * z
    square = omega[0] ** 2 + omega[1] ** 2 + omega[2] ** 2
    out[0] += alpha[1] * z - alpha[2] * y + omega[0] * along - x * square
    out[1] += alpha[2] * x - alpha[0] * z + omega[1] * along - y * square
    out[2] += alpha[0] * y - alpha[1] * x + omega[2] * along - z * square
