"""What the planner avoids after markers and transforms: JSON lines in, JSON lines out, no network.

A line in is a list of events in the order of their times `at` [ns], each with `markers` or with a
`transform`; markers are dictionaries of the fields of visualization_msgs/Marker. A line out says
for each event whether the scene `is_settled`, and lists its `boxes`: centre, half sizes, rotation
by rows, radius.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import Point, Pose, Quaternion, Vector3
import numpy as np
from std_msgs.msg import Header
from visualization_msgs.msg import Marker, MarkerArray

from safe_sysid.model.collision.shown_scene import ShownScene
from safe_sysid.model.frame_tree import FrameTree, Transform
from safe_sysid.ros.messages.marker_changes import changes_of
from safe_sysid.sets.box import Box

BASE = 'base'
FRAME_AGE, PATIENCE = 0.5, 0.2  # [s] as nodes have them
SECOND = 1_000_000_000

Event = dict[str, Any]


def scenes(events: list[Event]) -> list[dict[str, object]]:
    """Return the scene after each event."""
    frames = FrameTree(BASE, {}, FRAME_AGE)
    scene, found = ShownScene(frames, PATIENCE), []
    for event in events:
        at = int(event['at'])
        if 'transform' in event:
            told = event['transform']
            transform = Transform(np.array(told['position']), np.array(told['quaternion']))
            frames.put(told['parent'], told['child'], at, transform, told['is_static'])
            scene.settle(at)
        else:
            markers = [_marker(fields) for fields in event['markers']]
            scene.apply(changes_of(MarkerArray(markers=markers)), at)
        boxes = [_numbers(box) for box in scene.boxes.values()]
        found.append({'is_settled': scene.is_settled, 'boxes': boxes})
    return found


def _marker(fields: dict[str, Any]) -> Marker:
    x, y, z = fields['position']
    w, i, j, k = fields['quaternion']
    return Marker(
        header=Header(stamp=Time(), frame_id=fields['frame']),
        ns=fields['ns'],
        id=fields['id'],
        type=fields['type'],
        action=fields['action'],
        pose=Pose(position=Point(x=x, y=y, z=z), orientation=Quaternion(x=i, y=j, z=k, w=w)),
        scale=Vector3(**dict(zip('xyz', fields['scale'], strict=True))),
        lifetime=Duration(sec=fields['lifetime'] // SECOND, nanosec=fields['lifetime'] % SECOND),
        frame_locked=fields['frame_locked'],
    )


def _numbers(box: Box) -> list[float]:
    return [*box.center, *box.half_sizes, *box.rotation.ravel(), box.radius]


def main() -> int:
    """Answer every line."""
    for line in sys.stdin:
        sys.stdout.write(f'{json.dumps(scenes(json.loads(line)))}\n')
    return 0


if __name__ == '__main__':
    sys.exit(main())
