"""Measured torques say how late commands act, and where they are cut off."""

from dataclasses import replace

import numpy as np
import pytest

from safe_sysid.model.robot_model import RobotModel
from safe_sysid.track.gains import Gains
from safe_sysid.track.seen_law import Sampling
from safe_sysid.track.seen_torques import SeenTorques

PERIOD = 1e-3
MODEL = RobotModel.named('two_link')
NAMES = MODEL.layout.joint_names
RATIO, ABSOLUTE = 0.01, 0.05
READ = MODEL.sensors.sensing.torque
SAMPLES = 1500
EXACT_DRIVES = Gains(np.full(2, 10.0), 0.02, 1000.0)


def of_sensor(**facts):
    sensing = replace(MODEL.sensors.sensing, torque=replace(READ, **facts))
    return replace(MODEL, sensors=replace(MODEL.sensors, sensing=sensing))


def taken(late=1, error=0.0, limit=np.inf, model=MODEL, slow=0.0, lost=(), noise=0.0):
    """Commands of two joints that swing and jitter, measured after `late` periods."""
    rng = np.random.default_rng(5)
    sampling = Sampling(np.full(2, 1e-4), PERIOD, PERIOD, slow=slow)
    gains = Gains(np.full(2, 10.0), 0.02, 1000.0, torque_error=ABSOLUTE, torque_ratio=RATIO)
    torques = SeenTorques(model, gains, sampling)
    times = PERIOD * np.arange(SAMPLES)
    told = 8.0 * np.sin(9.0 * times)[:, None] + 0.2 * rng.normal(size=(SAMPLES, 2))
    reached = np.zeros(2)
    for i, t in enumerate(times):
        wanted = np.clip(told[max(i - late, 0)], -limit, limit)
        share = 1.0 if slow == 0.0 else -np.expm1(-PERIOD / slow)
        reached = reached + share * (wanted - reached)
        if i in lost:
            continue
        sign = rng.choice([-1.0, 1.0], 2)
        off = error * (RATIO * np.abs(reached) + ABSOLUTE) * sign
        torques.take(t, reached + off + noise * rng.normal(size=2))
        torques.tell(told[i])
    return torques


@pytest.mark.parametrize('late', [1, 2])
@pytest.mark.parametrize('slow', [0.0, 0.002])
def test_torques_as_promised_contradict_nothing(late, slow):
    seen = taken(late, error=0.99, slow=slow)
    assert seen.contradictions(NAMES) == ''
    if not slow:
        assert seen.delay == pytest.approx(late * PERIOD)


@pytest.mark.parametrize('late', [4, 9, 60])
@pytest.mark.parametrize('sensor', ['motor', 'link'])
def test_delays_that_are_longer_than_promised_are_named(late, sensor):
    seen = taken(late, error=0.99, model=of_sensor(sensor=sensor))
    assert seen.delay == pytest.approx(late * PERIOD)
    said = f'torques are measured {late} ms after their samples, and are promised to act within 1'
    assert said in seen.contradictions(NAMES)


def test_a_torque_that_is_cut_off_is_named():
    said = taken(limit=6.0).contradictions(NAMES)
    assert said.count('less: it was cut off') == 2
    assert f'{NAMES[0]} has a torque that its commands do not allow for' in said


def test_drives_that_err_more_than_promised_are_named():
    """By five times as much, in either direction, as the sensor has errors of its own."""
    said = taken(error=8.0).contradictions(NAMES)
    assert 'N m more' in said and 'N m less' in said


def test_what_is_not_measured_or_read_back_tells_nothing():
    for model, noise in ((of_sensor(sensor='command'), 0.0), (MODEL, np.nan)):
        seen = taken(9, model=model, noise=noise)
        assert seen.contradictions(NAMES) == ''
        assert seen.delay is None


def test_a_noisy_sensor_tells_no_delay():
    model = of_sensor(ratio=(0.0,), absolute=(9.0,))
    seen = taken(9, model=model, noise=3.0)
    assert seen.contradictions(NAMES) == ''
    assert seen.delay is None


def test_commands_before_a_lost_sample_do_not_count():
    assert taken(lost=range(700, 705)).contradictions(NAMES) == ''
    assert taken(lost=range(0, SAMPLES, 40), limit=6.0).delay is None


def test_a_sample_that_is_not_a_number_is_only_left_out():
    model = of_sensor(sensor='link')
    swing = 8.0 * np.sin(9e-3 * np.arange(SAMPLES)) + np.random.default_rng(5).normal(size=SAMPLES)
    torques = SeenTorques(model, EXACT_DRIVES, Sampling(np.full(2, 1e-4), PERIOD, PERIOD))
    for i, wanted in enumerate(swing):
        torques.take(PERIOD * i, np.full(2, np.nan if i == 700 else swing[max(i - 9, 0)]))
        torques.tell(np.full(2, wanted))
    assert torques.delay == pytest.approx(9 * PERIOD)


def test_what_a_low_pass_keeps_of_older_commands_is_allowed_for():
    """Exact drives and an exact sensor behind a low-pass, commands that jump."""
    slow, swing = 0.005, 0.9 * MODEL.limits.torque
    model = of_sensor(filter=(slow, slow), ratio=(0.0,), absolute=(0.0,))
    torques = SeenTorques(model, EXACT_DRIVES, Sampling(np.full(2, 1e-4), PERIOD, PERIOD))
    read, told = np.zeros(2), np.zeros(2)
    for i in range(SAMPLES):
        read = read - np.expm1(-PERIOD / slow) * (told - read)
        torques.take(PERIOD * i, read)
        told = swing if i % 200 < 100 else -swing
        torques.tell(told)
    assert torques.contradictions(NAMES) == ''


def test_a_sensor_that_is_filtered_for_longer_still_shows_what_is_cut_off():
    """As one whose low-pass nobody stated: 20 ms are assumed, and cover older commands."""
    slow = of_sensor(filter=(0.0, 0.02))
    assert taken(model=slow, error=0.5).contradictions(NAMES) == ''
    assert 'less: it was cut off' in taken(model=slow, limit=2.0).contradictions(NAMES)
    assert taken(model=of_sensor(filter=(0.0, 0.2)), limit=2.0).contradictions(NAMES) == ''
