"""A terminal that lacks a sign gets a question mark for it, and no traceback."""

import json
import os
import subprocess
import sys

import pytest

COMMAND = (sys.executable, '-m', 'safe_sysid.cli.main', 'identifiability', 'two_link')


@pytest.mark.slow
def test_a_locale_without_our_signs_gets_question_marks():
    environment = {**os.environ, 'PYTHONIOENCODING': 'ascii', 'LC_ALL': 'C'}
    done = subprocess.run(COMMAND, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii()
    assert '?' in done.stdout


STRANGE = {
    'no home': {'HOME': None},
    'home that is a file': {'HOME': '/dev/null', 'XDG_CACHE_HOME': '/dev/null/cache'},
    'no path': {'PATH': None},
    'time zone of nowhere': {'TZ': 'Nowhere/None'},
    'locale of nowhere': {'LC_ALL': 'xx_YY.nothing', 'LANG': 'xx'},
    'narrow terminal': {'COLUMNS': '1', 'LINES': '1'},
    'width that is none': {'COLUMNS': 'wide'},
    'no colours': {'NO_COLOR': '1', 'TERM': 'dumb'},
    'no terminal': {'TERM': None},
    'no thread count': {'OMP_NUM_THREADS': 'many', 'NUMBA_NUM_THREADS': '1'},
    'domain that is none': {'ROS_DOMAIN_ID': 'x'},
}


@pytest.mark.nightly
@pytest.mark.parametrize('change', STRANGE.values(), ids=STRANGE)
def test_a_strange_environment_changes_no_result(change):
    environment = {**os.environ, **{k: v for k, v in change.items() if v is not None}}
    for name in (k for k, v in change.items() if v is None):
        environment.pop(name, None)
    command = [*COMMAND, '--json']
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert 'Traceback' not in done.stderr
    assert json.loads(done.stdout)['robot']
