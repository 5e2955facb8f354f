"""Fits of real recordings are as good as plain least squares is known to be on them, or better.

The recordings are not part of this repository: they are looked for in the folder that
SAFE_SYSID_DATA names, or in ../shared/data beside the checkout.
"""

from dataclasses import replace
import os
from pathlib import Path

import numpy as np
import pytest
from tiers import slow_after

from safe_sysid.calibrate.calibration import calibrate
from safe_sysid.calibrate.effort_check import EffortError
from safe_sysid.calibrate.even_log import EvenLog
from safe_sysid.calibrate.even_recording import even_recording
from safe_sysid.calibrate.settings import CalibrationSettings
from safe_sysid.measure.csv_log import Columns
from safe_sysid.measure.recording_choice import RecordingChoice, recording_of_choice
from safe_sysid.model.arm import arm_of

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get('SAFE_SYSID_DATA', ROOT.parent / 'shared' / 'data'))
if not DATA.exists():
    pytest.skip(
        f'real recordings are not in {DATA}; name their folder in SAFE_SYSID_DATA',
        allow_module_level=True,
    )
SETTINGS = CalibrationSettings()


def calibrated(robot, recording, cutoff, sign=1.0, names='{joint}', rate=None):
    model = arm_of(str(DATA / robot), None).model
    choice = RecordingChoice(DATA / recording, None, names, Columns(rate=rate))
    recording = recording_of_choice(choice, model.layout.joint_names)
    signs = np.broadcast_to(sign, model.n)
    logs = even_recording(recording, signs, np.ones(model.n), model.limits.is_continuous)
    return calibrate(model, logs, [], replace(SETTINGS, cutoff=cutoff))


def test_med7_with_tool():
    found = calibrated(
        'kuka_med7_tian/med7dock.urdf',
        'kuka_med7_tian/measurements_with_ext_tau_1_dgr.csv',
        10.0,
        sign=-1.0,
        rate=100.0,
    )
    assert found.refused is None
    assert found.validation.relative < 0.046
    assert found.validation.relative_recorded < 0.046
    assert found.validation.relative < 0.3 * found.validation_nominal.relative
    assert found.cautions() == found.drives.cautions()  # some friction is too small to be told
    assert not found.drives.standing.any()


@pytest.mark.parametrize('wrong', slow_after(2, [*range(7), 'all']))
def test_a_wrong_torque_sign_of_the_med7_is_refused(wrong):
    """Of A1, on which no weight acts, and A7, whose body is nearly balanced, too."""
    sign = np.full(7, -1.0)
    sign[slice(None) if wrong == 'all' else wrong] *= -1.0
    with pytest.raises(EffortError) as error:
        calibrated(
            'kuka_med7_tian/med7dock.urdf',
            'kuka_med7_tian/measurements_with_ext_tau_1_dgr.csv',
            10.0,
            sign=sign,
            rate=100.0,
        )
    for joint in range(7):
        named = f'A{joint + 1} (friction' in str(error.value)
        assert named == (wrong in ('all', joint))


def test_panda_at_1_khz():
    """Above 10 Hz 2.5 % of its torque are noise, which no prediction has."""
    found = calibrated('ros2bag_unisa/panda_arm.urdf', 'panda_1khz/panda_1khz.csv', 10.0)
    assert found.refused is None
    assert found.validation.relative < 0.0175
    assert found.validation.relative_recorded < 0.03
    assert found.cautions() == found.drives.cautions()  # some friction is too small to be told
    assert not found.drives.standing.any()


def test_ur10_bag():
    found = calibrated(
        'ros2bag_unisa/ur10_robot.urdf', 'ros2bag_unisa/ur10_exciting_trajectory.db3', 3.0
    )
    assert found.refused is None
    assert max(found.validation.relative, found.validation.relative_recorded) < 0.079
    assert found.cautions() == found.drives.cautions()  # some friction is too small to be told
    assert not found.drives.standing.any()
    assert 'shoulder_lift_joint.Ia' in found.cautions()[0]  # at the edge of what may be


def test_panda_bag():
    found = calibrated(
        'ros2bag_unisa/panda_arm.urdf',
        'ros2bag_unisa/panda_exciting_trajectory.db3',
        2.0,
        names='fer_joint{n}',
    )
    assert found.refused is None
    assert found.validation.relative < 0.025
    assert found.cautions() == found.drives.cautions()  # some friction is too small to be told
    assert not found.drives.standing.any()


def test_joints_in_phase_are_refused():
    """Columns of this recording are in another order than the joints."""
    folder = DATA / 'kuka_med7_tian'
    model = arm_of(str(folder / 'med7dock.urdf'), None).model
    columns = {}
    for what in ('positions', 'efforts'):
        path = folder / f'joint_states_{what}.csv'
        names = path.read_text(encoding='utf-8').split('\n', 1)[0].strip().split(',')
        table = np.loadtxt(path, delimiter=',', skiprows=1)
        order = [names.index(f'lbr_joint_{i}') for i in range(7)]
        columns[what] = table[:, order]
        rate = 1.0 / np.median(np.diff(table[:, 0]))
    log = EvenLog(rate, columns['positions'], -columns['efforts'])
    found = calibrate(model, [log], [], SETTINGS)
    assert 'all joints in phase' in str(found.refused)


def test_friction_of_a_tx40_is_the_published_one():
    """Published with other columns: fv of joint 5 there contains that of the coupled motor."""
    folder = DATA / 'tx40_figaroh'
    model = arm_of(str(folder / 'tx40_mdh_modified.urdf'), None).model
    q_motor, tau_motor = (
        np.loadtxt(folder / f'{name}.csv', delimiter=',', skiprows=1)
        for name in ('pos_read_data', 'curr_data')
    )
    gear = np.diag([32.0, 32.0, 45.0, -48.0, 45.0, 32.0])
    gear[5, 4] = 32.0
    q = np.linalg.solve(gear, q_motor.T).T + np.array([0, -np.pi / 2, np.pi / 2, 0, 0, 0])
    log = EvenLog(5000.0, q, tau_motor @ gear)
    settings = replace(SETTINGS, couplings=(('joint_5', 'joint_6'),))
    found = calibrate(model, [log], [], settings)
    Fc, Fv, _, _ = model.layout.friction(found.theta)
    coupled = found.x[model.layout.size + 1]
    assert Fc[:5] == pytest.approx([7.14, 8.26, 6.34, 2.48, 3.03], rel=0.1)
    assert Fv[:4] == pytest.approx([8.05, 5.53, 1.97, 1.11], rel=0.1)
    assert Fv[4] + coupled == pytest.approx(1.86, rel=0.1)
    assert found.columns.labels[model.layout.size + 1] == 'joint_6.coupled_Fv'
