"""Whatever ends while the arm moves, it comes to rest on its plan and something holds it.

The arm and its driver are not ours: `ros.effort_driver`, which repeats the last torque for ever.
"""

import os
import signal

import pytest
from ros.ending_loop import SOON, ending_loop
from ros.faulty_loop import ROOMY
from ros.running_loop import observed, running

LENGTH = ROOMY['planner__planner__duration']  # [s] of a plan, whose second half brakes
LEAVE = 60.0  # [s] for all processes, on a machine that is busy with other tests
MOMENTS = (0.3, 1.0, 1.9, 2.6)  # [s] after its start
KILLED = ('identifier', 'planner', 'controller', 'supervisor', 'monitor', 'recorder')


@pytest.mark.slow
def test_ctrl_c_in_motion_brings_the_arm_to_rest_and_hands_it_back(tmp_path):
    """Pressed again and again, it is answered and shortens nothing."""
    with ending_loop(tmp_path) as loop:
        loop.wait_for_motion(0.7)
        loop.signal()
        loop.wait_to_read('the run ends', 1)
        for times in (1, 2):
            loop.signal()
            loop.wait_to_read('at rest in at most', times)
        loop.expect_rest()
        assert loop.process.returncode == 130


@pytest.mark.slow
def test_the_service_ends_a_run_as_a_signal_does():
    # in lockstep: in real time its 1 kHz would leave no processor to the test beside it
    line = 'builtin_sim', '--robot', 'two_link', '--lockstep'
    with running(*line) as process, observed() as observer:
        observer.wait(lambda: observer.mode is not None, 'a mode')
        assert observer.call('supervisor/end').success
        observer.wait(lambda: observer.mode == 'ended', 'the arm is in other hands')
        assert process.wait(LEAVE) == 0


@pytest.mark.nightly
@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize('moment', MOMENTS)
def test_a_signal_at_any_moment_brings_the_arm_to_rest(tmp_path, number, moment):
    # a successor takes over where a plan ends: no plan would get so old otherwise
    with ending_loop(tmp_path, planner__planner__switch=LENGTH) as loop:
        loop.wait_for_motion(moment)
        loop.signal(number)
        loop.expect_rest()
        assert loop.process.returncode == {signal.SIGINT: 130, signal.SIGTERM: 0}[number]


@pytest.mark.nightly
@pytest.mark.parametrize('node', KILLED)
def test_the_arm_comes_to_rest_when_a_process_dies_and_nobody_waits_for_another(tmp_path, node):
    """Ctrl-C follows at once, before the dead one is back."""
    with ending_loop(tmp_path, '--record', str(tmp_path / 'bag'), **SOON) as loop:
        loop.wait_for_motion(0.8)
        os.kill(loop.pid(node), signal.SIGKILL)
        loop.signal()
        loop.expect_rest()


@pytest.mark.nightly
def test_a_run_that_is_killed_leaves_no_process_and_an_arm_at_rest(tmp_path):
    """So does `ros2 launch` that gets SIGTERM: it dies at once, and its nodes are told by that."""
    with ending_loop(tmp_path) as loop:
        loop.wait_for_motion(0.8)
        nodes = loop.pids()
        loop.process.kill()
        loop.expect_rest()
        loop.expect_none_of(nodes)


@pytest.mark.nightly
def test_a_fault_under_once_ends_at_rest_with_status_1(tmp_path):
    with ending_loop(tmp_path, '--once', **SOON) as loop:
        loop.wait_for_motion(0.8)
        os.kill(loop.pid('controller'), signal.SIGKILL)
        loop.expect_rest()
        assert loop.process.returncode == 1


@pytest.mark.nightly
def test_the_end_of_a_task_under_once_hands_the_arm_back(tmp_path):
    task = {'planner__mission__exciting': 1, 'supervisor__task_follows': True}
    with ending_loop(tmp_path, '--once', **task) as loop:
        loop.wait_for_motion(0.8)
        loop.expect_rest()
        assert loop.process.returncode == 0
