"""PID with gravity compensation: an unknown weight makes it sag."""

from dataclasses import replace

import numpy as np
import pytest
from track.baselines.follow import arm_at, certain, follow, resting_plan
from track.law_states import CLOCK

from safe_sysid.errors import ConfigError, MeasurementError
from safe_sysid.model.dynamics.inverse_dynamics import inverse_dynamics
from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.track.baselines.gravity_pid import GravityPidController, GravityPidSettings

REACHED_OUT = np.array([0.3, 1.3, 0.2, 0.4, -0.1, 0.3, 0.0])


@pytest.fixture
def arm():
    return RobotModel.named('kinova_gen3')


def gravity(model, q):
    rest = np.zeros((1, model.n))
    return inverse_dynamics(model, q[None], rest, rest)[0]


def sag(arm, settings, seconds):
    """Error that stays at rest, with a dumbbell of 8 lb that nobody told the controller of."""
    truth = arm.with_payload(read_payload('dumbbell_8lb'))
    controller = GravityPidController(arm, settings, CLOCK)
    simulated = arm_at(truth, REACHED_OUT)
    plans = [resting_plan(REACHED_OUT)]
    return follow(controller, simulated, plans, certain(arm), seconds)[-1], simulated


@pytest.mark.slow
def test_it_sags_by_the_missing_gravity_torque_over_its_stiffness(arm):
    settings = GravityPidSettings(P=(600.0,), D=(150.0,))
    error, simulated = sag(arm, settings, 4.0)
    missing = gravity(arm.with_payload(read_payload('dumbbell_8lb')), simulated.q)
    missing -= gravity(arm, simulated.q)
    assert np.allclose(error, missing / 600.0, rtol=0.02, atol=1e-4)
    assert np.max(np.abs(error)) > 0.03  # almost 2 degrees


@pytest.mark.slow
def test_the_integral_takes_the_weight_over_until_it_is_at_its_limit(arm):
    stiff = {'P': (600.0,), 'D': (150.0,), 'I': (1200.0,)}
    free, _ = sag(arm, GravityPidSettings(**stiff, integral_limit=(100.0,)), 6.0)
    held, _ = sag(arm, GravityPidSettings(**stiff, integral_limit=(5.0,)), 6.0)
    assert np.max(np.abs(free)) < 0.005
    assert np.max(np.abs(held)) > 0.02


def test_with_the_right_weight_it_stays_where_it_is(arm):
    truth = arm.with_payload(read_payload('dumbbell_8lb'))
    controller = GravityPidController(arm, GravityPidSettings(), CLOCK)
    plans = [resting_plan(REACHED_OUT)]
    errors = follow(controller, arm_at(truth, REACHED_OUT), plans, certain(truth), 0.5)
    assert np.max(np.abs(errors)) < 1e-9


def test_the_integral_does_not_run_on_during_a_gap(arm):
    """A gap counts as 20 ms at most, and time does not go back."""
    settings = GravityPidSettings(P=(1.0,), D=(1.0,), I=(10.0,), integral_limit=(100.0,))
    controller = GravityPidController(arm, settings, CLOCK)
    plan = resting_plan(REACHED_OUT + 0.1)
    measured = arm_at(arm, REACHED_OUT).measure()
    first = controller.step(measured, plan, certain(arm))
    late = replace(measured, stamp=measured.stamp + 10**10)
    assert np.allclose(controller.step(late, plan, certain(arm)) - first, 10.0 * 0.02 * 0.1)
    with pytest.raises(MeasurementError, match='stamps have to go on'):
        controller.step(measured, plan, certain(arm))


def test_settings_out_of_range_are_refused():
    for change, complaint in (
        ({'P': (0.0,)}, 'P is .0.0,., it has to be above 0'),
        ({'I': (-1.0,)}, 'I is .-1.0,., it has to be at least 0'),
        ({'integral_limit': (np.inf,)}, 'integral_limit'),
    ):
        with pytest.raises(ConfigError, match=complaint):
            GravityPidSettings(**change)
