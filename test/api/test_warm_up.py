"""Kernels are compiled once, by processes side by side, and found stale when they change."""

import os
import subprocess
import sys

import pytest

WORKS = """
import os
import numpy as np

def norm():
    from safe_sysid.sets.taylor_kernels import norm
    norm(np.zeros((1, 4)), 0, 0, 2)

def fail():
    raise ValueError('no such arm')

def die():
    os.kill(os.getpid(), 9)
"""
CALL = """
import sys
from safe_sysid.api import warm_up
from safe_sysid.errors import SafeSysidError
import works
warm_up.WORK = tuple((getattr(works, name),) for name in sys.argv[1:])
def progress(share, words): assert 0.0 <= share <= 1.0 and words
if __name__ == '__main__':
    try:
        print(warm_up.warm_up(progress).compiled)
    except SafeSysidError as error:
        print(error)
"""
INTERRUPTED = """
import os, signal
from pathlib import Path
if __name__ == '__mp_main__':
    signal.raise_signal(signal.SIGINT)
    Path('went_on').touch()
    signal.pause()
from safe_sysid.api import warm_up
def progress(share, words):
    if Path('went_on').exists():
        os.killpg(0, signal.SIGINT)
if __name__ == '__main__':
    try:
        warm_up.warm_up(progress)
    except KeyboardInterrupt:
        print('interrupted')
"""


@pytest.fixture
def call(tmp_path):
    (tmp_path / 'works.py').write_text(WORKS)
    (tmp_path / 'call.py').write_text(CALL)
    (tmp_path / 'interrupted.py').write_text(INTERRUPTED)
    environment = {**os.environ, 'NUMBA_CACHE_DIR': str(tmp_path / 'kernels')}

    def begin(*works, script='call.py'):
        run = [sys.executable, script, *works]
        pipes = {'stdout': subprocess.PIPE, 'stderr': subprocess.PIPE}
        return subprocess.Popen(
            run, cwd=tmp_path, env=environment, start_new_session=True, **pipes
        )

    return begin


def said(process):
    out, error = process.communicate(timeout=300)
    return out.decode().strip(), error.decode()


@pytest.mark.slow
def test_kernels_are_compiled_once_and_again_when_what_was_kept_is_gone(call, tmp_path):
    assert said(call('norm'))[0] == '1'
    assert said(call('norm'))[0] == '0'
    (mark,) = tmp_path.rglob('warm_up.json')
    mark.write_text('{"kernels": "of another version", "count": 0}')
    assert said(call('norm')) == ('0', '')
    for mark in tmp_path.rglob('warm_up.json'):
        mark.write_text('{"kernels": "of another version"}')
    assert said(call('norm'))[0] == '0'  # read from disk, and marked again
    for mark in tmp_path.rglob('warm_up.json'):
        assert 'another' not in mark.read_text()


@pytest.mark.slow
def test_two_that_begin_at_once_compile_once(call):
    both = [call('norm'), call('norm')]
    assert sorted(said(process)[0] for process in both) == ['0', '1']


@pytest.mark.slow
@pytest.mark.parametrize(('work', 'why'), [('fail', 'no such arm'), ('die', '')])
def test_work_that_fails_is_an_error_and_is_done_again(call, work, why):
    sentence, error = said(call('norm', work))
    assert sentence.startswith('kernels could not be compiled ahead of time')
    assert why in error
    assert said(call('norm'))[0] == '0'
    assert said(call('norm', work))[0] == '0'  # marked as done by now


def test_ctrl_c_while_processes_load_ends_them_without_a_word(call):
    assert said(call(script='interrupted.py')) == ('interrupted', '')


FIRST_CERTIFICATE = """
import sys
from safe_sysid.api import warm_up
from safe_sysid.api.arms import load_arm
from safe_sysid.api.loop_file import read_simulated_loop
from safe_sysid.api.motion import resting_problem
from safe_sysid.model.collision.obstacles import NO_OBSTACLES
from safe_sysid.reach.congruent_inertia import congruence_into
from safe_sysid.reach.error_tube import _shapes_into
from safe_sysid.reach.reachable_set import ReachableSet

kernels = congruence_into, _shapes_into
if sys.argv[1] == 'warm':
    warm_up._bound_along_plan()
print([len(kernel.signatures) for kernel in kernels])
settings = read_simulated_loop(load_arm('lbr_med7'))
problem = resting_problem(settings, settings.position(None), NO_OBSTACLES)
ReachableSet.certify_center(problem)
print([len(kernel.signatures) for kernel in kernels])
"""


@pytest.mark.slow
@pytest.mark.parametrize(('begun', 'before'), [('warm', '[1, 1]'), ('cold', '[0, 0]')])
def test_bounds_along_a_plan_find_their_kernels(begun, before):
    """Those of an LBR, whose inertia has no useful bound over all poses."""
    run = [sys.executable, '-c', FIRST_CERTIFICATE, begun]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [before, '[1, 1]']


RECORDING = """
import sys
from safe_sysid.api import warm_up
from safe_sysid.api.payload import identify_payload
from safe_sysid.api.simulated_recording import simulate_recording
from safe_sysid.identify.last_motion import last_motion
from safe_sysid.identify.window_sums import add_windows
from safe_sysid.measure.butterworth import filter_into

def compiled():
    kernels = last_motion, add_windows, filter_into
    return [len(kernel.signatures) for kernel in kernels]

print([warm_up._identify in each for each in warm_up.WORK].count(True))
warm_up._identify()
print(compiled())
simulate_recording('held.csv', 'two_link', motion=4.0)
identify_payload('held.csv', 'two_link')
print(compiled())
"""


@pytest.mark.slow
def test_recordings_find_their_kernels(tmp_path):
    run = [sys.executable, '-c', RECORDING]
    done = subprocess.run(run, capture_output=True, text=True, check=True, cwd=tmp_path)
    once, first, then = done.stdout.splitlines()
    assert once == '1'
    assert '0' not in first
    assert then == first
