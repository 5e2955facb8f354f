"""Processes of benches end when the bench is killed, which then cannot ask them to."""

from pathlib import Path
import subprocess
import sys

from ros.running_node import wait_until

STUCK = """
import os, time
from safe_sysid.bench.processes import trial_processes
if __name__ == '__main__':
    with trial_processes() as pool:
        print(*{each.result() for each in [pool.submit(os.getpid) for _ in range(8)]}, flush=True)
        time.sleep(1000.0)
"""

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


def _runs(pid):
    """Whether a process is there and does not only wait to be reaped."""
    try:
        return Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[0] != 'Z'
    except FileNotFoundError:
        return False
