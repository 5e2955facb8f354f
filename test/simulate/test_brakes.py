"""An arm in its brakes reports what the model of an arm at rest says."""

import numpy as np

from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.dynamics.regressors import standard_regressor
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.simulate.brakes import in_brakes


def test_sensors_feel_the_weight(rng):
    model = RobotModel.named('kinova_gen3')
    q, qd, torque = rng.normal(size=(3, 7))
    held = in_brakes(model, JointMeasurement(5, q, qd, torque))
    rest = np.zeros(7)
    weight = standard_regressor(model, q, rest, rest) @ model.theta
    assert np.allclose(held.torque, weight, rtol=0.0, atol=1e-11)
    assert np.array_equal(held.velocity, rest)
    assert np.array_equal(held.position, q)
    assert held.stamp == 5
