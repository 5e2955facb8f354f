"""PlanningScene of MoveIt as changes of a scene: collision objects, and what the arm holds.

What is attached has to be within the capsules of its link, as certificates know no other shape of
the arm; else nothing is known. Allowed collisions, padding and colours change nothing: no pair is
left out because somebody else allows it. Messages are known by their fields alone, as their
package is on no list of wheels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from geometry_msgs.msg import Pose
import numpy as np

from safe_sysid.errors import MessageError, SafeSysidError
from safe_sysid.model.collision.enclosing_boxes import (
    box_of_points,
    cuboid,
    ellipsoid,
    elliptic_cylinder,
)
from safe_sysid.model.collision.shown_scene import Change, Shown
from safe_sysid.model.placement import HERE, Placement
from safe_sysid.ros.messages.codec import stamp_of
from safe_sysid.ros.messages.marker_changes import placement_of
from safe_sysid.ros.messages.octomap_changes import octomap_boxes
from safe_sysid.sets.box import Box

ADD, REMOVE, APPEND, MOVE = range(4)
BOX, SPHERE, CYLINDER, CONE = 1, 2, 3, 4  # of shape_msgs/SolidPrimitive
OCTOMAP = '<octomap>'  # as MoveIt calls it
Boxes = tuple[Box, ...]
Holds = Callable[[str, str, Boxes], bool]  # whether capsules of a link contain boxes in a frame


class PlanningSceneReader:
    """Remembers shapes, which later messages may only move, or add to.

    An octomap becomes at most `budget` boxes.
    """

    def __init__(self, is_held: Holds, budget: int) -> None:
        self._is_held, self._budget = is_held, budget
        self._shapes: dict[str, Boxes] = {}  # in the frames of the objects
        self._is_whole = False  # whether a whole scene was heard, which later ones change

    def changes(self, msg: Any) -> list[Change]:
        """Return the changes that a message says, in order."""
        changes: list[Change] = []
        if not msg.is_diff:
            self._shapes.clear()
            self._is_whole = True
            changes.append(Change(''))
        if not self._is_whole:
            said = 'the first message is a diff; show the whole scene (is_diff: false) first'
            changes.append(Change('scene', unclear=said))
        for told in msg.world.collision_objects:
            changes += self._object(told)
        for told in msg.robot_state.attached_collision_objects:
            changes += self._attached(told)
        if len(msg.world.octomap.octomap.data):
            changes.append(self._octomap(msg.world.octomap))
        return changes

    def _octomap(self, told: Any) -> Change:
        try:
            place, boxes = _placement(told.origin), octomap_boxes(told.octomap, self._budget)
        except SafeSysidError as error:
            return Change(OCTOMAP, unclear=str(error))
        placed = tuple(place.of_box(box) for box in boxes)
        return Change(OCTOMAP, Shown(placed, told.header.frame_id, stamp_of(told.header.stamp)))

    def _object(self, told: Any) -> list[Change]:
        operation, name = _number(told.operation), told.id
        if operation == REMOVE:
            gone = [name] if name else list(self._shapes)
            for each in gone:
                self._shapes.pop(each, None)
            return [Change(each) for each in gone]
        try:
            boxes = self._told_shapes(operation, told)
            place = _placement(getattr(told, 'pose', Pose()))
        except SafeSysidError as error:
            return [Change(name, unclear=str(error))]
        self._shapes[name] = boxes
        placed = tuple(place.of_box(box) for box in boxes)
        stamp = stamp_of(told.header.stamp)
        return [Change(name, Shown(placed, told.header.frame_id, stamp))]

    def _told_shapes(self, operation: int, told: Any) -> Boxes:
        """Shapes of an object from now on, in its own frame."""
        known = self._shapes.get(told.id, ())
        if operation == MOVE:
            if not known:
                raise MessageError('it is moved, and nobody has shown it before')
            if not hasattr(told, 'pose'):
                raise MessageError('it is moved, and its message has no pose of the object')
            return known
        if operation not in (ADD, APPEND):
            raise MessageError(f'its operation is {operation}; 0 to 3 are known')
        boxes = tuple(_boxes(told))
        if not boxes:
            raise MessageError('it has no shape')
        return known + boxes if operation == APPEND else boxes

    def _attached(self, told: Any) -> list[Change]:
        name = told.object.id
        held = f'held: {name}'
        if _number(told.object.operation) == REMOVE:
            said = 'it is not held any more; show where it is, or that it is gone'
            return [Change(held), Change(name, unclear=said)]
        link, frame = told.link_name, told.object.header.frame_id
        try:
            place = _placement(getattr(told.object, 'pose', Pose()))
            boxes = tuple(place.of_box(box) for box in _boxes(told.object))
        except SafeSysidError as error:
            return [Change(held, unclear=str(error))]
        if not boxes:
            said = f'it is held by {link} without a shape, so nobody knows where it is'
        elif not self._is_held(link, frame, boxes):
            said = f'it is not within the capsules of {link}; the settings say what the arm holds'
        else:
            self._shapes.pop(name, None)
            return [Change(name), Change(held)]  # it is not in the way, as the arm has it
        return [Change(held, unclear=said)]


def _boxes(told: Any) -> Iterator[Box]:
    """Boxes that contain the shapes of an object, in its frame."""
    if told.planes:
        raise MessageError('planes are not read; show a box of what is behind it')
    for shapes, poses in ((told.primitives, told.primitive_poses), (told.meshes, told.mesh_poses)):
        if len(shapes) != len(poses):
            raise MessageError(f'it has {len(shapes)} shapes of a kind and {len(poses)} poses')
    for shape, pose in zip(told.primitives, told.primitive_poses, strict=True):
        yield _placement(pose).of_box(_primitive(shape))
    for mesh, pose in zip(told.meshes, told.mesh_poses, strict=True):
        vertices = np.array([[p.x, p.y, p.z] for p in mesh.vertices]).reshape(-1, 3)
        yield _placement(pose).of_box(box_of_points(vertices))


def _primitive(shape: Any) -> Box:
    kind, sizes = _number(shape.type), [float(x) for x in shape.dimensions]
    if kind == BOX and len(sizes) == 3:
        return cuboid(sizes)
    if kind == SPHERE and len(sizes) == 1:
        return ellipsoid([2.0 * sizes[0]] * 3)
    if kind == CYLINDER and len(sizes) == 2:
        return elliptic_cylinder([2.0 * sizes[1], 2.0 * sizes[1], sizes[0]])
    if kind == CONE and len(sizes) == 2:  # its origin may be its middle, its tip or its base
        return elliptic_cylinder([2.0 * sizes[1], 2.0 * sizes[1], 2.0 * sizes[0]])
    raise MessageError(f'its shape is of type {kind} with {len(sizes)} sizes; 1 to 4 are known')


def _placement(pose: Pose) -> Placement:
    """Return a pose; one that nobody has filled in is the frame itself."""
    p, q = pose.position, pose.orientation
    if not any((p.x, p.y, p.z, q.x, q.y, q.z, q.w)):
        return HERE
    return placement_of(pose)


def _number(value: Any) -> int:
    """Return a byte, which is a number or a string of one."""
    return value[0] if isinstance(value, bytes) else int(value)
