"""Clouds, maps, scenes of MoveIt and motions with any content: finite boxes, or why not."""

from types import SimpleNamespace

from fuzz.contents import SEARCH, TEXTS, USUAL, headers, look_at, poses, some
from geometry_msgs.msg import Point, Twist, Vector3
from hypothesis import strategies as st
import numpy as np
from ros.messages.test_scene_topics import NOW, PLACES, cloud

from safe_sysid.model.collision.moving_box import MotionBounds
from safe_sysid.model.collision.shown_scene import ShownScene
from safe_sysid.model.frame_tree import FrameTree
from safe_sysid.model.moving_frames import MovingFrames
from safe_sysid.ros.messages.cloud_changes import cloud_changes
from safe_sysid.ros.messages.obstacle_motions import motion_of
from safe_sysid.ros.messages.octomap_changes import octomap_changes
from safe_sysid.ros.messages.planning_scene import PlanningSceneReader

CELL, BUDGET = 0.05, 40
BOUNDS = MotionBounds(0.01, 0.1, 1.0, 2.0)


def expect_finite_or_unclear(changes):
    """Every change has finite boxes, is a sentence, or takes something away; a scene takes all."""
    for change in changes:
        boxes = change.shown.boxes if change.shown else ()
        assert all(np.isfinite(box.packed).all() for box in boxes)
        assert len(boxes) <= BUDGET or change.key != 'points'
    shown = ShownScene(FrameTree('base_link', {}, 0.5), 0.2)
    shown.apply(changes, NOW)
    assert all(np.isfinite(box.packed).all() for box in shown.boxes.values())


@st.composite
def clouds(draw):
    """A cloud that was valid until some of its bytes or figures changed."""
    points = np.array(draw(st.sampled_from([PLACES, np.zeros((0, 3)), np.full((4, 3), np.nan)])))
    msg = cloud(points, draw(st.sampled_from(['f4', 'f8'])), draw(st.sampled_from('<>')))
    msg.header = draw(headers())
    data = bytearray(msg.data)
    for _ in range(draw(st.integers(0, 3)) if data else 0):
        data[draw(st.integers(0, len(data) - 1))] = draw(st.integers(0, 255))
    msg.data = bytes(data[: draw(some(st.just(len(data)), st.integers(0, len(data))))])
    for name in ('height', 'width', 'point_step', 'row_step'):
        usual = st.just(getattr(msg, name))
        setattr(msg, name, draw(some(usual, st.sampled_from([0, 1, 7, 2**31, 2**32 - 1]))))
    for field in msg.fields:
        field.offset = draw(some(st.just(field.offset), st.sampled_from([0, 3, 2**32 - 1])))
        field.datatype = draw(some(st.just(field.datatype), st.integers(0, 255)))
        field.name = draw(some(st.just(field.name), st.sampled_from(['', 'x', 'rgb', 'ß'])))
    return msg


@SEARCH
def test_a_cloud_is_boxes_about_its_points_or_unclear(search):
    look_at(search, clouds(), lambda x: expect_finite_or_unclear(cloud_changes(x, CELL, BUDGET)))


@st.composite
def octomaps(draw):
    data = draw(st.binary(max_size=60))
    return SimpleNamespace(
        header=draw(headers()),
        id=draw(st.sampled_from(['OcTree', 'ColorOcTree', 'OcTreeStamped', '', 'x' * 300])),
        binary=draw(st.booleans()),
        resolution=draw(some(st.just(0.1))),
        data=np.frombuffer(data, dtype=np.int8),
    )


@SEARCH
def test_a_map_is_boxes_about_its_cells_or_unclear(search):
    def check(msg):
        changes = octomap_changes(msg, BUDGET)
        assert all(len(x.shown.boxes) <= BUDGET for x in changes if x.shown)
        expect_finite_or_unclear(changes)

    look_at(search, octomaps(), check)


def lists(elements):
    return st.lists(elements, max_size=3)


@st.composite
def shapes(draw):
    kind = draw(some(st.integers(1, 4), st.integers(0, 255)))
    usual = {1: 3, 2: 1}.get(kind, 2)
    count = draw(some(st.just(usual), st.integers(0, 4)))
    sizes = [draw(some(st.floats(0.01, 2.0))) for _ in range(count)]
    return SimpleNamespace(type=kind, dimensions=sizes)


@st.composite
def meshes(draw):
    corners = draw(st.lists(st.tuples(*[some(USUAL)] * 3), max_size=5))
    return SimpleNamespace(vertices=[Point(x=x, y=y, z=z) for x, y, z in corners])


@st.composite
def objects(draw):
    primitives, found = draw(lists(shapes())), draw(lists(meshes()))
    length = st.just(len(primitives))
    fields = {
        'id': draw(st.sampled_from(['', 'a', 'b', '<octomap>', 'held: a', 'x' * 300])),
        'header': draw(headers()),
        'pose': draw(poses()),
        'primitives': primitives,
        'primitive_poses': [draw(poses()) for _ in range(draw(some(length, st.integers(0, 3))))],
        'meshes': found,
        'mesh_poses': [draw(poses()) for _ in found],
        'planes': draw(some(st.just([]), st.just([None]))),
        'plane_poses': [],
        'operation': bytes([draw(some(st.integers(0, 3), st.integers(0, 255)))]),
    }
    if draw(st.integers(0, 5)) == 0:
        del fields['pose']  # which MoveIt of before has not
    return SimpleNamespace(**fields)


@st.composite
def scenes(draw):
    attached = [
        SimpleNamespace(link_name=draw(TEXTS), object=draw(objects()))
        for _ in range(draw(st.integers(0, 2)))
    ]
    octomap = SimpleNamespace(
        header=draw(headers()), origin=draw(poses()), octomap=draw(octomaps())
    )
    world = SimpleNamespace(collision_objects=draw(lists(objects())), octomap=octomap)
    return SimpleNamespace(
        is_diff=draw(st.booleans()),
        world=world,
        robot_state=SimpleNamespace(attached_collision_objects=attached),
    )


@SEARCH
def test_scenes_one_after_the_other_are_boxes_or_unclear(search):
    def check(messages):
        reader = PlanningSceneReader(lambda *_: len(messages) > 2, BUDGET)
        changes = [change for msg in messages for change in reader.changes(msg)]
        expect_finite_or_unclear(changes)

    look_at(search.shared(3), lists(scenes()), check)


@st.composite
def motions(draw):
    vectors = [Vector3(**{axis: draw(some(USUAL)) for axis in 'xyz'}) for _ in range(2)]
    return SimpleNamespace(
        header=draw(headers()),
        child_frame_id=draw(TEXTS),
        pose=SimpleNamespace(pose=draw(poses())),
        twist=SimpleNamespace(twist=Twist(linear=vectors[0], angular=vectors[1])),
    )


@SEARCH
def test_a_motion_of_a_frame_is_known_or_refused(search):
    def check(msg):
        moving = MovingFrames(FrameTree('base_link', {}, 0.5), BOUNDS, 0.5)
        moving.put(msg.child_frame_id, motion_of(msg))

    look_at(search, motions(), check)


def test_a_cloud_that_nobody_has_damaged_is_understood():
    (change,) = cloud_changes(cloud(), CELL, BUDGET)
    assert len(change.shown.boxes) == len(PLACES)
