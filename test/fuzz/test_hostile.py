"""Files from strangers: none runs code, and none makes more of itself than it is."""

import os
from pathlib import Path
import re
import sqlite3
import subprocess
import sys

from fuzz.frugal import soon_and_in_little_memory  # noqa: F401
import numpy as np
import pytest
from tiers import slow_after

from safe_sysid import load_arm, yaml_loader
from safe_sysid.calibrate.pose_table import read_poses
from safe_sysid.cli import hand_over
from safe_sysid.config import read_yaml
from safe_sysid.errors import SafeSysidError
from safe_sysid.identifiability.urdf_kinematics import urdf_kinematics
from safe_sysid.measure.bag.messages import bag_topics
from safe_sysid.measure.recording_choice import RecordingChoice, recording_of_choice
from safe_sysid.model import promise_file
from safe_sysid.model.collision.mesh_files import _is_package
from safe_sysid.model.description.xacro_file import expanded_xacro
from safe_sysid.model.payload import read_payload
from safe_sysid.model.promise_file import check_size
from safe_sysid.share import share_directory

TWO_LINK = (share_directory() / 'urdf' / 'two_link.urdf').read_text(encoding='utf-8')
XACRO = '<robot name="a" xmlns:xacro="http://www.ros.org/wiki/xacro"><link name="{}"/></robot>'


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


@pytest.mark.parametrize('most', slow_after(1, [1000, yaml_loader.MOST_VALUES]))
def test_yaml_of_many_values_is_refused_once_there_are_too_many(tmp_path, monkeypatch, most):
    monkeypatch.setattr(yaml_loader, 'MOST_VALUES', most)
    path = tmp_path / 'arm.yaml'
    path.write_text('[' + 24_000_000 * '0,' + '0]')
    with pytest.raises(SafeSysidError, match=rf'arm\.yaml: has more than {most} values'):
        read_yaml(path)


@pytest.mark.parametrize('part', ['[', '{a: ', '- ', '? '])
def test_yaml_deep_in_itself_is_refused(tmp_path, part):
    """A library would go on until its stack is full, and the process ends with it."""
    path = tmp_path / 'arm.yaml'
    path.write_text(1_000_000 * part + 'a')
    with pytest.raises(SafeSysidError, match=r'arm\.yaml: has more than 100 lists or mappings'):
        read_yaml(path)


def test_yaml_as_deep_as_it_may_be_is_read(tmp_path):
    path = tmp_path / 'arm.yaml'
    path.write_text('a: ' + 98 * '[' + '0' + 98 * ']')
    assert str(read_yaml(path)['a']) == 98 * '[' + '0' + 98 * ']'


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
    slow_after(
        3,
        [
            "${{__import__('os').system('touch {0}')}}",
            '${{().__class__.__mro__[1].__subclasses__()}}',
            "$(eval open('{0}', 'w'))",
            "${{open('{0}', 'w')}}",
            "${{eval('1')}}",
            "$(eval __import__('os').system('touch {0}'))",
            '${{(lambda: ().__class__.__mro__[1].__subclasses__())()}}',
            '${{[c for c in ().__class__.__mro__[1].__subclasses__()]}}',
            '${{[f(0) for f in [lambda x: x.__class__.mro()]]}}',
            '${{(x for x in [1]).gi_frame.f_back.f_globals}}',
            '$(eval (x for x in [1]).gi_frame.f_back.f_builtins)',
            '$(eval (lambda: 0).func_globals)',
            "$(eval getattr(1, '_' + '_class_' + '_'))",
            '${{xacro.load_yaml.__globals__}}',
        ],
    ),
)
def test_expressions_of_xacro_run_no_code_of_their_author(tmp_path, expression):
    path, mark = tmp_path / 'arm.xacro', tmp_path / 'mark'
    path.write_text(XACRO.format(expression.format(mark)))
    with pytest.raises(SafeSysidError, match=r'arm\.xacro'):
        expanded_xacro(path, {})
    assert not mark.exists()


ENDLESS = [
    pytest.param(
        '<link name="${{9**9**9}}"/>', r'more than 8 s to compute', marks=pytest.mark.slow
    ),
    ('<link name="${{\'x\' * 10**10}}"/>', r'more than 2 GB of memory'),
    ('<xacro:include filename="{0}"/>', r'pipe.*a pipe or a device'),
    ('<xacro:include filename="/dev/zero"/>', r'/dev/zero.*a pipe or a device'),
]


def test_what_expressions_of_real_descriptions_do_is_allowed(tmp_path):
    path = tmp_path / 'arm.xacro'
    expressions = (
        '${[2 * x for x in [1, 2]]}',
        "${'%s_%.2f' % ('a', pi)}",
        '${(lambda x: x + 1)(1)}',
        '${sorted(dict(a=1).keys())}',
        '$(eval n + 2)',
        "${radians(180) if len('ab') == 2 else 0}",
    )
    links = ''.join(f'<link name="{each}"/>' for each in expressions)
    declared = '<xacro:arg name="n" default="3"/>'
    path.write_text(XACRO.replace('<link name="{}"/>', declared + links))
    text = expanded_xacro(path, {})
    for said in ('[2, 4]', 'a_3.14', '"2"', "['a']", '"5"', '3.14159'):
        assert said in text


def test_a_xacro_writes_nothing_and_starts_nothing(tmp_path):
    """Whatever its expressions get hold of."""
    hook = 'from safe_sysid.model.description.xacro_process import only_files\nimport sys, os\n'
    hook += 'import ctypes, socket, subprocess\nsys.addaudithook(only_files)\n'
    mark = tmp_path / 'mark'
    for tried in (
        f'open({str(mark)!r}, "w")',
        f'os.open({str(mark)!r}, os.O_CREAT | os.O_RDWR)',
        f'os.system("touch {mark}")',
        'os.fork()',
        'os.execv("/bin/true", ["true"])',
        'socket.socket()',
        'subprocess.Popen(["true"])',
        f'os.mkdir({str(mark)!r})',
        'ctypes.CDLL(None)',
    ):
        done = subprocess.run(
            [sys.executable, '-c', hook + tried], capture_output=True, text=True, check=False
        )
        assert done.returncode == 1, tried
        assert 'PermissionError' in done.stderr, tried
    assert not mark.exists()


@pytest.mark.skipif(sys.version_info < (3, 11), reason='Python has no option for it before 3.11')
def test_modules_beside_a_xacro_are_not_run(tmp_path, monkeypatch):
    mark = tmp_path / 'mark'
    for name in ('xacro', 'yaml', 'numpy', 'safe_sysid'):
        (tmp_path / f'{name}.py').write_text(f'open({str(mark)!r}, "w")\n')
    path = tmp_path / 'arm.xacro'
    path.write_text(XACRO.format('${1 + 1}'))
    monkeypatch.chdir(tmp_path)
    assert 'name="2"' in expanded_xacro(path, {})
    assert not mark.exists()


@pytest.mark.parametrize(
    ('content', 'sentence'),
    ENDLESS,
)
def test_a_xacro_ends(tmp_path, content, sentence):
    path, pipe = tmp_path / 'arm.xacro', tmp_path / 'pipe'
    os.mkfifo(pipe)
    path.write_text(XACRO.replace('<link name="{}"/>', content.format(pipe)))
    with pytest.raises(SafeSysidError, match=sentence):
        expanded_xacro(path, {})


def damaged(pattern, replacement):
    """URDF of two links with one figure that no machine has."""
    text, count = re.subn(pattern, replacement, TWO_LINK, count=1)
    assert count == 1
    return text


def chain(joints):
    links = ''.join(f'<link name="l{i}"/>' for i in range(joints + 1))
    between = ''.join(
        f'<joint name="j{i}" type="revolute"><parent link="l{i}"/><child link="l{i + 1}"/>'
        '<limit effort="1" velocity="1"/></joint>'
        for i in range(joints)
    )
    return f'<robot name="a">{links}{between}</robot>'


@pytest.mark.parametrize('read', [load_arm, urdf_kinematics])
@pytest.mark.parametrize(
    ('text', 'sentence'),
    [
        *(
            (damaged('<axis [^/]*/>', f'<axis {axis}/>'), 'axis of joint .* it has to be')
            for axis in (
                'xyz="0 0 0"', 'xyz="0 -1e200 0"', 'xyz="0 -1e-200 0"', 'xyz="0 nan 1"',
                'xyz="inf 0 0"', 'xyz="0 1"', 'xyz="a b c"', '',
            )
        ),
        *(
            (damaged('<mass value="[^"]*"', f'<mass value="{mass}"'), 'mass')
            for mass in ('nan', 'inf', '1e308', 'heavy')
        ),
        (damaged('<mass value="[^"]*"', '<mass value="${m}"'), 'a xacro that was not expanded'),
        (damaged('<origin xyz="[^"]*"', '<origin xyz="nan 0 0"'), 'xyz of <origin>'),
        (damaged('<origin xyz="[^"]*"', '<origin xyz="0 0 1e300"'), 'xyz of <origin>'),
        (damaged(' effort="[^"]*"', ''), 'effort'),
        (damaged(' effort="[^"]*"', ' effort="1e300"'), 'effort of <limit>'),
        (damaged('<inertia ixx="[^"]*"', '<inertia ixx="1e300"'), 'ixx of <inertia>'),
        (damaged('</link>', '<collision><geometry><cylinder radius="1e300" length="1"/>'
         '</geometry></collision></link>'), 'radius of <cylinder>'),
        ('<?xml version="1.0" encoding="foo"?>' + chain(1), 'encoding'),
        ('<robot name="a">' + 100_000 * '<a>' + 100_000 * '</a>' + '</robot>', 'in each other'),
        (chain(400), '400 joints move'),
        ('<robot name="a"/>', 'no <link>|no joint moves'),
        *(
            (TWO_LINK.replace(f'"{name}"', f'"a{mark}b"'), 'name of a (link|joint) is .*printed')
            for name in ('link_2', 'joint_2') for mark in ('&#10;', '&#x2028;', '&#x85;', '&#9;')
        ),
    ],
)  # fmt: skip
def test_a_urdf_of_no_machine_is_refused_before_anything_is_computed(
    tmp_path, capfd, read, text, sentence
):
    path = tmp_path / 'arm.urdf'
    path.write_text(text)
    with pytest.raises(SafeSysidError, match=rf'arm\.urdf.*{sentence}'):
        read(path)
    assert capfd.readouterr().err == ''


@pytest.mark.parametrize(
    ('make', 'sentence'),
    [
        (os.mkfifo, 'pipe or a device'),
        (Path.mkdir, 'a folder'),
        (lambda path: os.truncate(os.open(path, os.O_CREAT | os.O_RDWR), 2 * 10**9), '2000 MB'),
    ],
)
@pytest.mark.parametrize(
    'read',
    [read_yaml, load_arm, urdf_kinematics],
)
def test_what_is_no_file_of_its_kind_is_not_read(tmp_path, make, sentence, read):
    path = tmp_path / 'arm.urdf'
    make(path)
    with pytest.raises(SafeSysidError, match=rf'arm\.urdf.*{sentence}'):
        read(path)


@pytest.mark.parametrize('name', ['log.csv', 'bag.mcap', 'bag.db3', 'poses.csv'])
def test_a_pipe_is_no_recording(tmp_path, name):
    path = tmp_path / name
    os.mkfifo(path)
    read = recording_of_choice if name != 'poses.csv' else None
    with pytest.raises(SafeSysidError, match='a pipe or a device'):
        read(RecordingChoice(path), ('a',)) if read else read_poses(path, ('a',))


def test_zeros_are_no_table(tmp_path):
    path = tmp_path / 'log.csv'
    path.touch()
    os.truncate(path, 2 * 10**9)
    with pytest.raises(SafeSysidError, match='line 1 is not text'):
        recording_of_choice(RecordingChoice(path), ('a',))


def test_zeros_after_a_good_beginning_are_no_table(tmp_path):
    path = tmp_path / 'log.csv'
    path.write_text('time,a.position,a.effort\n0.0,0.0,0.0\n')
    os.truncate(path, 2 * 10**9)
    with pytest.raises(SafeSysidError, match='line 3 is not text'):
        recording_of_choice(RecordingChoice(path), ('a',))


@pytest.mark.parametrize('name', ['metadata.yaml', 'bag_0', 'bag_0.mcap'])
def test_a_pipe_in_a_bag_is_refused(tmp_path, name):
    os.mkfifo(tmp_path / name)
    with pytest.raises(SafeSysidError, match='a pipe or a device'):
        recording_of_choice(RecordingChoice(tmp_path), ('a',))


@pytest.mark.parametrize('data', [b'\xff\xfe{', 100_000 * b'[', b'{"a": ' + 6000 * b'1' + b'}'])
def test_what_is_handed_over_is_read_or_refused(tmp_path, data):
    path = tmp_path / 'found.json'
    path.write_bytes(data)
    with pytest.raises(SafeSysidError, match=r'found\.json.* is not'):
        hand_over._read(path)


def test_a_number_that_no_float_holds_is_refused(tmp_path):
    path = tmp_path / 'held.yaml'
    path.write_text('mass: 1' + 400 * '0' + '\n')
    with pytest.raises(SafeSysidError, match=r'held\.yaml: mass: a whole number'):
        read_payload(path)


def test_a_manifest_that_nobody_can_read_names_no_package(tmp_path):
    (tmp_path / 'package.xml').write_text('<?xml version="1.0" encoding="klingon"?><package/>')
    assert not _is_package(tmp_path, 'arm')
    assert _is_package(tmp_path, tmp_path.name)


def test_arrays_that_fill_the_memory_are_refused_before_they_are_unpacked(tmp_path, monkeypatch):
    path = tmp_path / 'arm.promise.npz'
    np.savez_compressed(path, zeros=np.zeros(100_000))
    check_size(path)
    monkeypatch.setattr(promise_file, 'LARGEST', 400_000)
    with pytest.raises(SafeSysidError, match='has 1 MB unpacked'):
        check_size(path)


def computed_columns(folder):
    """A bag in which each message is a gigabyte that nobody has stored."""
    path = folder / 'bag.db3'
    with sqlite3.connect(path) as file:
        file.executescript(
            'CREATE TABLE topics (id INTEGER, name TEXT, type TEXT, serialization_format TEXT, '
            'offered_qos_profiles TEXT);'
            'CREATE TABLE messages (id INTEGER, topic_id INTEGER, timestamp INTEGER, '
            'data BLOB AS (zeroblob(1000000000)));'
            'INSERT INTO messages VALUES (1, 1, 1), (2, 1, 2), (3, 1, 3);'
        )
    return path


def test_columns_that_are_computed_are_no_messages(tmp_path):
    path = computed_columns(tmp_path)
    for what in (path, tmp_path):
        with pytest.raises(SafeSysidError, match="'messages.data' in it is computed"):
            recording_of_choice(RecordingChoice(what), ('a',))
    with pytest.raises(SafeSysidError, match='is computed'):
        bag_topics(path)
