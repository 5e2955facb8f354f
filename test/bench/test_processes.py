"""Processes of benches end when the bench is killed or interrupted, and say nothing of it."""

import os
from pathlib import Path
import signal
import subprocess
import sys

import pytest
from ros.running_node import wait_until

STUCK = """
import os, time
from safe_sysid.bench.processes import trial_processes
if __name__ == '__main__':
    with trial_processes() as pool:
        print(*{each.result() for each in [pool.submit(os.getpid) for _ in range(8)]}, flush=True)
        time.sleep(1000.0)
"""

INTERRUPTED = """
import multiprocessing, os, sys, time
from safe_sysid.bench.processes import trial_processes
def work(number):
    os.write(1, b'at work\\n')
    time.sleep(1000.0)
if __name__ == '__main__':
    try:
        with trial_processes() as pool:
            {trials}
    except KeyboardInterrupt:
        print(len(multiprocessing.active_children()), 'left')
"""
ONE, MANY = 'pool.submit(work, 0).result()', 'list(pool.map(work, range(100)))'
ALL_BEGUN = 'list(pool.map(abs, range(os.cpu_count()))); '

LATE = """
import os, time
from safe_sysid.worker import die_with
bench = os.getpid()
if os.fork():
    os._exit(0)
while os.getppid() == bench:
    time.sleep(0.001)
die_with(bench)
print('lives')
"""


def test_one_that_loses_its_bench_before_it_begins_ends():
    assert not subprocess.check_output([sys.executable, '-c', LATE])


def test_they_end_when_their_bench_is_killed(tmp_path):
    script = tmp_path / 'stuck.py'
    script.write_text(STUCK)
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE) as bench:
        workers = [int(word) for word in bench.stdout.readline().split()]
        bench.kill()
    assert workers
    wait_until(lambda: not any(map(_runs, workers)), f'the end of {workers}')


@pytest.mark.parametrize('trials', [ONE, ALL_BEGUN + ONE, MANY])
def test_ctrl_c_ends_them_at_once_without_a_word(trials, tmp_path):
    """While some of them still load, while some are idle, and while all work."""
    script = tmp_path / 'interrupted.py'
    script.write_text(INTERRUPTED.format(trials=trials))
    line = [sys.executable, str(script)]
    pipes = {'stdout': subprocess.PIPE, 'stderr': subprocess.PIPE, 'text': True}
    with subprocess.Popen(line, start_new_session=True, **pipes) as bench:
        try:
            assert bench.stdout.readline() == 'at work\n'
            os.killpg(bench.pid, signal.SIGINT)
            said, complaints = bench.communicate(timeout=60.0)
        finally:
            bench.kill()
    assert (said.splitlines()[-1], complaints) == ('0 left', '')


def _runs(pid):
    """Whether a process is there and does not only wait to be reaped."""
    try:
        return Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[0] != 'Z'
    except FileNotFoundError:
        return False
