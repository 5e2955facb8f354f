"""Ipopt's linear solvers are told apart by solving with them."""

import cyipopt
import pytest

from safe_sysid.plan.search import linear_solvers


@pytest.mark.slow
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
