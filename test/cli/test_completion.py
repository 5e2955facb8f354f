"""Shells complete what the command line declares."""

import os
import shutil
import subprocess
import sys

import pytest

from safe_sysid.cli.main import COMMANDS, main


def offered(line, folder):
    """What is offered for the last word of a command line."""
    answers = folder / 'answers'
    asked = {
        '_ARGCOMPLETE': '1',
        '_ARGCOMPLETE_STDOUT_FILENAME': str(answers),
        '_ARGCOMPLETE_IFS': '\n',
        'COMP_LINE': line,
        'COMP_POINT': str(len(line)),
    }
    subprocess.run(
        [sys.executable, '-m', 'safe_sysid.cli.main'], env={**os.environ, **asked}, check=True
    )
    return {word.rstrip() for word in answers.read_text(encoding='utf-8').splitlines()}


def test_every_command_is_offered(tmp_path):
    assert set(COMMANDS) <= offered('safe-sysid ', tmp_path)


def test_options_of_a_command_and_their_values(tmp_path):
    options = offered('safe-sysid identify --known', tmp_path)
    assert options == {'--known', '--known-links', '--known-friction'}
    robots = offered('safe-sysid identify x.mcap --robot ', tmp_path)
    assert {'kinova_gen3', 'lbr_med7', 'two_link'} <= robots
    assert offered('safe-sysid excite ki', tmp_path) == {'kinova_gen3'}
    assert offered('safe-sysid run builtin_sim --robot ki', tmp_path) == {'kinova_gen3'}
    assert offered('safe-sysid bench mod', tmp_path) == {'model'}


def test_bash_completes_with_the_script(capsys, tmp_path):
    if shutil.which('bash') is None:
        pytest.skip('bash is not installed, so nobody can try its completion')
    assert main(['completion', 'bash']) == 0
    script = capsys.readouterr().out
    program = tmp_path / 'safe-sysid'
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m safe_sysid.cli.main "$@"\n')
    program.chmod(0o755)
    typed = 'safe-sysid ide'
    lines = (
        f'COMP_LINE="{typed}"; COMP_POINT={len(typed)}; COMP_TYPE=9; COMP_WORDS=({typed}); '
        'COMP_CWORD=1; _python_argcomplete safe-sysid; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    answer = subprocess.run(
        ['bash', '-c', f'{script}\n{lines}'],
        capture_output=True, text=True, check=True,
        env={**os.environ, 'PATH': f'{tmp_path}{os.pathsep}{os.environ["PATH"]}'},
    )  # fmt: skip
    assert set(answer.stdout.split()) == {'identifiability', 'identify'}


@pytest.mark.parametrize('shell', ['bash', 'zsh', 'fish'])
def test_every_shell_gets_a_script(shell, capsys):
    assert main(['completion', shell]) == 0
    assert 'safe-sysid' in capsys.readouterr().out
