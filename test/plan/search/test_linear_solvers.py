"""Ipopt's linear solvers are told apart by solving with them."""

from contextlib import suppress
import os
import select
import signal
import subprocess
import sys

import cyipopt

from safe_sysid.plan.search import linear_solvers


def test_mumps_works_and_an_invented_solver_does_not():
    found = linear_solvers.found(['mumps', 'no_such_solver'])
    assert found == {'mumps': '.'.join(map(str, cyipopt.IPOPT_VERSION))}


def test_a_solver_that_crashes_or_hangs_is_not_found(monkeypatch):
    crash = ['-c', 'import os; os.abort()']
    monkeypatch.setattr(linear_solvers, 'COMMAND', crash)
    assert linear_solvers.found(['mumps']) == {}
    monkeypatch.setattr(linear_solvers, 'COMMAND', ['-c', 'import time; time.sleep(60)'])
    monkeypatch.setattr(linear_solvers, 'SECONDS', 0.2)
    assert linear_solvers.found(['mumps']) == {}


def test_one_that_crashes_takes_no_other_with_it(monkeypatch):
    one_crashes = (
        'import os, sys; from safe_sysid.plan.search import linear_solvers as tried; '
        "tried._solves = lambda solver: os.abort() if solver == 'ma27' else True; "
        'tried._solve_with_each(sys.argv[1:])'
    )
    monkeypatch.setattr(linear_solvers, 'COMMAND', ['-c', one_crashes])
    assert list(linear_solvers.found(['mumps', 'ma27', 'ma57'])) == ['mumps', 'ma57']


def test_a_solver_that_hangs_ends_with_who_asked():
    hangs = (
        'import os, sys, time; from safe_sysid.plan.search import linear_solvers as tried; '
        "tried._solves = lambda _: (os.write(1, b'%d\\n' % os.getpid()), time.sleep(99)); "
        "tried._solve_with_each(['mumps'])"
    )
    with subprocess.Popen([sys.executable, '-c', hangs], stdout=subprocess.PIPE) as asked:
        hanging = int(asked.stdout.readline())
        asked.kill()
        try:
            ended, _, _ = select.select([asked.stdout], [], [], 20.0)  # nobody can write any more
            assert ended
        finally:
            with suppress(ProcessLookupError):
                os.kill(hanging, signal.SIGKILL)
