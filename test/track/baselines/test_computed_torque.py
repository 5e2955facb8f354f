"""Computed torque: with the true theta the error is that of a spring and a damper."""

from dataclasses import replace

import numpy as np
import pytest
from track.baselines.follow import arm_at, certain, exciting_plans, follow
from track.law_states import CLOCK

from safe_sysid.errors import ConfigError, MeasurementError
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.track.baselines.computed_torque import (
    ComputedTorqueController,
    ComputedTorqueSettings,
)

CRITICAL = ComputedTorqueSettings(P=(100.0,), D=(20.0,))


def smooth(model):
    """The same arm without dry friction."""
    theta = model.theta.copy()
    theta[model.layout.joint_entries('Fc')] = 0.0
    return model.with_parameters(theta)


def test_error_is_that_of_a_critically_damped_oscillator(rng):
    arm = smooth(RobotModel.named('kinova_gen3'))
    q, e0 = rng.uniform(-1.0, 1.0, arm.n), 0.1 * rng.normal(size=arm.n)
    controller = ComputedTorqueController(arm, CRITICAL, CLOCK)
    errors = follow(controller, arm_at(arm, q - e0), exciting_plans(rng, q, 1), certain(arm), 1.0)
    t = np.arange(1000)[:, None] / 1000
    expected = e0 * (1.0 + 10.0 * t) * np.exp(-10.0 * t)
    assert np.allclose(errors, expected, rtol=0.0, atol=0.005 * np.max(np.abs(e0)))


def test_settings_and_measurements_out_of_range_are_refused():
    arm = RobotModel.named('two_link')
    for change in ({'P': (0.0,)}, {'D': (1.0, np.nan)}, {'coulomb_speed': -1.0}):
        with pytest.raises(ConfigError, match='has to be above 0'):
            replace(CRITICAL, **change)
    with pytest.raises(ConfigError, match='P has 3 entries; 1 or 2 are allowed for two_link'):
        ComputedTorqueController(arm, replace(CRITICAL, P=(1.0,) * 3), CLOCK)
    controller = ComputedTorqueController(arm, CRITICAL, CLOCK)
    plan = exciting_plans(np.random.default_rng(0), np.zeros(2), 1)[0]
    for position, complaint in (
        (np.zeros(3), 'measured position has shape'),
        (np.array([0.0, np.nan]), 'measured position of joint joint_2 is nan'),
    ):
        bad = replace(arm_at(arm, np.zeros(2)).measure(), position=position)
        with pytest.raises(MeasurementError, match=complaint):
            controller.step(bad, plan, certain(arm))
