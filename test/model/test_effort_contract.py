"""What a driver calls effort becomes torque of the joints and back, for every habit of drivers."""

from dataclasses import replace

import numpy as np
import pytest

from safe_sysid.errors import ConfigError
from safe_sysid.model.dynamics.regressors import standard_regressor
from safe_sysid.model.effort_contract import CommandSignal, EffortContract
from safe_sysid.model.facts import EffortSignal
from safe_sysid.model.robot_model import RobotModel


def driver(gravity_included, sign, scale):
    """An arm whose driver has these habits."""
    model = RobotModel.named('kinova_gen3')
    sensors = replace(
        model.sensors,
        effort=EffortSignal('current', gravity_included),
        effort_sign=np.array(sign, dtype=float),
        effort_scale=np.array(scale, dtype=float),
    )
    return replace(model, sensors=sensors)


def gravity(model, q):
    """By the regressor, not by Pinocchio."""
    rest = np.zeros_like(q)
    theta = model.theta.copy()
    for kind in ('Fc', 'Fv', 'Ia', 'beta'):
        theta[model.layout.joint_entries(kind)] = 0.0
    return (standard_regressor(model, q[None], rest[None], rest[None])[0] @ theta).ravel()


@pytest.mark.parametrize('gravity_included', [True, False])
def test_a_measured_effort_becomes_torque_along_the_axes(rng, gravity_included):
    sign, scale = rng.choice([-1, 1], size=7), rng.uniform(0.1, 9.0, size=7)
    model = driver(gravity_included, sign, scale)
    contract = EffortContract(model, CommandSignal())
    for _ in range(20):
        q, tau = rng.uniform(-3.0, 3.0, size=(2, 7))
        known = tau if gravity_included else tau - gravity(model, q)
        reported = known / (sign * scale)
        np.testing.assert_allclose(contract.torque(reported, q), tau, atol=1e-12)


def test_a_commanded_torque_is_what_the_joints_get(rng):
    model = driver(True, np.ones(7), np.ones(7))
    for adds_gravity in (True, False):
        sign, scale = rng.choice([-1, 1], size=7), rng.uniform(0.1, 9.0, size=7)
        signal = CommandSignal(tuple(sign.tolist()), tuple(scale.tolist()), adds_gravity)
        contract = EffortContract(model, signal)
        for _ in range(20):
            q, tau = rng.uniform(-3.0, 3.0, size=(2, 7))
            got = contract.effort(tau, q) / (sign * scale)
            got = got + gravity(model, q) if adds_gravity else got
            np.testing.assert_allclose(got, tau, atol=1e-12)


def test_one_number_counts_for_all_joints_and_others_are_refused():
    model = RobotModel.named('two_link')
    contract = EffortContract(model, CommandSignal((-1,), (2.0,)))
    np.testing.assert_array_equal(contract.effort(np.array([1.0, -3.0]), np.zeros(2)), [-2.0, 6.0])
    with pytest.raises(ConfigError, match=r'sign has 3 entries; 1 or 2 \(one per joint\)'):
        EffortContract(model, CommandSignal((1, 1, -1)))
    with pytest.raises(ConfigError, match='it has to be one of -1, 1'):
        CommandSignal((0,))
    with pytest.raises(ConfigError, match='scale is .*, it has to be above 0'):
        CommandSignal((1,), (0.0,))
