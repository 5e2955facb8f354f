"""Joint frames are where Pinocchio has them, and move as it says."""

import numpy as np
import pinocchio as pin
import pytest

from safe_sysid.errors import MeasurementError
from safe_sysid.model.dynamics.forward_kinematics import joint_frames, tip_jacobian
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.simulate.random_arm import random_tree


@pytest.mark.parametrize('serial', [True, False])
def test_joint_frames_are_those_of_pinocchio(rng, serial):
    for _ in range(20):
        model = random_tree(rng, int(rng.integers(1, 9)), serial)
        rigid = model.pinocchio()
        data = rigid.createData()
        q = 3 * rng.normal(size=model.n)
        pin.forwardKinematics(rigid, data, q)
        R, p = joint_frames(model, q)
        for i in range(model.n):
            np.testing.assert_allclose(R[i], data.oMi[i + 1].rotation, atol=1e-13)
            np.testing.assert_allclose(p[i], data.oMi[i + 1].translation, atol=1e-13)


def test_jacobian_is_that_of_pinocchio(rng):
    model = RobotModel.named('lbr_med7')
    rigid = model.pinocchio()
    data = rigid.createData()
    for q in rng.uniform(-2, 2, size=(10, 7)):
        pin.computeJointJacobians(rigid, data, q)
        oracle = pin.getJointJacobian(rigid, data, 7, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        assert tip_jacobian(model, q) == pytest.approx(oracle, abs=1e-12)


def test_two_links_by_hand():
    model = RobotModel.named('two_link')
    R, p = joint_frames(model, np.array([0.3, 0.4]))
    R0, p0 = joint_frames(model, np.zeros(2))
    axis = R0[0] @ model.tree.axis[0]
    turned = R[0] @ R0[0].T  # about the first axis by the first angle
    np.testing.assert_allclose(turned @ axis, axis, atol=1e-15)
    assert np.trace(turned) == pytest.approx(1 + 2 * np.cos(0.3))
    np.testing.assert_allclose(p[1] - p[0], turned @ (p0[1] - p0[0]), atol=1e-15)


@pytest.mark.parametrize('q', [np.zeros(3), np.array([0.0, np.nan])])
def test_positions_that_are_none_are_refused(q):
    with pytest.raises(MeasurementError, match='q'):
        joint_frames(RobotModel.named('two_link'), q)
