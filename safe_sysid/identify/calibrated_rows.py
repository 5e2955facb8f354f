"""Rows of the calibration as those of a body held before: what they bind in the loop's theta_r.

    |Y_r theta_r + Y_b theta_b - g tau_j - z Y_beta - tau| <= delta (1 + max g) + rounding

theta_b is the last body of then, the empty hand: within the prior of the loop, or that of a link.
What the spectra of the calibration cannot show, as the fit contains it, are unknowns too: a gain
g_j and a zero z_j of each joint's torque, as large as the loop promises of torques now.
A torque sensor behind the gear feels neither friction nor rotors; its rows have no such columns.
"""

from __future__ import annotations

import numpy as np

from safe_sysid.identify.earlier_payloads import EarlierRows
from safe_sysid.identify.observation import Observation
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.promised_links import CalibratedArm
from safe_sysid.model.sensing import TorqueErrors
from safe_sysid.sets.interval import Interval, concatenate


def calibrated_rows(
    arm: CalibratedArm, prior: ParameterEstimate, torques: TorqueErrors, most: int
) -> EarlierRows:
    """Return at most so many rows of a calibration, those that bind most."""
    links, layout = arm.rows.first(most), prior.layout
    m, Y = len(links), links.Y.copy()
    if not torques.has_rotors:
        for label in ('Fc', 'Fv', 'Ia'):
            Y[:, layout.joint_entries(label)] = 0.0
    of_joint = np.zeros((m, layout.n))
    of_joint[np.arange(m), links.joint] = 1.0
    gains = -links.tau[:, None] * of_joint
    zeros = -Y[:, layout.joint_entries('beta')]
    body = prior.end_effector_bounds.hull(arm.hand)
    of_torque = [Interval(-x, x) for x in (torques.ratio, torques.absolute)]
    known = (prior.bounds[layout.rest], body, of_torque[1])
    size = sum(float(x.magnitude.sum()) for x in known)
    scale = 1.0 + torques.ratio[links.joint]
    rounding = size * links.rounding[:, 0] + scale * links.rounding[:, 1]
    rows = Observation(
        np.zeros((m, 10)),
        Y[:, layout.rest],
        links.tau,
        scale * links.delta + rounding,
        links.joint,
        np.zeros(m),
        np.full(m, links.seconds),
    )
    own = np.concatenate([Y[:, layout.end_effector], gains, zeros], axis=1)
    return EarlierRows(rows, own, concatenate([body, *of_torque]))
