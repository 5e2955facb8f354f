"""Sensors keep what they promise, to the last bit, and are late or silent as often as asked."""

from fractions import Fraction

import numpy as np
import pytest

from safe_sysid.errors import ConfigError
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.simulate.sensors import Sensors, SensorSettings, encoders_of


def truth_at(rng, stamp, n=3, scale=1.0):
    q, qd, tau = scale * rng.normal(size=(3, n)) * 10.0 ** rng.integers(-3, 3, size=(3, n))
    return JointMeasurement(stamp, q, qd, tau)


def pairs(rng, settings, samples=300, n=3):
    """(truth, measured) of many samples that all arrive at once."""
    first = truth_at(rng, 0, n)
    sensors = Sensors(settings, first, rng)
    yield first, sensors.latest
    for stamp in range(1, samples):
        truth = truth_at(rng, stamp, n)
        sensors.take(truth)
        yield truth, sensors.latest


def error(truth, measured):
    return abs(Fraction(float(truth)) - Fraction(float(measured)))


SETTINGS = [
    SensorSettings(
        position_resolution=(1e-3, 2e-4, 0.1),
        velocity_resolution=(1e-2,),
        velocity_noise=(3e-3, 0.0, 1.0),
        torque_ratio=(0.025, 0.5, 0.0),
        torque_error=(0.0, 1e-9, 0.3),
    ),
    SensorSettings(torque_ratio=(0.025,), torque_error=(0.1,), torque_kind='constant'),
    SensorSettings(torque_error=(1e-17,), velocity_noise=(1e-17,), position_resolution=(1e-17,)),
    SensorSettings(torque_ratio=(1e-16,), torque_kind='constant'),
    SensorSettings(torque_error=(1e-17, 1e-18, 1e-19), torque_kind='constant'),
]


@pytest.mark.parametrize('settings', SETTINGS)
def test_no_error_is_larger_than_promised_in_exact_arithmetic(rng, settings):
    q_bound, qd_bound, ratio, absolute = (
        [Fraction(x) for x in np.broadcast_to(np.array(values), 3).tolist()]
        for values in (
            settings.position_error,
            settings.velocity_error,
            settings.torque_ratio,
            settings.torque_error,
        )
    )
    for truth, measured in pairs(rng, settings):
        for j in range(3):
            assert error(truth.position[j], measured.position[j]) <= q_bound[j]
            assert error(truth.velocity[j], measured.velocity[j]) <= qd_bound[j]
            torque = measured.torque[j]
            allowed = ratio[j] * abs(Fraction(float(torque))) + absolute[j]
            assert error(truth.torque[j], torque) <= allowed


def test_errors_use_up_what_is_promised(rng):
    settings = SETTINGS[0]
    shares = []
    for truth, measured in pairs(rng, settings, 2000):
        allowed = 0.025 * np.abs(measured.torque[0])
        shares.append(
            [
                abs(measured.position[0] - truth.position[0]) / 5e-4,
                abs(measured.velocity[2] - truth.velocity[2]) / 1.005,
                (measured.torque[0] - truth.torque[0]) / allowed,
                (measured.torque[2] - truth.torque[2]) / 0.3,
            ]
        )
    shares = np.array(shares)
    assert (shares.max(axis=0) > 0.95).all()
    assert (shares[:, 2:].min(axis=0) < -0.95).all()
    np.testing.assert_allclose(shares[:, 2:].mean(axis=0), 0.0, atol=0.06)


def test_constant_errors_are_all_of_the_promise_with_one_sign(rng):
    settings = SensorSettings(torque_ratio=(0.02,), torque_kind='constant')
    gains = np.array([truth.torque / measured.torque for truth, measured in pairs(rng, settings)])
    np.testing.assert_allclose(gains, np.broadcast_to(gains[0], gains.shape), rtol=1e-9)
    np.testing.assert_allclose(np.abs(gains[0] - 1.0), 0.02, rtol=1e-9)
    settings = SensorSettings(torque_error=(0.3,), torque_kind='constant')
    offsets = np.array([m.torque - truth.torque for truth, m in pairs(rng, settings)])
    np.testing.assert_allclose(np.abs(offsets), 0.3, rtol=1e-9)
    assert np.unique(np.sign(offsets), axis=0).shape == (1, 3)


def test_constant_errors_are_of_the_torque_alone(rng):
    settings = SensorSettings(velocity_noise=(0.5,), torque_kind='constant')
    noise = np.array([m.velocity - truth.velocity for truth, m in pairs(rng, settings)])
    assert len(np.unique(np.round(noise, 6))) > 500


def test_readings_are_whole_steps_of_the_resolution(rng):
    for _, measured in pairs(rng, SETTINGS[0]):
        steps = measured.position / np.array([1e-3, 2e-4, 0.1])
        np.testing.assert_allclose(steps, np.rint(steps), rtol=1e-12, atol=1e-9)


def test_without_errors_the_truth_is_measured_bit_by_bit(rng):
    for truth, measured in pairs(rng, SensorSettings()):
        assert measured.stamp == truth.stamp
        for name in ('position', 'velocity', 'torque'):
            np.testing.assert_array_equal(getattr(measured, name), getattr(truth, name))


@pytest.mark.parametrize('delay', [0, 1, 3])
def test_samples_are_late_by_the_delay_and_keep_the_stamp_of_when_they_were_taken(rng, delay):
    truths = [truth_at(rng, stamp) for stamp in range(10)]
    sensors = Sensors(SensorSettings(delay=delay), truths[0], rng)
    for now in range(1, 10):
        sensors.take(truths[now])
        sample = max(now - delay, 0)
        assert sensors.latest.stamp == sample
        np.testing.assert_array_equal(sensors.latest.position, truths[sample].position)


def test_lost_samples_leave_the_one_before(rng):
    settings = SensorSettings(loss=0.3, delay=2)
    stamps = np.array([measured.stamp for _, measured in pairs(rng, settings, 5000)])
    assert (np.diff(stamps) >= 0).all()
    repeated = (np.diff(stamps) == 0).mean()
    assert repeated == pytest.approx(0.3, abs=0.03)
    assert stamps.max() <= 4997


def test_the_same_seed_gives_the_same_measurements():
    def torques(seed):
        rng = np.random.default_rng(seed)
        return np.array([measured.torque for _, measured in pairs(rng, SETTINGS[0], 20)])

    np.testing.assert_array_equal(torques(1), torques(1))
    assert (torques(1) != torques(2)).any()


def test_encoders_are_those_of_the_arm():
    model = RobotModel.named('kinova_gen3')
    settings = encoders_of(model)
    np.testing.assert_array_equal(settings.position_error, 0.5 * model.sensors.encoder_resolution)
    assert settings.torque_ratio == (0.0,)


@pytest.mark.parametrize(
    ('values', 'sentence'),
    [
        ({'position_resolution': (-1.0,)}, 'position_resolution is .*, it has to be at least 0'),
        ({'velocity_noise': (np.nan,)}, 'velocity_noise is'),
        ({'torque_ratio': (1.0,)}, 'torque_ratio is .* at least 0 and less than 1'),
        ({'torque_kind': 'gain'}, "torque_kind is 'gain', it has to be one of random, constant"),
        ({'delay': -1}, r'delay is -1, it has to be at least 0 \(samples\)'),
        ({'loss': 1.0}, 'loss is 1.0, it has to be at least 0 and less than 1'),
    ],
)
def test_settings_that_promise_nothing_are_refused(values, sentence):
    with pytest.raises(ConfigError, match=sentence):
        SensorSettings(**values)


def test_a_wrong_number_of_joints_is_refused(rng):
    with pytest.raises(ConfigError, match='torque_error has 2 entries; 1 or 3'):
        Sensors(SensorSettings(torque_error=(1.0, 2.0)), truth_at(rng, 0), rng)
