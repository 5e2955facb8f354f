"""The loop learns what an arm holds that nothing of ours simulates, and does its task with it."""

import json
import subprocess
import sys

import numpy as np
import pytest
from ros.effort_driver import HOLD
from ros.ending_loop import MUJOCO
from ros.generated_messages import importable
from ros.running_loop import changed_settings

from safe_sysid.audit.loop_of_bag import loop_of_bag
from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.worker import die_with_parent

pytest.importorskip('mujoco', reason='MuJoCo is an extra')
PERIOD = 0.002  # [s]
ROBOT = 'kinova_gen3'
START = [-0.48, 0.05, -0.12, 0.17, 3.12, 0.13, -1.39]  # [rad]
GAIN = 0.01  # by which torques are reported wrong; the arm's file says up to 2.5 %
PATIENCE = 1500.0  # [s]; simulated time waits for a busy machine
BRIDGE = 'ros2_control_bridge'
MODES = ['idle', 'exciting', 'identified', 'task', 'identified', 'releasing', 'ended']
SETTINGS = {
    'all__period': PERIOD,
    # time stands still until a sample is answered: what is not, is not for want of a processor
    f'{BRIDGE}__period': 5.0,
    f'{BRIDGE}__hold_controller': HOLD,
    f'{BRIDGE}__guard__longest_step': 1.5 * PERIOD,
    'supervisor__stale': 30.0,
    'supervisor__autostart': True,
    'identifier__identifier__observation__torque_signal': 'held_until',
    'identifier__identifier__observation__window': 50,
    'identifier__identifier__observation__longest_step': 1.5 * PERIOD,
    'identifier__identifier__observation__velocity_error': [1e-5],
    'planner__planner__pace': 3.0,
    'planner__mission__exciting': 4,
    'identifier__identifier__observation__position_error': [0.0],
    'identifier__identifier__observation__torque_error': [0.0],
}


@pytest.mark.nightly
@pytest.mark.parametrize('pounds', [4, 5, 6, 7, 8])
def test_it_learns_and_does_its_task_with_the_truth_inside_and_no_fault(tmp_path, pounds):
    held = f'dumbbell_{pounds}lb'
    with importable('controller_manager_msgs'):
        run_to_the_end(tmp_path, held)
    loop = loop_of_bag(tmp_path / 'bag')  # beside the topics of the driver
    assert [mode for _, mode in loop.modes] == MODES
    assert loop.record.fault == ''
    estimates = loop.record.estimates
    model = RobotModel.named(ROBOT).with_payload(read_payload(held))
    truth = model.theta[model.layout.end_effector]
    assert np.all((estimates.lower <= truth) & (truth <= estimates.upper))
    widths = estimates.upper - estimates.lower
    assert widths[-1, 0] < 0.5 * widths[0, 0]  # of the mass


def run_to_the_end(tmp_path, held):
    """The loop, until its task is done and something else holds the arm."""
    settings = changed_settings(tmp_path, ROBOT, **SETTINGS)
    habits = {'robot': ROBOT, 'payload': held, 'start': START, 'period': PERIOD, 'gain': GAIN}
    habits |= {'pace': 'answer', 'clock': 'late', 'seconds_after': 0.1, 'switches': True}
    habits |= {'waits_with_effort': True, 'wraps': True}
    words = [f'{name}={json.dumps(value)}' for name, value in habits.items()]
    run = [sys.executable, '-m', 'safe_sysid.cli.main', 'run', 'gazebo_sim', '--robot', ROBOT]
    run += ['--config', str(settings), '--lockstep', '--once', '--record', str(tmp_path / 'bag')]
    plant = subprocess.Popen([sys.executable, str(MUJOCO), *words], preexec_fn=die_with_parent)
    with (tmp_path / 'said').open('w') as said:
        loop = subprocess.Popen(
            run,
            stdout=said,
            stderr=subprocess.STDOUT,
            preexec_fn=die_with_parent,
        )
    try:
        loop.wait(PATIENCE)
    finally:
        for process in (plant, loop):
            if process.poll() is None:
                process.kill()
            process.wait()
    assert loop.returncode == 0, (tmp_path / 'said').read_text()[-2000:]
