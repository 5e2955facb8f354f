"""Mesh names of a URDF are found where ROS keeps packages, and where they are named."""

from pathlib import Path

import pytest

from safe_sysid.errors import ModelError
from safe_sysid.model.collision.mesh_files import mesh_file, with_mesh_files

MESH = 'package://arm_description/meshes/link 1.stl'


@pytest.fixture(autouse=True)
def no_environment(monkeypatch):
    for variable in ('AMENT_PREFIX_PATH', 'ROS_PACKAGE_PATH'):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture
def urdf(tmp_path):
    """A URDF in a tree of its own, away from every package."""
    path = tmp_path / 'elsewhere' / 'arm.urdf'
    path.parent.mkdir()
    path.write_text('<robot name="arm"/>', encoding='utf-8')
    return path


def package(folder, name='arm_description'):
    """A package of some name in a folder of any name, with one mesh."""
    mesh = folder / 'meshes' / 'link 1.stl'
    mesh.parent.mkdir(parents=True)
    mesh.touch()
    (folder / 'package.xml').write_text(
        f'<package><name> {name} </name></package>', encoding='utf-8'
    )
    return mesh


@pytest.mark.parametrize('inside', ['', 'arm_description', 'src/vendor/other_name', 'a/b/c/d'])
@pytest.mark.parametrize('kind', ['given', 'ROS_PACKAGE_PATH'])
def test_packages_below_named_folders_are_found(inside, kind, tmp_path, urdf, monkeypatch):
    mesh = package(tmp_path / 'space ü' / inside)
    given = [tmp_path / 'missing', tmp_path / 'space ü']
    if kind == 'given':
        assert mesh_file(MESH, urdf, given) == mesh
        assert mesh_file(MESH.replace('package', 'model', 1), urdf, given) == mesh
    else:
        monkeypatch.setenv(kind, ':'.join(map(str, given)))
        assert mesh_file(MESH, urdf, []) == mesh


def test_an_ament_prefix_is_looked_in(tmp_path, urdf, monkeypatch):
    mesh = package(tmp_path / 'install' / 'share' / 'arm_description')
    monkeypatch.setenv('AMENT_PREFIX_PATH', f'{tmp_path / "none"}:{tmp_path / "install"}')
    assert mesh_file(MESH, urdf, []) == mesh
    mine = package(tmp_path / 'mine' / 'arm_description')
    assert mesh_file(MESH, urdf, [tmp_path / 'mine']) == mine


def test_a_package_is_known_by_its_manifest(tmp_path, urdf):
    """Another package in a folder of this name, ignored ones, and those inside a package."""
    package(tmp_path / 'one' / 'group' / 'arm_description', name='another')
    package(tmp_path / 'one' / 'old')
    (tmp_path / 'one' / 'old' / 'COLCON_IGNORE').touch()
    package(tmp_path / 'one' / 'outer', name='outer')
    package(tmp_path / 'one' / 'outer' / 'inner')
    with pytest.raises(ModelError):
        mesh_file(MESH, urdf, [tmp_path / 'one'])
    mesh = package(tmp_path / 'one' / 'zz')
    assert mesh_file(MESH, urdf, [tmp_path / 'one']) == mesh


def test_folders_above_the_urdf_are_looked_in(tmp_path):
    mesh = package(tmp_path / 'checkout')
    urdf = tmp_path / 'checkout' / 'urdf' / 'deep' / 'arm.urdf'
    urdf.parent.mkdir(parents=True)
    urdf.write_text('<robot name="arm"/>', encoding='utf-8')
    link = tmp_path / 'link.urdf'
    link.symlink_to(urdf)
    assert mesh_file(MESH, urdf, []) == mesh
    assert mesh_file(MESH, link, []) == mesh
    assert mesh_file('meshes/link 1.stl', urdf, []) == mesh
    assert mesh_file(str(mesh), urdf, []) == mesh
    assert mesh_file(f'file://{str(mesh).replace(" ", "%20")}', urdf, []) == mesh


def test_a_missing_mesh_says_where_it_was_looked_for(urdf, monkeypatch):
    monkeypatch.setenv('ROS_PACKAGE_PATH', '/opt/none')
    with pytest.raises(ModelError) as caught:
        mesh_file(MESH, urdf, [Path('/given')])
    for words in (MESH, '--package-path (/given)', 'ROS_PACKAGE_PATH (/opt/none)',
                  'AMENT_PREFIX_PATH (not set)', 'name the folder of its package'):  # fmt: skip
        assert words in str(caught.value)


def test_only_collision_meshes_have_to_be_there(tmp_path):
    mesh = package(tmp_path / 'checkout')
    shape = '<{0}><geometry><mesh filename="{1}"/></geometry></{0}>'
    urdf = tmp_path / 'checkout' / 'arm.urdf'
    shapes = shape.format('visual', 'package://gone/a.dae') + shape.format('collision', MESH)
    urdf.write_text(f'<robot name="a"><link name="b">{shapes}</link></robot>', encoding='utf-8')
    found = with_mesh_files(urdf, [])
    assert found.find('link/collision/geometry/mesh').get('filename') == str(mesh)


def test_capitals_are_named_and_stand_ins_refused(tmp_path, urdf):
    mesh = package(tmp_path / 'arm_description')
    with pytest.raises(ModelError, match=r'It exists as .*link 1\.stl: capitals count'):
        mesh_file(MESH.replace('stl', 'STL'), urdf, [tmp_path])
    with pytest.raises(ModelError, match=r'It exists as .*meshes/link 1\.stl: capitals count'):
        mesh_file(MESH.replace('meshes', 'Meshes'), urdf, [tmp_path])
    mesh.write_text('version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n')
    with pytest.raises(ModelError, match=r'link 1\.stl is a pointer of Git LFS.*git lfs pull'):
        mesh_file(MESH, urdf, [tmp_path])


@pytest.mark.parametrize('variable', ['GAZEBO_MODEL_PATH', 'GZ_SIM_RESOURCE_PATH'])
def test_model_folders_of_gazebo_are_looked_in(variable, tmp_path, urdf, monkeypatch):
    mesh = package(tmp_path / 'models' / 'arm_description')
    monkeypatch.setenv(variable, str(tmp_path / 'models'))
    assert mesh_file(MESH.replace('package', 'model', 1), urdf, []) == mesh


def test_packages_that_pip_installed_are_looked_in(tmp_path, urdf, monkeypatch):
    mesh = package(tmp_path / 'cmeel.prefix' / 'share' / 'arm_description')
    monkeypatch.syspath_prepend(str(tmp_path))
    assert mesh_file(MESH, urdf, []) == mesh


def test_a_missing_mesh_of_a_known_name_is_suggested(tmp_path):
    mesh = package(tmp_path / 'checkout')
    urdf = tmp_path / 'checkout' / 'arm.urdf'
    urdf.write_text('<robot name="arm"/>', encoding='utf-8')
    with pytest.raises(ModelError, match=f'A file of that name is {mesh}'):
        mesh_file('package://gone/visual/link 1.stl', urdf, [])
