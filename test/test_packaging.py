"""The package as colcon, pip and an interpreter see it, built from a copy of the sources."""

import ast
import json
import os
from pathlib import Path
import shutil
import subprocess
import sys

from catkin_pkg.package import parse_package
import pytest

from safe_sysid.share import robot_names

ROOT = Path(__file__).parent.parent
MODULES = sorted(
    '.'.join(path.relative_to(ROOT).with_suffix('').parts).removesuffix('.__init__')
    for path in (ROOT / 'safe_sysid').rglob('*.py')
)
NOT_SOURCES = shutil.ignore_patterns(
    '.*', '__pycache__', 'build', 'install', 'log', '*.egg-info', 'test'
)
SMALL_TEST = 'test/sets/test_interval.py'  # what `colcon test` runs here, for want of time

SEEN_FROM_INSIDE = """
import importlib, json, sys
from safe_sysid.share import robot_names, share_directory
for name in sys.argv[1:]:
    importlib.import_module(name)
import safe_sysid
print(json.dumps([safe_sysid.__file__, str(share_directory()), robot_names()]))
"""


def run(command, folder, **environment):
    """Output of a command that has to succeed, in an environment without this source tree."""
    process = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout


def site_packages(prefix):
    (folder,) = {path.parent for path in prefix.glob('lib/python*/site-packages/safe_sysid')}
    return str(folder)


def files_below(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob('*') if path.is_file()}


def shared_sources():
    return {
        f'{top}/{name}'
        for top in ('launch', 'config', 'urdf')
        for name in files_below(ROOT / top)
        if '__pycache__' not in name
    }


def installed_in_this_environment():
    """Where this environment has the package from, none if it is only on the path."""
    listed = run(['-m', 'pip', 'list', '--format', 'json', '--verbose'], ROOT.parent)
    return [
        row['location']
        for row in json.loads(listed)
        if row['name'].replace('-', '_') == 'safe_sysid'
    ]


@pytest.fixture(scope='module')
def workspace(tmp_path_factory):
    """A colcon workspace with a copy of the package in it, built."""
    workspace = tmp_path_factory.mktemp('workspace')
    copy = workspace / 'src' / 'safe_sysid'
    shutil.copytree(ROOT, copy, ignore=NOT_SOURCES)
    for name in ('conftest.py', SMALL_TEST.removeprefix('test/')):
        (copy / 'test' / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / 'test' / name, copy / 'test' / name)
    run(['-m', 'colcon', 'build', '--packages-select', 'safe_sysid'], workspace)
    return workspace


def test_package_xml_is_valid_and_every_dependency_of_the_nodes_is_in_it():
    package = parse_package(str(ROOT / 'package.xml'))
    assert package.get_build_type() == 'ament_python'
    named = {depend.name for depend in package.exec_depends}
    used = {
        (node.module if isinstance(node, ast.ImportFrom) else node.names[0].name).split('.')[0]
        for path in (ROOT / 'safe_sysid' / 'ros').rglob('*.py')
        for node in ast.walk(ast.parse(path.read_text(encoding='utf-8')))
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert {name for name in used if name == 'rclpy' or name.endswith(('_msgs', '_srvs'))} <= named


def test_package_xml_and_setup_py_tell_the_same_version():
    version = run(['setup.py', '--version'], ROOT).splitlines()[-1]
    assert version == parse_package(str(ROOT / 'package.xml')).version


@pytest.mark.slow
def test_colcon_takes_it_for_a_ros_package(workspace):
    listed = run(['-m', 'colcon', 'list'], workspace)
    assert listed.split()[0] == 'safe_sysid'
    assert listed.split()[-1] == '(ros.ament_python)'


@pytest.mark.slow
def test_colcon_installs_what_ros2_looks_for(workspace):
    prefix = workspace / 'install' / 'safe_sysid'
    share = prefix / 'share' / 'safe_sysid'
    index = prefix / 'share' / 'ament_index' / 'resource_index' / 'packages' / 'safe_sysid'
    assert index.is_file()
    assert os.access(prefix / 'lib' / 'safe_sysid' / 'safe-sysid', os.X_OK)
    assert shared_sources() <= files_below(share)
    assert 'package.xml' in files_below(share)
    assert 'safe_sysid/report/page/report.js' in files_below(Path(site_packages(prefix)))


@pytest.mark.slow
def test_colcon_links_what_it_is_asked_to_link(workspace):
    linked = ['--symlink-install', '--build-base', 'linked_build', '--install-base', 'linked']
    run(['-m', 'colcon', 'build', '--packages-select', 'safe_sysid', *linked], workspace)
    share = workspace / 'linked/safe_sysid/share/safe_sysid'
    assert shared_sources() <= files_below(share)
    loop = share / 'launch' / 'loop.launch.py'
    assert loop.resolve() == workspace / 'src/safe_sysid/launch/loop.launch.py'


@pytest.mark.slow
def test_the_colcon_prefix_stands_alone(workspace, tmp_path):
    prefix = workspace / 'install' / 'safe_sysid'
    seen = run(
        ['-c', SEEN_FROM_INSIDE, *MODULES],
        tmp_path,
        PYTHONPATH=site_packages(prefix),
        AMENT_PREFIX_PATH=str(prefix),
    )
    module, share, robots = json.loads(seen)
    assert Path(module).is_relative_to(prefix)
    assert Path(share) == prefix / 'share' / 'safe_sysid'
    assert robots == robot_names()


@pytest.mark.slow
def test_colcon_test_runs_the_tests(workspace):
    test = ['-m', 'colcon', 'test', '--packages-select', 'safe_sysid']
    run([*test, '--pytest-args', SMALL_TEST], workspace)
    result = run(['-m', 'colcon', 'test-result', '--all'], workspace)
    summary = result.splitlines()[-1]
    assert int(summary.split('Summary: ')[1].split()[0]) > 5
    assert '0 errors, 0 failures, 0 skipped' in summary


@pytest.mark.slow
def test_pip_installs_it_whole(workspace, tmp_path):
    prefix = tmp_path / 'prefix'
    source = workspace / 'src' / 'safe_sysid'
    install = ['-m', 'pip', 'install', '--no-deps', '--no-build-isolation']
    before = installed_in_this_environment()
    # Without --ignore-installed pip would remove the package from the environment it runs in.
    run([*install, '--ignore-installed', '--prefix', str(prefix), str(source)], tmp_path)
    assert installed_in_this_environment() == before
    assert shared_sources() <= files_below(prefix / 'share' / 'safe_sysid')
    assert os.access(prefix / 'bin' / 'safe-sysid', os.X_OK)
    seen = run(
        ['-c', f'import sys; sys.prefix = {str(prefix)!r}\n{SEEN_FROM_INSIDE}', *MODULES],
        tmp_path,
        PYTHONPATH=site_packages(prefix),
        AMENT_PREFIX_PATH='',
    )
    module, share, robots = json.loads(seen)
    assert Path(module).is_relative_to(prefix)
    assert Path(share) == prefix / 'share' / 'safe_sysid'
    assert robots == robot_names()


def test_every_requirement_of_setup_py_is_locked():
    listed = (
        'import runpy, setuptools; setuptools.setup = lambda **k: print(*k["install_requires"])'
    )
    required = run(['-c', f'{listed}; runpy.run_path("setup.py")'], ROOT).split()
    lock = (ROOT / 'requirements.lock').read_text(encoding='utf-8').lower()
    for requirement in required:
        name = requirement.partition('>=')[0].lower()
        assert f'\n{name}==' in lock, f'{name}: run `make lock`'
