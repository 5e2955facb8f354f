"""Torque by recursion, against the two-link arm worked out by hand."""

import numpy as np

from safe_sysid.model.dynamics.inverse_dynamics import inverse_dynamics
from safe_sysid.model.robot_model import RobotModel


def two_link_torque(model, q, qd, qdd):
    """Lagrange's equations of two bodies in the vertical plane, friction and armature added."""
    m1, m2, l1, c1, c2, g = 2.0, 1.0, 0.4, 0.2, 0.25, 9.81
    I1, I2 = 0.03, 0.02
    Fc, Fv, Ia, beta = model.layout.friction(model.theta)
    h = m2 * l1 * c2
    M11 = I1 + I2 + m1 * c1**2 + m2 * (l1**2 + c2**2) + 2.0 * h * np.cos(q[1])
    M12 = I2 + m2 * c2**2 + h * np.cos(q[1])
    M22 = I2 + m2 * c2**2
    coriolis = h * np.sin(q[1])
    weight_2 = m2 * g * c2 * np.cos(q[0] + q[1])
    rigid = np.array(
        [
            M11 * qdd[0]
            + M12 * qdd[1]
            - coriolis * (2.0 * qd[0] * qd[1] + qd[1] ** 2)
            + (m1 * c1 + m2 * l1) * g * np.cos(q[0])
            + weight_2,
            M12 * qdd[0] + M22 * qdd[1] + coriolis * qd[0] ** 2 + weight_2,
        ]
    )
    return rigid + Fc * np.sign(qd) + Fv * qd + Ia * qdd + beta


def test_two_link_arm_by_hand(rng):
    model = RobotModel.named('two_link')
    q, qd, qdd = rng.uniform(-3.0, 3.0, (3, 20, 2))
    expected = [two_link_torque(model, *row) for row in zip(q, qd, qdd, strict=True)]
    np.testing.assert_allclose(inverse_dynamics(model, q, qd, qdd), expected, rtol=1e-12)
