"""The safe-sysid command: what its help lists, and how it ends."""

import ast
from pathlib import Path
import subprocess
import sys

import pytest

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


def test_help_loads_no_numeric_library_and_no_ros():
    loaded = run_python(
        'import sys\n'
        'from safe_sysid.cli.main import main\n'
        'try:\n    main(["--help"])\nexcept SystemExit:\n    pass\n'
        'print(sorted({name.split(".")[0] for name in sys.modules}))'
    ).splitlines()[-1]
    assert "'safe_sysid'" in loaded
    for library in ('numpy', 'numba', 'pinocchio', 'matplotlib', 'cyipopt', 'rclpy'):
        assert f"'{library}'" not in loaded


def modules_named_in(path):
    """Modules of the package that a file imports, at any depth."""
    for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
        if isinstance(node, ast.ImportFrom) and node.module.startswith('safe_sysid.'):
            yield node.module


@pytest.mark.parametrize('command', list(COMMANDS))
def test_no_command_loads_ros(command):
    named = sorted(set(modules_named_in(Path(COMMANDS[command].__file__))))
    loaded = run_python(f'import sys, {", ".join(named)}; print(sorted(sys.modules))')
    assert all(f"'{module}'" in loaded for module in named)
    assert "'rclpy'" not in loaded


def test_misuse_is_one_line_on_standard_error_and_status_2(capsys):
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
    assert f"'{trials}' is not a whole number of 1 or more" in capsys.readouterr().err
