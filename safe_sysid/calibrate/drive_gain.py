"""Newton metres per unit of effort, sign included, from one mass that is known.

Two recordings of an effort signal nobody has a unit for, without and with a known body on the tip:

    g_j i_j = Y_b beta              g_j i_j = Y_b beta + Y_L phi_L

The known torque Y_L phi_L gives everything its unit. Noise is in the signal i, so residuals are
taken there: i_j - (Y_b beta + Y_L phi_L) / g_j.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import AnyArray, Array
from safe_sysid.calibrate.even_log import EvenLog
from safe_sysid.calibrate.excitation_quality import arm_base_parameters
from safe_sysid.calibrate.fit_columns import FitColumns
from safe_sysid.calibrate.torque_rows import TorqueRows, joined, torque_rows
from safe_sysid.errors import MeasurementError
from safe_sysid.identifiability.base_parameters import BaseParameters
from safe_sysid.model.payload import Payload
from safe_sysid.model.robot_model import RobotModel

STEPS = 50
DECIDED = 3.0  # standard deviations that a gain has to be away from 0
LAGS = 20  # rows; noise behind a filter is not correlated over more
CREEP = 0.003  # [rad/s] below, a joint counts as standing
SETTLED = 1e-10  # relative change of every gain


@dataclass(frozen=True, eq=False)
class DriveGains:
    """Signed gain of every joint and its standard deviation."""

    gain: Array  # (n,) [N m per unit]
    deviation: Array  # (n,)

    @property
    def sign(self) -> Array:
        """+1, or -1 where the driver counts against the joint axis."""
        return np.sign(self.gain)

    @property
    def undecided(self) -> AnyArray:
        """Joints whose sign the data leave open, (n,) bool."""
        open_signs: AnyArray = np.abs(self.gain) < DECIDED * self.deviation
        return open_signs


def gains_of_logs(
    model: RobotModel,
    without: list[EvenLog],
    loaded: list[EvenLog],
    payload: Payload,
    cutoff: float,
) -> DriveGains:
    """Gains from recordings without and with a known payload, behind a low-pass [Hz]."""
    columns = FitColumns(model.layout, CREEP)
    rows, rows_loaded = (
        joined([torque_rows(model, columns, log, cutoff) for log in logs])
        for logs in (without, loaded)
    )
    load = columns.nominal(model.with_payload(payload).theta - model.theta)
    base = arm_base_parameters(model, columns, np.random.default_rng(0))
    return drive_gains(base, rows, rows_loaded, load)


def drive_gains(
    base: BaseParameters, without: TorqueRows, loaded: TorqueRows, load: Array
) -> DriveGains:
    """Gains from rows without and with a body of known inertial parameters.

    `tau` of the rows is the signal as the driver gives it; `load` has the factors of the known
    body, one per column of the rows, zero where it has no part.
    """
    n = without.tau.shape[1]
    known = loaded.Y @ load
    if not np.any(np.abs(known) > 1e-9):
        raise MeasurementError('the known body exerts no torque on any joint: it weighs nothing')
    Y = np.concatenate([without.Y, loaded.Y])[:, :, base.columns]
    signal = np.concatenate([without.tau, loaded.tau])
    added = np.concatenate([np.zeros_like(without.tau), known])
    norms = np.sqrt(np.einsum('tji,tji->i', Y, Y))
    Y = Y / np.where(norms > 0.0, norms, 1.0)
    beta, gain = _start(Y, signal, added)
    sigma = np.ones(n)
    H = np.eye(len(beta) + n)
    for _ in range(STEPS):
        torque = Y @ beta + added
        residual = signal - torque / gain
        sigma = np.sqrt(np.mean(residual**2, axis=0)) + 1e-300
        # of the residuals by beta and by ln |g|, which keeps the sign
        by_beta = -Y / gain[:, None]
        J = np.zeros((*signal.shape, len(beta) + n))
        J[:, :, : len(beta)] = by_beta
        J[:, np.arange(n), len(beta) + np.arange(n)] = torque / gain
        J, weighted = J / sigma[:, None], residual / sigma
        H = np.einsum('tji,tjk->ik', J, J, optimize=True)
        step = np.linalg.solve(H, -np.einsum('tji,tj->i', J, weighted))
        beta = beta + step[: len(beta)]
        gain = gain * np.exp(np.clip(step[len(beta) :], -1.0, 1.0))
        if np.abs(step[len(beta) :]).max() < SETTLED:
            break
    # the motion is slow, so noise counts by its power at low frequencies
    colour = 2.0 * float(np.sum(without.correlation(LAGS))) - 1.0
    relative = np.sqrt(colour * np.diag(np.linalg.inv(H))[len(beta) :])
    return DriveGains(gain, np.abs(gain) * relative)


def _start(Y: Array, signal: Array, added: Array) -> tuple[Array, Array]:
    """Linear least squares of Y beta - g i = -added."""
    N, n, b = Y.shape
    rows = np.zeros((N, n, b + n))
    rows[:, :, :b] = Y
    size = np.sqrt(np.mean(signal**2, axis=0)) + 1e-300
    rows[:, np.arange(n), b + np.arange(n)] = -signal / size
    solution, *_ = np.linalg.lstsq(rows.reshape(N * n, -1), -added.ravel(), rcond=None)
    gain = solution[b:] / size
    if np.any(gain == 0.0):
        raise MeasurementError('a joint shows no signal at all, its gain can not be found')
    beta: Array = np.asarray(solution[:b], dtype=float)
    return beta, gain
