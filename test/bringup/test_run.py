"""Processes that `safe-sysid run` supervises: started again, ended together, none left over."""

import os
import signal
import subprocess
import sys
import time

import pytest
from tiers import slow_after

from safe_sysid.bringup import run
from safe_sysid.bringup.run import BAD_FINDING, FAULT, SETTINGS_REFUSED, Supervised
from safe_sysid.own_domain import OWN_DOMAIN

LISTEN = 'import signal; signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])'  # as a node
FOREVER = [sys.executable, '-c', f'{LISTEN}; import time; time.sleep(100)']


def python(code):
    return [sys.executable, '-c', code]


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """It is restored after a process was started again."""
    monkeypatch.setenv(OWN_DOMAIN, os.environ.get(OWN_DOMAIN, ''))


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize(
    ('status', 'expected'),
    [(0, 0), (SETTINGS_REFUSED, SETTINGS_REFUSED), (FAULT, BAD_FINDING)],
)
def test_a_process_that_comes_to_its_end_ends_all(status, expected, tmp_path):
    file = tmp_path / 'pid'
    tells = (
        f'{LISTEN}; import os, time\nopen({str(file)!r}, "w").write(str(os.getpid()))\n'
        'time.sleep(100)'
    )
    waits = f'import os, sys, time\nwhile not os.path.exists({str(file)!r}): time.sleep(0.01)\n'
    lines = {'stays': python(tells), 'ends': python(f'{waits}sys.exit({status})')}
    assert Supervised(lines).run() == expected
    deadline = time.monotonic() + 10.0
    while not file.read_text():
        assert time.monotonic() < deadline
    assert not is_running(int(file.read_text()))


def test_a_process_that_crashes_is_started_again(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(run, 'PAUSE', 0.0)
    count = tmp_path / 'count'
    code = (
        f'import os, signal\nwith open({str(count)!r}, "a") as f: f.write("x")\n'
        f'if os.path.getsize({str(count)!r}) < 3: os.kill(os.getpid(), signal.SIGKILL)'
    )
    assert Supervised({'node': python(code), 'stays': FOREVER}).run() == 0
    assert count.read_text() == 'xxx'
    assert 'node ended with status -9, it is started again' in capfd.readouterr().err


def test_who_is_started_again_is_not_told_that_nobody_was_there_before(tmp_path, monkeypatch):
    monkeypatch.setattr(run, 'PAUSE', 0.0)
    monkeypatch.setenv(OWN_DOMAIN, '7')
    told = tmp_path / 'told'
    code = (
        f'import os\nwith open({str(told)!r}, "a") as f:\n'
        f'    f.write(os.environ.get("{OWN_DOMAIN}", "-"))\n'
        f'raise SystemExit(os.path.getsize({str(told)!r}) < 2)'
    )
    assert Supervised({'node': python(code), 'stays': FOREVER}).run() == 0
    assert told.read_text() == '7-'


def test_a_process_that_always_crashes_ends_all(monkeypatch, capfd):
    monkeypatch.setattr(run, 'PAUSE', 0.0)
    monkeypatch.setattr(run, 'CRASHES', 2)
    assert Supervised({'node': python('raise SystemExit(1)')}).run() == BAD_FINDING
    assert 'node ended with status 1 for the 3. time; all end' in capfd.readouterr().err


def test_ctrl_c_reaches_every_process_once_and_ends_with_status_0(tmp_path):
    log = tmp_path / 'log'
    node = (
        'import signal, sys, time\n'
        f'log = open({str(log)!r}, "a", buffering=1)\n'
        'signal.signal(signal.SIGINT, lambda *_: (log.write("asked\\n"), sys.exit(0)))\n'
        f'{LISTEN}\n'
        'log.write("ready\\n")\ntime.sleep(100)'
    )
    code = (
        'import sys\nfrom safe_sysid.bringup.run import Supervised\n'
        f'node = [sys.executable, "-c", {node!r}]\n'
        'sys.exit(Supervised({"a": node, "b": node}).run())'
    )
    process = subprocess.Popen([sys.executable, '-c', code])
    try:
        deadline = time.monotonic() + 30.0
        while not log.exists() or log.read_text().count('ready') < 2:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30.0) == 130
    finally:
        process.kill()
    assert log.read_text().count('asked') == 2


def test_after_ctrl_c_nobody_is_started_any_more(tmp_path):
    """It may come while numerics are imported for a node, which takes seconds."""
    file = tmp_path / 'begun'
    begins = python(f'open({str(file)!r}, "w").close()\nimport time; time.sleep(100)')
    lines = {'a': begins, 'b': begins}
    asked = run.Supervised(lines, prepare=lambda _: os.kill(os.getpid(), signal.SIGINT)).run()
    assert asked == 130
    assert not file.exists()


@pytest.mark.parametrize('node', ['monitor', 'recorder', 'planner'])
def test_who_ends_just_before_the_run_is_not_said_to_be_started_again(node, capfd):
    """Nor is it, whatever it was that ended it."""
    status = 1 if node == 'planner' else 0
    supervised = Supervised({node: python(f'raise SystemExit({status})'), 'ends': python('')})
    for each in supervised._lines:
        supervised._start(each)
        supervised._running[each].wait()
        supervised._look()
    assert supervised._ended() == 0
    assert capfd.readouterr().err == ''


@pytest.mark.parametrize('status', slow_after(1, [FAULT, 0, 1]))
def test_a_recorder_never_ends_a_run(status, monkeypatch, capfd, tmp_path):
    """Not by its exit status, and not by crashing again and again."""
    monkeypatch.setattr(run, 'PAUSE', 0.0)
    monkeypatch.setattr(run, 'CRASHES', 2)
    over, say = tmp_path / 'over', run._say
    monkeypatch.setattr(
        run, '_say', lambda said: say(said) or ('others go on' in said and over.touch())
    )
    waits = f'import os, time\nwhile not os.path.exists({str(over)!r}): time.sleep(0.05)'
    lines = {'recorder': python(f'raise SystemExit({status})'), 'waits': python(waits)}
    assert Supervised(lines).run() == 0
    said = capfd.readouterr().err
    assert said.count('it is started again') == 2
    assert f'recorder ended with status {status} for the 3. time; the others go on' in said


def test_a_recorder_that_ends_with_the_others_leaves_no_fault(tmp_path):
    """It may be started again at that very moment, and has no say then either."""
    begun = tmp_path / 'begun'
    recorder = (
        f'open({str(begun)!r}, "w"); import time; time.sleep(2.0); raise SystemExit({FAULT})'
    )
    waits = f'import os, time\nwhile not os.path.exists({str(begun)!r}): time.sleep(0.05)'
    ignored = 'import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); '
    lines = {'recorder': python(ignored + recorder), 'waits': python(waits)}
    assert Supervised(lines).run() == 0


def test_settings_are_refused_at_the_start_only(tmp_path, monkeypatch, capfd):
    """A process that ends like that later has crashed: it may have been under torque."""
    monkeypatch.setattr(run, 'PAUSE', 0.0)
    count = tmp_path / 'count'
    code = (
        f'import os, signal\nwith open({str(count)!r}, "a") as f: f.write("x")\n'
        f'if os.path.getsize({str(count)!r}) == 1: os.kill(os.getpid(), signal.SIGKILL)\n'
        f'if os.path.getsize({str(count)!r}) == 2: raise SystemExit({SETTINGS_REFUSED})'
    )
    assert Supervised({'node': python(code), 'stays': FOREVER}).run() == 0
    assert count.read_text() == 'xxx'
    assert f'node ended with status {SETTINGS_REFUSED}, it is' in capfd.readouterr().err


def test_a_bridge_that_crashes_while_all_end_is_told_to_end_as_well(tmp_path, monkeypatch):
    monkeypatch.setattr(run, 'PAUSE', 0.0)
    monkeypatch.setattr(run, 'REMINDER', 2.0)
    count = tmp_path / 'count'
    code = (
        f'import os, signal, time\nwith open({str(count)!r}, "a") as f: f.write("x")\n'
        'def ask(*_): os._exit(0 if again else 1)\n'
        f'again = os.path.getsize({str(count)!r}) > 1\n'
        f'signal.signal(signal.SIGINT, ask)\n{LISTEN}\ntime.sleep(100)'
    )
    waits = f'import os, time\nwhile not os.path.exists({str(count)!r}): time.sleep(0.01)\n'
    ends = python(f'{waits}time.sleep(0.5)')
    assert Supervised({'ros2_control_bridge': python(code), 'ends': ends}).run() == 0
    assert count.read_text() == 'xx'


@pytest.mark.parametrize('number', slow_after(1, [signal.SIGALRM, signal.SIGINT]))
def test_a_bridge_that_the_kernel_ends_after_its_work_is_not_started_again(number, capfd):
    """It has let the arm go; another one would take hold of nothing, and ends nothing."""
    code = (
        'import os, signal, time\ndef end(*_):\n    signal.signal(signal.SIGINT, signal.SIG_DFL)\n'
        f'    os.kill(os.getpid(), {int(number)})\n'
        f'signal.signal(signal.SIGINT, end)\n{LISTEN}\ntime.sleep(100)'
    )
    ends = python('import time; time.sleep(2.0)')
    assert Supervised({'ros2_control_bridge': python(code), 'ends': ends}).run() == 0
    assert 'started again' not in capfd.readouterr().err


HOLDS = f"""
import signal, sys, time
asked = []
def ask(*_):
    asked.append(time.monotonic())
    print('asked', flush=True)
signal.signal(signal.SIGINT, ask)
signal.signal(signal.SIGTERM, ask)
{LISTEN}
print('ready', flush=True)
while len(asked) < 2 or time.monotonic() - asked[0] < 1.0:
    time.sleep(0.01)
"""


def test_who_holds_an_arm_is_asked_once_for_each_ctrl_c_and_never_killed():
    """Patience with all the others is over long before."""
    code = (
        'import sys\nfrom safe_sysid.bringup import run\nrun.PATIENCE = (0.1, 0.1)\n'
        f'lines = {{"ros2_control_bridge": [sys.executable, "-c", {HOLDS!r}]}}\n'
        'sys.exit(run.Supervised(lines).run())'
    )
    with subprocess.Popen([sys.executable, '-c', code], stdout=subprocess.PIPE, text=True) as all_:
        try:
            assert all_.stdout.readline() == 'ready\n'
            for _ in range(2):
                all_.send_signal(signal.SIGINT)
                assert all_.stdout.readline() == 'asked\n'
            assert all_.wait(timeout=30.0) == 130
            assert all_.stdout.read() == ''
        finally:
            all_.kill()


def test_ctrl_c_waits_until_a_process_listens(tmp_path, capfd):
    """Python would end its imports with a traceback."""
    begins = tmp_path / 'begins'
    node = (
        f'import signal, time\nopen({str(begins)!r}, "w").close()\n'
        'while signal.SIGINT not in signal.sigpending(): time.sleep(0.01)\n'
        'from safe_sysid.ros.process.main import main_of\n'
        'raise SystemExit(main_of(lambda: print("made")))'
    )
    waits = f'import os, time\nwhile not os.path.exists({str(begins)!r}): time.sleep(0.01)\n'
    refuses = python(f'{waits}raise SystemExit({SETTINGS_REFUSED})')
    assert Supervised({'node': python(node), 'refuses': refuses}).run() == SETTINGS_REFUSED
    assert capfd.readouterr() == ('', '')
