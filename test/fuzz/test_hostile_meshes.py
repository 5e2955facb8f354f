"""XML and meshes from strangers: none makes more of itself than it is."""

from fuzz.frugal import soon_and_in_little_memory  # noqa: F401
from model.collision.test_collada import PLACE, TWO, collada_text
import pytest
from tiers import slow_after

from safe_sysid import load_arm
from safe_sysid.errors import ModelError
from safe_sysid.model import xml_file
from safe_sysid.model.collision import collada, mesh_size, wavefront
from safe_sysid.model.collision.mesh_points import mesh_points
from safe_sysid.model.collision.mesh_triangles import mesh_triangles
from safe_sysid.model.collision.meshes import CollisionMeshes
from safe_sysid.model.description.disabled_pairs import _pairs
from safe_sysid.share import share_directory

URDF = (share_directory() / 'urdf' / 'two_link.urdf').read_text(encoding='utf-8')
ITSELF = f'<node {{}}="n">{PLACE}<instance_node url="#n"/></node>'
READERS = {'arm.urdf': load_arm, 'arm.srdf': _pairs, 'part.dae': mesh_triangles}


def doubled(levels):
    """Nodes each of which is twice what the next one is."""
    twice = '<node id="n{}"><instance_node url="#n{}"/><instance_node url="#n{}"/></node>'
    nodes = [twice.format(i, i + 1, i + 1) for i in range(levels)]
    return ''.join(nodes) + f'<node id="n{levels}">{PLACE}</node>'


def points_of_a_marker(path):
    """Read what a marker brings along."""
    return mesh_points(path.name, path.read_bytes())


@pytest.mark.parametrize('name', READERS)
@pytest.mark.parametrize(
    ('most', 'count'), slow_after(1, [(1000, 2000), (xml_file.MOST_ELEMENTS, 12_000_000)])
)
def test_xml_of_many_elements_is_refused_once_there_are_too_many(
    tmp_path, monkeypatch, name, most, count
):
    monkeypatch.setattr(xml_file, 'MOST_ELEMENTS', most)
    path = tmp_path / name
    path.write_text('<robot>' + count * '<a/>' + '</robot>')
    with pytest.raises(ModelError, match=rf'{name}: has more than {most} elements'):
        READERS[name](path)


@pytest.mark.parametrize('name', READERS)
def test_xml_deep_in_itself_is_refused(tmp_path, name):
    path = tmp_path / name
    path.write_text(100_000 * '<a>' + 100_000 * '</a>')
    with pytest.raises(ModelError, match=rf'{name}: more than 100 elements are in each other'):
        READERS[name](path)


@pytest.mark.parametrize('read', [mesh_triangles, points_of_a_marker])
@pytest.mark.parametrize('name', ['part.dae', 'part.xml', 'part.mesh'])
@pytest.mark.parametrize(
    ('nodes', 'sentence'),
    [
        (ITSELF.format('id'), 'nodes are in each other'),
        (ITSELF.format('name'), 'nodes are in each other'),
        (doubled(200), 'nodes are in each other'),
        (doubled(60), 'more than 10000 parts'),
        (f'<node>{10_001 * PLACE}</node>', 'more than 10000 parts'),
    ],
)
def test_a_scene_without_an_end_is_refused(tmp_path, read, name, nodes, sentence):
    """The library that reads it ends the process, and finds a node by its id or its name."""
    path = tmp_path / name
    path.write_text(collada_text(TWO, nodes))
    with pytest.raises(ModelError, match=rf'mesh .*{sentence}'):
        read(path)


def test_meshes_of_an_arm_are_looked_at_before_a_library_reads_them(tmp_path):
    (tmp_path / 'part.dae').write_text(collada_text(TWO, ITSELF.format('id')))
    mesh = '<collision><geometry><mesh filename="part.dae"/></geometry></collision></link>'
    path = tmp_path / 'arm.urdf'
    path.write_text(URDF.replace('</link>', mesh, 1))
    arm = load_arm('two_link')
    with pytest.raises(ModelError, match='nodes are in each other'):
        CollisionMeshes.of(path, arm.facts, arm.model, arm.model, None)


def test_a_scene_of_many_parts_is_read(tmp_path):
    path = tmp_path / 'part.dae'
    path.write_text(collada_text(TWO, doubled(10)))
    assert len(mesh_triangles(path)) == 2 * (2**11 - 1)  # each node is one of the scene, too


@pytest.mark.parametrize(
    ('name', 'text', 'sentence'),
    [
        ('a.dae', collada_text(TWO, f'<node>{40 * PLACE}</node>'), 'more than 50 triangles'),
        ('a.dae', collada_text(TWO.replace('0 1 4', 60 * '0 1 4 ')), 'more than 50 triangles'),
        ('a.dae', collada_text(TWO.replace('0 1 4', 600 * '0 1 4 ')), 'more than 450 numbers'),
        ('a.obj', 'v 0 0 0\n' + 60 * 'f 1 1 1\n', 'more than 50 triangles'),
        ('a.obj', 'v 0 0 0\nf' + 60 * ' 1', 'more than 50 triangles'),
        ('a.obj', 200 * 'v 0 0 0\n', 'more than 150 corners'),
        ('a.obj', 'f' + 600_000 * ' 1', 'a line of 1000000 letters'),
        ('a.stl', 'solid a' + 200 * '\nvertex 0 0 0', 'more than 50 triangles'),
    ],
)
def test_more_of_a_mesh_than_there_may_be_is_refused(tmp_path, monkeypatch, name, text, sentence):
    monkeypatch.setattr(mesh_size, 'MOST_TRIANGLES', 50)
    for reader in (collada, wavefront):
        monkeypatch.setattr(reader, 'MOST_NUMBERS', 450)
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(ModelError, match=rf'mesh .*{name} .*{sentence}'):
        mesh_triangles(path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ('name', 'text'),
    [
        ('a.obj', lambda: 'f ' + 50_000_000 * '1 '),
        ('a.stl', lambda: 'solid a' + 14_000_000 * '\nvertex 0 0 0'),
    ],
)
def test_a_large_file_of_a_small_mesh_is_refused(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text())
    with pytest.raises(ModelError, match=rf'mesh .*{name} .*more'):
        mesh_triangles(path)
