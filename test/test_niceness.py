"""What solves and searches comes after others, also where it leads a session of its own."""

import os
from pathlib import Path
import subprocess
import sys

import pytest

SAYS = (
    'import os; from pathlib import Path; from safe_sysid.niceness import SESSION, '
    'come_after_others as come; before = os.nice(0); come(7); come(2)\n'
    'print(os.nice(0) - before, SESSION.read_text() if SESSION.exists() else "none")'
)


@pytest.mark.parametrize('leads', [True, False])
def test_a_session_of_its_own_gets_the_same_niceness(leads):
    before = os.nice(0)
    total = min(before + 9, 19)
    said = subprocess.run(
        [sys.executable, '-c', SAYS],
        start_new_session=leads,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert int(said[0]) == total - before
    if said[1] == 'none' or not Path('/proc/sys/kernel/sched_autogroup_enabled').exists():
        pytest.skip('this kernel does not group processes by session')
    ours = Path('/proc/self/autogroup').read_text().split()[-1]
    assert said[-1] == (str(total) if leads else ours)
