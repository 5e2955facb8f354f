"""How far some capsules of an arm are from one box, and the box about some of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.model.collision.enclosing_boxes import at_most, segment
from safe_sysid.model.dynamics.forward_kinematics import joint_frames
from safe_sysid.model.placement import Placement
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.box import Box

STEP = 0.005  # [m] between points of an axis


def clearances(model: RobotModel, q: Array, capsules: IntArray, box: Box) -> Array:
    """Lower bound of the clearance of each of some capsules that joints move, at q [m]."""
    known, (R, p) = model.capsules, joint_frames(model, q)
    found = np.empty(len(capsules))
    for i, c in enumerate(capsules):
        j = known.joint[c]
        a, b = (R[j] @ end[c] + p[j] for end in (known.a, known.b))
        found[i] = _axis_distance(box, a, b) - float(known.radius[c])
    return found


def box_about(model: RobotModel, names: Sequence[str], q: Array) -> Box | None:
    """Return a cuboid about capsules that the last joint moves, edges along its axes at q.

    None where the arm has none of that name.
    """
    known, tip = model.capsules, model.layout.tip
    which = [c for c, name in enumerate(known.names) if name in names and known.joint[c] == tip]
    if not which:
        return None
    each = [segment(known.a[c], known.b[c], 2.0 * float(known.radius[c])) for c in which]
    (whole,) = at_most([*each, *each], 1)  # of two, so that one is put into a cuboid, too
    R, p = joint_frames(model, q)
    return Placement(R[tip], p[tip]).of_box(whole)


def _axis_distance(box: Box, a: Array, b: Array) -> float:
    """Return no more than the distance, which changes along an axis by its length at most."""
    length = float(np.linalg.norm(b - a))
    share = np.linspace(0.0, 1.0, int(np.ceil(length / STEP)) + 1)
    step = length / max(len(share) - 1, 1)
    return float(box.distance(a + share[:, None] * (b - a))[0].min()) - 0.5 * step
