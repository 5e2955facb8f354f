"""Channels that report nothing: sensors that are not connected, or columns of something else."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import MeasurementError

TURNED = 1e-3  # [m/s^2, N m/kg] by which the weight of 1 kg changes in a channel, to be sure


def check_alive(source: str, names: Sequence[str], values: Array, weight: Array) -> None:
    """Refuse channels (N, k) that never change while what 1 kg does to them (M, k) changes."""
    still = np.ptp(values, axis=0) == 0.0
    dead = np.flatnonzero(still & (np.ptp(weight, axis=0) > TURNED))
    if dead.size:
        each = ', '.join(f'{names[i]} ({values[0, i]:.4g})' for i in dead.tolist())
        raise MeasurementError(
            f'{source}: never changes while positions do: {each}. Whatever is held turns against '
            'gravity there: the sensor is not connected, or these columns are of something else'
        )


def check_efforts(source: str, effort: Array, position: Array) -> None:
    """Refuse efforts (N, n) that are all 0, or none of which changes while the arm moves."""
    if not len(effort):
        return
    if not effort.any():
        said = f'is 0 in all {len(effort)} samples and joints'
    elif not np.ptp(effort, axis=0).any() and np.ptp(position, axis=0).any():
        said = f'never changes in any joint while positions do, in {len(effort)} samples'
    else:
        return
    raise MeasurementError(
        f'{source}: the effort {said}: nothing was measured. Torques, or currents with '
        'effort_scale, are needed'
    )
