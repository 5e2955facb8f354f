"""The loop in one process learns and does its task through readings as wrong as stated.

Between arm and loop is the driver of `tools/mujoco_sim`: see `driven_kinova`. Over middleware:
`test/ros/nodes/test_learning_over_mujoco.py`.
"""

from integration.driven_kinova import (
    GOAL,
    POUNDS,
    DrivenArm,
    learned_and_done,
    stated_arm,
    truth_of,
)
import numpy as np
import pytest

pytest.importorskip('mujoco', reason='MuJoCo is an extra')
NEAR = 0.02  # [rad] of the goal: 0.01 of the mission, and the tracking error


@pytest.mark.slow
@pytest.mark.parametrize(
    'seed', [0, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(1, 20))]
)
def test_it_learns_and_goes_where_it_is_to_with_the_truth_inside(tmp_path, seed):
    held = f'dumbbell_{POUNDS[seed % len(POUNDS)]}lb'
    robot = DrivenArm(held, seed)
    record = learned_and_done(stated_arm(tmp_path), robot).record()
    assert record.fault == ''
    estimates, truth = record.estimates, truth_of(held)
    assert np.all((estimates.lower <= truth) & (truth <= estimates.upper))
    widths = estimates.upper - estimates.lower
    assert widths[-1, 0] < 0.6 * widths[0, 0]  # of the mass
    assert np.all(np.abs(record.error) <= record.error_bound)
    away = np.angle(np.exp(1j * (robot.driver.arm.q - GOAL)))
    assert np.abs(away).max() < NEAR
    assert np.abs(robot.driver.arm.qd).max() < 0.01
