"""Triangles are those of the file, and round shapes lie inside the polyhedra around them."""

from xml.etree import ElementTree

from model.collision.hull_distance import box, write_stl
import numpy as np
import pytest
from scipy.spatial import ConvexHull

from safe_sysid.errors import ModelError
from safe_sysid.model.collision.mesh_triangles import mesh_triangles, shape_triangles


def shape(text):
    return shape_triangles(ElementTree.fromstring(f'<geometry>{text}</geometry>'), 'arm.urdf')


def ascii_stl(triangles):
    facets = ''.join(
        'facet normal 0 0 0\nouter loop\n'
        + ''.join(f'vertex {x:.9g} {y:.9g} {z:.9g}\n' for x, y, z in triangle)
        + 'endloop\nendfacet\n'
        for triangle in triangles
    )
    return f'solid part\n{facets}endsolid part\n'


def test_every_corner_of_an_stl_is_read_as_it_is(tmp_path, rng):
    triangles = rng.normal(size=(50, 3, 3)).astype(np.float32)
    triangles[7, 2] = triangles[7, 1]  # without area, but its corners are somewhere
    triangles[9] = triangles[8] + 1e-6  # that a reader who joins corners would move
    write_stl(tmp_path / 'a.STL', triangles)
    np.testing.assert_array_equal(mesh_triangles(tmp_path / 'a.STL'), triangles)
    (tmp_path / 'b.stl').write_text(ascii_stl(triangles))
    np.testing.assert_array_equal(mesh_triangles(tmp_path / 'b.stl').astype(np.float32), triangles)


def test_corners_that_are_nowhere_are_refused(tmp_path):
    """Without their triangles, corners that are somewhere would be in no capsule."""
    triangles = box((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
    triangles[3, 1] = np.nan
    write_stl(tmp_path / 'a.stl', triangles)
    with pytest.raises(ModelError, match=r'a\.stl has .* corners that are not finite'):
        mesh_triangles(tmp_path / 'a.stl')
    for content in (b'', bytes(84), b'solid x\nvertex a b c\nvertex 1 2 3\nvertex 1 2 3\n'):
        (tmp_path / 'b.stl').write_bytes(content)
        with pytest.raises(ModelError, match=r'b\.stl'):
            mesh_triangles(tmp_path / 'b.stl')


def test_an_obj_is_read_with_all_its_corners(tmp_path):
    (tmp_path / 'a.obj').write_text(
        'v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\nf 1 2 3\nf 1 3 4\nf 1 4 2\n'
    )
    found = np.unique(mesh_triangles(tmp_path / 'a.obj').reshape(-1, 3), axis=0)
    np.testing.assert_allclose(found, [[0, 0, 0], [0, 0, 3], [0, 2, 0], [1, 0, 0]], atol=1e-7)


def inside(triangles, points):
    faces = ConvexHull(triangles.reshape(-1, 3)).equations
    return bool((points @ faces[:, :3].T + faces[:, 3] <= 1e-12).all())


def test_round_shapes_are_inside_and_hardly_smaller(rng):
    around = rng.normal(size=(5000, 3))
    around /= np.linalg.norm(around, axis=1)[:, None]
    ball = shape('<sphere radius="0.2"/>')
    assert inside(ball, 0.2 * around)
    assert np.linalg.norm(ball.reshape(-1, 3), axis=1).max() < 1.04 * 0.2
    turn = rng.uniform(0, 2 * np.pi, 5000)
    rim = np.stack([0.1 * np.cos(turn), 0.1 * np.sin(turn), rng.uniform(-0.3, 0.3, 5000)], axis=1)
    prism = shape('<cylinder radius="0.1" length="0.6"/>')
    assert inside(prism, rim)
    assert np.linalg.norm(prism.reshape(-1, 3)[:, :2], axis=1).max() < 1.002 * 0.1
    capsule = shape('<capsule radius="0.1" length="0.6"/>')
    caps = 0.1 * around + np.sign(around[:, 2:]) * [0.0, 0.0, 0.3]
    assert inside(capsule, np.concatenate([rim, caps]))
    assert np.abs(capsule.reshape(-1, 3)).max() < 0.3 + 1.04 * 0.1
    corners = np.unique(shape('<box size="1 2 3"/>').reshape(-1, 3), axis=0)
    np.testing.assert_array_equal(np.abs(corners), np.tile([0.5, 1.0, 1.5], (8, 1)))


@pytest.mark.parametrize('text', ['', '<cone/>', '<box/>', '<sphere radius="x"/>'])
def test_other_shapes_are_refused(text):
    with pytest.raises(ModelError, match='arm.urdf'):
        shape(text)
