"""Payloads from a wrist sensor and from poses at rest, with wrenches and weights by Pinocchio."""

import json

from identify.difference.two_recordings import coloured
from measure.bag.bags import BEGIN, Bag, wrench_stamped
import numpy as np
import pinocchio as pin
import pytest

from safe_sysid.api.payload import identify_payload
from safe_sysid.bench.experiments.calibration import altered, motion_in_limits
from safe_sysid.cli.main import main
from safe_sysid.errors import ConfigError, MeasurementError, ModelError
from safe_sysid.identify.payload_in_frame import into_frame
from safe_sysid.identify.recording_settings import RecordingSettings
from safe_sysid.model import inertia
from safe_sysid.model.robot_model import RobotModel

RATE = 100.0
TOOL = inertia.from_mass_com_inertia(np.array(0.9), np.array([0.0, 0.01, 0.05]), 1e-3 * np.eye(3))
BODY = inertia.from_mass_com_inertia(
    np.array(1.8), np.array([0.03, 0.02, 0.12]), np.diag([4e-3, 5e-3, 3e-3])
)
MODEL = RobotModel.named('ur5e')
FRAME = MODEL.frames['tool0']
PAYLOAD = into_frame(FRAME) @ BODY
NAMES = MODEL.layout.joint_names
BODIES = (TOOL, TOOL + BODY)
AXES = ('fx', 'fy', 'fz', 'tx', 'ty', 'tz')
SENSOR = RecordingSettings(sensor='tool0', flange='tool0', gain_error=0.01)


class Sensor:
    """A sensor at the flange with a bias, turned axes, drift, and either sense."""

    def __init__(self, rng, turn=0.06, sense=1.0):
        self.rng, self.sense = rng, sense
        axis = rng.normal(size=3)
        self.R = pin.exp3(turn * axis / np.linalg.norm(axis))
        self.bias = np.concatenate([rng.uniform(-10, 10, 3), rng.uniform(-0.5, 0.5, 3)])

    def recording(self, body, seconds):
        """Times, positions and what is reported."""
        motion = motion_in_limits(MODEL, self.rng, seconds, RATE)
        pinocchio = MODEL.pinocchio()
        data, I_body = pinocchio.createData(), pin.Inertia.FromDynamicParameters(body)
        place = pin.SE3(FRAME.R, FRAME.p)
        wrench = []
        for q, qd, qdd in zip(motion.q, motion.qd, motion.qdd, strict=True):
            pin.forwardKinematics(pinocchio, data, q, qd, qdd)
            v, a = data.v[6], data.a[6]
            up = data.oMi[6].rotation.T @ pinocchio.gravity.linear
            force = I_body * (a - pin.Motion(up, np.zeros(3)))
            force += pin.Force(v.cross(I_body * v).vector)
            wrench.append(place.actInv(force).vector)
        y = np.array(wrench).reshape(-1, 2, 3) @ self.R
        size = np.array([0.3] * 3 + [0.01] * 3)
        errors = 0.3 * coloured(self.rng, (len(y), 6), 1.0) + self.rng.normal(size=(len(y), 6))
        return motion.t, motion.q, self.sense * y.reshape(-1, 6) + self.bias + size * errors

    def table(self, path, body, seconds):
        """The same as a file."""
        t, q, y = self.recording(body, seconds)
        header = ','.join(['time', *(f'{name}.position' for name in NAMES), *AXES])
        rows = np.column_stack([t, q, y])
        np.savetxt(path, rows, '%.9g', ',', header=header, comments='')
        return path

    def bag(self, path, body, seconds):
        """The same as two topics whose stamps are between each other; no efforts."""
        t, q, y = self.recording(body, seconds)
        stamp = BEGIN + np.round(1e9 * t).astype(np.int64)
        bag = Bag()
        for i in range(len(t)):
            bag.add(stamp[i], NAMES, q[i], [], [])
            later = y[i] if i + 1 == len(t) else 0.7 * y[i] + 0.3 * y[i + 1]
            data = wrench_stamped(stamp[i] + 3_000_000, later)
            bag.messages.append(
                ('/ft/wrench', 'geometry_msgs/msg/WrenchStamped', int(stamp[i]) + 4_000_000, data)
            )
        return bag.write(path, 'mcap')


@pytest.mark.slow
def test_a_sensor_gives_both_intervals_whatever_its_bias_axes_and_sense(rng, tmp_path):
    sensor = Sensor(rng, sense=-1.0)
    empty, loaded = (
        sensor.table(tmp_path / f'{i}.csv', body, 30.0) for i, body in enumerate(BODIES)
    )
    found = identify_payload(loaded, 'ur5e', SENSOR, empty=empty)
    for bounds in (found.statistical, found.guaranteed):
        assert np.all((bounds.lower <= PAYLOAD) & (bounds.upper >= PAYLOAD))
        assert bounds.radius[0] < 0.06
    assert any('counted the other way' in x for x in found.assumptions)
    with pytest.raises(MeasurementError, match='exchanged'):
        identify_payload(empty, 'ur5e', SENSOR, empty=loaded)


@pytest.mark.slow
def test_a_sensor_in_a_bag_is_read_between_its_stamps(rng, tmp_path, capsys):
    sensor = Sensor(rng)
    empty, loaded = (sensor.bag(tmp_path / f'{i}', body, 20.0) for i, body in enumerate(BODIES))
    arguments = ['identify', str(loaded), '--empty', str(empty), '--robot', 'ur5e', '--json']
    status = main([*arguments, '--sensor', 'tool0', '--flange', 'tool0', '--gain-error', '1%'])
    payload = json.loads(capsys.readouterr().out)['payload']
    assert status == 0
    for kind in ('statistical', 'guaranteed'):
        lower, upper = payload[kind]
        assert lower[0] <= PAYLOAD[0] <= upper[0]
        assert upper[0] - lower[0] < 0.2


def test_what_a_sensor_cannot_be_is_named(rng, tmp_path):
    sensor = Sensor(rng, turn=1.0)
    files = [sensor.table(tmp_path / f'{i}.csv', body, 15.0) for i, body in enumerate(BODIES)]
    with pytest.raises(MeasurementError, match='axes of the sensor'):
        identify_payload(files[1], 'ur5e', SENSOR, empty=files[0])
    elsewhere = RecordingSettings(sensor='base_link')
    with pytest.raises(ModelError, match='not fixed to the last joint'):
        identify_payload(files[1], 'ur5e', elsewhere, empty=files[0])
    with pytest.raises(ConfigError, match='--empty'):
        identify_payload(files[1], 'ur5e', SENSOR)


def test_a_sensor_that_is_dead_is_refused(rng, tmp_path):
    sensor = Sensor(rng)
    files = [sensor.table(tmp_path / f'{i}.csv', body, 15.0) for i, body in enumerate(BODIES)]
    header, *rows = files[1].read_text('utf-8').splitlines()
    table = np.loadtxt(rows, delimiter=',')
    for dead, channels in ((slice(7, 13), 'force x'), (9, 'force z')):
        of_it = table.copy()
        of_it[:, dead] = 0.0
        np.savetxt(tmp_path / 'dead.csv', of_it, '%.9g', ',', header=header, comments='')
        for pair in (('dead.csv', '0.csv'), ('1.csv', 'dead.csv')):
            loaded, empty = (tmp_path / name for name in pair)
            with pytest.raises(
                MeasurementError, match=rf'dead.csv: never changes.*{channels} \(0'
            ):
                identify_payload(loaded, 'ur5e', SENSOR, empty=empty)


class Resting:
    """An arm that is not as described, at rest with any friction up to Coulomb's."""

    def __init__(self, rng, friction=0.6):
        self.rng, self.friction = rng, friction
        self.truth = altered(MODEL, rng)

    def table(self, path, body, poses):
        theta = self.truth.theta.copy()
        theta[MODEL.layout.end_effector] += body
        arm = self.truth.with_parameters(theta).pinocchio()
        data = arm.createData()
        q = self.rng.uniform(-2.0, 2.0, (poses, 6))
        tau = np.array([pin.computeGeneralizedGravity(arm, data, x) for x in q])
        tau += np.linspace(-1.0, 1.0, 6) + self.friction * self.rng.uniform(-1.0, 1.0, tau.shape)
        header = ','.join([*(f'q_{i}' for i in range(6)), *(f'tau_{i}' for i in range(6))])
        rows = np.column_stack([q, tau])
        np.savetxt(path, rows, '%.9g', ',', header=header, comments='')
        return path


@pytest.mark.parametrize('seed', range(3))
def test_poses_at_rest_give_both_intervals(seed, tmp_path):
    arm = Resting(np.random.default_rng(seed))
    empty = arm.table(tmp_path / 'empty.csv', 0.0 * BODY, 40)
    loaded = arm.table(tmp_path / 'loaded.csv', BODY, 20)
    settings = RecordingSettings(poses=True, flange='tool0', gain_error=0.01)
    found = identify_payload(loaded, 'ur5e', settings, empty=empty)
    seen = np.arange(4)  # no pose tells a moment of inertia
    for bounds in (found.statistical, found.guaranteed):
        assert np.all((bounds.lower <= PAYLOAD)[seen] & (bounds.upper >= PAYLOAD)[seen])
    assert found.statistical.radius[0] < 0.15
    assert found.guaranteed.radius[0] < 0.4
    assert not found.recorded.found.determined[4:].any()
    assert 'empty poses' in str(found)


def test_poses_in_degrees_are_named(rng, tmp_path):
    arm = Resting(rng)
    empty, loaded = (arm.table(tmp_path / f'{i}.csv', i * BODY, 20) for i in range(2))
    header, *rows = loaded.read_text('utf-8').splitlines()
    table = np.loadtxt(rows, delimiter=',')
    table[:, :6] *= 180.0 / np.pi
    np.savetxt(loaded, table, '%.9g', ',', header=header, comments='')
    with pytest.raises(MeasurementError, match='degrees'):
        identify_payload(loaded, 'ur5e', RecordingSettings(poses=True), empty=empty)


def test_poses_that_are_too_few_are_refused(rng, tmp_path):
    arm = Resting(rng)
    empty = arm.table(tmp_path / 'empty.csv', 0.0 * BODY, 6)
    loaded = arm.table(tmp_path / 'loaded.csv', BODY, 6)
    with pytest.raises(MeasurementError, match='8 or more'):
        identify_payload(loaded, 'ur5e', RecordingSettings(poses=True), empty=empty)


def scaled(path, columns, factor):
    """A table whose columns from a place on are times a factor."""
    header, *rows = path.read_text('utf-8').splitlines()
    table = np.loadtxt(rows, delimiter=',')
    table[:, columns:] *= factor
    np.savetxt(path, table, '%.9g', ',', header=header, comments='')
    return path


def test_poses_with_torques_of_nothing_are_refused(rng, tmp_path):
    arm = Resting(rng)
    empty, loaded = (arm.table(tmp_path / f'{i}.csv', i * BODY, 20) for i in range(2))
    scaled(empty, 6, 0.0)
    for held in (loaded, empty):
        with pytest.raises(MeasurementError, match=r'0.csv: never changes .*shoulder_lift'):
            identify_payload(held, 'ur5e', RecordingSettings(poses=True), empty=empty)


@pytest.mark.parametrize('factor', [0.1, 10.0])
def test_poses_in_another_unit_have_no_interval_unless_it_is_stated(factor, rng, tmp_path):
    arm = Resting(rng)
    files = [scaled(arm.table(tmp_path / f'{i}.csv', i * BODY, 40), 6, factor) for i in range(2)]
    found = identify_payload(files[1], 'ur5e', RecordingSettings(poses=True), empty=files[0])
    assert found.statistical is None and found.guaranteed is None
    assert 'not of the size that the description predicts, shoulder_lift' in found.refused
    stated = RecordingSettings(poses=True, gain_error=0.02, payload_mass=30.0)
    found = identify_payload(files[1], 'ur5e', stated, empty=files[0])
    assert found.guaranteed is not None
    assert 'a unit of the effort was stated, but' in str(found)
