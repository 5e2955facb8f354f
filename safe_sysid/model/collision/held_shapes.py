"""Whether the capsules of a link contain boxes that are fixed to it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.urdf_tree import Frame
from safe_sysid.sets.box import Box

ROUNDING = 1e-9  # [m] of a few products; a capsule has to be larger by this


def holds(model: RobotModel, link: str, boxes: Sequence[Box]) -> bool:
    """Whether each box, in the frame of a link, is within one capsule that moves with the link.

    A capsule is convex, so the corners decide; the rounding of a box counts as its radius.
    """
    frame = model.frames.get(link)
    if frame is None:
        return False
    capsules = model.capsules
    return all(
        any(
            _contains(capsules.a[c], capsules.b[c], float(capsules.radius[c]), box, frame)
            for c in np.flatnonzero(capsules.joint == frame.joint)
        )
        for box in boxes
    )


def _contains(a: Array, b: Array, radius: float, box: Box, frame: Frame) -> bool:
    corners = np.array(list(product((-1.0, 1.0), repeat=3))) * box.half_sizes
    at_link = box.center + corners @ box.rotation.T
    points = at_link @ frame.R.T + frame.p
    way = b - a
    square = float(way @ way)
    share = np.clip((points - a) @ way / square, 0.0, 1.0) if square > 0.0 else np.zeros(8)
    away = np.linalg.norm(points - a - share[:, None] * way, axis=1)
    return bool(away.max() + box.radius + ROUNDING <= radius)
