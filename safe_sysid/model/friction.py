"""Friction torque F = Fc sign(qd) + Fv qd + Ia qdd + beta, eq. (6), linear in its parameters."""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array

LABELS = ('Fc', 'Fv', 'Ia', 'beta')
UNITS = ('N m', 'N m s/rad', 'kg m^2', 'N m')
SLIDING_UNITS = ('N', 'N s/m', 'kg', 'N')  # of prismatic joints


def units(sliding: bool) -> tuple[str, ...]:
    """Units of the labels, for a prismatic joint or for one that turns."""
    return SLIDING_UNITS if sliding else UNITS


def friction_torque(parameters: Array, qd: Array, qdd: Array) -> Array:
    """F(qd, qdd); `parameters` is (4, n) with rows Fc, Fv, Ia, beta."""
    Fc, Fv, Ia, beta = parameters
    torque: Array = Fc * np.sign(qd) + Fv * qd + Ia * qdd + beta
    return torque
