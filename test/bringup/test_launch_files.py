"""Launch files: they compile, and the packages they start are dependencies of ours."""

import ast
import importlib
from pathlib import Path
import sys
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).resolve().parents[2]
LAUNCH_FILES = sorted((ROOT / 'launch').glob('*.launch.py'))


def packages_used(tree):
    """Packages imported, and those whose executables are started."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield node.module.split('.')[0]
        if isinstance(node, ast.Call):
            for keyword in node.keywords:
                if keyword.arg == 'package' and isinstance(keyword.value, ast.Constant):
                    yield keyword.value.value


@pytest.mark.parametrize('path', LAUNCH_FILES, ids=lambda path: path.name)
def test_what_a_launch_file_uses_is_declared(path):
    manifest = ElementTree.parse(ROOT / 'package.xml').getroot()
    declared = {element.text for element in manifest.iter('exec_depend')} | {'safe_sysid'}
    used = set(packages_used(ast.parse(path.read_text()))) - sys.stdlib_module_names
    assert 'launch' in used
    assert used <= declared


def test_there_are_launch_files_and_each_describes_something():
    assert LAUNCH_FILES
    for path in LAUNCH_FILES:
        functions = {
            node.name for node in ast.parse(path.read_text()).body if hasattr(node, 'name')
        }
        assert 'generate_launch_description' in functions


@pytest.mark.parametrize('path', LAUNCH_FILES, ids=lambda path: path.name)
def test_what_a_launch_file_takes_from_the_package_exists(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module.startswith('safe_sysid'):
            module = importlib.import_module(node.module)
            assert [each.name for each in node.names if not hasattr(module, each.name)] == []
