"""Markers become boxes that contain what RViz draws, or a sentence; none is passed over."""

from geometry_msgs.msg import Point
import numpy as np
import pytest
from visualization_msgs.msg import Marker, MarkerArray

from safe_sysid.model.collision.enclosing_boxes import volume
from safe_sysid.model.collision.shown_scene import ShownScene
from safe_sysid.model.frame_tree import FrameTree
from safe_sysid.model.placement import Placement
from safe_sysid.ros.messages.drawings import obstacle_markers
from safe_sysid.ros.messages.heard_markers import HeardMarker
from safe_sysid.ros.messages.marker_changes import MOST, changes_in, changes_of
from safe_sysid.ros.messages.waiting_markers import merged
from safe_sysid.sets.box import Box
from safe_sysid.simulate.random_arm import random_rotation

SECOND = 1_000_000_000


def marker(kind=Marker.CUBE, number=3, points=(), scale=(0.5, 0.5, 0.5), **fields):
    made = Marker(type=kind, ns='table', id=number, **fields)
    made.header.frame_id = 'base'
    made.scale.x, made.scale.y, made.scale.z = (float(x) for x in scale)
    made.points = [Point(x=float(x), y=float(y), z=float(z)) for x, y, z in points]
    return made


def placed(made, rng):
    """The marker anywhere, and its place."""
    q, p = rng.normal(size=4), rng.normal(size=3)
    q /= np.linalg.norm(q)
    made.pose.position.x, made.pose.position.y, made.pose.position.z = p.tolist()
    o = made.pose.orientation
    o.w, o.x, o.y, o.z = q.tolist()
    return made, Placement.of(p, q)


def scene_of(*messages):
    scene = ShownScene(FrameTree('base', {}, 0.5), 0.2)
    for now, markers in enumerate(messages):
        scene.apply(changes_of(MarkerArray(markers=list(markers))), now * SECOND)
    return scene


def depth(boxes, points):
    """How far each point is inside the box it is deepest in."""
    return -np.min([box.distance(points)[0] for box in boxes.values()], axis=0)


def surface(rng, kind, scale):
    """Points of what RViz draws for one element, about its origin."""
    x = rng.normal(size=(200, 3))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    if kind in (Marker.SPHERE, Marker.SPHERE_LIST):
        return 0.5 * x * scale
    if kind == Marker.CYLINDER:
        x[:, :2] /= np.linalg.norm(x[:, :2], axis=1, keepdims=True)
        x[:, 2] = rng.choice([-1.0, 1.0], size=200)
        return 0.5 * x * scale
    return 0.5 * rng.choice([-1.0, 1.0], size=(200, 3)) * scale


@pytest.mark.parametrize('kind', [Marker.CUBE, Marker.SPHERE, Marker.CYLINDER])
def test_solids_are_inside_their_boxes(rng, kind):
    for _ in range(20):
        scale = rng.uniform(0.02, 1.0, 3)
        made, place = placed(marker(kind, scale=scale), rng)
        points = surface(rng, kind, scale) @ place.R.T + place.p
        assert depth(scene_of([made]).boxes, points).min() >= 0.0


@pytest.mark.parametrize('kind', [Marker.CUBE_LIST, Marker.SPHERE_LIST])
@pytest.mark.parametrize('count', [0, 1, 3])
def test_every_element_of_a_list_is_inside_a_box(rng, kind, count):
    scale, at = rng.uniform(0.02, 0.2, 3), rng.normal(size=(count, 3))
    made, place = placed(marker(kind, points=at, scale=scale), rng)
    boxes = scene_of([made]).boxes
    assert len(boxes) == count
    for each in at:
        points = (surface(rng, kind, scale)[:40] + each) @ place.R.T + place.p
        assert depth(boxes, points).min() >= -1e-12


def test_a_long_list_has_fewer_boxes_and_no_point_less(rng):
    at = rng.normal(size=(MOST + 57, 3))
    boxes = scene_of([marker(Marker.POINTS, points=at, scale=[0.03, 0.03, 0.0])]).boxes
    assert len(boxes) == MOST
    assert depth(boxes, at[:60]).min() >= 0.0149


@pytest.mark.parametrize(
    'kind', [Marker.LINE_STRIP, Marker.LINE_LIST, Marker.ARROW, Marker.POINTS]
)
def test_lines_arrows_and_points_take_the_room_they_are_drawn_in(rng, kind):
    at = rng.normal(size=(2 if kind == Marker.ARROW else 6, 3))
    made, place = placed(marker(kind, points=at, scale=[0.03, 0.05, 0.1]), rng)
    boxes = scene_of([made]).boxes
    step = 2 if kind == Marker.LINE_LIST else 1
    for i in range(0, len(at) - 1, step):
        along = at[i] + rng.random((50, 1)) * (at[i + 1] - at[i])
        points = at if kind == Marker.POINTS else along
        assert depth(boxes, points @ place.R.T + place.p).min() >= 0.0149
    assert sum(volume(box) for box in boxes.values()) < 0.5


def test_an_arrow_without_points_lies_along_x(rng):
    made, place = placed(marker(Marker.ARROW, scale=[1.0, 0.1, 0.2]), rng)
    tip_and_head = np.array([[0.0, 0, 0], [1.0, 0, 0], [0.8, 0.1, 0.0], [0.8, 0, 0.2]])
    assert depth(scene_of([made]).boxes, tip_and_head @ place.R.T + place.p).min() >= 0.0


def test_triangles_are_inside_the_box_of_their_corners(rng):
    at, scale = rng.normal(size=(9, 3)), np.array([0.1, 2.0, 0.5])
    made, place = placed(marker(Marker.TRIANGLE_LIST, points=at, scale=scale), rng)
    assert depth(scene_of([made]).boxes, (at * scale) @ place.R.T + place.p).min() >= 0.0


def test_a_mesh_is_inside_its_box(rng, tmp_path):
    corners = rng.normal(size=(6, 3))
    lines = [f'v {x} {y} {z}' for x, y, z in corners] + ['f 1 2 3', 'f 4 5 6', 'f 1 3 5']
    (tmp_path / 'part.obj').write_text('\n'.join(lines))
    scale = np.array([0.5, 1.0, 2.0])
    made, place = placed(marker(Marker.MESH_RESOURCE, scale=scale), rng)
    made.mesh_resource = f'file://{tmp_path}/part.obj'
    points = (corners * scale) @ place.R.T + place.p
    assert depth(scene_of([made]).boxes, points).min() >= -1e-5  # its file has single precision
    made.mesh_resource = 'package://nowhere/part.obj'
    assert "no package 'nowhere'" in scene_of([made]).trouble(0)


def test_the_rules_of_rviz():
    gone = marker(number=1)
    gone.action = Marker.DELETE
    every = Marker(action=Marker.DELETEALL)
    others = Marker(action=Marker.DELETEALL, ns='other')
    all_of_it = Marker(action=Marker.DELETEALL, ns='table')
    first, second = [marker(number=1)], [marker(number=2)]
    assert list(scene_of(first, second).boxes) == ['table/1', 'table/2']
    assert list(scene_of(first, second, [gone]).boxes) == ['table/2']
    assert list(scene_of(first, second, [every]).boxes) == []
    assert list(scene_of(first, second, [others]).boxes) == ['table/1', 'table/2']
    assert list(scene_of(first, second, [all_of_it]).boxes) == []
    assert list(scene_of([*first, every, *second]).boxes) == ['table/2']
    modified = scene_of(first, [marker(number=1, scale=[1.0, 1, 1])]).boxes
    assert modified['table/1'].half_sizes[0] > 0.49


def test_a_lifetime_ends():
    brief = marker()
    brief.lifetime.sec = 2
    scene = scene_of([brief])
    scene.settle(2 * SECOND - 1)
    assert len(scene.boxes) == 1
    scene.settle(2 * SECOND)
    assert len(scene.boxes) == 0


def test_writing_takes_no_room():
    scene = scene_of([marker()], [marker(Marker.TEXT_VIEW_FACING)])
    assert scene.boxes == {}
    assert scene.is_settled


def test_boxes_that_were_drawn_are_the_boxes_that_are_avoided(rng):
    boxes = {
        f'box_{i}': Box(rng.normal(size=3), rng.uniform(0.1, 1.0, 3), random_rotation(rng))
        for i in range(5)
    }
    drawn = scene_of(obstacle_markers(boxes, 'base', 0).markers).boxes
    for box, other in zip(boxes.values(), drawn.values(), strict=True):
        np.testing.assert_allclose(box.center, other.center)
        np.testing.assert_allclose(box.half_sizes, other.half_sizes)
        np.testing.assert_allclose(box.rotation, other.rotation, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize(
    ('change', 'complaint'),
    [
        (lambda m: setattr(m, 'type', 77), 'its type is 77'),
        (lambda m: setattr(m, 'action', 1), 'its action is 1'),
        (lambda m: setattr(m.header, 'frame_id', 'camera'), "'camera' is not connected to 'base'"),
        (lambda m: setattr(m.header, 'frame_id', ''), "frame '' is not connected"),
        (lambda m: setattr(m.pose.orientation, 'w', 0.0), 'no rotation'),
        (lambda m: setattr(m.scale, 'y', 0.0), 'each has to be above 0'),
        (lambda m: setattr(m.scale, 'y', float('inf')), 'finite'),
        (lambda m: setattr(m.pose.position, 'x', float('nan')), 'finite'),
        (lambda m: setattr(m.lifetime, 'sec', -1), 'its lifetime is -1.0 s'),
        (lambda m: setattr(m, 'type', Marker.MESH_RESOURCE), 'there is no file'),
        (lambda m: setattr(m, 'type', Marker.TRIANGLE_LIST), 'no points'),
    ],
)
def test_what_cannot_be_avoided_is_said(change, complaint):
    wrong = marker()
    change(wrong)
    scene = scene_of([marker(number=4), wrong, marker(number=5)])
    assert not scene.is_settled
    assert scene.trouble(SECOND).startswith("obstacle 'table/3': ")
    assert complaint in scene.trouble(SECOND)
    assert {'table/4', 'table/5'} <= set(scene.boxes)


@pytest.mark.parametrize('kind', [Marker.LINE_LIST, Marker.LINE_STRIP, Marker.ARROW])
def test_half_a_line_is_refused(kind):
    assert 'point' in scene_of([marker(kind, points=[(0, 0, 0)])]).trouble(0)


def test_a_marker_of_a_name_that_nobody_can_read_leaves_nothing_known_until_it_is_gone():
    one, other = (marker() for _ in range(2))
    one.ns, other.ns = 'x' * 1_000_000 + 'a', 'x' * 1_000_000 + 'b'
    gone = [marker(action=Marker.DELETE) for _ in range(2)]
    gone[0].ns, gone[1].ns = one.ns, other.ns
    said = scene_of([one, other]).trouble(0)
    assert 'has 1000001 letters; 200 are allowed' in said
    assert len(said) < 500
    assert not scene_of([one, other], gone[:1]).is_settled
    assert scene_of([one, other], gone[:1], gone[1:]).is_settled


def test_a_lifetime_that_rviz_takes_for_none_lasts():
    brief = marker()
    brief.lifetime.nanosec = 100_000
    scene = scene_of([brief])
    scene.settle(2 * SECOND)
    assert len(scene.boxes) == 1


def test_messages_that_are_taken_together_lead_to_the_same_scene(rng):
    """Adding and deleting, of some, of a namespace and of all, in any order."""
    for _ in range(200):
        messages, waiting = [], []
        for _ in range(6):
            made = [
                marker(number=int(rng.integers(2)), action=int(action))
                for action in rng.choice([0, 0, 0, 2, 3, 3], int(rng.integers(1, 4)))
            ]
            for each in made:
                each.ns = str(rng.choice(['', 'table', 'fence']))
            messages.append(made)
            waiting.append([HeardMarker.of(each) for each in made])
        begin = int(rng.integers(6))
        expected, found = scene_of(*messages), scene_of(*messages[:begin])
        found.apply(changes_in(merged(waiting[begin:])), 6 * SECOND)
        assert found.boxes.keys() == expected.boxes.keys()


def test_thousands_of_points_that_are_nowhere_are_not_all_said():
    made = marker(Marker.TRIANGLE_LIST, points=np.full((3000, 3), np.nan))
    said = scene_of([made]).trouble(0)
    assert 'shape (3000, 3), 9000 of it not finite' in said
    assert len(said) < 300
