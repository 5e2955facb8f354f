"""A terminal that lacks a sign gets a question mark for it, and no traceback."""

import os
import subprocess
import sys

COMMAND = (sys.executable, '-m', 'safe_sysid.cli.main', 'identifiability', 'two_link')


def test_a_locale_without_our_signs_gets_question_marks():
    environment = {**os.environ, 'PYTHONIOENCODING': 'ascii', 'LC_ALL': 'C'}
    done = subprocess.run(COMMAND, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii()
    assert '?' in done.stdout
