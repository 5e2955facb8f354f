"""Files from strangers: none runs code, and none makes more of itself than it is."""

import resource
import time

import pytest

from safe_sysid import load_arm
from safe_sysid.config import read_yaml
from safe_sysid.errors import SafeSysidError
from safe_sysid.model.description.xacro_file import expanded_xacro

SOON = 5.0  # [s] of CPU
LITTLE = 2**19  # [kB]
XACRO = '<robot name="a" xmlns:xacro="http://www.ros.org/wiki/xacro"><link name="{}"/></robot>'


@pytest.fixture(autouse=True)
def soon_and_in_little_memory():
    memory, begin = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    yield
    assert time.process_time() - begin < SOON
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < LITTLE


@pytest.mark.parametrize(
    'text',
    [
        "robot: !!python/object/apply:os.system ['touch {}']",
        "!!python/object/new:subprocess.Popen [['touch', '{}']]",
        "robot: !!python/name:os.system ''",
        '!!python/module:antigravity {{}}',
    ],
)
def test_yaml_is_data(tmp_path, text):
    path, mark = tmp_path / 'a.yaml', tmp_path / 'mark'
    path.write_text(text.format(mark))
    with pytest.raises(SafeSysidError, match=r'a\.yaml'):
        read_yaml(path)
    assert not mark.exists()


def bomb(levels):
    lines = ['a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]']
    for i in range(1, levels):
        lines.append(f'a{i}: &a{i} [{", ".join([f"*a{i - 1}"] * 9)}]')
    return '\n'.join(lines) + '\n'


def test_yaml_that_grows_without_end_is_refused(tmp_path):
    path = tmp_path / 'arm.yaml'
    path.write_text(bomb(12) + 'urdf: *a11\n')
    with pytest.raises(SafeSysidError, match='aliases'):
        read_yaml(path)


def test_yaml_that_contains_itself_is_refused(tmp_path):
    path = tmp_path / 'arm.yaml'
    path.write_text('urdf: &a [*a]\n')
    with pytest.raises(SafeSysidError, match='aliases'):
        read_yaml(path)


def test_aliases_as_people_use_them_are_read(tmp_path):
    path = tmp_path / 'arm.yaml'
    path.write_text('joint_1: &joint {coulomb: 1.0}\njoint_2: *joint\njoint_3:\n  <<: *joint\n')
    assert read_yaml(path) == {f'joint_{i}': {'coulomb': 1.0} for i in (1, 2, 3)}


def test_xml_that_grows_without_end_is_refused(tmp_path):
    path = tmp_path / 'arm.urdf'
    entities = ''.join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10 if i else "lol"}">' for i in range(12))
    path.write_text(f'<?xml version="1.0"?><!DOCTYPE r [{entities}]><robot name="&e11;"/>')
    with pytest.raises(SafeSysidError, match=r'arm\.urdf'):
        load_arm(path)


def test_xml_brings_no_other_file_along(tmp_path):
    secret, path = tmp_path / 'secret', tmp_path / 'arm.urdf'
    secret.write_text('hidden')
    path.write_text(
        f'<!DOCTYPE r [<!ENTITY e SYSTEM "file://{secret}">]><robot name="a">&e;</robot>'
    )
    with pytest.raises(SafeSysidError) as refused:
        load_arm(path)
    assert 'hidden' not in str(refused.value)


@pytest.mark.parametrize(
    'expression',
    [
        "${{__import__('os').system('touch {0}')}}",
        '${{().__class__.__mro__[1].__subclasses__()}}',
        "${{open('{0}', 'w')}}",
        "${{eval('1')}}",
        "$(eval __import__('os').system('touch {0}'))",
        "$(eval open('{0}', 'w'))",
    ],
)
def test_expressions_of_xacro_run_no_code_of_their_author(tmp_path, expression):
    path, mark = tmp_path / 'arm.xacro', tmp_path / 'mark'
    path.write_text(XACRO.format(expression.format(mark)))
    with pytest.raises(SafeSysidError, match=r'arm\.xacro'):
        expanded_xacro(path, {})
    assert not mark.exists()
