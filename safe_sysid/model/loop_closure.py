"""Loop closures of a tree of joints: gap c(q), its Jacobian J = dc/dq and the bias dJ/dt qd."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.errors import ModelError
from safe_sysid.model.facts import LoopFacts
from safe_sysid.model.forward_kinematics import joint_frames_into
from safe_sysid.model.robot_model import RobotModel, Tree
from safe_sysid.sets.compiled import jit


class Loops(NamedTuple):
    """Pairs of points that coincide, and the directions in which they do, for compiled code."""

    body: IntArray  # (L, 2) joint whose body carries the point, -1: the base
    point: Array  # (L, 2, 3) [m] in the frame of that joint
    loop: IntArray  # (m,) loop of every row of c
    direction: Array  # (m, 3) of every row, in the base frame


def loops_of(model: RobotModel, loops: dict[str, LoopFacts]) -> Loops:
    """The loops of a robot as arrays; an error names the loop that can't be."""
    bodies, points, rows, directions = [], [], [], []
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
                f'{model.name}: both ends of loop {name} are on the body that joint '
                f"'{model.layout.joint_names[ends[0][0]]}' moves; a loop joins two bodies"
            )
        bodies.append([body for body, _ in ends])
        points.append([point for _, point in ends])
        along = np.eye(3) if loop.normal is None else _across(np.array(loop.normal))
        rows += [index] * len(along)
        directions.append(along)
    return Loops(
        np.array(bodies, dtype=np.int64).reshape(-1, 2),
        np.array(points, dtype=float).reshape(-1, 2, 3),
        np.array(rows, dtype=np.int64),
        np.concatenate([np.zeros((0, 3)), *directions]),
    )


def _across(normal: Array) -> Array:
    """Two unit vectors (2, 3) that are normal to a vector and to each other."""
    return np.linalg.svd(normal[None])[2][1:]


@jit
def closure_into(
    tree: Tree, loops: Loops, q: Array, qd: Array, c: Array, J: Array, bias: Array
) -> None:
    """Write the gap c (m,), its Jacobian J (m, n), and dJ/dt qd (m,)."""
    n = len(q)
    R, p = np.empty((n, 3, 3)), np.empty((n, 3))
    joint_frames_into(tree, q, R, p)
    axis, omega, alpha, acceleration = _motion(tree, R, p, qd)
    c[:], J[:], bias[:] = 0.0, 0.0, 0.0
    point, moved = np.empty(3), np.empty(3)
    for loop in range(len(loops.body)):
        for end in range(2):
            sign = 1.0 if end == 0 else -1.0
            body = loops.body[loop, end]
            _place(R, p, body, loops.point[loop, end], point)
            moved[:] = 0.0
            if body >= 0:
                arm = point - p[body]
                turned = _cross(omega[body], arm)
                moved = acceleration[body] + _cross(alpha[body], arm) + _cross(omega[body], turned)
            for row in range(len(c)):
                if loops.loop[row] != loop:
                    continue
                direction = loops.direction[row]
                c[row] += sign * _dot(direction, point)
                bias[row] += sign * _dot(direction, moved)
                j = body
                while j >= 0:
                    if tree.is_prismatic[j]:
                        J[row, j] += sign * _dot(direction, axis[j])
                    else:
                        J[row, j] += sign * _dot(direction, _cross(axis[j], point - p[j]))
                    j = tree.parent[j]


@jit
def _motion(tree: Tree, R: Array, p: Array, qd: Array) -> tuple[Array, Array, Array, Array]:
    """Joint axes in the base frame; what bodies do when no joint accelerates.

    Angular velocity, angular acceleration, and acceleration of the origin of every body (n, 3).
    """
    n = len(qd)
    axis, omega, alpha = np.empty((n, 3)), np.zeros((n, 3)), np.zeros((n, 3))
    acceleration = np.zeros((n, 3))
    for i in range(n):
        for r in range(3):
            axis[i, r] = _dot(R[i, r], tree.axis[i])
        up = tree.parent[i]
        rate = qd[i] * axis[i]
        if up >= 0:
            arm = p[i] - p[up]
            omega[i], alpha[i] = omega[up], alpha[up]
            acceleration[i] = (
                acceleration[up]
                + _cross(alpha[up], arm)
                + _cross(omega[up], _cross(omega[up], arm))
            )
            if tree.is_prismatic[i]:
                acceleration[i] += 2.0 * _cross(omega[up], rate)
            else:
                alpha[i] += _cross(omega[up], rate)
        if not tree.is_prismatic[i]:
            omega[i] += rate
    return axis, omega, alpha, acceleration


@jit
def _place(R: Array, p: Array, body: int, point: Array, out: Array) -> None:
    """Where a point of a body is in the base frame."""
    for r in range(3):
        out[r] = point[r] if body < 0 else p[body, r] + _dot(R[body, r], point)


@jit
def _dot(a: Array, b: Array) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]  # type: ignore[no-any-return]


@jit
def _cross(a: Array, b: Array) -> Array:
    out = np.empty(3)
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]
    return out
