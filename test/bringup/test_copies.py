"""Nodes as copies of the process that starts them: as apart as those that are started anew."""

import os
from pathlib import Path
import signal
import subprocess
import sys
import time

import pytest

from safe_sysid.bringup.copies import numerics_of
from safe_sysid.bringup.processes import BACKENDS, Choices, processes_of

COPIES = """
import os, signal, subprocess, sys, threading, time
from safe_sysid.bringup.copies import Copy, copied
from safe_sysid.bringup.run import Supervised
def line(*arguments):
    return [sys.executable, '-m', 'copied_node', *arguments]
"""


def is_running(pid):
    """Whether there is such a process; one that nobody has buried is none."""
    try:
        return Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[0] != 'Z'
    except OSError:
        return False


@pytest.fixture
def carried_out(tmp_path):
    """Carry out code beside a module `copied_node` whose `main` has this body."""

    def carry_out(body, code):
        text = ''.join(f'    {each}\n' for each in body.splitlines())
        module = f'import os, signal, sys, time\nBEGAN = os.getpid()\ndef main():\n{text}'
        (tmp_path / 'copied_node.py').write_text(module)
        path = os.pathsep.join([str(tmp_path), *sys.path])
        done = subprocess.run(
            [sys.executable, '-c', COPIES + code],
            env={**os.environ, 'PYTHONPATH': path},
            capture_output=True,
            text=True,
            timeout=60.0,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    return carry_out


def test_a_copy_has_its_own_words_session_and_status(carried_out):
    body = 'print(sys.argv[1:], os.getsid(0) == os.getpid(), flush=True)\nreturn 3'
    code = 'print("before"); child = copied(line("a", "b")); print(child.wait(), type(child))'
    status, said, complaint = carried_out(body, code)
    assert (status, complaint) == (0, '')
    assert said == "before\n['a', 'b'] True\n3 <class 'safe_sysid.bringup.copies.Copy'>\n"


@pytest.mark.parametrize(
    ('body', 'status', 'words'),
    [
        ('raise SystemExit(2)', 2, ''),
        ('raise ValueError("riddle")', 1, 'ValueError: riddle'),
        ('os.kill(os.getpid(), signal.SIGKILL)', -signal.SIGKILL, ''),
    ],
)
def test_how_a_copy_ends_is_seen(body, status, words, carried_out):
    _, said, complaint = carried_out(body, 'print(copied(line()).wait())')
    assert said == f'{status}\n'
    assert words in complaint


def test_a_module_that_cannot_be_imported_says_so_in_its_copy(carried_out):
    code = 'print(copied([sys.executable, "-m", "safe_sysid.ros.nodes.no_node"]).wait())'
    _, said, complaint = carried_out('pass', code)
    assert said == '1\n'
    assert "No module named 'safe_sysid.ros.nodes.no_node'" in complaint


def test_signals_of_a_copy_are_those_of_a_new_process(carried_out):
    """Ctrl-C waits until it listens; SIGTERM ends it, whatever its parent does with both."""
    body = 'assert signal.pthread_sigmask(0, []) == {signal.SIGINT}\ntime.sleep(100)'
    code = (
        'for number in (signal.SIGINT, signal.SIGTERM): signal.signal(number, lambda *_: None)\n'
        'child = copied(line())\nprint(signal.pthread_sigmask(0, []))\n'
        'child.send_signal(signal.SIGINT)\n'
        'try: child.wait(0.5)\nexcept subprocess.TimeoutExpired: print("waits")\n'
        'child.send_signal(signal.SIGTERM)\nprint(child.wait(), child.poll())\n'
        'child.send_signal(signal.SIGTERM)'
    )
    assert carried_out(body, code) == (0, 'set()\nwaits\n-15 -15\n', '')


def test_a_copy_ends_with_the_process_that_made_it(carried_out, tmp_path):
    body = f'open({str(tmp_path / "pid")!r}, "w").write(str(os.getpid()))\ntime.sleep(100)'
    code = (
        f'copied(line())\nwhile not os.path.exists({str(tmp_path / "pid")!r}): time.sleep(0.01)\n'
        'time.sleep(0.2)\nos.kill(os.getpid(), signal.SIGKILL)'
    )
    assert carried_out(body, code)[0] == -signal.SIGKILL
    deadline = time.monotonic() + 10.0
    while is_running((tmp_path / 'pid').read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_copy_is_called_by_its_module(carried_out):
    body = (
        'print(open("/proc/self/cmdline").read().strip("\\0"), open("/proc/self/comm").read())\n'
        'return 0'
    )
    assert carried_out(body, 'copied(line()).wait()') == (0, 'copied_node copied_node\n\n', '')


def test_a_copy_is_made_although_nobody_takes_output_any_more(carried_out):
    code = 'sys.stdout.write("lost"); os.close(1)\nprint(copied(line()).wait(), file=sys.stderr)'
    assert carried_out('return 4', code)[2].startswith('4\n')


def test_beside_threads_nothing_is_copied(carried_out):
    code = (
        'threading.Thread(target=time.sleep, args=(1.0,), daemon=True).start()\n'
        'child = copied(line())\nprint(type(child), child.wait())'
    )
    assert carried_out('return 0', code)[1] == "<class 'subprocess.Popen'> 0\n"


def test_a_copy_that_crashed_is_started_again_as_another_one(carried_out, tmp_path):
    count = tmp_path / 'count'
    body = (
        f'with open({str(count)!r}, "a") as f: f.write("x")\n'
        f'if os.path.getsize({str(count)!r}) < 3: os.kill(os.getpid(), signal.SIGKILL)\nreturn 0'
    )
    code = (
        'from safe_sysid.bringup import run\nrun.PAUSE = 0.0\n'
        'print(Supervised({"node": line()}, copied).run())'
    )
    _, said, complaint = carried_out(body, code)
    assert (said, count.read_text()) == ('0\n', 'xxx')
    assert 'node ended with status -9, it is started again' in complaint


def test_what_is_imported_for_all_nodes_begins_no_thread_and_no_ros():
    """Otherwise nodes would be started anew, and an arm would wait."""
    bags = dict.fromkeys(BACKENDS, '') | {'replay': 'bag'}
    started = (processes_of(way, Choices(record='bag', bag=bag)) for way, bag in bags.items())
    modules = {each.module for processes in started for each in processes}
    named = sorted({each for module in modules for each in numerics_of(module)})
    assert {'safe_sysid.plan.online', 'safe_sysid.identify.online_identifier'} <= {*named}
    code = (
        f'import importlib, os, sys\nfor each in {named}: importlib.import_module(each)\n'
        'print(len(os.listdir("/proc/self/task")), "rclpy" in sys.modules)'
    )
    one = {**os.environ, 'OPENBLAS_NUM_THREADS': '1'}
    line = [sys.executable, '-c', code]
    done = subprocess.run(line, env=one, capture_output=True, text=True, check=True)
    assert done.stdout == '1 False\n'
