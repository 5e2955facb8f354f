"""Whether torques of poses at rest are of the size of the described arm's weight."""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.calibrate.effort_check import GAIN, UNRELATED
from safe_sysid.measure.effort_correlation import gain_and_correlation, loud
from safe_sysid.model.dynamics.regressors import standard_regressor
from safe_sysid.model.robot_model import RobotModel


def strange_size(model: RobotModel, q: Array, tau: Array) -> str | None:
    """Return what speaks against the unit of torques [N m] of the empty arm, (N, n) each.

    Offsets are unknown, so both are compared about their means.
    """
    still, bodies = np.zeros_like(q), 10 * model.n
    weight = standard_regressor(model, q, still, still)[:, :, :bodies] @ model.theta[:bodies]
    weight = weight - weight.mean(axis=0)
    gain, correlation = gain_and_correlation(weight, tau - tau.mean(axis=0))
    other = (gain > GAIN) | (gain < 1.0 / GAIN)
    strange = np.flatnonzero(loud(weight) & (correlation >= UNRELATED) & other)
    if not strange.size:
        return None
    names = model.layout.joint_names
    each = ', '.join(
        f'{names[j]} ({gain[j]:.3g} times with correlation {correlation[j]:.3f})' for j in strange
    )
    return (
        f'the effort of empty poses is not of the size that the description predicts, {each}; '
        '1/3 to 3 times is usual. If it is a current or in another unit, so is the payload: '
        'divide effort_scale of these joints by that factor in the settings, where effort.kind '
        'says what the signal is, or state how well the unit is known (--gain-error, --gains)'
    )
