"""Clouds of points and scenes of MoveIt as boxes that contain them; else nothing is known."""

import re
from types import SimpleNamespace

from geometry_msgs.msg import Point, Pose, Twist, Vector3
import numpy as np
import pytest
from sensor_msgs.msg import PointCloud2, PointField
from std_msgs.msg import Header

from safe_sysid.measure.arm_clock import ArmClock
from safe_sysid.measure.stamp_ages import StampAges
from safe_sysid.model.collision.held_shapes import holds
from safe_sysid.model.collision.moving_box import MotionBounds
from safe_sysid.model.collision.shown_scene import Change, Shown, ShownScene
from safe_sysid.model.frame_tree import FrameTree
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.ros.messages import planning_scene as planning_scene_module
from safe_sysid.ros.messages.cloud_changes import cloud_changes
from safe_sysid.ros.messages.obstacle_motions import MotionSettings, ObstacleMotions
from safe_sysid.ros.messages.octomap_changes import octomap_changes
from safe_sysid.ros.messages.planning_scene import (
    ADD,
    APPEND,
    BOX,
    CONE,
    CYLINDER,
    MOVE,
    REMOVE,
    SPHERE,
    PlanningSceneReader,
)
from safe_sysid.ros.messages.scene_topics import POINTS, PointSettings, scene_topics
from safe_sysid.sets.box import Box

MODEL = RobotModel.named('two_link')
PLACES = np.array([[0.5, 0.1, 0.2], [0.9, -0.4, 0.7]])
NOW = 1_000_000_000


def nothing_held(*_):
    return False


def scene():
    return ShownScene(FrameTree('base_link', {}, 0.5), 0.2)


def cloud(points=PLACES, kind='f4', order='<', row_gap=0):
    """Two rows of points, with an intensity before x, y, z and a gap after each row."""
    rows = np.asarray(points, dtype=order + kind).reshape(2, -1, 3)
    size = rows.itemsize
    padded = np.concatenate([np.zeros_like(rows[..., :1]), rows], axis=2)
    padded = padded.astype(rows.dtype)
    data = b''.join(row.tobytes() + b'\xff' * row_gap for row in padded)
    number = {'f4': PointField.FLOAT32, 'f8': PointField.FLOAT64}[kind]
    fields = [
        PointField(name=name, offset=i * size, datatype=number, count=1)
        for i, name in enumerate(['intensity', 'x', 'y', 'z'])
    ]
    width = rows.shape[1]
    return PointCloud2(
        header=Header(frame_id='base_link'),
        height=2,
        width=width,
        fields=fields,
        is_bigendian=order == '>',
        point_step=4 * size,
        row_step=4 * size * width + row_gap,
        data=data,
    )


def shown(changes):
    told = scene()
    told.apply(changes, NOW)
    return told


@pytest.mark.parametrize(
    ('kind', 'order', 'gap'), [('f4', '<', 0), ('f8', '>', 0), ('f4', '<', 8)]
)
def test_points_of_a_cloud_are_in_boxes_whatever_its_layout(kind, order, gap):
    told = shown(cloud_changes(cloud(PLACES, kind, order, gap), 0.05, 10))
    assert told.is_settled
    boxes = told.boxes.values()
    assert len(boxes) == 2
    seen = PLACES.astype(kind).astype(float)
    assert np.min([box.distance(seen)[0] for box in boxes], axis=0).max() <= 0.0


def test_rays_that_met_nothing_take_no_room_and_a_new_cloud_replaces_the_old_one():
    told = shown(cloud_changes(cloud(), 0.05, 10))
    told.apply(cloud_changes(cloud([[np.nan] * 3, [1.0, 1.0, 1.0]]), 0.05, 10), NOW)
    assert len(told.boxes) == 1
    for nothing in (np.zeros((0, 3)), [[np.inf] * 3, [np.nan] * 3]):
        told.apply(cloud_changes(cloud(nothing), 0.05, 10), NOW)
        assert (told.is_settled, told.boxes) == (True, {})


@pytest.mark.parametrize(
    ('points', 'why'),
    [
        ([[np.nan] * 3, [np.nan, 1.0, 1.0]], 'all 2 points of the cloud are nan'),
        ([[1.0, 1.0, 1.0], [0.0, 0.0, -np.inf]], '1 of 2 points .* too near to the sensor'),
    ],
)
def test_a_covered_sensor_leaves_nothing_known(points, why):
    told = shown(cloud_changes(cloud(), 0.05, 10))
    told.apply(cloud_changes(cloud(points), 0.05, 10), NOW)
    assert (told.is_settled, len(told.boxes)) == (False, 2)
    assert re.search(why, told.trouble(NOW))


@pytest.mark.parametrize(
    ('change', 'why'),
    [
        ({'fields': []}, "has no \\['x', 'y', 'z'\\]"),
        ({'data': b''}, 'were announced'),
        ({'height': 0}, 'were announced'),
        ({'point_step': 8}, 'fields end at'),
        ({'fields': [PointField(name=n, datatype=PointField.INT32) for n in 'xyz']}, '7 and 8'),
    ],
)
def test_a_cloud_that_makes_no_sense_leaves_nothing_known(change, why):
    msg = cloud()
    for name, value in change.items():
        setattr(msg, name, value)
    told = shown(cloud_changes(msg, 0.05, 10))
    assert not told.is_settled
    assert re.search(why, told.trouble(NOW))


class Node:
    """Somebody who listens, at a time that is set."""

    def __init__(self):
        self.now, self.publishers, self.hear, self.remaps = NOW, 0, {}, {}
        self.there, self.publisher, self.counted = [b'camera'], b'camera', [POINTS]

    def create_subscription(self, message, topic, hear, qos):
        """Have messages of clouds and maps come with who has published them."""
        del message, qos
        self.hear[topic] = lambda msg: hear(msg, {'publisher_gid': {'data': self.publisher}})

    def get_publishers_info_by_topic(self, topic):
        del topic
        return [SimpleNamespace(endpoint_gid=list(each)) for each in self.there]

    def resolve_topic_name(self, topic):
        return self.remaps.get(topic, topic)

    def count_publishers(self, topic):
        """As that of rclpy, which does not look at remaps."""
        return self.publishers if topic in map(self.resolve_topic_name, self.counted) else 0


def points_of(node):
    ages = StampAges(ArmClock(lambda: node.now), old=1.0, ahead=0.5, patience=0.2)
    points, *_ = scene_topics(node, node, PointSettings(), scene, nothing_held, ages, lambda: None)
    return points


def test_a_camera_that_falls_silent_leaves_nothing_known_until_it_is_back():
    node = Node()
    points = points_of(node)
    assert (points.awaited, points.is_settled) == ('', True)
    node.publishers = 1
    assert 'nothing has come' in points.awaited
    node.hear[POINTS](cloud())
    assert (points.awaited, len(points.boxes)) == ('', 2)
    node.now += 1_100_000_000
    points.settle()
    assert (points.is_settled, len(points.boxes)) == (False, 2)
    assert 'nothing has come for more than 1.0 s' in points.unclear
    node.hear[POINTS](cloud())
    assert (points.is_settled, points.unclear) == (True, '')


def test_who_publishes_is_found_by_the_name_that_the_topic_has_here():
    node = Node()
    node.remaps[POINTS], node.publishers = '/camera/points', 1
    points = points_of(node)
    assert 'nothing has come' in points.awaited


def test_silence_is_noticed_after_a_step_back_of_the_clock():
    node = Node()
    points = points_of(node)
    node.hear[POINTS](cloud())
    node.now -= 100_000_000_000
    points.settle()
    assert points.is_settled
    node.now += 1_100_000_000
    points.settle()
    assert not points.is_settled


def pose(x=0.0, y=0.0, z=0.0):
    told = Pose()
    told.position.x, told.position.y, told.position.z = x, y, z
    return told


def collision_object(name, operation=ADD, primitives=(), meshes=(), place=None):
    """An object of MoveIt: a byte is a string of one in ROS 2."""
    return SimpleNamespace(
        id=name,
        header=Header(frame_id='base_link'),
        pose=place or pose(),
        primitives=[SimpleNamespace(type=kind, dimensions=sizes) for kind, sizes, _ in primitives],
        primitive_poses=[where for _, _, where in primitives],
        meshes=list(meshes),
        mesh_poses=[pose() for _ in meshes],
        planes=[],
        plane_poses=[],
        operation=bytes([operation]),
    )


def octomap_of(data):
    """With cells of a decimetre; only free and occupied ones are told."""
    numbers = np.frombuffer(data, dtype=np.int8)
    header = Header(frame_id='base_link')
    return SimpleNamespace(header=header, id='OcTree', binary=True, resolution=0.1, data=numbers)


def planning_scene(*objects, attached=(), is_diff=False, octomap=b''):
    return SimpleNamespace(
        is_diff=is_diff,
        world=SimpleNamespace(
            collision_objects=list(objects),
            octomap=SimpleNamespace(
                header=Header(frame_id='base_link'),
                origin=Pose(position=Point(x=2.0)),
                octomap=octomap_of(octomap),
            ),
        ),
        robot_state=SimpleNamespace(attached_collision_objects=list(attached)),
    )


def told_one_after_the_other(*messages, is_held=lambda *_: False):
    reader, told = PlanningSceneReader(is_held, 200), scene()
    for msg in messages:
        told.apply(reader.changes(msg), NOW)
    return told


SOLIDS = [
    (BOX, [0.2, 0.4, 0.6], pose(0.5)),
    (SPHERE, [0.3], pose(0.0, 0.5)),
    (CYLINDER, [0.8, 0.1], pose(0.0, 0.0, 0.5)),
    (CONE, [0.8, 0.1], pose(1.0)),
]
EXTREMES = [
    [[0.599, 0.199, 0.299], [0.401, -0.199, -0.299]],
    [[0.0, 0.799, 0.0], [0.0, 0.5, 0.299]],
    [[0.099, 0.0, 0.899], [0.0, -0.099, 0.101]],
    [[1.0, 0.0, 0.399], [1.0, 0.0, -0.399]],
]


@pytest.mark.parametrize(('solid', 'points'), list(zip(SOLIDS, EXTREMES, strict=True)))
def test_solids_are_within_their_boxes_where_the_object_is(solid, points):
    lifted = collision_object('thing', primitives=[solid], place=pose(0.0, 0.0, 2.0))
    told = told_one_after_the_other(planning_scene(lifted))
    (box,) = told.boxes.values()
    assert box.distance(np.array(points) + np.array([0.0, 0.0, 2.0]))[0].max() < 0.0
    assert box.distance(np.array(points))[0].min() > 0.0


def test_objects_are_added_to_moved_and_removed():
    box, ball = SOLIDS[:2]
    mesh = SimpleNamespace(vertices=[Point(x=1.0), Point(y=1.0), Point(z=3.0)])
    first = planning_scene(
        collision_object('a', primitives=[box], place=pose(1.0)),
        collision_object('b', meshes=[mesh]),
    )
    more = planning_scene(collision_object('a', APPEND, [ball], place=pose(1.0)), is_diff=True)
    moved = planning_scene(collision_object('a', MOVE, place=pose(5.0)), is_diff=True)
    told = told_one_after_the_other(first, more, moved)
    assert len(told.boxes) == 3
    assert told.boxes['b'].distance([[0.0, 0.0, 2.99]])[0] < 0.0
    assert all(told.boxes[f'a#{i}'].center[0] >= 5.0 for i in range(2))
    gone = planning_scene(collision_object('a', REMOVE), is_diff=True)
    assert list(told_one_after_the_other(first, more, moved, gone).boxes) == ['b']
    assert told_one_after_the_other(first, planning_scene()).boxes == {}


def test_an_object_without_a_pose_is_moved_from_where_its_one_shape_is():
    first = planning_scene(collision_object('a', primitives=SOLIDS[:1]))
    assert told_one_after_the_other(first).boxes['a'].center[0] == 0.5
    moved = planning_scene(collision_object('a', MOVE, place=pose(0.7)), is_diff=True)
    assert told_one_after_the_other(first, moved).boxes['a'].center[0] == 0.7


@pytest.mark.parametrize(
    ('then', 'why'),
    [
        (collision_object('a', APPEND, SOLIDS[1:2], place=pose(0.9)), 'another pose than its own'),
        (collision_object('a', APPEND, SOLIDS[1:2]), 'another pose than its own'),
        (collision_object('a', primitives=[(9, [1.0], pose())]), 'of type 9'),
    ],
)
def test_an_object_that_was_not_understood_is_not_known_before_it_is_shown_whole(then, why):
    first = collision_object('a', primitives=SOLIDS[:1], place=pose(1.0))
    scenes = [planning_scene(first), planning_scene(then, is_diff=True)]
    assert why in told_one_after_the_other(*scenes).trouble(NOW)
    for more in (
        collision_object('a', MOVE, place=pose(2.0)),
        collision_object('a', APPEND, SOLIDS[1:2], place=pose(1.0)),
    ):
        told = told_one_after_the_other(*scenes, planning_scene(more, is_diff=True))
        assert 'were not understood' in told.trouble(NOW)
    for more in (first, collision_object('a', REMOVE), collision_object('', REMOVE)):
        told = told_one_after_the_other(*scenes, planning_scene(more, is_diff=True))
        assert told.is_settled


def test_an_object_is_not_moved_by_poses_of_its_shapes():
    first = planning_scene(collision_object('a', primitives=SOLIDS[:1]))
    moved = planning_scene(collision_object('a', MOVE, SOLIDS[1:2]), is_diff=True)
    assert 'state the pose of the object' in told_one_after_the_other(first, moved).trouble(NOW)


@pytest.mark.parametrize('operation', [ADD, APPEND, MOVE])
@pytest.mark.parametrize('is_held', [True, False])
def test_an_object_without_an_id_takes_no_other_away(operation, is_held):
    nameless = collision_object('', operation, SOLIDS[:1])
    held = [SimpleNamespace(link_name='link_2', object=nameless)]
    scene = planning_scene(collision_object('a', primitives=SOLIDS[:1]))
    then = planning_scene(attached=held, is_diff=True)
    if not is_held:
        then = planning_scene(nameless, is_diff=True)
    told = told_one_after_the_other(scene, then, is_held=lambda *_: True)
    assert list(told.boxes) == ['a']
    assert 'no id' in told.trouble(NOW)


def test_detaching_everything_takes_no_obstacle_away():
    held = [SimpleNamespace(link_name='', object=collision_object('', REMOVE))]
    scene = planning_scene(collision_object('a', primitives=SOLIDS[:1]))
    told = told_one_after_the_other(scene, planning_scene(attached=held, is_diff=True))
    assert list(told.boxes) == ['a']
    assert not told.is_settled


def test_what_is_not_understood_leaves_nothing_known():
    nothing = collision_object('a')
    strange = collision_object('a', primitives=[(9, [1.0], pose())])
    early = planning_scene(collision_object('a', primitives=SOLIDS[:1]), is_diff=True)
    for msg, why in (
        (planning_scene(nothing), 'it has no shape'),
        (planning_scene(strange), 'its shape is of type 9'),
        (planning_scene(collision_object('a', MOVE)), 'nobody has shown it before'),
        (planning_scene(octomap=b'x'), 'the data of the octree, 1 bytes, ends within a node'),
        (early, 'the first message is a diff'),
    ):
        told = told_one_after_the_other(msg)
        assert not told.is_settled
        assert why in told.trouble(NOW)


def test_an_object_of_a_name_that_nobody_can_read_leaves_nothing_known_until_it_is_gone():
    one, other = ('x' * 1_000_000 + end for end in 'ab')
    told = planning_scene(*(collision_object(x, primitives=SOLIDS[:1]) for x in (one, other)))
    gone = [planning_scene(collision_object(x, REMOVE), is_diff=True) for x in (one, other)]
    scene = told_one_after_the_other(told)
    assert 'has 1000001 letters; 200 are allowed' in scene.trouble(NOW)
    assert len(scene.trouble(NOW)) < 500
    assert not told_one_after_the_other(told, gone[0]).is_settled
    assert told_one_after_the_other(told, *gone).is_settled


def test_an_object_for_which_there_is_no_room_is_not_known_before_the_whole_scene(monkeypatch):
    """Shapes that are added to what was forgotten must not pass for the whole of it."""
    monkeypatch.setattr(planning_scene_module, 'MOST', 3)
    reader, told = PlanningSceneReader(lambda *_: False, 200), scene()

    def hear(*objects, is_diff=True):
        told.apply(reader.changes(planning_scene(*objects, is_diff=is_diff)), NOW)

    hear(collision_object('a', primitives=SOLIDS[:2]), is_diff=False)
    for i in range(20):  # of ever new names, there is one at a time
        hear(collision_object(f'b{i}', primitives=SOLIDS[:1]))
        hear(collision_object(f'b{i}', REMOVE))
        assert told.is_settled
    hear(collision_object('b', primitives=[(9, [1.0], pose())]))  # which is remembered, too
    hear(collision_object('c', primitives=SOLIDS[:1]))
    hear(collision_object('c', APPEND, SOLIDS[1:2], place=pose(1.0)))
    hear(collision_object('b', REMOVE))
    hear(collision_object('c', REMOVE))
    assert not told.is_settled
    assert "object 'c' is one too many: there is room for 3 boxes" in told.trouble(NOW)
    hear(collision_object('a', primitives=SOLIDS[:1]), is_diff=False)
    hear(collision_object('c', primitives=SOLIDS[:2]))
    assert told.is_settled


def test_what_is_held_has_to_be_part_of_the_arm():
    here = collision_object('cup', primitives=SOLIDS[:1])
    held = SimpleNamespace(link_name='link_2', object=here)
    before = planning_scene(here)
    taken = planning_scene(attached=[held], is_diff=True)
    told = told_one_after_the_other(before, taken, is_held=lambda link, *_: link == 'link_2')
    assert (told.boxes, told.is_settled) == ({}, True)
    told = told_one_after_the_other(before, taken)
    assert 'not within the capsules of link_2' in told.trouble(NOW)
    let_go = SimpleNamespace(link_name='link_2', object=collision_object('cup', REMOVE))
    after = planning_scene(attached=[let_go], is_diff=True)
    told = told_one_after_the_other(before, taken, after, is_held=lambda *_: True)
    assert 'it is not held any more' in told.trouble(NOW)


def test_capsules_of_a_link_hold_what_is_inside_all_of_them_alone():
    inside = Box(np.array([0.25, 0.0, 0.0]), np.array([0.2, 0.02, 0.02]), np.eye(3))
    too_wide = Box(np.array([0.25, 0.0, 0.0]), np.array([0.2, 0.02, 0.02]), np.eye(3), 0.015)
    assert holds(MODEL, 'link_2', [inside])
    assert not holds(MODEL, 'link_2', [inside, too_wide])
    assert not holds(MODEL, 'base_link', [inside])
    assert not holds(MODEL, 'nowhere', [inside])


def odometry(speed=0.5, frame='person'):
    """Of a frame that is turned by a quarter, along its own x."""
    pose = Pose()
    pose.position.x, pose.orientation.w, pose.orientation.z = 1.0, 0.5**0.5, 0.5**0.5
    twist = Twist(linear=Vector3(x=speed))
    header = Header(frame_id='base_link')
    header.stamp.sec = 1
    return SimpleNamespace(
        header=header,
        child_frame_id=frame,
        pose=SimpleNamespace(pose=pose),
        twist=SimpleNamespace(twist=twist),
    )


def motions(moving, now=lambda: NOW):
    nobody = SimpleNamespace(
        create_subscription=print,
        resolve_topic_name=lambda name: name,
        count_publishers=lambda _: 0,
    )
    return ObstacleMotions(nobody, moving, now, lambda: None)


def test_odometry_says_how_an_obstacle_goes_on():
    frames = FrameTree('base_link', {}, 0.5)
    settings = MotionSettings(position_error=0.1, speed=1.0)
    moving = settings.of(frames)
    people = ShownScene(frames, 0.2, moving)
    listens = motions(moving)
    listens.hear(odometry())
    listens.hear(odometry(np.nan))
    assert listens.trouble.startswith("motion of 'person': velocity of frame 'person'")
    shape = Box(np.array([0.0, 0.0, 1.0]), np.full(3, 0.2), np.eye(3))
    people.apply([Change('legs', Shown((shape,), 'person'))], NOW)
    (box,) = people.boxes.values()
    np.testing.assert_allclose(box.center, [1.0, 0.0, 1.0], atol=1e-12)
    np.testing.assert_allclose(box.velocity, [0.0, 0.5, 0.0], atol=1e-12)
    assert box.stamp == NOW
    assert box.bounds == MotionBounds(position_error=0.1, speed=1.0)


@pytest.mark.parametrize('name', ['', '/'])
def test_a_motion_of_no_frame_leaves_nothing_known_while_others_send_good_ones(name):
    now = NOW
    listens = motions(MotionSettings().of(FrameTree('base_link', {}, 0.5)), lambda: now)
    assert listens.unclear == ''
    for _ in range(10):
        listens.hear(odometry(frame=name))
        now += 400_000_000
        listens.hear(odometry())
        assert 'child_frame_id is empty; it has to name the frame' in listens.unclear
    now += 200_000_000
    assert listens.unclear  # silence is no good word
    listens.hear(odometry(np.nan))
    assert listens.unclear
    listens.hear(odometry())
    assert listens.unclear == ''


OCTANT = b'\x02\x00'  # all where x, y and z are below zero is occupied


def test_an_octomap_becomes_boxes_where_it_stands():
    (change,) = octomap_changes(octomap_of(OCTANT), 200)
    (box,) = change.shown.boxes
    np.testing.assert_allclose(box.center, np.full(3, -0.05 * 2**15), rtol=1e-12)
    assert change.shown.frame == 'base_link'
    told = told_one_after_the_other(planning_scene(octomap=OCTANT))
    assert told.is_settled
    (box,) = told.boxes.values()
    np.testing.assert_allclose(box.center[0], 2.0 - 0.05 * 2**15, rtol=1e-12)
    (change,) = octomap_changes(octomap_of(b'\xff'), 200)
    assert 'ends within a node' in change.unclear
