"""Whether an arm that is seen late is near enough to a plan that begins anew.

As in `takeover`, V(r) <= V_M and V(K_r e) <= V_M have to hold for every theta in its bounds, here
with what may be wrong of r and e: both are known to sigma in the norm of M, K_r e as K_r s / 2 is
part of what r is known to. With H + diag(Ia) <= kappa M that is 1/2 kappa (|x|_M + sigma)^2.
"""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.model.dynamics.kinetic_energy import kinetic_energy
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval
from safe_sysid.track.seen_law import SeenLaw

UNSEEN = 'the arm was not seen long enough to begin'  # which time will change


def refusal_to_begin(
    model: RobotModel,
    law: SeenLaw,
    theta_0: Array,
    positions: Array,
    seen: tuple[Array, Array],
) -> str:
    """Why a plan may not begin anew; empty if it may.

    `positions` (2, n) are where the arm is seen and where it is to be, `seen` are r and e.
    """
    r, pull = seen[0], law.observer.K_r * seen[1]
    exact = Interval.of(theta_0)
    most = 0.0
    for q, x in ((positions[0], r), (positions[0], pull), (positions[1], pull)):
        half = float(kinetic_energy(model, exact, q, x).upper)  # 1/2 |x|_M^2
        length = np.sqrt(2.0 * max(half, 0.0)) + law.bounds.sigma
        most = max(most, 0.5 * law.shell.kappa * length**2)
    if most <= law.bounds.V_M:
        return ''
    return (
        f'the tracking error would begin with up to {most:.3g} J as far as can be seen, '
        f'V_M = {law.bounds.V_M} J are certified; let the arm come to rest'
    )
