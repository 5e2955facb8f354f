"""Shells complete what the command line declares."""

import shutil
import subprocess

import pytest

from safe_sysid.cli.completion import completed
from safe_sysid.cli.main import COMMANDS, main, parser


def completions(shell, script, words):
    """What a shell offers for the last word of a command line."""
    typed = ' '.join(f"'{word}'" for word in words)
    lines = {
        'bash': f'COMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}; _safe_sysid; '
        'printf "%s\\n" "${COMPREPLY[@]}"',
        'fish': f"complete -C '{' '.join(words)}'",
    }[shell]
    answer = subprocess.run(
        [shell, '-c', f'{script}\n{lines}'], capture_output=True, text=True, check=True
    )
    assert answer.stderr == ''
    return {line.partition('\t')[0] for line in answer.stdout.splitlines()}


@pytest.fixture(params=['bash', 'fish'])
def shell(request):
    if shutil.which(request.param) is None:
        pytest.skip(f'{request.param} is not installed, so nobody can try its completion')
    return request.param


@pytest.fixture
def script(shell, capsys):
    assert main(['completion', shell]) == 0
    return capsys.readouterr().out


def test_every_command_is_offered(shell, script):
    assert set(COMMANDS) <= completions(shell, script, ['safe-sysid', ''])
    assert completions(shell, script, ['safe-sysid', 'ide']) == {'identifiability', 'identify'}


def test_options_of_a_command_and_their_values(shell, script):
    offered = completions(shell, script, ['safe-sysid', 'identify', '--known'])
    assert offered == {'--known', '--known-links', '--known-friction'}
    robots = completions(shell, script, ['safe-sysid', 'identify', 'x.mcap', '--robot', ''])
    assert {'kinova_gen3', 'lbr_med7', 'two_link'} <= robots
    assert completions(shell, script, ['safe-sysid', 'bench', 'mod']) == {'model'}


def test_nothing_that_is_declared_is_missing():
    found = {each.name: each for each in completed(parser())}
    assert list(found) == list(COMMANDS)
    assert {'--json', '--html', '--export'} <= set(found['identify'].options)
    assert set(found['completion'].words) == {'bash', 'zsh', 'fish'}


def test_zsh_gets_the_script_of_bash_behind_its_reader(capsys):
    main(['completion', 'zsh'])
    zsh = capsys.readouterr().out
    main(['completion', 'bash'])
    assert zsh.endswith(capsys.readouterr().out)
    assert zsh.startswith('autoload -U +X compinit')
