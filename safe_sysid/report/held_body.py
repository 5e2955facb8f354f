"""Centre of mass and spread of the mass of what the last joint moves, with their bounds.

Along axis i the mass m is spread about its centre c by the deviation sqrt(S_i / m - c_i^2), S_i
the integral of x_i^2 over the mass, S_x = (Iyy + Izz - Ixx) / 2. The ellipsoid of these deviations
in every direction says what the inertia says; bounds of theta_e bound its extent along the axes of
the frame by intervals, so it is in a box about its centre.
"""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.identify.estimate_series import EstimateSeries
from safe_sysid.model.inertia import mass_com_inertia
from safe_sysid.report.page_scene import HeldBody
from safe_sysid.sets.interval import Interval

MOMENTS = (4, 6, 9)  # of theta_e: Ixx, Iyy, Izz


def held_body(series: EstimateSeries, joint: int, truth: Array | None) -> HeldBody | None:
    """Return what a series of bounds says; none if the mass may be nothing."""
    if (series.lower[:, 0] <= 0.0).any():
        return None
    bounds = [Interval(a, b) for a, b in zip(series.lower, series.upper, strict=True)]
    com = [each[1:4] / each[0:1] for each in bounds]
    return HeldBody(
        joint=joint,
        time=series.time,
        com=series.nominal[:, 1:4] / series.nominal[:, :1],
        com_lower=np.array([each.lower for each in com]),
        com_upper=np.array([each.upper for each in com]),
        ellipsoid=np.array([_ellipsoid(theta) for theta in series.nominal]),
        half_box=np.array([_half_box(b, c) for b, c in zip(bounds, com, strict=True)]),
        truth=None if truth is None else truth[1:4] / truth[0],
    )


def _ellipsoid(theta: Array) -> Array:
    """Semi-axes as columns, (3, 3); nan where no body has these parameters."""
    mass, _, inertia = mass_com_inertia(theta)
    second = 0.5 * np.trace(inertia) * np.eye(3) - inertia  # of the mass, about its centre
    values, vectors = np.linalg.eigh(second)
    if values[0] <= 0.0:
        return np.full((3, 3), np.nan)
    axes: Array = vectors * np.sqrt(values / mass)
    return axes


def _half_box(bounds: Interval, com: Interval) -> Array:
    """Half edges of a box about the centre of mass, wherever it is, (3,)."""
    diagonal = [bounds[i : i + 1] for i in MOMENTS]
    half = []
    for i in range(3):
        own, first, second = diagonal[i], diagonal[i - 2], diagonal[i - 1]
        spread = (first + second - own) / bounds[0:1]
        variance = 0.5 * spread.upper[0] - com[i : i + 1].square().lower[0]
        half.append(np.sqrt(max(variance, 0.0)))
    return np.array(half)
