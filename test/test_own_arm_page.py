"""Every command of docs/own_arm.md runs in a clean folder, in its order, and does what it says."""

import contextlib
import io
from pathlib import Path
import re
import shlex
import shutil

import pytest

from safe_sysid.cli.main import main

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r'^```(bash|python)\n(.*?)^```', re.MULTILINE | re.DOTALL)


def said_by(text, language):
    """Output of the lines of a block."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        if language == 'python':
            exec(compile(text, 'docs/own_arm.md', 'exec'), {})
            return output.getvalue()
        for line in text.splitlines():
            program, *arguments = shlex.split(line)
            assert program == 'safe-sysid'
            status = main(arguments)
            assert status == 0 or arguments[0] == 'doctor', line  # of machines: without ROS, say
    return output.getvalue()


@pytest.mark.slow
def test_every_command_of_the_page_runs(tmp_path, monkeypatch):
    shutil.copy(ROOT / 'urdf' / 'two_link.urdf', tmp_path / 'my_arm.urdf')
    monkeypatch.chdir(tmp_path)
    page = (ROOT / 'docs' / 'own_arm.md').read_text('utf-8')
    made, examined, moved, planned, identified = (
        said_by(text, kind) for kind, text in BLOCK.findall(page)
    )
    assert 'planning: not yet' in made
    assert 'condition' in moved
    assert (tmp_path / 'motion' / 'excitation.csv').is_file()
    assert 'PASS  capsules against meshes' in examined
    assert 'FAIL  pairs' not in examined
    assert 'plans: empty: planning' in examined
    assert 'plans: with my_arm/my_arm_payload.yaml: planning' in examined
    assert 'the goal is reached' in planned
    assert 'certified plans among one obstacle (floor)' in planned
    lower, nominal, upper = map(
        float, re.search(r'  m +(\S+) +(\S+) +(\S+)  kg', identified).groups()
    )
    assert nominal == pytest.approx(1.0 + 1.0, abs=0.1)  # link and payload
    assert lower < 2.0 < upper
