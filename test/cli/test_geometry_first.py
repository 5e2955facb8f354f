"""Geometry goes into an arm before its inertias are identified, and is not lost by that."""

import re
import shlex
import shutil

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from safe_sysid.bench.calibrate import misbuilt
from safe_sysid.bench.experiments.calibration import altered, motion_in_limits, simulated_log
from safe_sysid.calibrate.kinematic_fit import tip_poses
from safe_sysid.cli.main import main
from safe_sysid.errors import MeasurementError
from safe_sysid.identify.difference import arm_evidence
from safe_sysid.model.arm import arm_of
from safe_sysid.model.promise_file import promise_file, promise_path
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.share import share_directory

MODEL = RobotModel.named('two_link')
DESCRIBED = share_directory() / 'urdf' / 'two_link.urdf'
SETTINGS = share_directory() / 'config' / 'robots' / 'two_link.yaml'


@pytest.fixture
def poses(tmp_path, rng):
    truth, marker = misbuilt(MODEL, rng)
    q = rng.uniform(MODEL.limits.position_lower, MODEL.limits.position_upper, (60, 2))
    R, p = tip_poses(truth, q, marker)
    table = np.hstack([q, p, Rotation.from_matrix(R).as_quat()])
    path, header = tmp_path / 'poses.csv', 'joint_1,joint_2,x,y,z,qx,qy,qz,qw'
    np.savetxt(path, table, '%.15g', ',', header=header, comments='')
    return str(path)


@pytest.fixture
def recording(tmp_path, rng):
    log = simulated_log(altered(MODEL, rng), motion_in_limits(MODEL, rng, 10.0, 200.0), rng)
    table = np.hstack([np.arange(len(log.q))[:, None] / 200.0, log.q, log.tau])
    path = tmp_path / 'empty.csv'
    np.savetxt(path, table, '%.9g', ',', header='t,q_0,q_1,tau_0,tau_1', comments='')
    return str(path)


@pytest.fixture
def calibrated(tmp_path):
    """An arm as calibrate leaves it, as far as file names go."""
    folder = tmp_path / 'calibrated'
    folder.mkdir()
    shutil.copy(DESCRIBED, folder)
    shutil.copy(SETTINGS, folder)
    promise_path(folder / 'two_link.urdf').touch()
    return folder


def geometry(poses, robot, out):
    return main(['calibrate-kinematics', poses, '--robot', str(robot), '--out', str(out)])


def test_geometry_does_not_replace_the_urdf_of_a_calibrated_arm(poses, calibrated, capsys):
    urdf = calibrated / 'two_link.urdf'
    before = urdf.read_bytes()
    for robot in ('two_link', calibrated / 'two_link.yaml'):
        assert geometry(poses, robot, calibrated) == 2
        said = capsys.readouterr()
        assert f'two_link.promise.npz was made for {urdf}' in said.err
        assert 'Geometry comes first, in a folder of its own' in said.err
        assert not said.out
    promise_path(urdf).unlink()
    assert geometry(poses, 'two_link', calibrated) == 2
    assert f'{calibrated / "two_link.yaml"} was made for {urdf}' in capsys.readouterr().err
    assert urdf.read_bytes() == before


def test_geometry_replaces_the_urdf_that_it_is_made_from(poses, calibrated):
    """Of an arm that nobody has calibrated, as `new-arm` leaves it; and its own, once more."""
    urdf = calibrated / 'two_link.urdf'
    before = urdf.read_bytes()
    promise_path(urdf).unlink()
    assert geometry(poses, calibrated / 'two_link.yaml', calibrated) == 0
    assert urdf.read_bytes() != before
    for _ in range(2):
        assert geometry(poses, 'two_link', calibrated.parent / 'geometry') == 0


def test_what_the_refusal_says_calibrates_with_the_geometry(
    poses, recording, calibrated, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    assert geometry(poses, 'two_link', 'calibrated') == 2
    first, second = re.findall('`safe-sysid ([^`]*)`', capsys.readouterr().err)
    assert main(shlex.split(first.replace('POSES', poses))) == 0
    assert main(shlex.split(second.replace('BAG', recording))) == 0
    of_poses = arm_of('geometry/two_link.urdf', None).model
    found = RobotModel.from_config(calibrated / 'two_link.yaml')
    np.testing.assert_allclose(found.tree.p_parent_joint, of_poses.tree.p_parent_joint)
    assert np.abs(found.tree.p_parent_joint - MODEL.tree.p_parent_joint).max() > 1e-5
    assert np.abs(found.theta - MODEL.theta).max() > 1e-2


def test_a_calibration_does_not_replace_geometry_that_it_does_not_read(
    recording, calibrated, capsys
):
    urdf, arguments = calibrated / 'two_link.urdf', ['calibrate', recording, '--out']
    before = urdf.read_bytes()
    promise_path(urdf).unlink()
    promise_file(urdf).write_text('arm: {urdf_sha256: "0"}', 'utf-8')
    assert main([*arguments, str(calibrated), '--robot', 'two_link']) == 2
    (calibrated / 'two_link.yaml').unlink()
    promise_file(urdf).unlink()
    assert main([*arguments, str(calibrated), '--robot', 'two_link']) == 2
    said = capsys.readouterr().err
    assert said.count('is not as calibrate has written it') == 2
    assert f'`--robot {urdf} --config {SETTINGS}`' in said
    assert urdf.read_bytes() == before


def test_no_promise_of_an_earlier_calibration_stays(recording, tmp_path, monkeypatch):
    def none(*_):
        raise MeasurementError('too short')

    urdf = tmp_path / 'out' / 'two_link.urdf'
    arguments = ['calibrate', recording, '--robot', 'two_link', '--out', str(urdf.parent)]
    assert main(arguments) == 0
    assert promise_file(urdf).exists()
    monkeypatch.setattr(arm_evidence, 'arm_evidence', none)
    assert main(arguments) == 0
    assert not promise_file(urdf).exists() and not promise_path(urdf).exists()
