"""A payload's inertia, known before to be small: about its centre of mass, wherever that is.

A prior of 0 about the origin of a flange says that nothing is far from it, which is false of a
body that is held there. What a mass at its centre has about the origin, m |c|^2, follows from
mass and first moments, which torques show first; the prior is that, with the deviation that was
stated and how far that itself may be off.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.identify.difference.rows import DifferenceRows
from safe_sysid.identify.difference.shared_fit import SharedFit, payload_prior, shared_fit
from safe_sysid.model import inertia

SURE = 3.0  # deviations of the mass beyond which there is a body


def centred_fit(
    rows: DifferenceRows, limits: tuple[float, float], deviation: float, gain_error: float
) -> tuple[SharedFit, Array]:
    """Fit rows with a prior about the centre of mass, and return its deviations (10,) as well.

    Limits are mass [kg] and reach [m] of the payload, `deviation` [kg m^2] is that of inertias
    about the centre, and the gain error a share by which all torques may be off.
    """
    mass, reach = limits
    first = shared_fit(rows, payload_prior(mass, reach, mass * reach**2))
    mean, spread = _of_point(first, reach, gain_error)
    if not mean.any():
        prior = payload_prior(mass, reach, deviation)
        return shared_fit(rows, prior), prior
    prior = np.append(payload_prior(mass, reach, deviation)[:4], np.hypot(deviation, spread[4:]))
    pulled = rows.tau - (rows.Y_L @ mean) * rows.loaded[:, None]
    fit = shared_fit(replace(rows, tau=pulled), prior)
    return replace(fit, phi=fit.phi + mean), prior


def _of_point(fit: SharedFit, reach: float, gain_error: float) -> tuple[Array, Array]:
    """Inertia about the origin of the mass at its centre, and how far off it may be, (10,)."""
    m, nothing = float(fit.phi[0]), np.zeros(10)
    deviation = np.sqrt(np.maximum(np.diag(fit.covariance)[-10:-6], 0.0))
    if not m > max(SURE * float(deviation[0]), 0.0):
        return nothing, nothing
    c = fit.phi[1:4] / m
    c = c * min(1.0, reach / max(float(np.linalg.norm(c)), 1e-300))
    off = np.minimum(np.hypot(deviation[1:], c * deviation[0]) / m, reach)  # [m] of the centre
    point = inertia.from_mass_com_inertia(np.array(m), c, np.zeros((3, 3)))
    mean = np.append(np.zeros(4), point[4:])
    apart = m * (np.outer(np.abs(c), off) + np.outer(off, np.abs(c)) + np.outer(off, off))
    squares = np.diag(apart)
    moments = np.diag(squares.sum() - squares)
    spread = inertia.symmetric_entries(moments + apart - np.diag(squares))
    share = gain_error + float(deviation[0]) / m
    return mean, np.append(np.zeros(4), spread + share * np.abs(mean[4:]))
