"""Torques of a payload that come late by one time, which all rows share.

A reported torque is that of a moment before, so a row of the payload is Y_L(t - d) phi. The delay
d is not known, |d| <= D, but it is the same at all times and joints: one bus, one source. For
every row of a block's spectrum and every d, Taylor's theorem with its remainder says

    F(d) phi = F(0) phi + D F'(0) psi + e,   psi = (d / D) phi,
    |e| <= D^2 / 2  max_{|s| <= D} |F''(s)| |phi|

so ten unknowns psi more, each no larger than the payload's own may be, and an error of second
order enclose what a delay does; no row may choose a delay of its own. Between rows the filtered
regressor is the cubic spline through them. Its second derivative is linear in s between knots, so
that of a spectrum is largest at a knot or at -D or D.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline

from safe_sysid.arrays import Array
from safe_sysid.identify.difference.rows import DifferenceRows
from safe_sysid.identify.difference.spectral_blocks import SpectralBlocks
from safe_sysid.identify.difference.torque_delay import runs_of_rows


@dataclass(frozen=True, eq=False)
class LatePayload:
    """What a delay of the payload's torques adds to spectra of blocks."""

    columns: Array  # (blocks, K, n, 10) [N m per unit of phi] of psi
    largest: Array  # (blocks, K, n, 10) remainder per unit of phi

    @classmethod
    def of(cls, blocks: SpectralBlocks, rows: DifferenceRows, late: float) -> LatePayload:
        """Of rows with a payload, late by up to so many seconds."""
        step = 1.0 / rows.rate
        knots = step * np.arange(-int(late / step), int(late / step) + 1)
        shifts = np.unique([-late, *knots, late])
        slope = np.zeros(rows.Y_L.shape)
        bends = np.zeros((len(shifts), *rows.Y_L.shape))
        for run in runs_of_rows(rows):
            if rows.loaded[run[0]]:
                t, curve = rows.t[run], CubicSpline(rows.t[run], rows.Y_L[run])
                slope[run] = -curve(t, 1)
                for bend, shift in zip(bends, shifts, strict=True):
                    bend[run] = curve(t - shift, 2)
        largest = np.max([np.abs(blocks.of(bend)) for bend in bends], axis=0)
        return cls(late * blocks.of(slope), 0.5 * late**2 * largest)
