"""Bounds on the errors of readings follow from what is stated, and are never 0 by silence."""

from dataclasses import replace

import numpy as np
import pytest

from safe_sysid.config import from_mapping
from safe_sysid.errors import ConfigError
from safe_sysid.identify.momentum_observation import (
    DenseStampsError,
    MomentumObserver,
    ObservationSettings,
)
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.parameters import ratio_bounds
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.sensing import reading_errors, torque_errors
from safe_sysid.model.signal_facts import SensingFacts, TorqueReadingFacts, VelocityFacts


def stating(model, **facts):
    """Return an arm that states no less than that its stamps and zeros are exact."""
    sensing = SensingFacts(**{'stamp_error': 0.0, 'zero_error': (0.0,)} | facts)
    return replace(model, sensors=replace(model.sensors, sensing=sensing))


def test_the_encoders_of_the_kinova_bound_its_readings():
    found = reading_errors(stating(RobotModel.named('kinova_gen3')), 0.001)
    np.testing.assert_allclose(found.position[[0, 6]], np.radians([0.01, 0.0055]))
    # a difference of two readings, each half a step off, and half a millisecond of acceleration
    expected = np.radians(0.02) / 0.001 + 0.5 * 0.001 * np.radians(297.94)
    assert found.velocity[0] == pytest.approx(expected)
    assert len(found.sentences) == 1
    assert 'difference of two positions' in found.sentences[0]


def test_what_nobody_stated_is_wide_and_said():
    bare = replace(RobotModel.named('lbr_med7'), gravity_tilt=None)
    bare = replace(bare, sensors=replace(bare.sensors, sensing=SensingFacts()))
    found, torque = reading_errors(bare, 0.005), torque_errors(bare)
    assert (found.position >= 4e-4).all()
    assert (found.zero >= 1e-3).all()
    assert (found.velocity >= 0.1).all()
    said = ' '.join(found.sentences)
    for word in ('encoders of all joints', 'stamps', 'zero_error', 'difference of two positions'):
        assert word in said
    assert (torque.ratio == 0.05).all()
    np.testing.assert_allclose(torque.absolute, 0.02 * bare.limits.torque)
    assert torque.filter[1] >= 0.02
    assert torque.tilt > 0.0
    said = ' '.join(torque.sentences)
    for word in ('5 % of its value', 'low-pass', 'gravity_tilt', 'Stribeck'):
        assert word in said


def test_what_is_stated_counts():
    model = stating(RobotModel.named('kinova_gen3'), velocity_error=(0.01,), position_error=(0.0,))
    found = reading_errors(model, 0.001)
    np.testing.assert_array_equal(found.velocity, np.full(7, 0.01))
    np.testing.assert_array_equal(found.position, np.zeros(7))
    assert found.sentences == ()
    with pytest.raises(ConfigError, match='velocity_error has 2 entries; 1 or 7'):
        reading_errors(stating(model, velocity_error=(0.1, 0.2)), 0.001)


def test_promises_that_are_given_are_complete():
    model = RobotModel.named('lbr_med7')
    found = reading_errors(model, 0.005, (1e-4,), (0.01,))
    assert found.sentences == ()
    assert not found.zero.any()
    torque = torque_errors(model, (0.1,))
    assert torque.sentences == ()
    assert (torque.filter, torque.tilt, torque.stamp) == ((0.0, 0.0), 0.0, 0.0)
    np.testing.assert_array_equal(torque.absolute, np.zeros(7))
    np.testing.assert_array_equal(torque_errors(model, None, (0.3,)).ratio, np.full(7, 0.02))


def test_friction_at_rest_is_no_constant():
    model = RobotModel.named('two_link')
    more = {'static': (0.9, 0.3), 'load': (0.1,)}
    facts = replace(model.friction.facts, **more)
    loaded = replace(model, friction=replace(model.friction, facts=facts))
    torque = torque_errors(loaded)
    np.testing.assert_allclose(torque.friction, [0.4, 0.0])
    np.testing.assert_allclose(torque.ratio, 0.02 + 0.1 * 1.02)  # of what is read
    np.testing.assert_allclose(torque.absolute, 1.1 * torque_errors(model).absolute)
    least = torque_errors(loaded, coulomb=np.array([0.2, -0.1]))
    np.testing.assert_allclose(least.friction, [0.7, 0.3])


def wild_motion(rng, limit, h, samples):
    """Bang-bang accelerations up to the limit, on a grid that is twenty times finer than h."""
    fine = h / 20
    count = 20 * samples
    sign = np.repeat(rng.choice([-1.0, 1.0], size=(count // 7 + 1, 1)), 7, axis=0)[:count]
    if rng.random() < 0.3:
        sign[:] = 1.0
    qd = np.cumsum(sign * limit * fine, axis=0)
    q = np.cumsum(qd * fine, axis=0) - 0.5 * sign * limit * fine**2
    return q, qd


@pytest.mark.parametrize('form', ['exponential', 'rational'])
def test_readings_of_a_chain_of_sensors_are_within_the_bounds(rng, form):
    """Encoder, difference over some samples, low-pass, lag, rounding and stamps, one by one."""
    model, closest = RobotModel.named('two_link'), 0.0
    step, limit = model.sensors.encoder_resolution[0], 0.999 * model.limits.acceleration
    for _ in range(120):
        h = rng.choice([0.001, 0.005])
        facts = VelocityFacts(
            samples=int(rng.integers(1, 6)),
            filter=float(rng.choice([0.0, 0.3, 3.0, 20.0]) * h),
            lag=float(rng.choice([0.0, 2.0]) * h),
            step=(float(rng.choice([0.0, 0.01])),),
        )
        stamp = rng.choice([0.0, 0.25 * h])
        arm = stating(model, velocity=facts, stamp_error=stamp)
        found = reading_errors(arm, h)
        q, qd = wild_motion(rng, limit, h, 300)
        noise = rng.choice([0.0, 0.5 * step])  # a reading on the far side of its cell
        read = q[::20] + noise * np.where(np.arange(300)[:, None] % 2, 1.0, -1.0)
        if noise == 0.0:
            read = step * np.round(read / step)
        velocity = (read[facts.samples :] - read[: -facts.samples]) / (facts.samples * h)
        velocity = _filtered(velocity, h, facts.filter, form)
        late = round(facts.lag / h)
        velocity = velocity[: len(velocity) - late] if late else velocity
        if facts.step[0]:
            velocity = facts.step[0] * np.round(velocity / facts.step[0])
        at = 20 * (np.arange(len(velocity)) + facts.samples + late)
        told = np.clip(at + round(20 * stamp / h) * rng.choice([-1, 1]), 0, len(qd) - 1)
        settled = slice(round(12 * facts.filter / h), None)  # the filter starts anywhere
        error = np.abs(velocity - qd[told])[settled] / found.velocity
        assert error.max() <= 1.0 + 1e-3
        closest = max(closest, error.max())
        shifted = np.abs(q[told] - step * np.round(q[at] / step))
        fast = np.abs(qd).max(axis=0) <= model.limits.velocity
        assert (shifted <= found.position * (1 + 1e-9))[:, fast].all()
    assert closest > 0.8


def _filtered(x, h, constant, form):
    if constant == 0.0:
        return x
    share = 1.0 - np.exp(-h / constant) if form == 'exponential' else h / (constant + h)
    out = [x[0]]
    for value in x[1:]:
        out.append(out[-1] + share * (value - out[-1]))
    return np.array(out)


def test_a_signal_of_the_driver_has_no_noise_of_differences():
    model = RobotModel.named('kinova_gen3')
    facts = VelocityFacts(source='driver', filter=0.01, lag=0.002, step=(0.001,))
    found = reading_errors(stating(model, velocity=facts), 0.001)
    np.testing.assert_allclose(found.velocity, 0.012 * model.limits.acceleration + 0.0005)
    assert found.sentences == ()


def test_an_observer_that_is_told_nothing_takes_what_the_arm_states():
    model = RobotModel.named('kinova_gen3')
    settings = ObservationSettings(window=5)
    assert (settings.error_bounds(model).velocity > 0.15).all()
    assert (settings.error_bounds(model).position > 0.0).all()
    np.testing.assert_array_equal(settings.error_bounds(model).torque_ratio, np.full(7, 0.025))
    assert (settings.error_bounds(model).torque > 0.0).all()
    exact = ObservationSettings(window=5, position_error=(0.0,), velocity_error=(0.0,))
    np.testing.assert_array_equal(exact.error_bounds(model).velocity, np.zeros(7))


def test_samples_denser_than_assumed_are_refused():
    model, rest = RobotModel.named('two_link'), np.zeros(2)
    settings = ObservationSettings(window=50, longest_step=0.0075)

    def feed(arm):
        observer = MomentumObserver(arm, ratio_bounds(arm.theta, 0.01), settings)
        for k in range(30):
            observer.add(JointMeasurement(1_000_000 * k, rest, rest, rest))

    with pytest.raises(DenseStampsError, match=r'0.001 s apart; longest_step = 0.0075 s'):
        feed(model)
    feed(stating(model, velocity_error=(0.01,)))


@pytest.mark.parametrize(
    ('facts', 'message'),
    [
        ({'velocity_error': [0.1], 'velocity': {}}, 'state one of them'),
        ({'torque': {'ratio': [0.1]}}, 'ratio and absolute, or neither'),
        ({'torque': {'filter': [0.2, 0.1]}}, 'the least is above the largest'),
        ({'torque': {'sensor': 'current'}}, "sensor is 'current', it has to be one of motor"),
        ({'velocity': {'samples': 0}}, 'samples is 0, it has to be at least 1'),
        ({'encoder_error': [0.1]}, "unknown key 'encoder_error'"),
    ],
)
def test_what_contradicts_itself_is_refused(facts, message):
    with pytest.raises(ConfigError, match=message):
        from_mapping(SensingFacts, facts, 'arm.yaml: sensing')


def test_entries_follow_their_joints():
    facts = SensingFacts(
        zero_error=(1.0, 2.0),
        velocity=VelocityFacts(step=(0.1, 0.2)),
        torque=TorqueReadingFacts(ratio=(0.3, 0.4), absolute=(5.0,), filter=(0.01, 0.02)),
    ).in_order([1, 0])
    assert facts.zero_error == (2.0, 1.0)
    assert facts.velocity.step == (0.2, 0.1)
    assert (facts.torque.ratio, facts.torque.absolute) == ((0.4, 0.3), (5.0,))
    assert facts.torque.filter == (0.01, 0.02)
