"""Commands of calibration: files in, files and figures out, refusals as sentences and status."""

from dataclasses import fields
import json
import re

from cli.recorded_arm import PAYLOAD, TORQUE_RATIO, Trial, as_bag
import numpy as np
import pinocchio as pin
import pytest
from scipy.spatial.transform import Rotation
from tiers import slow_after

from safe_sysid.bench import calibrate as bench_calibrate
from safe_sysid.bench.calibrate import misbuilt
from safe_sysid.bench.experiments.calibration import altered, motion_in_limits, simulated_log
from safe_sysid.bench.runner import run as run_bench
from safe_sysid.bench.settings import BenchSettings
from safe_sysid.calibrate.even_log import EvenLog
from safe_sysid.calibrate.kinematic_fit import Marker, tip_poses
from safe_sysid.calibrate.settings import CalibrationSettings
from safe_sysid.cli.main import main
from safe_sysid.config import from_mapping, read_yaml
from safe_sysid.model.inertia import is_consistent
from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.share import share_directory
from safe_sysid.simulate.excited_motion import fourier_motion, recorded, true_torque

MODEL = RobotModel.named('two_link')
RATE = 200.0


def written(path, log):
    n = log.q.shape[1]
    header = ','.join(['t', *(f'q_{i}' for i in range(n)), *(f'tau_{i}' for i in range(n))])
    t = np.arange(len(log.q))[:, None] / log.rate
    np.savetxt(
        path, np.hstack([t, log.q, log.tau]), fmt='%.9g', delimiter=',', header=header, comments=''
    )
    return str(path)


@pytest.fixture
def truth(rng):
    return altered(MODEL, rng)


@pytest.fixture
def recording(tmp_path, truth, rng):
    log = simulated_log(truth, motion_in_limits(MODEL, rng, 20.0, RATE), rng)
    return written(tmp_path / 'log.csv', log)


def answer(capsys, *arguments):
    status = main([*arguments, '--json'])
    return status, json.loads(capsys.readouterr().out)


def test_calibrate_writes_an_arm_that_predicts(recording, truth, tmp_path, capsys):
    out = tmp_path / 'out'
    status, found = answer(
        capsys, 'calibrate', recording, '--robot', 'two_link', '--out', str(out)
    )
    assert status == 0
    assert found['refused'] is None
    assert found['validation']['relative_error_filtered'] < 0.02
    assert found['validation']['filter_hz'] == 10.0
    assert {path.name for path in out.iterdir()} == {
        'report.md', 'report.html', 'two_link.yaml', 'two_link.urdf', 'two_link.xml',
        'torque_1.png', 'torque_2.png', 'two_link.promise.npz', 'two_link.promise.yaml',
    }  # fmt: skip
    read = RobotModel.from_config(out / 'two_link.yaml')
    assert read.theta == pytest.approx(np.array(found['x']), rel=1e-9, abs=1e-9)
    assert is_consistent(read.theta[:20].reshape(2, 10)).all()
    Fc = truth.layout.friction(truth.theta)[0]
    assert read.layout.friction(read.theta)[0] == pytest.approx(Fc, rel=0.05)


def test_the_report_says_what_a_person_needs(recording, tmp_path, capsys):
    out = tmp_path / 'out'
    assert (
        main(['calibrate', recording, '--robot', 'two_link', '--cutoff', '5', '--out', str(out)])
        == 0
    )
    printed = capsys.readouterr().out
    assert printed.strip() == (out / 'report.md').read_text(encoding='utf-8').strip()
    page = (out / 'report.html').read_text(encoding='utf-8')
    data = json.loads(page.partition('id="data">')[2].partition('</script>')[0])
    assert data['answer'][0].endswith('% of the torque is explained.')
    assert [section['heading'] for section in data['sections']] == [
        line.removeprefix('## ') for line in printed.splitlines() if line.startswith('## ')
    ]
    assert len(data['sections'][0]['plots']) == 2
    assert [len(row) for t in data['sections'] for x in t['tables'] for row in x['rows']] == [
        len(x['columns']) for t in data['sections'] for x in t['tables'] for row in x['rows']
    ]
    for words in (
        'of the torque filtered at 5 Hz',
        'of the torque as recorded',
        'white noise behind the same filter',
        '## Least known combinations',
        '| joint_2.Fv |',
        'Torques show combinations only',
        'log.csv: 4001 samples in 20.000 s',
    ):
        assert words in printed, words


@pytest.mark.slow
@pytest.mark.parametrize('late', slow_after(1, [4, 0]))
def test_torques_that_come_late_are_said_beside_the_files(late, truth, tmp_path, rng, capsys):
    log = simulated_log(truth, motion_in_limits(MODEL, rng, 20.0, RATE), rng)
    delayed = EvenLog(RATE, log.q[late:], log.tau[: len(log.tau) - late])
    path, out = written(tmp_path / 'log.csv', delayed), tmp_path / 'out'
    assert main(['calibrate', path, '--robot', 'two_link', '--out', str(out)]) == 0
    printed = capsys.readouterr().out
    found = re.search(r'Torques come (\S+) \+- \S+ ms after the positions', printed)
    assert (found is not None) == (late > 0)
    if found is not None:
        assert float(found[1]) == pytest.approx(1e3 * late / RATE, abs=1.0)
        assert found[0] in (out / 'report.md').read_text(encoding='utf-8')
        corrected(path, truth, re.search(r'`(--torque-delay=\S+)`', printed)[1], out, capsys)


def corrected(path, truth, option, out, capsys):
    """What the caution says to do makes it go away, and inertias and armature better."""
    errors = [error_of(out / 'two_link.yaml', truth)]
    for said, is_told in ((option, False), ('--torque-delay=0.04', True)):
        again = out.with_name(f'again{is_told}')
        assert main(['calibrate', path, '--robot', 'two_link', said, '--out', str(again)]) == 0
        printed = capsys.readouterr().out
        assert ('The fit was told 40 ms' in printed) == is_told
        assert ('**Caution.** Torques come' in printed) == is_told
        assert f'Torques were taken to come {1e3 * float(said[15:]):g} ms after' in printed
        errors.append(error_of(again / 'two_link.yaml', truth))
    assert errors[1] < 0.3 * errors[0]
    assert errors[1] < 0.3 * errors[2]


def error_of(file, truth):
    """How wrong the torques of a motion are without noise, as a share of them, rms."""
    found = RobotModel.from_config(file)
    rng = np.random.default_rng(5)
    motion = motion_in_limits(MODEL, rng, 5.0, RATE)
    tau, said = (true_torque(model, motion) for model in (truth, found))
    return np.sqrt(np.mean((said - tau) ** 2) / np.mean(tau**2))


def test_a_poor_recording_is_refused_and_no_arm_is_written(truth, tmp_path, rng, capsys):
    motion = motion_in_limits(MODEL, rng, 20.0, RATE)
    one = {name: np.repeat(getattr(motion, name)[:, :1], 2, axis=1) for name in ('q', 'qd', 'qdd')}
    path = written(tmp_path / 'phase.csv', simulated_log(truth, motion._replace(**one), rng))
    out = tmp_path / 'out'
    status, found = answer(capsys, 'calibrate', path, '--robot', 'two_link', '--out', str(out))
    assert status == 1
    assert 'poorly excited: 100.00 % of the motion is along one line' in found['refused']
    assert not list(out.glob('two_link.*'))
    assert '**Refused.**' in (out / 'report.md').read_text(encoding='utf-8')


def test_a_wrong_torque_sign_is_refused_at_once_and_the_cure_works(truth, tmp_path, rng, capsys):
    """No arm is written, and what the sentence says to say goes through."""
    log = simulated_log(truth, motion_in_limits(MODEL, rng, 20.0, RATE), rng)
    inverted = EvenLog(log.rate, log.q, log.tau * [1.0, -1.0])
    path, out = written(tmp_path / 'log.csv', inverted), tmp_path / 'out'
    arguments = ['calibrate', path, '--robot', 'two_link', '--out', str(out)]
    status, found = answer(capsys, *arguments)
    assert status == 1
    assert 'counted against the joint axes, joint_2 (friction -0.' in found['refused']
    assert '--torque-sign=1,-1, or effort_sign: -1 for joint_2' in found['refused']
    assert found['effort']['sign'] == [1.0, -1.0]
    assert [path.name for path in out.iterdir()] == ['report.md']
    assert f'**Refused.** {found["refused"]}.' in (out / 'report.md').read_text(encoding='utf-8')
    status, found = answer(capsys, *arguments, '--torque-sign=1,-1')
    assert (status, found['refused'], found['cautions']) == (0, None, [])
    assert found['validation']['relative_error_filtered'] < 0.02


def test_another_unit_of_effort_is_a_caution(truth, tmp_path, rng, capsys):
    log = simulated_log(truth, motion_in_limits(MODEL, rng, 20.0, RATE), rng)
    path = written(tmp_path / 'log.csv', EvenLog(log.rate, log.q, 0.02 * log.tau))
    assert main(['calibrate', path, '--robot', 'two_link']) == 0
    printed = capsys.readouterr().out
    assert '**Caution.** the effort signal is not of the size' in printed
    assert 'divide effort_scale' in printed


def test_sign_settings_and_another_recording_to_judge(recording, truth, tmp_path, rng, capsys):
    log = simulated_log(truth, motion_in_limits(MODEL, rng, 20.0, RATE), rng)
    other = written(tmp_path / 'other.csv', log)
    settings = tmp_path / 'mine.yaml'
    settings.write_text('cutoff: 8.0\nstribeck_velocities: [0.1, 0.3]\n', encoding='utf-8')
    status, found = answer(
        capsys, 'calibrate', recording, '--robot', 'two_link', '--validate', other,
        '--settings', str(settings), '--torque-sign=1,1',
    )  # fmt: skip
    assert status == 0
    assert found['settings']['cutoff'] == 8.0
    assert found['stribeck_velocity'] in (0.1, 0.3)
    settings.write_text('cutof: 8.0\n', encoding='utf-8')
    arguments = ['calibrate', recording, '--robot', 'two_link', '--settings', str(settings)]
    assert main(arguments) == 2
    assert "unknown key 'cutof', did you mean 'cutoff'?" in capsys.readouterr().err
    assert main(['calibrate', recording, '--robot', 'two_link', '--torque-sign=1,1,1']) == 2
    assert '--torque-sign has 3 entries; 1 or 2 are needed' in capsys.readouterr().err


def test_the_settings_file_names_every_choice_with_its_default():
    values = read_yaml(share_directory() / 'config' / 'calibration.yaml')
    assert from_mapping(CalibrationSettings, values, 'file') == CalibrationSettings()
    assert set(values) == {field.name for field in fields(CalibrationSettings)}


def poses_file(path, q, p, quaternions):
    header = [*(f'A{i + 1}' for i in range(7)), 'x', 'y', 'z']
    columns = [q, p]
    if quaternions is not None:
        header += ['qx', 'qy', 'qz', 'qw']
        columns.append(quaternions)
    np.savetxt(
        path, np.hstack(columns), fmt='%.15g', delimiter=',', header=','.join(header), comments=''
    )
    return str(path)


@pytest.mark.parametrize(('kind', 'rank'), [('poses', 34), ('points', 31)])
def test_kinematics_of_a_misbuilt_arm(kind, rank, tmp_path, rng, capsys):
    model = RobotModel.named('lbr_med7')
    truth, marker = misbuilt(model, rng)
    q = rng.uniform(model.limits.position_lower, model.limits.position_upper, (75, 7))
    R, p = tip_poses(truth, q, marker)
    quaternions = Rotation.from_matrix(R).as_quat() if kind == 'poses' else None
    path = poses_file(tmp_path / 'poses.csv', q, p, quaternions)
    status, found = answer(
        capsys, 'calibrate-kinematics', path, '--robot', 'lbr_med7', '--out', str(tmp_path)
    )
    assert status == 0
    assert (found['determined'], found['measured']) == (rank, kind)
    assert found['fitted_poses'] == 60
    assert found['held_out_position_largest_mm'] < 0.01
    assert found['warning'] is None
    assert (tmp_path / 'lbr_med7.urdf').exists()


def test_weight_stays_on_an_arm_whose_camera_hangs_upside_down(tmp_path, rng, capsys):
    source = pin.buildModelFromUrdf(str(share_directory() / 'urdf/lbr_med7.urdf'))
    data = source.createData()
    camera = pin.SE3(np.diag([1.0, -1.0, -1.0]), np.array([0.2, 0.0, 1.5]))
    q = rng.uniform(-2.0, 2.0, (60, 7))
    seen = []
    for row in q:
        pin.forwardKinematics(source, data, row)
        pose = camera.inverse() * data.oMi[7]
        seen.append([*pose.translation, *pin.Quaternion(pose.rotation).coeffs()])
    seen = np.array(seen)
    path = poses_file(tmp_path / 'poses.csv', q, seen[:, :3], seen[:, 3:])
    status, found = answer(
        capsys, 'calibrate-kinematics', path, '--robot', 'lbr_med7', '--out', str(tmp_path)
    )
    assert status == 0
    assert found['frame_xyz_m'] == pytest.approx([0.2, 0.0, 1.5], abs=1e-6)
    assert np.abs(found['frame_rpy_rad']) == pytest.approx([np.pi, 0.0, 0.0], abs=1e-6)
    assert found['joints'][0] == {'joint': 'A1', 'shift_mm': 0.0, 'turn_deg': 0.0, 'axis_deg': 0.0}
    written_arm = pin.buildModelFromUrdf(str(tmp_path / 'lbr_med7.urdf'))
    for row in q[:10]:
        expected = pin.computeGeneralizedGravity(source, data, row)
        torque = pin.computeGeneralizedGravity(written_arm, written_arm.createData(), row)
        assert torque == pytest.approx(expected, abs=1e-4)


def test_joint_positions_of_poses_in_degrees_are_named(tmp_path, rng, capsys):
    model = RobotModel.named('lbr_med7')
    q = rng.uniform(model.limits.position_lower, model.limits.position_upper, (60, 7))
    p = tip_poses(model, q, Marker(np.eye(3), np.array([0.05, 0.02, 0.1])))[1]
    path = poses_file(tmp_path / 'degrees.csv', np.degrees(q), p, None)
    out = tmp_path / 'out'
    arguments = ['calibrate-kinematics', path, '--robot', 'lbr_med7', '--out', str(out)]
    assert main(arguments) == 2
    assert 'within them as degrees: multiply them by 0.0174533' in capsys.readouterr().err
    assert not out.exists()


def test_poses_of_another_arm_are_a_warning(tmp_path, rng, capsys):
    model = RobotModel.named('lbr_med7')
    q = rng.uniform(model.limits.position_lower, model.limits.position_upper, (75, 7))
    p = tip_poses(model, q, Marker(np.eye(3), np.array([0.05, 0.02, 0.1])))[1]
    exchanged = poses_file(tmp_path / 'exchanged.csv', q[:, [0, 2, 1, 3, 4, 5, 6]], p, None)
    status, found = answer(capsys, 'calibrate-kinematics', exchanged, '--robot', 'lbr_med7')
    assert status == 1
    assert 'another unit, order or sense, or of another arm' in found['warning']
    noisy = poses_file(tmp_path / 'noisy.csv', q, p + 0.01 * rng.normal(size=p.shape), None)
    arguments = ['calibrate-kinematics', noisy, '--robot', 'lbr_med7']
    status, found = answer(capsys, *arguments)
    assert status == 1
    assert 'times what --position-noise says (0.1 mm;' in found['warning']
    assert answer(capsys, *arguments, '--position-noise', '0.01')[0] == 0  # it is stated


@pytest.mark.parametrize('order', slow_after(1, ['inverse', [3, 0, 1, 2]]))
def test_orientations_of_another_convention_are_a_warning(order, tmp_path, rng, capsys):
    """Points are fitted as ever, and their noise is stated, so nothing else is off."""
    model = RobotModel.named('lbr_med7')
    q = rng.uniform(model.limits.position_lower, model.limits.position_upper, (75, 7))
    R, p = tip_poses(model, q, Marker(np.eye(3), np.array([0.05, 0.02, 0.1])))
    quaternions = Rotation.from_matrix(R).as_quat()
    wrong = quaternions * [-1, -1, -1, 1] if order == 'inverse' else quaternions[:, order]
    path = poses_file(tmp_path / 'poses.csv', q, p, wrong)
    noise = ['--position-noise', '0.0005', '--rotation-noise', '0.03']
    status, found = answer(capsys, 'calibrate-kinematics', path, '--robot', 'lbr_med7', *noise)
    assert status == 1
    assert 'quaternions may be in another order than x, y, z, w' in found['warning']
    right = poses_file(tmp_path / 'right.csv', q, p, quaternions)
    status, found = answer(capsys, 'calibrate-kinematics', right, '--robot', 'lbr_med7', *noise)
    assert status == 0 and found['held_out_rotation_rms_deg'] < 1e-3


def test_pose_files_that_can_not_be_used_are_refused(tmp_path, rng, capsys):
    q, p = rng.normal(size=(30, 7)), rng.normal(size=(30, 3))
    path = poses_file(tmp_path / 'a.csv', q, p, 2.0 * np.tile([0, 0, 0, 1.0], (30, 1)))
    assert main(['calibrate-kinematics', path, '--robot', 'lbr_med7']) == 2
    assert 'the quaternion of row 1 has length 2, not 1' in capsys.readouterr().err
    model = RobotModel.named('lbr_med7')
    for far, words in ((1e3, 'x, y, z have to be in metres (millimetres?)'),
                       (1e4, 'x, y, z are in metres, and an arm reaches no farther')):  # fmt: skip
        _, points = tip_poses(model, q, Marker(np.eye(3), np.zeros(3)))
        path = poses_file(tmp_path / 'mm.csv', q, far * np.clip(points, -0.9, 0.9), None)
        assert main(['calibrate-kinematics', path, '--robot', 'lbr_med7']) == 2
        assert words in capsys.readouterr().err
    path = tmp_path / 'b.csv'
    path.write_text('A1,x\n1,2\n', encoding='utf-8')
    assert main(['calibrate-kinematics', str(path), '--robot', 'lbr_med7']) == 2
    assert "no columns ['A2', 'A3', 'A4', 'A5', 'A6', 'A7']" in capsys.readouterr().err


def test_gains_of_an_unknown_effort_signal_are_found(truth, tmp_path, rng, capsys):
    payload = read_payload('dumbbell_8lb')
    gain = np.array([-25.0, 4.0])
    paths = []
    for name, arm in (('without', truth), ('loaded', truth.with_payload(payload))):
        log = simulated_log(arm, motion_in_limits(MODEL, rng, 20.0, RATE), rng)
        log = EvenLog(log.rate, log.q, log.tau / gain)
        paths.append(written(tmp_path / f'{name}.csv', log))
    status, found = answer(
        capsys, 'calibrate-gains', *paths, '--robot', 'two_link', '--payload', 'dumbbell_8lb',
        '--torque-sign=1,-1',
    )  # fmt: skip
    assert status == 0
    assert [joint['effort_sign'] for joint in found['joints']] == [-1, 1]
    for joint, expected in zip(found['joints'], np.abs(gain), strict=True):
        assert abs(joint['effort_scale'] - expected) < 4.0 * joint['deviation']
        assert joint['deviation'] < 0.01 * expected


@pytest.mark.slow
def test_drift_tells_a_calibrated_arm_from_one_that_is_not(recording, tmp_path, capsys):
    out = tmp_path / 'out'
    assert main(['calibrate', recording, '--robot', 'two_link', '--out', str(out)]) == 0
    capsys.readouterr()
    _, found = answer(
        capsys, 'calibrate-drift', recording, '--robot', str(out / 'two_link.yaml'),
        '--against', 'two_link',
    )  # fmt: skip
    assert found['drift_mm_per_minute'] < 0.2 * found['against']['drift_mm_per_minute']
    zone = [str(x + 1e-6) for x in found['smallest_dead_zone_without_drift']]
    status, quiet = answer(
        capsys, 'calibrate-drift', recording, '--robot', str(out / 'two_link.yaml'),
        '--dead-zone', *zone,
    )  # fmt: skip
    assert (status, quiet['drift_mm_per_minute'], quiet['passed']) == (0, 0.0, True)


@pytest.mark.slow
def test_identify_reads_what_calibrate_writes(recording, truth, tmp_path, rng, capsys):
    """Of the description friction and links are wrong; of a calibrated arm both are right."""
    out = tmp_path / 'out'
    assert main(['calibrate', recording, '--robot', 'two_link', '--out', str(out)]) == 0
    capsys.readouterr()
    loaded = truth.theta.copy()
    loaded[truth.layout.end_effector] += PAYLOAD
    motion = fourier_motion(rng, 2, seconds=4.0, period=0.002, base=0.4)
    torque = true_torque(truth.with_parameters(loaded), motion)
    measured = torque / (1.0 + TORQUE_RATIO * rng.uniform(-1.0, 1.0, torque.shape))
    trial = Trial(MODEL, recorded(motion, measured), loaded[truth.layout.end_effector])
    path = str(as_bag(trial, tmp_path / 'loaded'))

    robot = str(out / 'two_link.yaml')
    status, found = answer(capsys, 'identify', path, '--robot', robot, '--velocity-error', '0')
    assert (status, found['refused'], found['caution']) == (0, None, None)
    payload = found['payload']
    lower, upper = np.array(payload['lower']), np.array(payload['upper'])
    assert (lower <= PAYLOAD).all() and (upper >= PAYLOAD).all()
    assert upper[0] - lower[0] < 1.0
    assert payload['nominal'][0] == pytest.approx(PAYLOAD[0], rel=0.05)

    status, found = answer(
        capsys, 'identify', path, '--robot', 'two_link', '--velocity-error', '0'
    )
    assert status == 1
    assert 'contradict the model' in found['refused']


@pytest.mark.slow
def test_bench_prints_its_keys(monkeypatch, tmp_path):
    monkeypatch.setattr(bench_calibrate, 'SECONDS', 10.0)
    monkeypatch.setattr(bench_calibrate, 'RATE', 200.0)
    monkeypatch.setattr(bench_calibrate, 'LONG', 10.0)
    figures = run_bench('calibrate', BenchSettings(1, 1, quick=True, plots=tmp_path), print)
    assert {'sdp_s', 'recording_s', 'validation_ratio_to_truth'} <= figures.keys()
    assert (figures['sdp_rows'], figures['sdp_parameters']) == (2002, 98)
    assert [row['rank'] for row in figures['kinematics']] == [34, 31]
    assert max(row['error_after_um'] for row in figures['kinematics']) < 10.0
    assert 0.9 < figures['validation_ratio_to_truth'] < 1.2
    assert abs(figures['log_cholesky_objective_excess']) < 1e-7
    assert (tmp_path / 'calibrate_scores.svg').exists()
