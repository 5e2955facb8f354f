"""A mesh lies in the box of its vertices, in metres, wherever it comes from."""

import struct

import numpy as np
import pytest

from safe_sysid.errors import ModelError
from safe_sysid.model.collision.mesh_points import mesh_points

CORNERS = np.array([[0.0, 0, 0], [0.1, 0, 0], [0, 0.2, 0], [0, 0, 0.3]])
FACES = [(0, 1, 2), (0, 2, 3), (0, 3, 1), (1, 3, 2)]


def stl():
    body = b''.join(
        struct.pack('<12fH', 0, 0, 0, *CORNERS[list(face)].ravel(), 0) for face in FACES
    )
    return bytes(80) + struct.pack('<I', len(FACES)) + body


def dae(unit):
    numbers = ' '.join(str(x) for x in (CORNERS / unit).ravel())
    indices = ' '.join(str(i) for face in FACES for i in face)
    return f"""<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit name="u" meter="{unit}"/><up_axis>Z_UP</up_axis></asset>
<library_geometries><geometry id="g"><mesh><source id="p">
<float_array id="pa" count="12">{numbers}</float_array><technique_common>
<accessor source="#pa" count="4" stride="3"><param name="X" type="float"/>
<param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="4"><input semantic="VERTEX" source="#v" offset="0"/><p>{indices}</p></triangles>
</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node id="n"><instance_geometry url="#g"/></node>
</visual_scene></library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>
""".encode()


def extremes(points):
    return np.array([points.min(axis=0), points.max(axis=0)])


EXPECTED = np.array([[0.0, 0, 0], [0.1, 0.2, 0.3]])


def test_files_and_bytes_give_the_same_points(tmp_path, monkeypatch):
    package = tmp_path / 'share' / 'cell' / 'meshes'
    package.mkdir(parents=True)
    (package / 'a b.stl').write_bytes(stl())
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path))
    for name, content in (
        (f'file://{package}/a%20b.stl', b''),
        ('package://cell/meshes/a%20b.stl', b''),
        ('anything.stl', stl()),
    ):
        np.testing.assert_allclose(extremes(mesh_points(name, content)), EXPECTED, atol=1e-7)


@pytest.mark.parametrize('unit', [1.0, 0.001, 0.0254])
def test_collada_is_in_the_unit_it_names(unit):
    points = mesh_points('part.dae', dae(unit))
    np.testing.assert_allclose(extremes(points), EXPECTED, atol=1e-7)


@pytest.mark.parametrize(
    ('name', 'content', 'complaint'),
    [
        ('package://no_such_package/a.stl', b'', "no package 'no_such_package'"),
        ('file:///no/such/file.stl', b'', 'there is no file'),
        ('http://host/a.stl', b'', 'package:// and file:// are allowed'),
        ('', b'', 'there is no file'),
        ('a.stl', b'not a mesh', 'cannot be read|no vertices'),
        (
            'a.dae',
            dae(1.0).replace(b'1.0"?', b'1.0" encoding="foo"?', 1),
            'XML .unknown enc',
        ),
    ],
)
def test_what_is_not_found_or_not_read_is_refused(name, content, complaint):
    with pytest.raises(ModelError, match=complaint):
        mesh_points(name, content)


@pytest.mark.parametrize(
    'name',
    ['package://[x', 'package://', 'file://', 'package://' + 'a' * 5000, 'file:///' + 'b/' * 3000,
     'file:///a\0b', 'package://x/\0', 'x.' + 'c' * 4000],
)  # fmt: skip
@pytest.mark.parametrize('content', [b'', b'solid'])
def test_a_name_that_cannot_be_one_is_refused(name, content):
    with pytest.raises(ModelError):
        mesh_points(name, content)
