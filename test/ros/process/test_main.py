"""A node that compiles when it is told to end does not keep others waiting."""

import signal
import subprocess
import sys

import pytest
from tiers import slow_after

NODE = """
import sys, time
from rclpy.node import Node
from safe_sysid.ros.process import main

main.BUSY = 0.2

def work():
    print('busy', flush=True)
    begin = time.monotonic()
    while time.monotonic() - begin < 20 * main.BUSY or sys.argv[1] != 'callback of a bridge':
        pass
    print('done', flush=True)

class Busy(Node):
    needed_at_end = sys.argv[1] != 'callback of a planner'

    def __init__(self):
        super().__init__('busy')
        if sys.argv[1] == 'its making':
            work()
        self.timer = self.create_timer(0.01, self.on_timer)

    def on_timer(self):
        self.timer.cancel()
        work()

sys.exit(main.main_of(Busy))
"""


TURNS = """
import sys, time
from rclpy.node import Node
from safe_sysid.ros.process import main

class Waiting(Node):
    longest_turn = 4.0 if sys.argv[1] != 'who may' else None

    def __init__(self):
        super().__init__('waiting')
        self.begin = time.monotonic()
        self.timer = self.create_timer(0.01, self.on_timer)

    def on_timer(self):
        if sys.argv[1] != 'in short turns':
            time.sleep(15.0)
        if time.monotonic() - self.begin > 4.0:
            self.exit_status = 0

    def close(self):
        time.sleep(6.0)

sys.exit(main.main_of(Waiting))
"""


@pytest.mark.slow
@pytest.mark.parametrize('how', slow_after(1, ['in one turn', 'in short turns', 'who may']))
def test_who_waits_too_long_in_one_turn_ends_as_after_a_crash(how):
    """Another process may have left with a lock; only who says so is ended, and not in closing."""
    line = [sys.executable, '-c', TURNS, how]
    done = subprocess.run(line, capture_output=True, text=True, timeout=120.0, check=False)
    assert done.returncode == (1 if how == 'in one turn' else 0)
    assert ('in on_timer' in done.stderr) is (how == 'in one turn')


@pytest.mark.slow
@pytest.mark.parametrize(
    'where', slow_after(1, ['callback of a bridge', 'its making', 'callback of a planner'])
)
def test_who_is_busy_leaves_unless_an_arm_may_need_it(where):
    with subprocess.Popen(
        [sys.executable, '-c', NODE, where],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as node:
        try:
            assert node.stdout.readline() == 'busy\n'
            node.send_signal(signal.SIGINT)
            finished, said = node.communicate(timeout=120.0)
        finally:
            node.kill()
    assert node.returncode == 0
    assert finished == ('done\n' if where == 'callback of a bridge' else '')
    assert ('left in the middle of its work, told to by SIGINT' in said) == (not finished)


SLOW_TO_END = """
import os, signal, sys, time
from safe_sysid.ros.process import main

main.BUSY = 0.1

class Slow:
    def __del__(self, sleep=time.sleep):  # after Python has taken its signal handlers away
        sleep(5 * 0.1)

sys.slow = Slow()
signals = main.Signals()
os.kill(os.getpid(), signal.SIGINT)
signals.ignore()
sys.exit(main.FAULT)
"""


def test_a_process_that_takes_long_to_end_keeps_its_status():
    ended = subprocess.run([sys.executable, '-c', SLOW_TO_END], timeout=120.0, check=False)
    assert ended.returncode == 3


NEVER_CLOSES = """
import ctypes, faulthandler, os, sys, threading
from rclpy.node import Node
from safe_sysid.ros.process import main

main.CLOSING = 0.5
faulthandler.enable()

def stay():
    ctypes.PyDLL(None).poll(None, 0, -1)  # keeps the lock of Python for ever

class Closing(Node):
    exit_status = 0

    def __init__(self):
        super().__init__('closing')

    def destroy_node(self):
        stay()

class Falling(Closing):
    def destroy_node(self):
        thread = threading.Thread(target=ctypes.string_at, args=[0])
        thread.start()
        thread.join()

class Aborting(Closing):
    def destroy_node(self):
        os.abort()

class Leave:
    may_be_killed = True

    def ask(self, why, times):
        pass

    def is_due(self):
        return False

class Over(Node):
    leave = Leave()

    def __init__(self):
        super().__init__('over')
        self.calls = 0
        self.timer = self.create_timer(0.01, self.on_timer)

    def on_timer(self):
        self.calls += 1
        if self.calls > 9:
            stay()

nodes = {'closing': Closing, 'falling': Falling, 'aborting': Aborting, 'over': Over}
sys.exit(main.main_of(nodes[sys.argv[1]]))
"""


@pytest.mark.parametrize('where', slow_after(2, ['closing', 'over', 'falling', 'aborting']))
def test_a_process_whose_middleware_keeps_it_after_its_work_is_ended_by_the_kernel(where):
    ended = subprocess.run(
        [sys.executable, '-c', NEVER_CLOSES, where],
        timeout=120.0,
        check=False,
        capture_output=True,
    )
    assert ended.returncode == -signal.SIGALRM
    assert b'Fatal' not in ended.stderr  # as Python would say of a crash


LEAVES = """
import sys
from safe_sysid.ros.process import main

class TakenDown:
    def __del__(self, write=sys.stderr.write):
        write('taken down')

class Leaves:
    exit_status = 3
    leave = None

    def destroy_node(self):
        print('destroyed')

sys.kept = TakenDown()
main.spin = lambda node, signals: node.exit_status
main.main_of(Leaves)
"""


def test_a_process_ends_at_once_when_its_node_is_destroyed():
    ended = subprocess.run(
        [sys.executable, '-c', LEAVES], capture_output=True, text=True, timeout=120.0, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (3, 'destroyed\n', '')
