"""What a simulated arm reports gives rows that the true parameters satisfy, promise kept."""

import numpy as np
import pytest
from tiers import slow_after

from safe_sysid.identify.momentum_observation import ObservationSettings, observe
from safe_sysid.measure.joint_log import JointLog
from safe_sysid.model.parameters import ratio_bounds
from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.simulate.random_arm import random_tree
from safe_sysid.simulate.sensors import SensorSettings
from safe_sysid.simulate.simulated_arm import ArmSettings, SimulatedArm


def recorded(arm, rng, samples, amplitude):
    """Recording in which the torque of a sample is the one that was held until its stamp."""
    t = 0.001 * np.arange(samples)
    torques = amplitude * np.sin(np.outer(t, rng.uniform(3.0, 20.0, size=arm.model.n)))
    found = [arm.measure()]
    for torque in torques:
        arm.apply(torque)
        found.append(arm.measure())
    return JointLog(
        np.array([m.stamp for m in found]),
        np.array([m.position for m in found]),
        np.array([m.velocity for m in found]),
        np.array([m.torque for m in found]),
    )


def shares(model, settings, log, theta):
    """|Y_e theta_e + Y_r theta_r - b| / delta of every row."""
    rows = observe(model, ratio_bounds(model.theta, 0.01), settings, log)
    layout = model.layout
    left = rows.Y_e @ theta[layout.end_effector] + rows.Y_r @ theta[layout.rest]
    return np.abs(left - rows.b) / rows.delta


def loaded_kinova():
    model = RobotModel.named('kinova_gen3').with_payload(read_payload('dumbbell_8lb'))
    theta = model.theta.copy()
    theta[model.layout.joint_entries('Fc')] = 2.0
    return model.with_parameters(theta)


def exact(**settings):
    return ObservationSettings(
        **{
            'torque_signal': 'held_until',
            'torque_ratio': (0.0,),
            'position_error': (0.0,),
            'velocity_error': (0.0,),
            **settings,
        }
    )


@pytest.mark.parametrize('arm', slow_after(1, ['random', 'kinova']))
def test_rows_hold_without_any_error_of_the_torque(rng, arm):
    for _ in range(3):
        kinova = arm == 'kinova'
        model = loaded_kinova() if kinova else random_tree(rng, 4, serial=True, armature=0.3)
        simulated = SimulatedArm(model, rng.normal(size=model.n), rng)
        log = recorded(simulated, rng, 1000, 30.0 if kinova else 20.0)
        assert (np.diff(np.sign(log.velocity), axis=0) != 0).sum() > 5
        settings = exact(window=50)
        assert shares(model, settings, log, model.theta).max() <= 1.0
        late = exact(window=50, torque_signal='held')  # one sample too late
        assert shares(model, late, log, model.theta).max() > 1.0
        wrong = model.theta.copy()
        wrong[model.layout.end_effector] *= 1.05
        assert shares(model, settings, log, wrong).max() > 1.0


@pytest.mark.parametrize('kind', ['random', 'constant'])
def test_rows_hold_with_every_error_the_sensors_may_make(rng, kind):
    model = loaded_kinova()
    sensors = SensorSettings(
        position_resolution=(1e-4,),
        velocity_resolution=(1e-4,),
        velocity_noise=(1e-4,),
        torque_ratio=(0.025,),
        torque_error=(0.1,),
        torque_kind=kind,
    )
    arm = SimulatedArm(model, rng.normal(size=7), rng, ArmSettings(sensors=sensors))
    log = recorded(arm, rng, 1000, 30.0)
    settings = exact(
        window=50,
        torque_ratio=sensors.torque_ratio,
        torque_error=sensors.torque_error,
        position_error=sensors.position_error,
        velocity_error=sensors.velocity_error,
    )
    used = shares(model, settings, log, model.theta)
    assert used.max() <= 1.0
    assert used.max() > 0.1
    unaware = shares(model, exact(window=50), log, model.theta)
    assert unaware.max() > 1.0
