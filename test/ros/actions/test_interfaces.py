"""The package of actions: its manifest can be read, and it is built of all its files."""

from pathlib import Path

from catkin_pkg.package import parse_package

FOLDER = Path(__file__).resolve().parents[3] / 'safe_sysid_interfaces'


def test_the_manifest_says_what_ament_needs():
    package = parse_package(FOLDER / 'package.xml')
    assert package.name == FOLDER.name
    assert package.get_build_type() == 'ament_cmake'
    assert [group.name for group in package.member_of_groups] == ['rosidl_interface_packages']


def test_every_action_is_built_with_the_packages_that_it_uses():
    text = (FOLDER / 'CMakeLists.txt').read_text()
    manifest = {depend.name for depend in parse_package(FOLDER / 'package.xml').build_depends}
    for action in sorted(FOLDER.glob('action/*.action')):
        assert f'"action/{action.name}"' in text
        lines = action.read_text().splitlines()
        used = {line.partition('/')[0] for line in lines if '_msgs/' in line.partition(' ')[0]}
        assert used <= manifest
        assert all(f'find_package({name} REQUIRED)' in text for name in used)
