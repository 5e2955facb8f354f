"""A known mass gives every drive its unit and its sign; where the mass is need not be known."""

from dataclasses import replace

from identify.difference.two_recordings import PAYLOAD, TwoLinks
import numpy as np
import pytest

from safe_sysid.bench.experiments.calibration import altered, motion_in_limits, simulated_log
from safe_sysid.calibrate.even_log import EvenLog
from safe_sysid.errors import ConfigError, MeasurementError
from safe_sysid.identify.difference.drive_gains import gains_of_stretches, pooled
from safe_sysid.identify.difference.gain_calibration import (
    GainRecordings,
    calibrated_gains,
    gains_of_pair,
)
from safe_sysid.identify.difference.gains_file import KnownGains, read_gains
from safe_sysid.identify.difference.rows import stretch_of
from safe_sysid.measure.recording_choice import RecordingChoice
from safe_sysid.model import inertia
from safe_sysid.model.arm import arm_of
from safe_sysid.model.robot_model import RobotModel

LOAD = inertia.from_mass_com_inertia(np.array(3.0), np.array([0.1, 0.05, 0.1]), 0.01 * np.eye(3))


def stretches(model, rng, gain):
    """An altered arm, empty and loaded, its effort in another unit."""
    truth = altered(model, rng)
    theta = truth.theta.copy()
    theta[model.layout.end_effector] += LOAD
    found = []
    for i, arm in enumerate((truth, truth.with_parameters(theta))):
        log = simulated_log(arm, motion_in_limits(model, rng, 25.0, 100.0), rng)
        log = EvenLog(log.rate, log.q, log.tau / gain)
        found.append(stretch_of(model, log, 5.0, i, loaded=i == 1))
    return found


@pytest.fixture(scope='module')
def known():
    """Gains and what is found of them, for two seeds."""
    model, trials = RobotModel.named('lbr_med7'), []
    for seed in range(2):
        rng = np.random.default_rng(seed)
        gain = rng.choice([-1, 1], 7) * rng.uniform(2.0, 50.0, 7)
        trials.append((gain, gains_of_stretches(model, stretches(model, rng, gain), LOAD[0])))
    return trials


@pytest.mark.slow
def test_gains_and_signs_are_found_within_their_deviations(known):
    scores = []
    for gain, found in known:
        assert np.array_equal(found.sign, np.sign(gain))
        assert not found.undecided.any()
        scores.append((found.gain - gain) / found.deviation)
        sure = ~found.uncalibrated
        assert found.gain[sure] == pytest.approx(gain[sure], rel=0.2)
        assert sure.sum() >= 5
        assert np.all(found.misfit < 0.1)
    assert 0.3 < np.sqrt(np.mean(np.square(scores))) < 2.0


def test_where_the_mass_is_is_found(known):
    for _, found in known:
        assert found.phi[:4] == pytest.approx(LOAD[:4], abs=0.1)
        assert found.refutes(LOAD) is None
        elsewhere = inertia.moved(LOAD, np.eye(3), np.array([0.0, 0.0, 0.15]))
        assert 'not the one described' in found.refutes(elsewhere)


def test_pairs_that_agree_are_pooled_and_others_are_doubted(known):
    (_, found), _ = known
    mean, doubt = pooled([found, found])
    assert doubt is None
    assert mean.gain == pytest.approx(found.gain)
    assert np.all(mean.deviation < 0.8 * found.deviation)
    off = replace(found, gain=found.gain * (1.0 + 10.0 * found.deviation / np.abs(found.gain)))
    mean, doubt = pooled([found, off])
    assert 'differ between pairs' in doubt
    assert np.all(mean.deviation > found.deviation)


def test_pairs_of_other_signs_name_the_joints(known):
    _, found = known[0]
    turned = replace(found, gain=found.gain * np.array([1, -1, 1, 1, -1, 1, 1]))
    with pytest.raises(
        MeasurementError, match=r'sign of the effort of joint 2, 5: .* holds nothing'
    ):
        pooled([found, turned])


def test_a_body_without_weight_is_refused():
    with pytest.raises(MeasurementError, match='it weighs nothing'):
        gains_of_stretches(RobotModel.named('two_link'), [], 0.0)


def test_a_file_of_gains_comes_back_in_the_order_of_the_arm(tmp_path, known):
    _, found = known[0]
    names = tuple(f'j{i}' for i in range(7))
    KnownGains(names, found.gain, found.log_covariance).write(tmp_path / 'g.yaml', {'robot': 'x'})
    turned = read_gains(tmp_path / 'g.yaml', names[::-1])
    assert turned.gain == pytest.approx(found.gain[::-1])
    assert turned.log_covariance == pytest.approx(found.log_covariance[::-1, ::-1])
    with pytest.raises(ConfigError, match='the arm has'):
        read_gains(tmp_path / 'g.yaml', names[:6])
    text = (tmp_path / 'g.yaml').read_text(encoding='utf-8')
    (tmp_path / 'h.yaml').write_text(text.replace('version: 1', 'version: 9'), encoding='utf-8')
    with pytest.raises(ConfigError, match='version'):
        read_gains(tmp_path / 'h.yaml', names)


def test_efforts_that_come_late_are_put_in_time_before_gains_are_found(rng):
    arm, gain = TwoLinks(rng, noise=0.002), np.array([20.0, -5.0])

    def late(log):
        steps = 2  # of 10 ms
        return EvenLog(log.rate, log.q[steps:], log.tau[:-steps] / gain)

    empty, loaded = late(arm.log(0.0 * PAYLOAD)), late(arm.log(PAYLOAD))
    found = gains_of_pair(arm.model, [[empty]], [loaded], 5.0, PAYLOAD[0])
    stretches_late = [
        stretch_of(arm.model, log, 5.0, i, loaded=i == 1) for i, log in enumerate((empty, loaded))
    ]
    plain = gains_of_stretches(arm.model, stretches_late, PAYLOAD[0])
    assert found.delay.is_corrected
    assert found.delay.seconds == pytest.approx(0.02, abs=0.003)
    assert np.all(found.misfit < plain.misfit)
    assert np.all(np.abs(found.gain - gain) < 3.0 * found.deviation)


@pytest.fixture(scope='module')
def pair(tmp_path_factory):
    """Tables of an arm without and with a body."""
    folder, arm = tmp_path_factory.mktemp('pair'), TwoLinks(np.random.default_rng(3))
    logs = [arm.log(0.0 * PAYLOAD), arm.log(PAYLOAD)]
    for name, log in zip(('empty.csv', 'loaded.csv'), logs, strict=True):
        table = np.column_stack([np.arange(len(log.q)) / log.rate, log.q, log.tau / 10.0])
        np.savetxt(
            folder / name, table, '%.9g', ',', header='time,q_0,q_1,tau_0,tau_1', comments=''
        )
    return [RecordingChoice(folder / name) for name in ('empty.csv', 'loaded.csv')]


def test_recordings_that_are_exchanged_are_refused(pair):
    """Every sign would be turned, and the misfit is as small."""
    arm, (empty, loaded) = arm_of('two_link', None), pair
    found, caution = calibrated_gains(arm, GainRecordings([empty], [loaded]), float(PAYLOAD[0]))
    assert found.gain == pytest.approx([10.0, 10.0], rel=0.1)
    assert caution is None
    with pytest.raises(MeasurementError, match='exchanged'):
        calibrated_gains(arm, GainRecordings([loaded], [empty]), float(PAYLOAD[0]))


def test_a_mass_that_makes_the_arm_far_too_heavy_is_doubted(pair):
    arm, (empty, loaded) = arm_of('two_link', None), pair
    _, caution = calibrated_gains(arm, GainRecordings([empty], [loaded]), 8.0 * PAYLOAD[0])
    assert 'not of the size' in caution


@pytest.mark.parametrize('standing', ['without', 'with'])
def test_an_arm_that_stands_in_one_kind_of_recording_shows_no_gains(rng, standing):
    arm = TwoLinks(rng)
    logs = [arm.log(0.0 * PAYLOAD), arm.log(PAYLOAD)]
    one = ['without', 'with'].index(standing)
    still = logs[one]
    logs[one] = EvenLog(still.rate, np.tile(still.q[0], (len(still.q), 1)), still.tau)
    with pytest.raises(MeasurementError, match=f'stands in the recordings {standing} the known'):
        gains_of_pair(arm.model, [[logs[0]]], [logs[1]], 5.0, PAYLOAD[0])


def test_a_joint_that_never_moves_is_named(rng):
    arm = TwoLinks(rng)
    empty, loaded = arm.log_of_joint_1(0.0 * PAYLOAD), arm.log_of_joint_1(PAYLOAD)
    with pytest.raises(MeasurementError, match=r"never move can not be found: \['joint_2'\]"):
        gains_of_pair(arm.model, [[empty]], [loaded], 5.0, PAYLOAD[0])
