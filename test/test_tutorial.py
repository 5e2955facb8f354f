"""Every command of the tutorial runs, in its order, and does what the text around it says."""

import contextlib
import io
import json
import os
from pathlib import Path
import re
import shlex
import shutil
import subprocess
import sys

import pytest

from safe_sysid.cli.main import main

ROOT = Path(__file__).parent.parent
TUTORIAL = ROOT / 'docs' / 'tutorial.md'
BLOCK = re.compile(r'^```(\w+)\n(.*?)^```', re.MULTILINE | re.DOTALL)


def blocks(language):
    return [text for kind, text in BLOCK.findall(TUTORIAL.read_text('utf-8')) if kind == language]


@pytest.fixture(scope='module')
def run(tmp_path_factory):
    """Output of every command line, in a folder of their own."""
    folder = tmp_path_factory.mktemp('tutorial')
    (script,) = blocks('python')
    (folder / 'play_arm.py').write_text(script, encoding='utf-8')
    shutil.copy(ROOT / 'urdf' / 'two_link.urdf', folder)
    outputs = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for line in ''.join(blocks('bash')).splitlines():
            program, *arguments = shlex.split(line.partition(' > ')[0])
            text = io.StringIO()
            with contextlib.redirect_stdout(text):
                carried_out = {'safe-sysid': safe_sysid, 'python': python}[program]
                assert carried_out(arguments) == 0, line
            if ' > ' in line:
                Path(line.partition(' > ')[2]).write_text(text.getvalue(), encoding='utf-8')
            outputs[line] = text.getvalue()
    return folder, outputs


def safe_sysid(arguments):
    try:
        return main(arguments)
    except SystemExit as ending:  # --help
        return ending.code


def python(arguments):
    environment = {**os.environ, 'PYTHONPATH': str(ROOT)}
    return subprocess.run([sys.executable, *arguments], env=environment, check=False).returncode


def output(run, words):
    (found,) = (text for line, text in run[1].items() if line.endswith(words))
    return found


@pytest.mark.slow
def test_every_command_runs_and_the_answer_is_right(run):
    folder, _ = run
    found = json.loads(output(run, 'recording.csv --robot two_link --json'))
    assert found['refused'] is None
    assert found['payload']['lower'][0] <= 1.5 <= found['payload']['upper'][0]
    assert found['caution'] is None
    for name in ('page.html', 'payload.script', 'new.urdf', 'completion.sh',
                 'plots/bounds_over_time.svg'):  # fmt: skip
        assert (folder / name).stat().st_size > 100


@pytest.mark.slow
def test_a_calibrated_arm_gives_narrower_bounds(run):
    described = json.loads(output(run, 'recording.csv --robot two_link --json'))['payload']
    found = json.loads(output(run, 'calibrated/two_link.yaml --known-links 2% --json'))
    assert found['refused'] is None
    lower, upper = found['payload']['lower'][0], found['payload']['upper'][0]
    assert lower <= 1.5 <= upper
    assert upper - lower < described['upper'][0] - described['lower'][0]


@pytest.mark.slow
def test_an_empty_recording_makes_known_links_unnecessary(run):
    text = output(run, '--empty empty_fast.csv --robot two_link')
    assert text.startswith('The payload weighs 1.')
    assert '(95 %)' in text.splitlines()[0]
    assert '(guaranteed)' in text.splitlines()[0]


@pytest.mark.slow
def test_the_answer_has_the_parts_that_the_text_promises(run):
    text = output(run, 'recording.csv --robot two_link')
    for part in ('samples in', 'Everything that joint_2 moves', 'The payload, without', 'low-pass',
                 'The bounds hold if', 'all parameters fitted, no bounds'):  # fmt: skip
        assert part in text


def test_commands_that_are_not_run_are_those_of_the_installation():
    assert ''.join(blocks('console')) == 'pip install .\n'  # what test_packaging.py does
    assert {kind for kind, _ in BLOCK.findall(TUTORIAL.read_text('utf-8'))} == {
        'bash', 'console', 'python'
    }  # fmt: skip


def test_options_of_the_text_exist(capsys):
    for command in ('identify', 'calibrate'):
        with pytest.raises(SystemExit):
            main([command, '--help'])
    known = capsys.readouterr().out
    for option in set(re.findall(r'--[a-z][a-z-]+', TUTORIAL.read_text('utf-8'))) - {'--help'}:
        assert option in known
