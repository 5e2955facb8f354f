"""What an Octomap of octomap_msgs changes in a scene: all of it, in place of the one before."""

from __future__ import annotations

from typing import Any

import numpy as np

from safe_sysid.errors import SafeSysidError
from safe_sysid.model.collision.octree import octree_cover
from safe_sysid.model.collision.shown_scene import Change, Shown
from safe_sysid.ros.messages.codec import stamp_of
from safe_sysid.sets.box import Box

KEY = 'cells'


def octomap_changes(msg: Any, budget: int) -> list[Change]:
    """Boxes about occupied cells in the frame of the map, or why they are not understood."""
    try:
        boxes = octomap_boxes(msg, budget)
    except SafeSysidError as error:
        return [Change(KEY, unclear=str(error))]
    return [Change(KEY, Shown(tuple(boxes), msg.header.frame_id, stamp_of(msg.header.stamp)))]


def octomap_boxes(msg: Any, budget: int) -> list[Box]:
    """At most so many boxes that contain all cells of a map that are occupied."""
    data = np.asarray(msg.data, dtype=np.int8).tobytes()
    return octree_cover(data, msg.id, bool(msg.binary), float(msg.resolution), budget)
