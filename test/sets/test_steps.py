"""Steps of a kernel are shared out among the cores: every one of them once."""

import os
import subprocess
import sys

import numpy as np
import pytest

from safe_sysid.sets import steps
from safe_sysid.sets.steps import over_steps


@pytest.mark.parametrize('count', [0, 1, 7, 8, 16, 17, 1000])
def test_every_step_is_done_once(count, monkeypatch):
    monkeypatch.setattr(steps, 'cores', lambda: 3)
    done = np.zeros(count, dtype=int)

    def kernel(steps, out):
        out[slice(*steps)] += 1

    over_steps(kernel, count, done)
    assert np.all(done == 1)


@pytest.mark.parametrize('count', [0, 1, 8, 9, 31, 32, 33, 1000])
def test_ranges_begin_at_multiples_of_what_is_done_together(count, monkeypatch):
    monkeypatch.setattr(steps, 'cores', lambda: 3)
    done, begun = np.zeros(count, dtype=int), []

    def kernel(steps, out):
        begun.append(steps[0])
        out[slice(*steps)] += 1

    over_steps(kernel, count, done, together=8)
    assert np.all(done == 1)
    assert len(begun) == min(3, max(1, count // 8))
    assert all(first % 8 == 0 for first in begun)


def test_what_fails_in_another_thread_is_heard_of(monkeypatch):
    monkeypatch.setattr(steps, 'cores', lambda: 2)

    def kernel(steps):
        if steps[0] > 0:
            raise ValueError(f'steps {steps}')

    with pytest.raises(ValueError, match=r'steps \(50, 100\)'):
        over_steps(kernel, 100)


FORKED = """
import os
from safe_sysid.sets import steps
steps.cores = lambda: 2
def kernel(steps, done): done[slice(*steps)] = b'x' * (steps[1] - steps[0])
for _ in range(2):
    done = bytearray(100)
    steps.over_steps(kernel, 100, done)
    assert done == b'x' * 100
    if os.fork() == 0:
        done = bytearray(100)
        steps.over_steps(kernel, 100, done)
        print(done == b'x' * 100, flush=True)
        os._exit(0)
    os.wait()
"""


def test_a_forked_process_has_threads_of_its_own():
    run = [sys.executable, '-c', FORKED]
    done = subprocess.run(run, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ['True', 'True']


@pytest.mark.parametrize(('told', 'count'), [('1', 1), ('3', 3), ('', None), ('0', None)])
def test_the_number_of_threads_is_the_one_of_the_environment(told, count):
    run = [sys.executable, '-c', 'from safe_sysid.sets.steps import cores; print(cores())']
    environment = {**os.environ, 'OMP_NUM_THREADS': told}
    done = subprocess.run(run, env=environment, capture_output=True, text=True, check=True)
    allowed = len(os.sched_getaffinity(0)) if count is None else count
    assert int(done.stdout) == allowed
