"""An arm that control laws can be tried on, from any state, with sensors without errors."""

import numpy as np
import pinocchio as pin

from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.simulate.rigid_body import RigidBody


class ArmInMotion:
    """An arm whose parameters are `model.theta`; no limits."""

    def __init__(self, model, q, qd, stamp=0):
        self.q, self.qd, self.stamp = np.array(q, float), np.array(qd, float), stamp
        self._body = RigidBody(model)
        self._rigid = model.pinocchio()
        self._data = self._rigid.createData()
        self._torque = np.zeros(model.n)

    def measure(self):
        return JointMeasurement(self.stamp, self.q, self.qd, self._torque)

    def hold(self, torque, nanoseconds):
        """Go on under a constant torque."""
        self._torque = torque
        self.q, self.qd = self._body.advance(self.q, self.qd, torque, nanoseconds * 1e-9)
        self.stamp += nanoseconds

    def mass_matrix(self):
        """H + diag(Ia)."""
        upper = np.triu(pin.crba(self._rigid, self._data, self.q))
        return upper + np.triu(upper, 1).T
