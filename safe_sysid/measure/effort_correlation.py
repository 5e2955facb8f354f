"""How like a measured torque is to the one that a description predicts, joint by joint."""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import AnyArray, Array

INVERTED = -0.8  # correlation with the predicted torque from which on a sign is inverted
LOUD = 0.1  # joints whose predicted torque is less than this share of the largest can't tell


def gain_and_correlation(predicted: Array, measured: Array) -> tuple[Array, Array]:
    """Of measured against predicted torque about zero, column by column of (N, n)."""
    size, other = np.linalg.norm(predicted, axis=0), np.linalg.norm(measured, axis=0)
    product = (predicted * measured).sum(axis=0)
    return product / np.maximum(size**2, 1e-12), product / np.maximum(size * other, 1e-12)


def loud(predicted: Array) -> AnyArray:
    """Joints whose predicted torque (N, n) is large enough to tell anything."""
    size = np.linalg.norm(predicted, axis=0)
    large: AnyArray = (size >= LOUD * size.max()) & (size > 0.0)
    return large
