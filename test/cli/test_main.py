"""The safe-sysid command: what its help lists, and how it ends."""

import ast
from importlib import metadata
from pathlib import Path
import subprocess
import sys

import pytest

from safe_sysid.cli.main import COMMANDS, main

ROOT = Path(__file__).parents[2]
TEXT = str(ROOT / 'tools' / 'jazzy_wheels.txt')  # that might be a table, as far as one look says


def run_python(code):
    return subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, check=True
    ).stdout


def test_help_lists_every_command(capsys):
    with pytest.raises(SystemExit) as ending:
        main(['--help'])
    assert ending.value.code == 0
    text = capsys.readouterr().out
    for command in COMMANDS:
        assert f'\n    {command} ' in text


def test_identify_has_one_thread_for_its_small_matrices_before_numpy_is_there():
    seen = run_python(
        'import os, sys\n'
        'os.environ.pop("OPENBLAS_NUM_THREADS", None)\n'
        'from safe_sysid.cli.main import main\n'
        'assert "numpy" not in sys.modules\n'
        'try:\n    main(["identify", "--help"])\n'
        'except SystemExit:\n    pass\n'
        'print(os.environ["OPENBLAS_NUM_THREADS"])'
    )
    assert seen.split()[-1] == '1'


def test_no_help_loads_what_only_commands_need():
    loaded = run_python(
        'import sys\n'
        'from safe_sysid.cli.main import COMMANDS, main\n'
        'for words in ([], *([name] for name in COMMANDS)):\n'
        '    try:\n        main([*words, "--help"])\n    except SystemExit:\n        pass\n'
        'print(sorted({name.split(".")[0] for name in sys.modules}))'
    ).splitlines()[-1]
    assert "'safe_sysid'" in loaded
    for library in (
        'numpy',
        'numba',
        'pinocchio',
        'matplotlib',
        'cyipopt',
        'rclpy',
        'argcomplete',
    ):
        assert f"'{library}'" not in loaded


def test_help_of_all_commands_reads_no_settings():
    loaded = run_python(
        'import sys\n'
        'from safe_sysid.cli.main import main\n'
        'try:\n    main(["--help"])\nexcept SystemExit:\n    pass\n'
        'print(sorted(sys.modules))'
    ).splitlines()[-1]
    for module in ('yaml', 'safe_sysid.config', 'safe_sysid.bringup.run'):
        assert f"'{module}'" not in loaded


def modules_named_in(path):
    """Modules of the package that a file imports, at any depth."""
    for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
        if isinstance(node, ast.ImportFrom) and node.module.startswith('safe_sysid.'):
            yield node.module


@pytest.mark.slow
def test_no_command_loads_ros():
    """One process for all: what loads nothing of ROS together does not do so alone."""
    files = [Path(command.__file__) for command in COMMANDS.values()]
    named = sorted({module for file in files for module in modules_named_in(file)})
    loaded = run_python(f'import sys, {", ".join(named)}; print(sorted(sys.modules))')
    assert all(f"'{module}'" in loaded for module in named)
    assert "'rclpy'" not in loaded


def test_without_a_word_the_help_is_printed(capsys):
    assert main([]) == 0
    assert '\n    identify ' in capsys.readouterr().out


def test_the_version_is_that_of_the_package(capsys):
    assert ended(['--version']) == 0
    assert capsys.readouterr().out == f'safe-sysid {metadata.version("safe_sysid")}\n'


def ended(words):
    """Status with which reading a command line ends."""
    with pytest.raises(SystemExit) as ending:
        main(words)
    return ending.value.code


@pytest.mark.parametrize(
    ('words', 'said'),
    [
        (['identfy'], "there is no 'identfy'; did you mean 'identify'?"),
        (['bench', 'modle'], "there is no 'modle'; did you mean 'model'?"),
        (['identify', 'README.md', '--robot', 'two_link', '--jsn'], "did you mean '--json'?"),
        (['identify', 'README.md', 'b', '--robot', 'two_link'], "'b' is not understood"),
        (['identify', 'a/b.csv', '--robot', 'two_link'], "there is no 'a/b.csv' in /"),
        (['identify', 'README.md', '--robot', 'kinva'], "no robot 'kinva'; did you mean 'kinova"),
        (['excite', 'my/arm.urdf'], "there is no file 'my/arm.urdf' (looked for from /"),
        (['excite', 'arm.urdf'], "there is no file 'arm.urdf'"),
        (['doctor', 'my/arm.urdf'], "did you mean '--robot my/arm.urdf'?"),
        (['excite', '--robot', 'two_link'], 'the arm is ROBOT, without an option before it'),
        (['replay', 'no_bag'], "there is no 'no_bag' in /"),
        (['identify', 'README.md', '--robt', 'two_link'], "did you mean '--robot'?"),
        (['run', 'builtin_sim', '--robot', 'kinvoa'], "did you mean 'kinova_gen3'? The"),
        (['run', 'builtin_sim', '--payload', 'dumbell'], "did you mean 'dumbbell_"),
        (['run', 'builtin_sim', '--world', 'shelv'], "did you mean 'shelf'? The package has"),
        (['run', 'replay', '--bag', 'no_bag'], "there is no 'no_bag' in /"),
        (['demo', '--payload', 'no.yaml'], "there is no 'no.yaml' in /"),
        (['identify', 300 * 'a', '--robot', 'two_link'], "(300 letters)': File name too long"),
        (['run', 'builtin_sim', '--robot', f'{300 * "a"}.yaml'], "letters)': File name too long"),
        (['excite', 'two_link', '--settings', 'no.yaml'], "there is no 'no.yaml' in /"),
        (['identifiability', 'puma56'], "did you mean 'puma560'? The package has"),
        (['export-model', 'two_link', '--out', 'README.md'], "'README.md' is no folder"),
        (['excite', 'two_link', '--html', 'README.md/x'], "'README.md' is no folder"),
        (['excite', 'two_link', '--html', 'docs'], "'docs' is a folder, and has to be a file"),
    ],
)
def test_what_is_not_there_is_said_in_two_lines(words, said, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert ended(words) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert said in first and second.endswith('--help` lists what there is')


@pytest.mark.parametrize(
    ('words', 'said'),
    [
        (['watch', '--port', '99999'], "'99999' is no port"),
        (
            ['export-gazebo', 'two_link', '--out', 'x', '--period', '1e300'],
            'is not from 1e-05 to 1 s',
        ),
        (['calibrate-drift', TEXT, '--robot', 'two_link', '--cutoff', '1e-300'], 'Hz'),
        (['identifiability', 'two_link', '--gravity', 'nan', '0', '1'], "'nan' is not a number"),
        (['identifiability', 'two_link', '--rotors', '1e999'], 'from -1000000 to 1000000'),
        (
            ['identify', 'README.md', '--robot', 'two_link', '--payload-mass', '1e308'],
            'at most 1e+06',
        ),
        (['identify', 'README.md', '--robot', 'two_link', '--rate', '1e-300'], 'Hz'),
        (['bench', 'recordings', '--data', 'no_folder'], "there is no 'no_folder'"),
    ],
)
def test_figures_that_nothing_has_are_refused_where_they_are_typed(words, said, capsys):
    assert ended(words) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ('words', 'said'),
    [
        (['security-policy', 'builtin_sim', '--namespace', 'a b'], "namespace 'a b'"),
        (['run', 'builtin_sim', '--namespace', '1a'], "namespace '1a'"),
        (['watch', '--namespace', 'a b'], "namespace 'a b'"),
        (['hand-over', '--from-loop', '--to', 'ur', '--namespace', 'a b'], "namespace 'a b'"),
        (
            ['calibrate-drift', TEXT, '--robot', 'two_link', '--against', 'panda'],
            'panda has 7 joints, two_link 2',
        ),
        (['identifiability', 'two_link', '--gravity', '1e-320', '0', '0'], 'from 1e-06 to 1e+06'),
    ],
)
def test_names_and_directions_that_do_not_exist_are_a_sentence(words, said, capsys):
    assert main(words) == 2
    assert said in capsys.readouterr().err


def test_a_file_that_is_not_there_is_noticed_before_anything_is_loaded():
    loaded = run_python(
        'import sys\n'
        'from safe_sysid.cli.main import main\n'
        'for words in (["identify", "no.csv", "--robot", "x.urdf"], ["excite", "no_arm"]):\n'
        '    try:\n        main(words)\n    except SystemExit:\n        pass\n'
        'print(sorted(sys.modules))'
    )
    assert "'numpy'" not in loaded and "'safe_sysid.cli.inputs'" in loaded


@pytest.mark.parametrize('words', [['completion', 'bash'], ['--version'], ['--help'], []])
def test_output_that_cannot_be_written_is_a_sentence(words):
    with Path('/dev/full').open('w', encoding='utf-8') as full:
        ended = subprocess.run(
            [sys.executable, '-m', 'safe_sysid.cli', *words],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert ended.returncode == 2
    assert ended.stderr == 'safe-sysid: standard output: No space left on device\n'


def test_a_closed_output_is_a_sentence(monkeypatch, capsys):
    monkeypatch.setattr(sys, 'stdout', None)
    assert main(['completion', 'bash']) == 2
    assert capsys.readouterr().err == 'safe-sysid: standard output is closed\n'


def test_ctrl_c_while_the_command_is_loaded_ends_it_without_a_word():
    loading = (
        'import os, signal, sys\n'
        'from safe_sysid.cli.__main__ import start\n'
        'class Interrupting:\n'
        '    def find_spec(self, name, path, target=None):\n'
        '        if name == "safe_sysid.cli.bench":\n'
        '            os.kill(os.getpid(), signal.SIGINT)\n'
        'sys.meta_path.insert(0, Interrupting())\n'
        'sys.exit(start())\n'
    )
    ended = subprocess.run(
        [sys.executable, '-c', loading], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, '', '')


def test_whoever_starts_the_command_starts_what_hears_ctrl_c_while_it_is_loaded():
    root = Path(__file__).parents[2]
    for path in (root / 'Makefile', *(root / 'tools').glob('*.*')):
        assert 'safe_sysid.cli.main' not in path.read_text(encoding='utf-8'), path


def test_misuse_is_one_line_on_standard_error_and_status_2(tmp_path, capsys):
    table = tmp_path / 'readings.md'
    table.write_text('| q |', encoding='utf-8')
    assert main(['identify', str(table), '--robot', 'two_link']) == 2
    printed = capsys.readouterr()
    message = [line for line in printed.err.splitlines() if line.startswith('safe-sysid:')]
    assert len(message) == 1
    assert 'readings.md: is not a rosbag' in message[0]
    assert 'Traceback' not in printed.err


@pytest.mark.parametrize('trials', ['0', '-3', '2.5', 'many'])
def test_a_number_of_trials_that_is_none_is_refused(trials, capsys):
    with pytest.raises(SystemExit) as ending:
        main(['bench', 'model', f'--trials={trials}'])
    assert ending.value.code == 2
    said = capsys.readouterr().err
    assert (
        f"'{trials}' is not a whole number" in said or f"'{trials}' has to be at least 1" in said
    )
