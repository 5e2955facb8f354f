"""Table IV: how well conditioning the torque regressor conditions the momentum regressor."""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.model.dynamics.regressors import momentum_chunks, standard_regressor
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.simulate.excited_motion import fourier_motion

WINDOWS = (1, 5, 10, 20, 50, 100, 200, 500)  # samples, h
SECONDS, PERIOD = 10.0, 0.001


def condition_correlation(
    model: RobotModel, rng: np.random.Generator, motions: int, base: float
) -> dict[int, float]:
    """Pearson correlation of cond(W_e) and cond(Y_e) over random motions, for every h.

    `base` [Hz] is the lowest frequency of the motions: the faster they are, the more a window of
    h samples averages away.
    """
    found = np.array([conditions(model, rng, base) for _ in range(motions)])
    return {
        h: float(np.corrcoef(found[:, 0], found[:, 1 + i])[0, 1]) for i, h in enumerate(WINDOWS)
    }


def conditions(model: RobotModel, rng: np.random.Generator, base: float) -> list[float]:
    """Condition number of W_e, then of Y_e for every h, along one random motion."""
    motion = fourier_motion(rng, model.n, SECONDS, PERIOD, base)
    place = model.layout.end_effector
    W = standard_regressor(model, motion.q, motion.qd, motion.qdd)[:, :, place]
    momentum, rate = np.empty_like(W), np.empty_like(W)
    for piece, W_m, W_c in momentum_chunks(model, motion.q, motion.qd):
        momentum[piece], rate[piece] = W_m[:, :, place], W_c[:, :, place]
    cells = 0.5 * PERIOD * (rate[1:] + rate[:-1])
    integral = np.concatenate([np.zeros_like(rate[:1]), np.cumsum(cells, axis=0)])
    balance = momentum - integral  # Y of a window is its difference between end and start
    return [_condition(W), *(_condition(np.diff(balance[::h], axis=0)) for h in WINDOWS)]


def _condition(rows: Array) -> float:
    triangle = np.linalg.qr(rows.reshape(-1, 10), mode='r')
    return float(np.linalg.cond(triangle))
