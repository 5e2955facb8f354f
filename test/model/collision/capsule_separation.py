"""Whether two capsules of a serial arm can touch anywhere inside its joint limits, decided.

Branch and bound over boxes of joint angles. Turning joint k by an angle moves no point of a
capsule by more than the angle times the point's distance from the axis; so the gap in the middle
of a box, less its half widths times the levers, bounds the gap in the whole box from below.
"""

from typing import NamedTuple

import numpy as np

CERTAIN = 1e-6  # [m], far above rounding errors
MOST_BOXES = 1_000_000


class Verdict(NamedTuple):
    """Apart for certain, or a pose in which they touch, or neither within the budget."""

    apart: bool
    touching: np.ndarray | None  # angles of the joints between them


def separation(model, first, second):
    """Verdict about two capsules by index; `first` is on the joint nearer to the base."""
    capsules, tree = model.capsules, model.tree
    joints = np.arange(capsules.joint[first] + 1, capsules.joint[second] + 1)
    assert (tree.parent[joints] == joints - 1).all() and not tree.is_prismatic[joints].any()
    lower = np.maximum(model.limits.position_lower[joints], -np.pi)
    upper = np.minimum(model.limits.position_upper[joints], np.pi)
    lever = levers(tree, capsules, joints, (first, second))
    centre, half = ((lower + upper) / 2)[None], ((upper - lower) / 2)[None]
    boxes = 0
    while len(centre):
        boxes += len(centre)
        if boxes > MOST_BOXES:
            return Verdict(False, None)
        gap = gaps(tree, capsules, joints, (first, second), centre)
        if gap.min() <= 0:
            return Verdict(False, centre[np.argmin(gap)])
        open_ = gap - half @ lever <= CERTAIN
        centre, half = halved(centre[open_], half[open_], lever)
    return Verdict(True, None)


def halved(centre, half, lever):
    """Every box cut in two along the joint that matters most."""
    rows = np.arange(len(centre))
    widest = np.argmax(half * lever, axis=1)
    half = half.copy()
    half[rows, widest] /= 2
    step = np.zeros_like(half)
    step[rows, widest] = half[rows, widest]
    return np.concatenate([centre - step, centre + step]), np.concatenate([half, half])


def levers(tree, capsules, joints, pair):
    """Largest distance from each joint axis of the capsule that is nearer to it [m]."""
    steps = np.linalg.norm(tree.p_parent_joint[joints], axis=1)
    R, p = tree.R_parent_joint[joints[0]], tree.p_parent_joint[joints[0]]
    first, second = (np.array([capsules.a[i], capsules.b[i]]) for i in pair)
    from_first = reaches((first - p) @ R, tree.axis[joints[0]], steps[1:])
    from_second = reaches(second, tree.axis[joints[-1]], steps[:0:-1])
    return np.minimum(from_first, from_second[::-1])


def reaches(ends, axis, steps):
    """Distance of points from the axis they turn about, then from axes further away."""
    distance = np.linalg.norm(np.cross(ends, axis), axis=1).max()
    return np.array([distance, *(np.linalg.norm(ends, axis=1).max() + np.cumsum(steps))])


def gaps(tree, capsules, joints, pair, angles):
    """Distance between the surfaces for every row of angles, negative if they overlap [m]."""
    R, p = np.broadcast_to(np.eye(3), (len(angles), 3, 3)), np.zeros((len(angles), 3))
    for k, angle in zip(joints, angles.T, strict=True):
        p = p + R @ tree.p_parent_joint[k]
        R = R @ tree.R_parent_joint[k] @ turns(tree.axis[k], angle)
    first, second = pair
    distance = segment_distance(
        np.broadcast_to(capsules.a[first], p.shape),
        np.broadcast_to(capsules.b[first], p.shape),
        R @ capsules.a[second] + p,
        R @ capsules.b[second] + p,
    )
    return distance - capsules.radius[first] - capsules.radius[second]


def turns(axis, angle):
    """Rotation matrices about a unit vector, (n,) -> (n, 3, 3)."""
    x, y, z = axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    sine, versine = np.sin(angle)[:, None, None], (1 - np.cos(angle))[:, None, None]
    return np.eye(3) + sine * K + versine * (K @ K)


def segment_distance(a, b, c, d):
    """Distance between the segments from a to b and from c to d, row by row."""
    ends = [
        point_distance(a, c, d),
        point_distance(b, c, d),
        point_distance(c, a, b),
        point_distance(d, a, b),
    ]
    u, v, w = b - a, d - c, a - c
    uu, uv, vv = (u * u).sum(1), (u * v).sum(1), (v * v).sum(1)
    uw, vw = (u * w).sum(1), (v * w).sum(1)
    area = uu * vv - uv**2
    crossing = area > 1e-12 * uu * vv  # parallel segments are nearest at an end
    area = np.where(crossing, area, 1)
    s, t = (uv * vw - vv * uw) / area, (uu * vw - uv * uw) / area
    crossing &= (s >= 0) & (s <= 1) & (t >= 0) & (t <= 1)
    between = np.linalg.norm(w + s[:, None] * u - t[:, None] * v, axis=1)
    return np.minimum.reduce([*ends, np.where(crossing, between, np.inf)])


def point_distance(point, a, b):
    """Distance of points from the segments from a to b, row by row."""
    u = b - a
    length = (u * u).sum(1)
    s = ((point - a) * u).sum(1) / np.where(length > 0, length, 1)
    return np.linalg.norm(point - a - np.clip(s, 0, 1)[:, None] * u, axis=1)
