"""Hulls of meshes by coal: distances by hand, pairs, and what an arm holds."""

from dataclasses import replace
import re

import coal
from model.collision.hull_distance import (
    box,
    dented_sphere,
    distance_to_hull,
    flat_plate,
    is_inside,
    l_shape,
    triangle_soup,
    write_stl,
)
import numpy as np
import pytest
from tiers import slow_after

from safe_sysid.errors import ModelError
from safe_sysid.model.collision.meshes import CollisionMeshes, convex_hull, has_meshes
from safe_sysid.model.facts import CollisionFacts, facts_path, read_facts
from safe_sysid.model.payload import Payload, PayloadCapsule, Placement
from safe_sysid.model.robot_model import RobotModel

LINK = """
  <link name="{name}">
    <inertial><mass value="1"/><origin xyz="0 0 0.1"/>
      <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><mesh filename="{mesh}" scale="1 1 1"/></geometry></collision>
  </link>"""
JOINT = """
  <joint name="{name}" type="prismatic">
    <parent link="{parent}"/><child link="{child}"/><axis xyz="{axis}"/>
    <limit lower="-5" upper="5" effort="100" velocity="1"/>
  </joint>"""


@pytest.fixture
def sliding_boxes(tmp_path):
    """Three boxes of half width 0.1 m that slide along x, each on the one before."""
    write_stl(tmp_path / 'box.stl', box(np.zeros(3), 0.1))
    names = ('base', 'first', 'second', 'third')
    links = ''.join(LINK.format(name=name, mesh='package://box.stl') for name in names)
    joints = ''.join(
        JOINT.format(name=f'j{i}', parent=names[i], child=names[i + 1], axis='1 0 0')
        for i in range(3)
    )
    return arm_of_text(tmp_path, 'boxes', f'{links}{joints}')


def arm_of_text(folder, name, elements):
    """URDF, facts and model of an arm with joints j0, j1, j2."""
    urdf = folder / f'{name}.urdf'
    urdf.write_text(f'<robot name="{name}">{elements}</robot>', encoding='utf-8')
    template = read_facts(facts_path('two_link'))
    joint = next(iter(template.joints.values()))
    facts = replace(
        template,
        urdf=str(urdf),
        tip='third',
        joints={f'j{i}': joint for i in range(3)},
        actuation=None,
        collision=CollisionFacts({}, ()),
    )
    return urdf, facts, RobotModel.from_files(urdf, facts, name)


def test_distances_of_boxes_are_those_by_hand(sliding_boxes):
    urdf, facts, model = sliding_boxes
    assert has_meshes(urdf)
    meshes = CollisionMeshes.of(urdf, facts, model, model, None)
    assert meshes.names == [
        'base_0 and second_0',
        'base_0 and third_0',
        'first_0 and third_0',
    ]
    q = np.array([[0.5, 0.4, 0.3], [0.3, 0.3, -0.55], [0.05, 0.05, 0.5]])
    found = meshes.distances(q)
    ends = np.stack([q[:, 0] + q[:, 1], q.sum(axis=1), q[:, 1] + q[:, 2]], axis=1)
    apart = np.abs(ends) - 0.2
    np.testing.assert_allclose(found[apart > 0.0], apart[apart > 0.0], atol=1e-6)
    assert (found[apart < 0.0] < 0.0).all()


def ball_beside_mesh(folder, triangles):
    """A ball of 2 cm that slides in x, y and z beside a mesh fixed to the base."""
    write_stl(folder / 'part.stl', triangles)
    ball = '<geometry><sphere radius="0.02"/></geometry>'
    links = LINK.format(name='base', mesh='package://part.stl')
    names, axes = ('base', 'first', 'second', 'third'), ('1 0 0', '0 1 0', '0 0 1')
    for i in range(3):
        link = LINK.format(name=names[i + 1], mesh='')
        shape = f'<collision>{ball}</collision>' if i == 2 else ''
        links += re.sub('<collision>.*</collision>', shape, link)
        links += JOINT.format(name=f'j{i}', parent=names[i], child=names[i + 1], axis=axes[i])
    return arm_of_text(folder, 'ball', links)


@pytest.mark.parametrize(
    'part', slow_after(1, [l_shape, dented_sphere, triangle_soup, flat_plate])
)
def test_distances_are_those_of_the_hull(part, tmp_path, rng):
    """Against the nearest of all triangles between vertices; contact by a linear program."""
    triangles = part()
    urdf, facts, model = ball_beside_mesh(tmp_path, triangles)
    meshes = CollisionMeshes.of(urdf, facts, model, model, None)
    assert meshes.names == ['base_0 and third_0']
    points = triangles.reshape(-1, 3).astype(np.float32).astype(np.float64)
    places = rng.uniform(-0.5, 0.5, (60, 3))
    places[:20] *= 0.3
    found = meshes.distances(places)[:, 0]
    inside = np.array([is_inside(points, place) for place in places])
    expected = np.array([distance_to_hull(points, place) - 0.02 for place in places])
    np.testing.assert_allclose(found[~inside], expected[~inside], atol=5e-6)
    assert (found[inside] < 0.0).all()
    nearest = np.linalg.norm(places[:, None] - points, axis=2).min(axis=1) - 0.02
    assert (found <= nearest + 5e-6).all()


def test_what_is_held_and_the_floor_are_in_it(sliding_boxes):
    urdf, facts, model = sliding_boxes
    rod = PayloadCapsule((0.0, 0.0, 0.3), (0.0, 0.0, 0.7), 0.05)
    tool = Payload(
        'tool', 1.0, np.array([0.0, 0.0, 0.5]), 0.01 * np.eye(3),
        {'boxes': Placement('third', (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))}, {'rod': rod},
    )  # fmt: skip
    meshes = CollisionMeshes.of(urdf, facts, model, model.with_payload(tool), -0.5)
    found = dict(zip(meshes.names, meshes.distances(np.zeros((1, 3)))[0], strict=True))
    assert found['first_0 and the floor'] == pytest.approx(0.4, abs=1e-6)
    assert found['tool.rod and the floor'] == pytest.approx(0.75, abs=1e-6)
    assert found['base_0 and tool.rod'] == pytest.approx(0.15, abs=1e-6)
    assert 'base_0 and the floor' not in found


def test_vertices_that_are_not_finite_are_refused(sliding_boxes):
    urdf, facts, model = sliding_boxes
    triangles = l_shape()
    triangles[0, 0, 0] = np.nan
    write_stl(urdf.parent / 'box.stl', triangles)
    with pytest.raises(ModelError, match='base_0 has no vertices, or some that are not finite'):
        CollisionMeshes.of(urdf, facts, model, model, None)


def test_missing_meshes_are_named(sliding_boxes):
    urdf, facts, model = sliding_boxes
    (urdf.parent / 'box.stl').unlink()
    with pytest.raises(ModelError, match='its meshes cannot be read'):
        CollisionMeshes.of(urdf, facts, model, model, None)


def test_arms_of_the_package_have_no_meshes():
    model = RobotModel.named('lbr_med7')
    assert not has_meshes(facts_path(model.name).parents[2] / 'urdf' / 'lbr_med7.urdf')


def test_a_disc_with_a_rim_of_many_corners_has_a_hull():
    """Its triangles meet in one corner, which coal has no room for."""
    turn = 2.0 * np.pi * np.arange(600) / 600
    rim = 0.1 * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    points = np.concatenate([np.c_[rim, np.zeros(600)], np.c_[rim, np.full(600, 0.02)]])
    shape, there = convex_hull(points, 'disc'), coal.Sphere(1e-9)
    here, found = coal.Transform3s(), coal.DistanceResult()
    for point in ([0.3, 0.0, 0.01], [0.0, 0.0, 0.3], [0.2, 0.1, -0.2]):
        place = coal.Transform3s(np.eye(3), np.array(point))
        distance = coal.distance(shape, here, there, place, coal.DistanceRequest(), found)
        assert distance <= np.linalg.norm(points - point, axis=1).min()
        assert distance == pytest.approx(distance_to_hull(points[::20], np.array(point)), abs=2e-3)
