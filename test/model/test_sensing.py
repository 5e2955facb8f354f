"""Bounds on the errors of readings follow from what is stated, and are never 0 by silence."""

from dataclasses import replace

import numpy as np
import pytest

from safe_sysid.errors import ConfigError
from safe_sysid.identify.momentum_observation import (
    DenseStampsError,
    MomentumObserver,
    ObservationSettings,
)
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.facts import SensingFacts
from safe_sysid.model.parameters import ratio_bounds
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.sensing import reading_errors


def stating(model, **facts):
    return replace(model, sensors=replace(model.sensors, sensing=SensingFacts(**facts)))


def test_the_encoders_of_the_kinova_bound_its_readings():
    model = RobotModel.named('kinova_gen3')
    found = reading_errors(model, 0.001)
    np.testing.assert_allclose(found.position[[0, 6]], np.radians([0.01, 0.0055]))
    # a difference of two readings, each half a step off, and half a millisecond of acceleration
    expected = np.radians(0.02) / 0.001 + 0.5 * 0.001 * np.radians(297.94)
    assert found.velocity[0] == pytest.approx(expected)
    assert len(found.sentences) == 1
    assert 'difference of two positions' in found.sentences[0]


def test_what_nobody_stated_is_wide_and_said():
    found = reading_errors(RobotModel.named('lbr_med7'), 0.005)
    assert (found.position >= 4e-4).all()
    assert (found.velocity >= 0.1).all()
    assert any('encoders of A1' in sentence for sentence in found.sentences)


def test_what_is_stated_counts():
    model = stating(RobotModel.named('kinova_gen3'), velocity_error=(0.01,), position_error=(0.0,))
    found = reading_errors(model, 0.001)
    np.testing.assert_array_equal(found.velocity, np.full(7, 0.01))
    np.testing.assert_array_equal(found.position, np.zeros(7))
    assert found.sentences == ()
    with pytest.raises(ConfigError, match='velocity_error has 2 entries; 1 or 7'):
        reading_errors(stating(model, velocity_error=(0.1, 0.2)), 0.001)


def test_quantised_motions_are_within_the_bounds(rng):
    model = RobotModel.named('two_link')
    step, limit = model.sensors.encoder_resolution, model.limits.acceleration
    for _ in range(50):
        h = rng.choice([0.001, 0.005])
        found = reading_errors(model, h)
        t = h * np.arange(400)[:, None]
        w = rng.uniform(1.0, 40.0, size=2)
        amplitude = 0.99 * limit / w**2
        q, qd = amplitude * np.sin(w * t), amplitude * w * np.cos(w * t)
        read = step * np.round(q / step)
        assert (np.abs(read - q) <= found.position * (1 + 1e-9)).all()
        assert (np.abs(np.diff(read, axis=0) / h - qd[1:]) <= found.velocity).all()


def test_an_observer_that_is_told_nothing_takes_what_the_arm_states():
    model = RobotModel.named('kinova_gen3')
    settings = ObservationSettings(window=5)
    assert (settings.error_bounds(model).velocity > 0.15).all()
    assert (settings.error_bounds(model).position > 0.0).all()
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
