"""A body that an arm did not hold, added to the torques it recorded without one."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.calibrate.even_log import EvenLog
from safe_sysid.measure.filters import derivative, zero_phase
from safe_sysid.model import inertia
from safe_sysid.model.dynamics.regressors import standard_regressor
from safe_sysid.model.robot_model import RobotModel

SMOOTHED = 8.0  # [Hz] positions behind the torque of the body; not as estimates are smoothed
CREEP = 0.01  # [rad/s]
THICK = 0.03  # [m] radius of gyration of the body about its centre


@dataclass(frozen=True)
class VirtualPayload:
    """A body on the last joint, and how the drives report its torque."""

    mass: float  # [kg]
    distance: float  # [m] of its centre from the origin of the last joint
    gain_errors: tuple[float, ...] = ()  # share by which each joint reports it wrong
    load_friction: float = 0.0  # friction as a share of its torque
    delay: float = 0.0  # [s] by which its torque comes late

    def parameters(self) -> Array:
        """Ten parameters in the frame of the last joint, along a skew direction of it."""
        com = self.distance * np.array([0.48, 0.36, 0.8])
        body: Array = inertia.from_mass_com_inertia(
            np.array(self.mass), com, self.mass * THICK**2 * np.eye(3)
        )
        return body


def holding(model: RobotModel, log: EvenLog, payload: VirtualPayload) -> EvenLog:
    """Return the recording as if the body had been held, its torque as drives report it."""
    if payload.mass == 0.0:
        return log
    q = zero_phase(log.q, log.rate, min(SMOOTHED, 0.4 * log.rate))
    qd = derivative(q, log.rate)
    place = model.layout.end_effector
    W = standard_regressor(model, q, qd, derivative(qd, log.rate))[:, :, place]
    tau = W @ payload.parameters()
    tau = tau + payload.load_friction * np.abs(tau) * np.tanh(qd / CREEP)
    if payload.gain_errors:
        tau = tau / (1.0 + np.array(payload.gain_errors))
    late = np.arange(len(tau)) - payload.delay * log.rate
    tau = np.column_stack([np.interp(late, np.arange(len(tau)), x) for x in tau.T])
    return replace(log, tau=log.tau + tau)
