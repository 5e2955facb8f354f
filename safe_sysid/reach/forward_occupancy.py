"""Where the end points of all capsules can be: forward kinematics on Taylor models, compiled.

A joint with unit axis a turns by R(q) = a a' + cos q (1 - a a') + sin q S(a), so with the fixed
rotation R0 before it

    R_i = R_up N + cos q (R_up C) + sin q (R_up S),   N = R0 a a', C = R0 (1 - a a'), S = R0 S(a)

of which only the products with cos q and sin q multiply polynomials. A point that is fixed to a
joint is p_i + R_i x. Axes and rotations of the tree were normalised in floats: N, C and S are
intervals that contain those of an arm whose axes have length one and whose rotations are exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.errors import BoundError
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.tree import Tree
from safe_sysid.reach.error_balls import ErrorSet, error_balls, levers
from safe_sysid.reach.joint_reach import JointReach, states_in_lanes
from safe_sysid.reach.tracking_error import TrackingError
from safe_sysid.sets.compiled import jit, part_jit
from safe_sysid.sets.interval import EPS, Interval
from safe_sysid.sets.lanes import LANES, lane_pool
from safe_sysid.sets.monomials import Monomials
from safe_sysid.sets.steps import Steps, over_steps
from safe_sysid.sets.taylor_kernels import add_product, add_scaled, bounds, clear, copy
from safe_sysid.sets.taylor_model import TaylorModel
from safe_sysid.sets.taylor_vectors import add_linear, clear_vector

_DIRECTION = 2.0**-50  # error of entries of axes and rotations that were normalised in floats
# Entries of N, C, S and R0 a are sums of at most four products of three such factors, each at most
# 1 + 2^-50: off by less than 4 (3 + 4) _DIRECTION, rounding included.
_PRODUCT = 2.0**-45
STATE, POSE, WORK = 3, 12, 3  # rows of a joint: cos, sin, q; rotation and origin; of work


@dataclass(frozen=True, eq=False)
class Occupancy:
    """End points of m capsules, first all a, then all b, in every time interval.

    An end point is in the box of its Taylor models plus a ball for the tracking error.
    """

    monomials: Monomials
    rows: Array  # (T, 2 m, 3, M + 1) where the plan has them: M coefficients and a remainder
    boxes: tuple[Array, Array]  # (T, 2 m, 3) centres and half widths about the rows, for all k
    tracking: Array  # (T, 2 m) [m] radius of the ball

    @property
    def rho(self) -> Array:
        """Radius of balls about the polynomials that contain the end points, (T, 2 m)."""
        return np.asarray((ball_radius(self.rows[..., -1]) + self.tracking) * (1.0 + 4 * EPS))

    @cached_property
    def whole_range(self) -> tuple[Array, Array]:
        """Centres (T, 2 m, 3) and radii (T, 2 m) of balls that contain the end points of all k."""
        center, half_widths = self.boxes
        return center, (ball_radius(half_widths) + self.tracking) * (1.0 + 4 * EPS)


def ball_radius(half_widths: Array) -> Array:
    """Radius of a ball that contains a box about its centre; (..., 3)."""
    return np.asarray(np.sqrt((half_widths**2).sum(axis=-1)) * (1.0 + 8 * EPS))


def forward_occupancy(model: RobotModel, desired: JointReach, errors: ErrorSet) -> Occupancy:
    """End points of all capsules, for all desired joint states and tracking errors."""
    tree, capsules, n = model.tree, model.capsules, model.n
    every = np.arange(n)
    joint = np.concatenate([capsules.joint, capsules.joint])
    points = np.concatenate([capsules.a, capsules.b])
    rows = placed_rows(
        tree,
        np.concatenate([joint, every, every]),
        np.concatenate([points, np.zeros((n, 3)), tree.axis]),
        desired,
    )
    center, half_widths = enclosing_boxes(rows, desired.monomials)
    slides = np.zeros(n)
    if np.any(tree.is_prismatic):
        slides = TaylorModel(desired.monomials, desired.q).bound().magnitude.max(axis=0)
    lever = levers(tree, joint, points, slides + errors.position)
    balls = error_balls(lever, errors, center, half_widths)
    ends = slice(0, len(joint))
    boxes = center[:, ends].copy(), half_widths[:, ends].copy()
    return Occupancy(desired.monomials, rows[:, ends].copy(), boxes, balls)


def without_error(n: int) -> TrackingError:
    """Tracking error of an arm that follows its plan exactly."""
    nothing = np.zeros(n)
    return TrackingError(np.ones(n), nothing, nothing, nothing)


def enclosing_boxes(rows: Array, monomials: Monomials) -> tuple[Array, Array]:
    """Boxes that contain every point over its whole set; rows (T, P, 3, M + 1) to (T, P, 3).

    They are given by their centres and half widths.
    """
    if rows.shape[-1] == 2:  # numbers with a radius
        return rows[..., 0].copy(), rows[..., 1].copy()
    flat = rows.reshape(-1, rows.shape[-1])
    lower, upper = np.empty(len(flat)), np.empty(len(flat))
    over_steps(_bounds, len(flat), flat, monomials.kernel, lower, upper)
    boxes = Interval(lower.reshape(rows.shape[:-1]), upper.reshape(rows.shape[:-1]))
    return boxes.center, boxes.radius


def placed_rows(tree: Tree, joint: IntArray, points: Array, joints: JointReach) -> Array:
    """Taylor models of points fixed to joints (-1: the base), (T, P, 3, M + 1)."""
    _, T, _, width = joints.rows.shape
    out = np.empty((T, len(points), 3, width))
    maps, table = joint_maps(tree), joints.monomials.kernel
    arguments = (tree.parent, maps, joints.rows, joint, points, table, out)
    over_steps(_placed_rows, T, *arguments, together=LANES)
    if not np.all(np.isfinite(out)):
        raise BoundError(
            'the set of positions of the arm has no bound: the ranges of k or the tracking errors '
            'are too large, make them smaller'
        )
    return out


def joint_maps(tree: Tree) -> tuple[Array, Array]:
    """Transposes of N, C, S, as (n, 3, 2, 3, 3), and what moves the origin, (n, 3, 3).

    The axis of size 2 is (center, radius). Rows of the second array are the fixed offset and
    center and radius of R0 a, along which a prismatic joint slides, or zero.
    """
    R0, a, fixed = tree.R_parent_joint, tree.axis, tree.is_prismatic
    along = R0 @ (a[:, :, None] * a[:, None, :])
    crossed = R0 @ np.cross(np.eye(3), a[:, None, :])
    turns = np.zeros((len(a), 3, 2, 3, 3))
    turns[:, :, 0] = np.stack([along, R0 - along, crossed], axis=1)
    turns[:, :, 1] = _PRODUCT
    turns[fixed] = 0.0
    turns[fixed, 0, 0], turns[fixed, 0, 1] = R0[fixed], _DIRECTION
    slide = (R0 @ a[:, :, None])[..., 0] * fixed[:, None]
    shifts = np.stack([tree.p_parent_joint, slide, np.full_like(slide, _PRODUCT)], axis=1)
    return np.ascontiguousarray(turns.swapaxes(-1, -2)), shifts


@jit
def _placed_rows(
    steps: Steps,
    parent: IntArray,
    maps: tuple[Array, Array],
    states: Array,
    joint: IntArray,
    points: Array,
    table: IntArray,
    out: Array,
) -> None:
    """Fill out, LANES time steps at a time.

    Rows of a pool are states of the joints, poses of the base and the joints, and work.
    """
    (turns, shifts), (n, width) = maps, states.shape[2:]
    base, work = STATE * n, STATE * n + POSE * (n + 1)
    rows = np.zeros((work + WORK, width, LANES))
    pool = lane_pool(rows)
    for r in range(3):
        rows[base + 4 * r, 0] = 1.0
    for first in range(steps[0], steps[1], LANES):
        last = min(first + LANES, steps[1]) - 1
        states_in_lanes(states, first, last, STATE, rows)
        for i in range(n):
            up, here = base + POSE * (parent[i] + 1), base + POSE * (i + 1)
            _turn(pool, turns[i], STATE * i, up, here, work, table)
            _shift(pool, shifts[i], STATE * i + 2, up, here, work, table)
        for j in range(len(points)):
            _place(pool, base + POSE * (joint[j] + 1), points[j], work)
            for t in range(first, last + 1):
                for r in range(3):
                    for m in range(width):
                        out[t, j, r, m] = rows[work + r, m, t - first]


@jit
def _place(pool: Array, pose: int, point: Array, out: int) -> None:
    """Set out to a point fixed to a joint."""
    for r in range(3):
        copy(pool, pose + 9 + r, out + r)
        for c in range(3):
            if point[c] != 0.0:
                add_scaled(pool, pose + 3 * r + c, point[c], 0.0, out + r)


@part_jit
def _turn(
    pool: Array, turn: Array, state: int, up: int, here: int, work: int, table: IntArray
) -> None:
    """Rotation of a joint from the one below, row by row; state: rows cos q, sin q."""
    turning = turn[1, 0].any()
    for r in range(3):
        row = here + 3 * r
        clear_vector(pool, row)
        add_linear(pool, turn[0, 0], turn[0, 1], up + 3 * r, row)
        if turning:
            for j in range(2):
                clear_vector(pool, work)
                add_linear(pool, turn[1 + j, 0], turn[1 + j, 1], up + 3 * r, work)
                for c in range(3):
                    add_product(pool, state + j, work + c, 1.0, row + c, table)


@part_jit
def _shift(
    pool: Array, shift: Array, position: int, up: int, here: int, work: int, table: IntArray
) -> None:
    """Origin of a joint from the one below; the row of its position is given."""
    sliding = shift[1].any()
    for r in range(3):
        origin = here + 9 + r
        copy(pool, up + 9 + r, origin)
        for c in range(3):
            add_scaled(pool, up + 3 * r + c, shift[0, c], 0.0, origin)
        if sliding:
            clear(pool, work)
            for c in range(3):
                add_scaled(pool, up + 3 * r + c, shift[1, c], shift[2, c], work)
            add_product(pool, position, work, 1.0, origin, table)


@jit
def _bounds(steps: Steps, rows: Array, table: IntArray, lower: Array, upper: Array) -> None:
    for i in range(steps[0], steps[1]):
        lower[i], upper[i] = bounds(rows, i, table)
