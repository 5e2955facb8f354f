"""Which inertia, known for certain, would let a joint keep its velocity limit: for refusals.

With r_max the bound of |r_j|, |de_j/dt| <= 2 r_max, and r_max = sqrt(2 V_M / inertia). Of a
velocity limit v half is left to plans if 2 r_max <= v / 2, which is inertia >= 32 V_M / v^2.
"""

from __future__ import annotations

import math


def needed_inertia(V_M: float, speed: float) -> float:
    """Inertia [kg m^2] with which an error takes half of a velocity limit at most."""
    return 32.0 * V_M / speed**2


def needed_sentence(joint: str, V_M: float, speed: float, certain: float) -> str:
    """Say which armature is certain, and which would do."""
    stated = f'the armature of {joint} is {certain:.2g} kg m^2 at least, as far as is stated'
    if not math.isfinite(speed) or speed <= 0.0:
        return f'{stated}; state a least one (joints: armature, uncertainty: armature)'
    return (
        f'{stated}; {needed_inertia(V_M, speed):.2g} kg m^2 for certain would do for V_M = '
        f'{V_M:g} J (joints: armature, uncertainty: armature)'
    )
