"""The safe-sysid command: what its help lists, and how it ends."""

import ast
from pathlib import Path
import subprocess
import sys

import pytest

from safe_sysid.cli.doctor import machine_checks
from safe_sysid.cli.main import COMMANDS, main


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


def test_misuse_is_one_line_on_standard_error_and_status_2(monkeypatch, capsys):
    monkeypatch.setattr(machine_checks, 'findings', tuple)  # other tests look at this machine
    assert main(['doctor', '--robot', 'no_such_arm']) == 2
    printed = capsys.readouterr()
    message = [line for line in printed.err.splitlines() if line.startswith('safe-sysid:')]
    assert len(message) == 1
    assert 'no_such_arm' in message[0] and 'kinova_gen3' in message[0]
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
