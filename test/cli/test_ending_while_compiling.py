"""Who ends a command while kernels are compiled hears its status, and nothing of its insides."""

import subprocess
import sys

import pytest

COMPILING = """
import atexit, os, signal, sys, time
from safe_sysid.api import warm_up
from safe_sysid.cli.__main__ import start

def compiling(*_):
    try:
        signal.raise_signal(signal.{first})
        time.sleep(60.0)
    finally:
        print('taken down')

warm_up.warm_up = compiling
atexit.register(lambda: signal.raise_signal(signal.SIGINT){again})
sys.exit(start())
"""
COMMANDS = ['warm-up'], ['run', 'builtin_sim', '--robot', 'two_link'], ['watch']


def ended(command, first, again):
    """Status and output of a command that is told to end; `again` while Python ends."""
    script = COMPILING.format(first=first, again='' if again else ' if False else None')
    line = [sys.executable, '-c', script, *command]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=120.0)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize('command', COMMANDS, ids=lambda words: words[0])
def test_ctrl_c_twice_is_as_once(command):
    assert ended(command, 'SIGINT', again=True) == (130, 'taken down\n', '')


@pytest.mark.parametrize(('command', 'status'), [*zip(COMMANDS, (143, 0, 143), strict=True)])
def test_sigterm_takes_down_what_was_begun(command, status):
    assert ended(command, 'SIGTERM', again=False) == (status, 'taken down\n', '')
