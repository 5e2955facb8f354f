"""A small simulator for the tests of control laws: Pinocchio's forward dynamics with RK4."""

import numpy as np
import pinocchio as pin

from safe_sysid.measure.joint_log import JointMeasurement

STICTION = 2e-4  # [rad/s] width of the ramp that stands for the jump of dry friction


class SimulatedArm:
    """An arm whose parameters are `model.theta`; no limits, sensors without errors."""

    def __init__(self, model, q, qd, stamp=0):
        self.q, self.qd, self.stamp = np.array(q, float), np.array(qd, float), stamp
        self._rigid = model.pinocchio()
        self._data = self._rigid.createData()
        self._Fc, self._Fv, _, self._beta = model.layout.friction(model.theta)
        self._torque = np.zeros(model.n)

    def measure(self):
        return JointMeasurement(self.stamp, self.q.copy(), self.qd.copy(), self._torque.copy())

    def hold(self, torque, nanoseconds, steps):
        """Go on under a constant torque."""
        self._torque = torque
        h = nanoseconds * 1e-9 / steps
        for _ in range(steps):
            self._step(torque, h)
        self.stamp += nanoseconds

    def mass_matrix(self):
        """H + diag(Ia)."""
        return pin.crba(self._rigid, self._data, self.q) * 1.0

    def _acceleration(self, q, qd, torque):
        friction = self._Fc * np.tanh(qd / STICTION) + self._Fv * qd + self._beta
        return pin.aba(self._rigid, self._data, q, qd, torque - friction)

    def _step(self, torque, h):
        q, v = self.q, self.qd
        a1 = self._acceleration(q, v, torque)
        v2 = v + 0.5 * h * a1
        a2 = self._acceleration(q + 0.5 * h * v, v2, torque)
        v3 = v + 0.5 * h * a2
        a3 = self._acceleration(q + 0.5 * h * v2, v3, torque)
        v4 = v + h * a3
        a4 = self._acceleration(q + h * v3, v4, torque)
        self.q = q + h / 6.0 * (v + 2.0 * v2 + 2.0 * v3 + v4)
        self.qd = v + h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)
