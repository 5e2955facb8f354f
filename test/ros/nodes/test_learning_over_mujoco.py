"""The loop learns what an arm holds that nothing of ours simulates, and does its task with it.

    python -m pytest -m nightly test/ros/nodes/test_learning_over_mujoco.py --junitxml=seen.xml
    python tools/learning_table.py seen.xml

Readings are as wrong as the file of the arm says: see `integration.driven_kinova`.
"""

import json
import subprocess
import sys

from integration.driven_kinova import (
    GOAL,
    OBSERVATION,
    PERIOD,
    POUNDS,
    ROBOT,
    SPREAD,
    START,
    habits,
    stated_arm,
    truth_of,
)
import numpy as np
import pytest
from ros.effort_driver import HOLD
from ros.ending_loop import MUJOCO
from ros.generated_messages import importable
from ros.running_loop import changed_settings

from safe_sysid.audit.loop_of_bag import loop_of_bag
from safe_sysid.worker import die_with_parent

pytest.importorskip('mujoco', reason='MuJoCo is an extra')
SEEDS = range(20)
PATIENCE = 1500.0  # [s]; simulated time waits for a busy machine
BRIDGE = 'ros2_control_bridge'
MODES = ['idle', 'exciting', 'task', 'identified', 'releasing', 'ended']
SETTINGS = {
    'all__period': PERIOD,
    # time stands still until a sample is answered: what is not, is not for want of a processor
    f'{BRIDGE}__patience': 5.0 / PERIOD,
    f'{BRIDGE}__hold_controller': HOLD,
    f'{BRIDGE}__guard__longest_step': 1.5 * PERIOD,
    'supervisor__stale': 30.0,
    'supervisor__autostart': True,
    'planner__planner__pace': 3.0,
    'planner__mission__exciting': 3,
    'planner__goal': GOAL,
    **{f'identifier__identifier__observation__{key}': x for key, x in OBSERVATION.items()},
}


@pytest.mark.nightly
@pytest.mark.parametrize('seed', SEEDS)
def test_it_learns_and_does_its_task_with_the_truth_inside_and_no_fault(
    tmp_path, seed, record_property
):
    held = f'dumbbell_{POUNDS[seed % len(POUNDS)]}lb'
    with importable('controller_manager_msgs'):
        run_to_the_end(tmp_path, held, seed)
    loop = loop_of_bag(tmp_path / 'bag')  # beside the topics of the driver
    assert [mode for _, mode in loop.modes] == MODES
    assert loop.record.fault == ''
    estimates, truth = loop.record.estimates, truth_of(held)
    assert np.all((estimates.lower <= truth) & (truth <= estimates.upper))
    widths = estimates.upper - estimates.lower
    assert widths[-1, 0] < 0.6 * widths[0, 0]  # of the mass
    bounds = [estimates.lower[-1, 0], truth[0], estimates.upper[-1, 0], loop.record.time[-1]]
    record_property('learned', json.dumps([seed, held, *np.round(bounds, 3).tolist()]))


def run_to_the_end(folder, held, seed):
    """The loop, until its task is done and something else holds the arm."""
    arm = {'all__robot': str(stated_arm(folder))}
    settings = changed_settings(folder, ROBOT, **SETTINGS, **arm)
    plant = {'robot': ROBOT, 'payload': held, 'start': START, 'spread': SPREAD, **habits(seed)}
    plant |= {'pace': 'answer', 'clock': 'late', 'seconds_after': 0.1, 'switches': True}
    plant |= {'waits_with_effort': True}
    words = [f'{name}={json.dumps(value)}' for name, value in plant.items()]
    run = [sys.executable, '-m', 'safe_sysid.cli.main', 'run', 'gazebo_sim']
    run += ['--config', str(settings), '--once', '--record', str(folder / 'bag')]
    driver = subprocess.Popen([sys.executable, str(MUJOCO), *words], preexec_fn=die_with_parent)
    with (folder / 'said').open('w') as said:
        loop = subprocess.Popen(
            run,
            stdout=said,
            stderr=subprocess.STDOUT,
            preexec_fn=die_with_parent,
        )
    try:
        loop.wait(PATIENCE)
    finally:
        for process in (driver, loop):
            if process.poll() is None:
                process.kill()
            process.wait()
    assert loop.returncode == 0, (folder / 'said').read_text()[-2000:]
