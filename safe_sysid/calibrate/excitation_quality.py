"""Whether a recording moved the arm enough: what the fit would predict for other motions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.calibrate.fit_columns import FitColumns
from safe_sysid.calibrate.torque_rows import SmoothedMotion
from safe_sysid.calibrate.uncertainty import FitUncertainty
from safe_sysid.identifiability.base_parameters import (
    TOLERANCE,
    BaseParameters,
    base_parameters,
)
from safe_sysid.model.robot_model import RobotModel

STATES = 400  # random ones; an arm of 7 joints has about 70 base parameters
EXTREME = 0.02  # share of samples that do not count for the range of a signal


@dataclass(frozen=True, eq=False)
class ExcitationQuality:
    """Uncertainty of the torque of motions like the recorded one, joints in any combination."""

    relative: float  # rms deviation of all joints over the rms recorded torque
    deviation: Array  # (n,) [N m] rms, joint by joint
    condition: float  # of the rows, every column of length 1, as far as they show anything
    unseen: int  # base parameters, or combinations of them, that no row shows
    alone: float  # share of the motion that is not along one direction of joint space


def arm_base_parameters(
    model: RobotModel, columns: FitColumns, rng: np.random.Generator
) -> BaseParameters:
    """Return base parameters of an arm that moves as it likes inside its limits."""
    return base_parameters(usual_rows(model, columns, rng).reshape(-1, columns.size))


def usual_rows(model: RobotModel, columns: FitColumns, rng: np.random.Generator) -> Array:
    """Columns (N, n, p) of an arm that moves as it likes inside its limits."""
    limits = model.limits
    lower = np.where(np.isfinite(limits.position_lower), limits.position_lower, -np.pi)
    upper = np.where(np.isfinite(limits.position_upper), limits.position_upper, np.pi)
    shape = (STATES, model.n)
    q = rng.uniform(lower, upper, shape)
    qd = rng.uniform(-1.0, 1.0, shape) * limits.velocity
    qdd = rng.uniform(-1.0, 1.0, shape) * limits.acceleration
    return columns.regressor(model, q, qd, qdd)


def excitation_quality(
    model: RobotModel,
    columns: FitColumns,
    motions: list[SmoothedMotion],
    fitted: tuple[FitUncertainty, Array],
    rng: np.random.Generator,
) -> ExcitationQuality:
    """Uncertainty at random states inside the recorded ranges; `fitted` has the whitened rows."""
    uncertainty, whitened = fitted
    q, qd, qdd, tau = (
        np.concatenate([getattr(motion, name) for motion in motions])
        for name in ('q', 'qd', 'qdd', 'tau')
    )
    states = [_random_states(x, rng) for x in (q, qd, qdd)]
    deviation = uncertainty.torque_deviation(columns.regressor(model, *states))
    condition, unseen = _conditioning(whitened[:, uncertainty.base.columns])
    along = np.linalg.svd(q - q.mean(axis=0), compute_uv=False)
    return ExcitationQuality(
        relative=float(np.sqrt(np.mean(deviation**2) / np.mean(tau**2))),
        deviation=np.sqrt(np.mean(deviation**2, axis=0)),
        condition=condition,
        unseen=unseen,
        alone=float(1.0 - along[0] ** 2 / max(np.sum(along**2), 1e-300)),
    )


def _conditioning(rows: Array) -> tuple[float, int]:
    """Condition number of what rows (N, b) show, and how many of their directions they do not."""
    norms = np.linalg.norm(rows, axis=0)
    singular = np.linalg.svd(rows / np.where(norms > 0.0, norms, 1.0), compute_uv=False)
    shown = singular[singular > TOLERANCE * singular.max(initial=0.0)]
    condition = float(shown[0] / shown[-1]) if shown.size else np.inf
    return condition, rows.shape[1] - len(shown)


def _random_states(values: Array, rng: np.random.Generator) -> Array:
    """States inside the range of every joint, independent of each other."""
    lower, upper = np.quantile(values, [EXTREME, 1.0 - EXTREME], axis=0)
    return rng.uniform(lower, upper, (STATES, values.shape[1]))
