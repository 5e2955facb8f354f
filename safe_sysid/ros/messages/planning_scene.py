"""PlanningScene of MoveIt as changes of a scene: collision objects, and what the arm holds.

What is attached has to be within the capsules of its link, as certificates know no other shape of
the arm; else nothing is known. Allowed collisions, padding and colours change nothing: no pair is
left out because somebody else allows it. As for MoveIt, an object without a pose that has one
shape has the pose of that shape, and shapes that are added leave its pose as it is. Messages are
known by their fields alone, as their package is on no list of wheels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from geometry_msgs.msg import Pose
import numpy as np

from safe_sysid.errors import MessageError, SafeSysidError
from safe_sysid.input_file import known_as, name_trouble, shortened
from safe_sysid.model.collision.enclosing_boxes import (
    box_of_points,
    cuboid,
    ellipsoid,
    elliptic_cylinder,
)
from safe_sysid.model.collision.shown_scene import MOST, Change, Shown
from safe_sysid.model.placement import HERE, Placement
from safe_sysid.ros.messages.codec import stamp_of
from safe_sysid.ros.messages.marker_changes import placement_of
from safe_sysid.ros.messages.octomap_changes import octomap_boxes
from safe_sysid.sets.box import Box

ADD, REMOVE, APPEND, MOVE = range(4)
BOX, SPHERE, CYLINDER, CONE = 1, 2, 3, 4  # of shape_msgs/SolidPrimitive
OCTOMAP = '<octomap>'  # as MoveIt calls it
SCENE = '<scene>'  # what is said of no object alone
HELD = 'held: '  # and its name: what is said of an object that the arm holds
DIFF = 'the first message is a diff; show the whole scene (is_diff: false) first'
Boxes = tuple[Box, ...]
Holds = Callable[[str, str, Boxes], bool]  # whether capsules of a link contain boxes in a frame


class _Object(NamedTuple):
    """Shapes in the frame of an object, and where that is."""

    boxes: Boxes
    frame: str
    place: Placement


class PlanningSceneReader:
    """Remembers shapes, which later messages may only move, or add to.

    An octomap becomes at most `budget` boxes. Objects beyond `MOST` boxes are not remembered, and
    then nothing is known before the next whole scene.
    """

    def __init__(self, is_held: Holds, budget: int) -> None:
        self._is_held, self._budget = is_held, budget
        self._known: dict[str, _Object | None] = {}  # None: its shapes were not understood
        self._room = MOST  # boxes that may still come
        self._gap = DIFF  # why what later messages change is not all that there is
        self._lost = 0  # messages since the last whole scene

    def note_lost(self, count: int) -> None:
        """Messages that never came have changed what nobody knows, until the next whole scene."""
        if self._gap == DIFF:
            return
        self._lost += count
        self._gap = (
            f'{self._lost} messages were lost; what they have changed is not known until the '
            'whole scene is shown again (is_diff: false)'
        )

    def changes(self, msg: Any) -> list[Change]:
        """Return the changes that a message says, in order."""
        changes: list[Change] = []
        if not msg.is_diff:
            self._known.clear()
            self._room, self._gap, self._lost = MOST, '', 0
            changes.append(Change(''))
        for told in msg.world.collision_objects:
            changes += self._object(told)
        for told in msg.robot_state.attached_collision_objects:
            changes += self._attached(told)
        if len(msg.world.octomap.octomap.data):
            changes.append(self._octomap(msg.world.octomap))
        if self._gap:
            changes.append(Change(SCENE, unclear=self._gap))
        return changes

    def _octomap(self, told: Any) -> Change:
        try:
            place, boxes = _placement(told.origin), octomap_boxes(told.octomap, self._budget)
        except SafeSysidError as error:
            return Change(OCTOMAP, unclear=str(error))
        placed = tuple(place.of_box(box) for box in boxes)
        return Change(OCTOMAP, Shown(placed, told.header.frame_id, stamp_of(told.header.stamp)))

    def _object(self, told: Any) -> list[Change]:
        operation, name = _number(told.operation), known_as(told.id)
        if operation == REMOVE:
            if _is_ours(name):
                return []
            gone = [name] if name else [*self._known]
            for each in gone:
                self._forget(each)
            return [Change(each) for each in gone]
        if not name:
            return [Change(SCENE, unclear='an object has no id')]
        try:
            _check_names(told)
            known = self._told(operation, told)
        except SafeSysidError as error:
            if operation != MOVE:
                self._remember(name, None)
            return [Change(name, unclear=str(error))]
        self._remember(name, known)
        placed = tuple(known.place.of_box(box) for box in known.boxes)
        return [Change(name, Shown(placed, known.frame, stamp_of(told.header.stamp)))]

    def _remember(self, name: str, known: _Object | None) -> None:
        """Keep what an object is; where there is no room, nothing is known from now on."""
        self._forget(name)
        if _room(known) > self._room:
            self._gap = (
                f"object '{name}' is one too many: there is room for {MOST} boxes; show the whole "
                'scene (is_diff: false)'
            )
            return
        self._known[name] = known
        self._room -= _room(known)

    def _forget(self, name: str) -> None:
        if name in self._known:
            self._room += _room(self._known.pop(name))

    def _told(self, operation: int, told: Any) -> _Object:
        """Return an object as it is from now on."""
        if operation not in (ADD, APPEND, MOVE):
            raise MessageError(f'its operation is {operation}; 0 to 3 are known')
        known, frame = self._known.get(told.id), told.header.frame_id
        if known is None and told.id in self._known and operation != ADD:
            raise MessageError('its shapes were not understood; show it whole')
        if operation == MOVE:
            return _moved(known, frame, told)
        boxes = tuple(_boxes(told))
        if not boxes:
            raise MessageError('it has no shape')
        pose = getattr(told, 'pose', Pose())
        place, is_alone = _placement(pose), len(boxes) == 1 and _is_empty(pose)
        if operation == APPEND and known is not None:
            if is_alone or frame != known.frame or not _is_same(place, known.place):
                raise MessageError(
                    'shapes are added with another pose than its own; show it whole'
                )
            return _Object(known.boxes + boxes, frame, place)
        if is_alone:  # for MoveIt the pose of its shape is that of the object then
            place = _placement([*told.primitive_poses, *told.mesh_poses][0])
            boxes = tuple(_shapes(told))
        return _Object(boxes, frame, place)

    def _attached(self, told: Any) -> list[Change]:
        name = known_as(told.object.id)
        if not name:
            said = 'an object that is held, or none is any more, has no id; show the whole scene'
            return [Change(SCENE, unclear=said)]
        held = f'{HELD}{name}'
        if _number(told.object.operation) == REMOVE:
            said = 'it is not held any more; show where it is, or that it is gone'
            return [Change(held), Change(name, unclear=said)]
        link, frame = told.link_name, told.object.header.frame_id
        by = shortened(link)
        try:
            _check_names(told.object)
            place = _placement(getattr(told.object, 'pose', Pose()))
            boxes = tuple(place.of_box(box) for box in _boxes(told.object))
        except SafeSysidError as error:
            return [Change(held, unclear=str(error))]
        if not boxes:
            said = f'it is held by {by} without a shape, so nobody knows where it is'
        elif not self._is_held(link, frame, boxes):
            said = f'it is not within the capsules of {by}; the settings say what the arm holds'
        else:
            self._forget(name)
            return [Change(name), Change(held)]  # it is not in the way, as the arm has it
        return [Change(held, unclear=said)]


def _check_names(told: Any) -> None:
    """Refuse an object with a name of ours, or one, or a frame, that nobody could read."""
    if _is_ours(told.id):
        raise MessageError('such names are for what is said of a scene; call it something else')
    if trouble := name_trouble(told.id) or name_trouble(told.header.frame_id):
        raise MessageError(trouble)


def _is_ours(name: str) -> bool:
    return name in (OCTOMAP, SCENE) or name.startswith(HELD)


def _room(known: _Object | None) -> int:
    """How many boxes an object counts as."""
    return 1 if known is None else len(known.boxes)


def _moved(known: _Object | None, frame: str, told: Any) -> _Object:
    """Return an object that is elsewhere now."""
    if known is None:
        raise MessageError('it is moved, and nobody has shown it before')
    if not hasattr(told, 'pose'):
        raise MessageError('it is moved, and its message has no pose of the object')
    if told.primitive_poses or told.mesh_poses or told.plane_poses:
        raise MessageError('it is moved by poses of its shapes; state the pose of the object')
    return _Object(known.boxes, frame, _placement(told.pose))


def _is_empty(pose: Pose) -> bool:
    """Whether nobody has filled in a pose."""
    p, q = pose.position, pose.orientation
    return not any((p.x, p.y, p.z, q.x, q.y, q.z)) and q.w in (0.0, 1.0)


def _is_same(a: Placement, b: Placement) -> bool:
    return np.array_equal(a.R, b.R) and np.array_equal(a.p, b.p)


def _boxes(told: Any) -> Iterator[Box]:
    """Boxes that contain the shapes of an object, in its frame."""
    if told.planes:
        raise MessageError('planes are not read; show a box of what is behind it')
    for shapes, poses in ((told.primitives, told.primitive_poses), (told.meshes, told.mesh_poses)):
        if len(shapes) != len(poses):
            raise MessageError(f'it has {len(shapes)} shapes of a kind and {len(poses)} poses')
    poses = [*told.primitive_poses, *told.mesh_poses]
    for box, pose in zip(_shapes(told), poses, strict=True):
        yield _placement(pose).of_box(box)


def _shapes(told: Any) -> Iterator[Box]:
    """Return the same, each in the frame of its own pose."""
    for shape in told.primitives:
        yield _primitive(shape)
    for mesh in told.meshes:
        yield box_of_points(np.array([[p.x, p.y, p.z] for p in mesh.vertices]).reshape(-1, 3))


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
