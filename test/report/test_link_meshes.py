"""Meshes on pages: hulls of what the URDF names, seen from outside, and capsules without them."""

from model.collision.hull_distance import box, write_stl
from model.collision.test_meshes import JOINT, LINK, arm_of_text
import numpy as np
import pytest

from safe_sysid.model.arm import Arm
from safe_sysid.report.link_meshes import GRID, coarse_hull, link_meshes


@pytest.fixture
def arm(tmp_path):
    """Two boxes, the second on the first."""
    write_stl(tmp_path / 'box.stl', box(np.zeros(3), 0.1))
    names = ('base', 'first', 'second', 'third')
    links = ''.join(LINK.format(name=name, mesh='package://box.stl') for name in names)
    joints = ''.join(
        JOINT.format(name=f'j{i}', parent=names[i], child=names[i + 1], axis='1 0 0')
        for i in range(3)
    )
    urdf, facts, model = arm_of_text(tmp_path, 'boxes', f'{links}{joints}')
    return Arm(model, facts, urdf, is_described=True)


def test_every_mesh_is_drawn_on_its_joint(arm):
    meshes = link_meshes(arm)
    assert [mesh.joint for mesh in meshes] == [-1, 0, 1, 2]
    assert [mesh.is_tip for mesh in meshes] == [False, False, False, True]
    for mesh in meshes:
        np.testing.assert_allclose(np.abs(mesh.vertices), 0.1, atol=1e-9)
        assert len(mesh.triangles) == 12


def test_without_the_files_capsules_are_drawn(arm, tmp_path):
    (tmp_path / 'box.stl').unlink()
    assert link_meshes(arm) == ()


def test_a_hull_is_near_its_points_and_seen_from_outside(rng):
    points = rng.normal(size=(3000, 3))
    points = 0.2 * points / np.linalg.norm(points, axis=1, keepdims=True)
    mesh = coarse_hull(points, 0, is_tip=False)
    a, b, c = np.moveaxis(mesh.vertices[mesh.triangles], 1, 0)
    outward = np.einsum('ti,ti->t', np.cross(b - a, c - a), a + b + c)
    assert (outward > -1e-12).all()
    assert np.abs(np.linalg.norm(mesh.vertices, axis=1) - 0.2).max() < GRID
