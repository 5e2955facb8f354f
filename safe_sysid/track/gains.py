"""Gains of the robust controller; the tracking error they promise is in `reach.tracking_error`.

With e = q_d - q, r = de/dt + K_r e, qd_a = qd_d + K_r e, qdd_a = qdd_d + K_r de/dt the law is

    tau = W_s(q, qd, qd_a, qdd_a) theta_0 + v,   v = lambda M r,   M = H(q, theta_0) + diag(Ia_0),
    lambda r' M r = max(0, |r|' w_M - alpha max(0, V_M - V_sup)) + beta max(0, V_inf - V_M)

(lambda = 0 at r = 0, beta = alpha up to a limit) where the Coulomb term of W_s theta_0 is Fc_0
tanh(qd_d / coulomb_speed), w_M bounds what theta may change in W_s theta, friction included, and
V_inf <= V <= V_sup for V = 1/2 r' (H + diag(Ia)) r. At V = V_M it gives r' v >= |r|' w_M, hence
dV/dt <= 0.

A torque is held for a while and a velocity is measured, so the sign of qd may not be the one that
was measured. Up to |qd| = sign_speed the law takes Coulomb friction to be anywhere in [-Fc, Fc];
whoever bounds w_M over a set of velocities has to do the same for all that are this slow.

What acts on joint j is within torque_ratio_j |tau_j| + torque_error_j of tau_j, as the settings of
the arm state (`model/actuation.py`); w_M has room for it, for the part of v too: see `robust_law`
for the law, `invariance` for the bound of v, which there is only where the ratios are small enough
for more torque to make up for the errors of more torque.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import ConfigError


@dataclass(frozen=True, eq=False)
class Gains:
    """What the robust controller may be told."""

    K_r: Array  # (n,) [1/s] rate at which a position error decays
    V_M: float  # [J] energy of the error that plans count on
    alpha: float  # [1/s] how early the robust input sets in below V_M
    coulomb_speed: float = 0.05  # [rad/s] desired speed at which Coulomb friction is compensated
    sign_speed: float = 0.0  # [rad/s] up to this measured speed friction may point either way
    torque_error: Array | float = 0.0  # (n,) [N m] of what acts on a joint, against the law
    torque_ratio: Array | float = 0.0  # (n,) the same as a share of what the law says

    def __post_init__(self) -> None:
        K_r = np.array(self.K_r, dtype=np.float64)
        if K_r.ndim != 1 or not np.all((K_r > 0.0) & (K_r < np.inf)):
            raise ConfigError(f'K_r = {K_r} has to be one positive number per joint [1/s]')
        for name in ('V_M', 'alpha', 'coulomb_speed'):
            value = getattr(self, name)
            if not 0.0 < value < np.inf:
                raise ConfigError(f'{name} is {value}, it has to be above 0 and finite')
        if not 0.0 <= self.sign_speed < np.inf:
            raise ConfigError(
                f'sign_speed is {self.sign_speed}, it has to be 0 or more and finite'
            )
        self._keep('K_r', K_r)
        for name in ('torque_error', 'torque_ratio'):
            value = getattr(self, name)
            if not np.all((np.asarray(value) >= 0.0) & (np.asarray(value) < np.inf)):
                raise ConfigError(f'{name} is {value}, it has to be 0 or more and finite')
            self._keep(name, np.broadcast_to(np.asarray(value, dtype=np.float64), K_r.shape))
        if not np.all(np.asarray(self.torque_ratio) < 1.0):
            raise ConfigError(
                f'torque_ratio is {self.torque_ratio}; errors that are so large a share of the '
                'torque cannot be made up for by more torque'
            )

    def _keep(self, name: str, value: Array) -> None:
        value = value.copy()
        value.setflags(write=False)
        object.__setattr__(self, name, value)
