"""A file that is not what it seems is refused before a numeric library is loaded."""

import argparse
from pathlib import Path
import sqlite3
import subprocess
import sys

from cli.recorded_arm import as_bag, as_table, trial
import pytest

from safe_sysid.cli import inputs
from safe_sysid.cli.identify import _look_at_recordings
from safe_sysid.cli.main import main, parser
from safe_sysid.config import read_yaml
from safe_sysid.errors import SafeSysidError
from safe_sysid.model.arm import arm_of
from safe_sysid.share import share_directory

REMARK = b'\n  <!-- ' + 100_000 * b'x' + b' -->'
URDF = (share_directory() / 'urdf' / 'two_link.urdf').read_bytes()
SETTINGS = (share_directory() / 'config' / 'robots' / 'two_link.yaml').read_bytes()
LIBRARIES = ('numpy', 'scipy', 'numba', 'pinocchio', 'rosbags', 'rclpy', 'matplotlib')
ARM = ('--robot', 'two_link')


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Files that seem to be something."""
    monkeypatch.chdir(tmp_path)
    contents = {
        'notes.md': b'# Notes\n\n- one: two\n\nthree\n',
        'page.html': b'<!DOCTYPE html>\n<p align="center">\n',
        'text.urdf': b'robot',
        'list.yaml': b'- a\n- b\n',
        'latin.yaml': b'urdf: \xe4\n',
        'broken.json': b'{"payload": ',
        'bag.mcap': b'not so',
        'bag.db3': b'SQLite format 2',
        'bag.zip': b'PK',
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    sqlite3.connect(tmp_path / 'real.db3').execute('create table a (b)').connection.close()
    (tmp_path / 'log.csv').write_bytes((tmp_path / 'real.db3').read_bytes())
    (tmp_path / 'empty').mkdir()
    return tmp_path


WRONG = [
    (['identify', 'notes.md', *ARM], "is not a rosbag (its name ends in '.md')"),
    (['identify', 'empty', *ARM], 'is not a rosbag (it has no metadata.yaml)'),
    (['identify', 'log.csv', *ARM], 'it is not text in UTF-8'),
    (['identify', 'bag.zip', *ARM], 'is a packed file'),
    (['identify', 'real.db3', '--empty', 'bag.mcap', *ARM], 'begins like neither an mcap nor'),
    (['identify', 'real.db3', '--robot', 'notes.md'], 'notes.md: is not XML'),
    (['identify', 'real.db3', '--robot', 'list.yaml'], 'expected a mapping'),
    (['identify', 'real.db3', *ARM, '--gains', 'notes.md'], 'notes.md: is not YAML'),
    (['calibrate', 'notes.md', *ARM], 'is not a rosbag'),
    (['calibrate', 'real.db3', 'bag.db3', *ARM], 'bag.db3: is not a rosbag'),
    (['calibrate-drift', 'real.db3', *ARM, '--against', 'empty'], 'it is a folder'),
    (['calibrate-gains', 'empty', 'real.db3', *ARM, '--mass', '1'], 'is not a rosbag'),
    (['calibrate-kinematics', 'real.db3', *ARM], 'it is not text in UTF-8'),
    (['commission', 'notes.md', *ARM], 'is not a rosbag'),
    (['excite', 'page.html'], 'page.html: '),
    (['excite', 'text.urdf'], 'text.urdf: is not XML'),
    (['excite', 'two_link', '--payload', 'list.yaml'], 'expected a mapping'),
    (['identifiability', 'notes.md'], 'notes.md: is not XML'),
    (['export-gazebo', 'empty', '--out', 'x', '--distribution', 'jazzy'], 'it is a folder'),
    (['new-arm', 'notes.md'], 'notes.md: is not XML'),
    (['hand-over', 'broken.json', '--to', 'ur'], 'is not what `identify --json` prints'),
    (['run', 'builtin_sim', '--config', 'none.yaml'], "there is no 'none.yaml' in /"),
    (['run', 'builtin_sim', '--config', 'latin.yaml'], 'is not text in UTF-8'),
    (['run', 'builtin_sim', '--robot', 'notes.md'], 'notes.md: is not XML'),
    (['run', 'builtin_sim', '--world', 'list.yaml'], 'expected a mapping'),
    (['run', 'replay', '--bag', 'empty'], 'is not a rosbag'),
    (['replay', 'log.csv'], "is not a rosbag (its name ends in '.csv')"),
    (['replay', 'real.db3', '--config', 'none.yaml'], "there is no 'none.yaml' in /"),
    (['watch', 'notes.md'], 'is not a rosbag'),
]


def status(words):
    try:
        return main(words)
    except SystemExit as ending:
        return ending.code


@pytest.mark.parametrize(('words', 'said'), WRONG, ids=lambda x: ' '.join(x) if x else None)
@pytest.mark.usefixtures('folder')
def test_what_is_not_what_it_seems_is_said_in_a_sentence(words, said, capsys):
    assert status(words) == 2
    first = capsys.readouterr().err.splitlines()[0]
    assert first.startswith('safe-sysid')
    assert said in first


def test_nothing_numeric_is_loaded_for_that(folder):
    code = (
        'import sys\n'
        'from safe_sysid.cli.main import main\n'
        f'for words in {[words for words, _ in WRONG]!r}:\n'
        '    try:\n        assert main(words) == 2\n    except SystemExit:\n        pass\n'
        'print(*{name.split(".")[0] for name in sys.modules})'
    )
    done = subprocess.run(
        [sys.executable, '-c', code], cwd=folder, capture_output=True, text=True, check=True
    )
    loaded = done.stdout.split()
    assert 'safe_sysid' in loaded
    assert not {*LIBRARIES} & {*loaded}


@pytest.mark.parametrize(
    ('name', 'content'),
    [
        ('two_link', URDF),
        ('arm.xml', b'\xef\xbb\xbf' + URDF),
        ('arm.robot', REMARK + URDF[URDF.index(b'<robot') :]),
        ('ärm.urdf', URDF[URDF.index(b'<robot') :].decode().encode('utf-16')),
        ('arm.yml', SETTINGS),
    ],
)  # fmt: skip
def test_an_arm_by_any_name_that_can_be_read_is_looked_at_and_read(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    (tmp_path / 'two_link.urdf').write_bytes(URDF)
    assert inputs.robot(str(path)) == str(path)
    assert arm_of(str(path), None).model.n == 2


def test_a_urdf_that_is_called_settings_is_read_beside_others(tmp_path):
    path, config = tmp_path / 'arm.yaml', tmp_path / 'facts'
    path.write_bytes(b' ' + URDF[URDF.index(b'<robot') :])
    config.write_bytes(SETTINGS)
    assert inputs.robot(str(path)) == str(path)
    assert arm_of(str(path), inputs.settings_file(str(config))).model.n == 2


@pytest.mark.parametrize('name', ['facts', 'facts.txt', 'facts.yaml'])
def test_settings_have_any_name(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(SETTINGS)
    assert inputs.settings_file(str(path)) == path and read_yaml(path)


@pytest.mark.parametrize('storage', ['mcap', 'sqlite3'])
def test_bags_are_bags_whole_or_by_one_file_or_without_metadata(tmp_path, storage):
    folder = as_bag(trial(0.1), tmp_path / 'run', storage)
    (file,) = (path for path in folder.iterdir() if path.suffix != '.yaml')
    for path in (folder, file):
        assert inputs.bag(str(path)) == inputs.bag_or_table(str(path)) == path
    (folder / 'metadata.yaml').unlink()
    assert inputs.bag_name(str(folder)) == str(folder)
    other = file.with_suffix('.db3' if storage == 'mcap' else '.mcap')
    file.rename(other)  # its contents decide
    assert inputs.bag(str(other)) == other


@pytest.mark.parametrize('suffix', ['.csv', '.TXT', '.tsv'])
def test_a_table_is_one_with_a_mark_of_its_encoding_and_a_letter_that_is_cut(tmp_path, suffix):
    path = as_table(trial(0.1), tmp_path / f'log{suffix}')
    path = Path(path)
    data = b'\xef\xbb\xbf' + path.read_bytes()
    path.write_bytes(data + (65535 - len(data)) * b'#' + 'ß\n'.encode())
    assert inputs.bag_or_table(str(path)) == inputs.table(str(path)) == path


def test_poses_and_promises_have_names_of_their_own(tmp_path):
    poses, promise = tmp_path / 'poses', tmp_path / 'arm.promise.npz'
    poses.write_text('q_0,tau_0\n', encoding='utf-8')
    promise.write_bytes(b'PK')
    words = ['identify', str(poses), *ARM, '--empty']
    given = parser(words).parse_args([*words, str(poses), '--poses'])
    _look_at_recordings(given)
    given = parser(words).parse_args([*words, str(promise)])
    with pytest.raises(SafeSysidError, match='poses: is not a rosbag .its name has no ending'):
        _look_at_recordings(given)
    given.recording = poses.rename(poses.with_suffix('.csv'))
    _look_at_recordings(given)


def test_nobody_may_look(tmp_path, monkeypatch):
    path = tmp_path / 'arm.urdf'
    path.write_bytes(URDF)

    def refused(*_, **__):
        raise PermissionError(13, 'Permission denied', str(path))

    monkeypatch.setattr(Path, 'open', refused)
    with pytest.raises(argparse.ArgumentTypeError, match='Permission denied'):
        inputs.urdf(str(path))
