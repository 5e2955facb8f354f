"""Places of a goal of `handle`, asked about before anything moves: std_msgs/String with JSON.

    {"stamp": ns, "places": [{"name": "pick", "frame": "base_link", "pose": [x, y, z, x, y, z, w]},
                             {"name": "place", "joints": {"joint_1": 0.3, ...}}]}

No standard message has configurations and poses of several names.
"""

from __future__ import annotations

from collections.abc import Sequence
import json

from geometry_msgs.msg import PoseStamped
import numpy as np
from sensor_msgs.msg import JointState

from safe_sysid.errors import MessageError
from safe_sysid.plan.picked_again import PickedAgain
from safe_sysid.ros.messages.codec import goal_positions

NamedPlace = tuple[str, JointState | PoseStamped]


def text_of_places(stamp: int, places: Sequence[NamedPlace]) -> str:
    """Return the text that asks about places [ns]."""
    return json.dumps({'stamp': stamp, 'places': [_told(*each) for each in places]})


def places_of_text(text: str) -> tuple[int, list[NamedPlace]]:
    """Return stamp and places that a text asks about."""
    try:
        told = json.loads(text)
        return int(told['stamp']), [_read(each) for each in told['places']]
    except (
        ValueError,
        TypeError,
        KeyError,
        AssertionError,
        OverflowError,
        RecursionError,
    ) as error:
        raise MessageError(f'places to look at cannot be read: {error!r}') from error


def text_of_pick(picks: PickedAgain) -> str:
    """Return what is picked again, and the way straight in."""
    return json.dumps({'object': picks.name, 'way': picks.way.tolist()})


def pick_of_text(text: str) -> PickedAgain:
    """Return the same."""
    told = json.loads(text)
    return PickedAgain(str(told['object']), np.array(told['way'], dtype=np.float64))


def _told(name: str, where: JointState | PoseStamped) -> dict[str, object]:
    if isinstance(where, JointState):
        return {'name': name, 'joints': goal_positions(where)}
    p, o = where.pose.position, where.pose.orientation
    pose = [p.x, p.y, p.z, o.x, o.y, o.z, o.w]
    return {'name': name, 'frame': where.header.frame_id, 'pose': pose}


def _read(told: dict[str, object]) -> NamedPlace:
    name, joints = str(told['name']), told.get('joints')
    name.encode()  # a half of a character cannot be told on
    if isinstance(joints, dict):
        return name, JointState(name=list(joints), position=list(joints.values()))
    numbers, where = told['pose'], PoseStamped()
    if not isinstance(numbers, list) or len(numbers) != 7:
        raise ValueError(f'pose {numbers}')
    where.header.frame_id = str(told['frame'])
    p, o = where.pose.position, where.pose.orientation
    p.x, p.y, p.z, o.x, o.y, o.z, o.w = (float(x) for x in numbers)
    return name, where
