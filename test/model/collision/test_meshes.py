"""Hulls of meshes by coal: distances by hand, pairs, and what an arm holds."""

from dataclasses import replace
import struct

import numpy as np
import pytest

from safe_sysid.errors import ModelError
from safe_sysid.model.collision.meshes import CollisionMeshes, has_meshes
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
    <parent link="{parent}"/><child link="{child}"/><axis xyz="1 0 0"/>
    <limit lower="-5" upper="5" effort="100" velocity="1"/>
  </joint>"""


def write_box(path, half):
    """A binary STL of a box about the origin."""
    corners = half * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = [t for a, b, c, d in faces for t in ((a, b, c), (a, c, d))]
    body = b''.join(struct.pack('<12fH', 0, 0, 0, *corners[list(t)].ravel(), 0) for t in triangles)
    path.write_bytes(bytes(80) + struct.pack('<I', len(triangles)) + body)


@pytest.fixture
def sliding_boxes(tmp_path):
    """Three boxes of half width 0.1 m that slide along x, each on the one before."""
    write_box(tmp_path / 'box.stl', 0.1)
    names = ('base', 'first', 'second', 'third')
    links = ''.join(LINK.format(name=name, mesh='package://box.stl') for name in names)
    joints = ''.join(
        JOINT.format(name=f'j{i}', parent=names[i], child=names[i + 1]) for i in range(3)
    )
    urdf = tmp_path / 'boxes.urdf'
    urdf.write_text(f'<robot name="boxes">{links}{joints}</robot>', encoding='utf-8')
    template = read_facts(facts_path('two_link'))
    joint = next(iter(template.joints.values()))
    facts = replace(
        template,
        urdf=str(urdf),
        tip='third',
        joints={f'j{i}': joint for i in range(3)},
        collision=CollisionFacts({}, ()),
    )
    return urdf, facts, RobotModel.from_files(urdf, facts, 'boxes')


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


def test_what_is_held_and_the_floor_are_in_it(sliding_boxes):
    urdf, facts, model = sliding_boxes
    rod = PayloadCapsule((0.0, 0.0, 0.3), (0.0, 0.0, 0.7), 0.05)
    tool = Payload(
        'tool', 1.0, np.zeros(3), 0.1 * np.eye(3),
        {'boxes': Placement('third', (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))}, {'rod': rod},
    )  # fmt: skip
    meshes = CollisionMeshes.of(urdf, facts, model, model.with_payload(tool), -0.5)
    found = dict(zip(meshes.names, meshes.distances(np.zeros((1, 3)))[0], strict=True))
    assert found['first_0 and the floor'] == pytest.approx(0.4, abs=1e-6)
    assert found['tool.rod and the floor'] == pytest.approx(0.75, abs=1e-6)
    assert found['base_0 and tool.rod'] == pytest.approx(0.15, abs=1e-6)
    assert 'base_0 and the floor' not in found


def test_missing_meshes_are_named(sliding_boxes):
    urdf, facts, model = sliding_boxes
    (urdf.parent / 'box.stl').unlink()
    with pytest.raises(ModelError, match='its meshes cannot be read'):
        CollisionMeshes.of(urdf, facts, model, model, None)


def test_arms_of_the_package_have_no_meshes():
    model = RobotModel.named('lbr_med7')
    assert not has_meshes(facts_path(model.name).parents[2] / 'urdf' / 'lbr_med7.urdf')
