"""A run that begins by finding out whether its driver does what it is told."""

import os
import signal

import numpy as np
import pytest
from ros.effort_driver import CONTROLLER, HOLD
from ros.ending_loop import BRIDGE, PATIENCE, ending_loop, of_mujoco

pytest.importorskip('mujoco', reason='MuJoCo is an extra')
FAR = 0.05  # [rad]
PROBED = ('-p', f'{BRIDGE}:probe.driver:=probed', '-p', 'supervisor:autostart:=false')


@pytest.mark.slow
def test_learning_follows_by_itself_on_a_driver_that_obeys(tmp_path):
    with ending_loop(tmp_path, *PROBED, driver=of_mujoco(tmp_path)) as loop:
        loop.begin()
        loop.wait_for_motion(0.3)
        modes = loop.modes
        loop.signal()
        loop.expect_rest()
    assert modes[:3] == ['idle', 'probing', 'exciting']
    assert 'fault' not in modes


@pytest.mark.slow
def test_a_driver_that_ignores_efforts_is_a_fault_before_any_motion(tmp_path):
    with ending_loop(tmp_path, *PROBED, driver=of_mujoco(tmp_path, ignores=True)) as loop:
        loop.begin()
        loop.wait_for_mode('fault', PATIENCE)
        assert loop.modes[:3] == ['idle', 'probing', 'fault']
        loop.wait_to_read('the driver takes effort commands and does not act on them', 1)
        moved = [line['qd'] for line in loop.log if 'qd' in line]
        assert not any(map(any, moved))


@pytest.mark.slow
def test_an_arm_that_moves_against_its_commands_is_handed_over_at_once(tmp_path):
    """No torque of ours holds it: the position controller gets it as it is."""
    with ending_loop(tmp_path, *PROBED, driver=of_mujoco(tmp_path, sign=-1)) as loop:
        loop.begin()
        loop.wait_for_mode('fault', PATIENCE)
        loop.wait_to_read('sign', 1)
        held = loop.wait_after_controller(HOLD, 0.5)
        states = loop.states
    assert {line['active'] for line in held} == {HOLD}  # modes are told again meanwhile
    begin = np.array(states[0]['q'])
    assert np.abs(np.array([line['q'] for line in states]) - begin).max() < FAR


@pytest.mark.slow
def test_a_fault_before_the_driver_was_seen_to_obey_hands_the_arm_over(tmp_path):
    """The law that brakes may have the wrong sign on it; only the next probe takes it again."""
    slowly = ('-p', f'{BRIDGE}:probe.settling:=60.0')
    with ending_loop(tmp_path, *PROBED, *slowly, driver=of_mujoco(tmp_path)) as loop:
        loop.begin()
        loop.wait_for_mode('probing', PATIENCE)
        os.kill(loop.pid('supervisor'), signal.SIGKILL)  # started again: a fault
        loop.wait_for_mode('fault', PATIENCE)
        loop.wait_after_controller(HOLD, 0.5)
        loop.ask('reset_fault')
        loop.wait_for_mode('holding', PATIENCE)
        held = loop.wait_after_controller(HOLD, 2.0)
        assert {line['active'] for line in held} == {HOLD}
        loop.ask('start')
        loop.wait_for_mode('probing', PATIENCE)
        loop.wait_to_switch(CONTROLLER)
