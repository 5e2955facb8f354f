"""cyipopt is loaded without scipy.optimize, and has all its functions."""

import subprocess
import sys

import pytest
from tiers import slow_after

LOADED = 'print("scipy.optimize" in sys.modules)'
CALLED = """
print(cyipopt.minimize_ipopt(lambda x: float((x[0] - 3.0) ** 2), [0.0]).x.round(6))
"""


def said(program):
    line = [sys.executable, '-c', f'import sys\n{program}']
    return subprocess.run(line, capture_output=True, text=True, check=True).stdout.split()


def test_scipy_optimize_is_not_loaded():
    assert said(f'from safe_sysid.ipopt_library import cyipopt\n{LOADED}') == ['False']


@pytest.mark.parametrize('again', slow_after(1, ['', 'import cyipopt.scipy_interface']))
def test_what_is_left_out_is_loaded_when_it_is_called(again):
    program = f'from safe_sysid.ipopt_library import cyipopt\n{again}\n{CALLED}\n{LOADED}'
    assert said(program)[-2:] == ['[3.]', 'True']  # Ipopt says something before


def test_a_cyipopt_that_somebody_has_imported_is_kept():
    program = 'import cyipopt as before\nfrom safe_sysid.ipopt_library import cyipopt'
    assert said(f'{program}\nprint(cyipopt is before)') == ['True']
