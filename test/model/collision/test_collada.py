"""Every triangle of a scene is read, of every material and node, by hand."""

import numpy as np
import pytest

from safe_sysid.errors import ModelError
from safe_sysid.model.collision.mesh_triangles import mesh_triangles

CORNERS = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 2], [3, 0, 0], [0, 4, 0.5]])
HEAD = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit name="u" meter="{unit}"/><up_axis>{up}</up_axis></asset>
<library_geometries><geometry id="g"><mesh><source id="p">
<float_array id="pa" count="21">{numbers}</float_array><technique_common>
<accessor source="#pa" count="7" stride="3"><param name="X" type="float"/>
<param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
{primitives}
</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s">{nodes}</visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>
"""
INPUT = '<input semantic="VERTEX" source="#v" offset="0"/>'
TRIANGLES = f'<triangles count="1" material="{{0}}">{INPUT}<p>{{1}}</p></triangles>'
TWO = TRIANGLES.format('red', '0 1 4') + TRIANGLES.format('blue', '0 5 6')
PLACE = '<instance_geometry url="#g"/>'


def read(folder, primitives, nodes=f'<node>{PLACE}</node>', unit=1.0, up='Z_UP'):
    path = folder / 'part.dae'
    path.write_text(collada_text(primitives, nodes, unit, up))
    return mesh_triangles(path)


def collada_text(primitives, nodes=f'<node>{PLACE}</node>', unit=1.0, up='Z_UP'):
    numbers = ' '.join(f'{x:g}' for x in CORNERS.ravel())
    return HEAD.format(unit=unit, up=up, numbers=numbers, primitives=primitives, nodes=nodes)


def same(found, expected):
    np.testing.assert_allclose(found, np.asarray(expected, dtype=float), atol=1e-7)


def test_triangles_of_every_material_have_their_own_corners(tmp_path):
    """The reader of coal takes corners of the first material for those of the second."""
    same(read(tmp_path, TWO), CORNERS[[[0, 1, 4], [0, 5, 6]]])


@pytest.mark.parametrize('up', ['Z_UP', 'Y_UP', 'X_UP'])
def test_units_count_and_axes_are_those_of_the_file(up, tmp_path):
    same(read(tmp_path, TWO, unit=0.01, up=up), 0.01 * CORNERS[[[0, 1, 4], [0, 5, 6]]])


def test_polygons_are_cut_into_triangles(tmp_path):
    polylist = f'<polylist count="2">{INPUT}<vcount>4 3</vcount><p>0 1 2 3 4 5 6</p></polylist>'
    found = read(tmp_path, polylist)
    same(found, CORNERS[[[4, 5, 6], [0, 1, 2], [0, 2, 3]]])


def test_nodes_are_put_where_the_scene_has_them(tmp_path):
    inner = f'<node><rotate>0 0 1 90</rotate>{PLACE}</node>'
    outer = f'<node><translate>1 2 3</translate><scale>2 2 2</scale>{inner}</node>'
    matrix = f'<node><matrix>1 0 0 0 0 1 0 0 0 0 1 9 0 0 0 1</matrix>{PLACE}</node>'
    found = read(tmp_path, TWO, outer + matrix)
    turned = np.stack([-CORNERS[:, 1], CORNERS[:, 0], CORNERS[:, 2]], axis=1)
    first, second = 2 * turned + [1, 2, 3], CORNERS + np.array([0, 0, 9])
    same(found, np.concatenate([x[[[0, 1, 4], [0, 5, 6]]] for x in (first, second)]))


def test_what_cannot_be_read_is_said(tmp_path):
    with pytest.raises(ModelError, match=r'part\.dae'):
        read(tmp_path, '<lines count="1"/>')
    with pytest.raises(ModelError, match=r'part\.dae'):
        read(tmp_path, TRIANGLES.format('red', '0 1 99'))
