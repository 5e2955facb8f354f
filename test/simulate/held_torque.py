"""Motions of simulated bodies under torque that is held, for the tests beside."""

import numpy as np

from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.simulate.rigid_body import RigidBody
from safe_sysid.simulate.sensors import SensorSettings
from safe_sysid.simulate.simulated_arm import ArmSettings, SimulatedArm


def without_coulomb(model, times=0.0):
    """The same arm with its Coulomb friction multiplied."""
    theta = model.theta.copy()
    theta[model.layout.joint_entries('Fc')] *= times
    return model.with_parameters(theta)


def sines(rng, n, periods, seconds, amplitude):
    """Torque of every period, (periods, n)."""
    t = seconds * np.arange(periods)
    return amplitude * np.sin(np.outer(t, rng.uniform(3.0, 20.0, size=n)))


def motion(body, q, qd, torques, seconds):
    """States at the ends of all periods, (periods + 1, 2, n)."""
    states = [np.array([q, qd])]
    for torque in torques:
        states.append(np.array(body.advance(*states[-1], torque, seconds)))
    return np.array(states)


def compare_readings(dynamics, rng, tolerance):
    """Read the built-in arm and another one, which pick up a payload and put it down again."""
    kinova = RobotModel.named('kinova_gen3')
    q = rng.normal(size=7)
    settings = ArmSettings(sensors=SensorSettings(torque_error=(0.1,), delay=1))
    ours, theirs = (
        SimulatedArm(kinova, q, np.random.default_rng(3), settings, each)
        for each in (RigidBody, dynamics)
    )
    for k in range(60):
        for arm in (ours, theirs):
            if k == 20:
                arm.attach(read_payload('dumbbell_8lb'))
            elif k == 40:
                arm.detach()
            arm.apply(30.0 * np.cos(0.1 * k + np.arange(7)))
        a, b = ours.measure(), theirs.measure()
        assert a.stamp == b.stamp
        np.testing.assert_array_equal(a.torque, b.torque)
        np.testing.assert_allclose(a.position, b.position, atol=tolerance)
        np.testing.assert_allclose(a.velocity, b.velocity, atol=tolerance)
