"""Whether an arm can be read so wrongly that a law which takes readings as exact must lose it.

Such a law promises V <= V_M of the r that it reads. A velocity that is read wrong by its error
alone is an r of that size, on an arm that follows its plan perfectly. Where the energy of that is
above V_M for every theta in its bounds, the controller is right to say that an assumption is
false, and its input shakes the arm instead of leading it.
"""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.model.dynamics.kinetic_energy import kinetic_energy
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.sensing import reading_errors
from safe_sysid.sets.interval import Interval


def why_not_exact(
    model: RobotModel, theta: Interval, V_M: float, period: float, position: Array
) -> str:
    """Why no promise can be kept with readings as the arm's file has them; empty if one may be."""
    error = reading_errors(model, period).velocity
    energy = [
        float(kinetic_energy(model, theta, position, alone).lower) for alone in np.diag(error)
    ]
    j = int(np.argmax(energy))
    if energy[j] <= V_M:
        return ''
    return (
        f'a velocity of {model.layout.joint_names[j]} may be read wrong by {error[j]:.3g} rad/s, '
        f'a tracking error of at least {energy[j]:.3g} J for a law that takes readings as exact, '
        f'which is certified for V_M = {V_M:g} J'
    )
