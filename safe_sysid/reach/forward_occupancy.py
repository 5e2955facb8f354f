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
from safe_sysid.reach.body_columns import (
    Body,
    BodyColumns,
    body_columns,
    columns_of,
    grow,
    joint_in_lanes,
    places,
    rows_in,
    slots,
    table_of,
)
from safe_sysid.reach.error_balls import ErrorSet, error_balls, levers
from safe_sysid.reach.joint_reach import JointReach
from safe_sysid.reach.tracking_error import TrackingError
from safe_sysid.sets.compiled import jit, part_jit
from safe_sysid.sets.interval import EPS
from safe_sysid.sets.lanes import LANES, lane_pool
from safe_sysid.sets.monomials import Monomials
from safe_sysid.sets.steps import Steps, over_steps
from safe_sysid.sets.taylor_kernels import add_product, add_scaled, bounds, clear, copy
from safe_sysid.sets.taylor_maps import add_multiples, set_linear
from safe_sysid.sets.taylor_model import TaylorModel
from safe_sysid.sets.taylor_sums import add_two_products, note_sizes

_DIRECTION = 2.0**-50  # error of entries of axes and rotations that were normalised in floats
# Entries of N, C, S and R0 a are sums of at most four products of three such factors, each at most
# 1 + 2^-50: off by less than 4 (3 + 4) _DIRECTION, rounding included.
_PRODUCT = 2.0**-45
STATE = 3  # rows of a joint: cos, sin, q
BELOW, HERE = STATE, STATE + 12  # rotation and origin of the joint below and of this one
WORK = STATE + 24  # intermediate results
ROWS = WORK + 6


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
    joints = np.concatenate([joint, every, every])
    placed = np.concatenate([points, np.zeros((n, 3)), tree.axis])
    rows, (center, half_widths) = _placed(tree, joints, placed, desired, len(joint))
    slides = np.zeros(n)
    if np.any(tree.is_prismatic):
        slides = TaylorModel(desired.monomials, desired.q).bound().magnitude.max(axis=0)
    lever = levers(tree, joint, points, slides + errors.position)
    balls = error_balls(lever, errors, center, half_widths)
    ends = slice(0, len(joint))
    boxes = center[:, ends].copy(), half_widths[:, ends].copy()
    return Occupancy(desired.monomials, rows, boxes, balls)


def without_error(n: int) -> TrackingError:
    """Tracking error of an arm that follows its plan exactly."""
    nothing = np.zeros(n)
    return TrackingError(np.ones(n), nothing, nothing, nothing)


def placed_rows(tree: Tree, joint: IntArray, points: Array, joints: JointReach) -> Array:
    """Taylor models of points fixed to joints (-1: the base), (T, P, 3, M + 1)."""
    return _placed(tree, joint, points, joints, len(points))[0]


def _placed(
    tree: Tree, joint: IntArray, points: Array, joints: JointReach, count: int
) -> tuple[Array, tuple[Array, Array]]:
    """Taylor models of the first points, as many as told, and boxes about all of them.

    Boxes are given by their centres and half widths, (T, P, 3) each.
    """
    _, T, _, width = joints.rows.shape
    rows = np.zeros((T, count, 3, width))
    boxes = np.full((T, len(points), 3), np.nan), np.full((T, len(points), 3), np.nan)
    on_base = np.flatnonzero(joint < 0)
    boxes[0][:, on_base], boxes[1][:, on_base] = points[on_base], 0.0
    on_base = on_base[on_base < count]
    rows[:, on_base, :, 0] = points[on_base][:, None]
    columns, arm = body_columns(joints, STATE), (tree.parent, slots(tree.parent))
    arguments = (arm, joint_maps(tree), joints.rows, columns, (joint, points), rows, boxes)
    over_steps(_placed_into, T, *arguments, together=LANES)
    if not np.all(np.isfinite(boxes)):
        raise BoundError(
            'the set of positions of the arm has no bound: the ranges of k or the tracking errors '
            'are too large, make them smaller'
        )
    return rows, boxes


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
def _placed_into(
    steps: Steps,
    arm: tuple[IntArray, IntArray],
    maps: tuple[Array, Array],
    states: Array,
    columns: BodyColumns,
    fixed: tuple[IntArray, Array],
    rows: Array,
    boxes: tuple[Array, Array],
) -> None:
    """Fill rows and boxes, LANES time steps at a time, of points that are fixed to joints."""
    (parent, slot), (turns, shifts), (joint, points) = arm, maps, fixed
    n, width = states.shape[2:]
    memory, place = np.zeros((slot.max() + 1, ROWS * width * LANES)), np.zeros(width, np.int64)
    sizes = np.zeros((slot.max() + 1, ROWS, columns.tables[0] + 1, LANES))
    for first in range(steps[0], steps[1], LANES):
        last = min(first + LANES, steps[1]) - 1
        for i in range(n):
            mine, table, up = columns_of(columns, i), table_of(columns, i), parent[i]
            lanes = rows_in(memory[slot[i]], ROWS, len(mine))
            body = Body(lane_pool(lanes), lane_pool(sizes[slot[i]]))
            joint_in_lanes(states, i, mine, first, last, STATE, lanes)
            note_sizes(body.pool, 0, STATE, body.sizes, table)
            if up < 0:
                _set_base(body, table)
            else:
                before = columns_of(columns, up)
                pool = lane_pool(rows_in(memory[slot[up]], ROWS, len(before)))
                below, where = Body(pool, lane_pool(sizes[slot[up]])), places(before, mine, place)
                grow(below, HERE, body, BELOW, 12, where)
            _turn(body, turns[i], table)
            _shift(body, shifts[i], table)
            note_sizes(body.pool, HERE, 12, body.sizes, table)
            for j in range(len(points)):
                if joint[j] == i:
                    _place(body, points[j], table)
                    _keep_boxes(lanes, first, last, j, boxes)
                    if j < rows.shape[1]:
                        _keep_rows(lanes, mine, first, last, rows[:, j])


@part_jit
def _set_base(body: Body, table: IntArray) -> None:
    """Set the pose below to that of the base."""
    for row in range(BELOW, BELOW + 12):
        clear(body.pool, row)
    for r in range(3):
        body.pool[BELOW + 4 * r, 0] = 1.0
    note_sizes(body.pool, BELOW, 12, body.sizes, table)


@part_jit
def _turn(body: Body, turn: Array, table: IntArray) -> None:
    """Rotation of a joint from the one below, row by row."""
    pool, sizes, turning = body.pool, body.sizes, turn[1, 0].any()
    for r in range(0, 9, 3):
        set_linear(pool, sizes, turn[0], BELOW + r, HERE + r)
        if turning:
            set_linear(pool, sizes, turn[1], BELOW + r, WORK)
            set_linear(pool, sizes, turn[2], BELOW + r, WORK + 3)
            note_sizes(pool, WORK, 6, sizes, table)
            for c in range(3):
                pairs = (0, WORK + c), (1, WORK + 3 + c)
                add_two_products(pool, sizes, *pairs, (1.0, 1.0), HERE + r + c, table)


@part_jit
def _shift(body: Body, shift: Array, table: IntArray) -> None:
    """Origin of a joint from the one below."""
    pool, sizes, sliding = body.pool, body.sizes, shift[1].any()
    for r in range(3):
        origin, axes = HERE + 9 + r, BELOW + 3 * r
        copy(pool, BELOW + 9 + r, origin)
        add_multiples(pool, sizes, axes, 1, shift[0], origin)
        if sliding:
            clear(pool, WORK)
            for c in range(3):
                add_scaled(pool, axes + c, shift[1, c], shift[2, c], WORK)
            add_product(pool, 2, WORK, 1.0, origin, table)


@part_jit
def _place(body: Body, point: Array, table: IntArray) -> None:
    """Set rows to a point that is fixed to the joint, and those behind to the box about it."""
    pool = body.pool
    for r in range(3):
        row, box = WORK + r, WORK + 3 + r
        copy(pool, HERE + 9 + r, row)
        add_multiples(pool, body.sizes, HERE + 3 * r, 1, point, row)
        if pool.shape[1] == 2:  # numbers with a radius
            copy(pool, row, box)
        else:
            low, high = bounds(pool, row, table)
            middle = 0.5 * low + 0.5 * high
            pool[box, 0] = middle
            pool[box, 1] = max(high - middle, middle - low) * (1.0 + 4.0 * EPS)


@part_jit
def _keep_boxes(lanes: Array, first: int, last: int, j: int, boxes: tuple[Array, Array]) -> None:
    """Copy the box about point j out of lanes."""
    center, half_width = boxes
    for t in range(first, last + 1):
        for r in range(3):
            center[t, j, r] = lanes[WORK + 3 + r, 0, t - first]
            half_width[t, j, r] = lanes[WORK + 3 + r, 1, t - first]


@part_jit
def _keep_rows(lanes: Array, columns: IntArray, first: int, last: int, rows: Array) -> None:
    """Copy the Taylor model of a point out of lanes."""
    for t in range(first, last + 1):
        for r in range(3):
            for m in range(len(columns)):
                rows[t, r, columns[m]] = lanes[WORK + r, m, t - first]
