"""Pieces of empty recordings taken for loaded ones: how wrong their deviations are.

Residuals of a piece cannot show an error that lasts longer than the piece. The payload of an empty
piece is known to be nothing, so its estimate over its deviation is what such errors amount to.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from safe_sysid.arrays import Array
from safe_sysid.identify.difference.block_errors import block_errors
from safe_sysid.identify.difference.loaded_gain import GainCheck, LoadedGain, loaded_gain
from safe_sysid.identify.difference.rows import DifferenceRows
from safe_sysid.identify.difference.shared_fit import shared_fit

GAP = 0.5  # [s] between a piece and what it is compared with
SHARE = 3.0  # an only recording is longer than its pieces by this factor at least
SHORTEST = 2.5  # [s] of a piece
PRIOR = 5.0  # pieces that the prior of kappa counts for
FLOORS = (2.0, 1.5, 1.0)  # of kappa with one, two, three empty recordings and more
LARGE = 2.0  # kappa from data above which errors persist longer than a piece


@dataclass(frozen=True, eq=False)
class Pieces:
    """Estimates of nothing over their deviations."""

    z: Array  # (pieces, 10)
    mass: Array  # (pieces,) [kg] estimated where there is none
    seconds: float  # of a piece
    recordings: int  # empty ones
    gain_z: Array  # (pieces, n + 1) changes of gains over their deviations, where there are none

    @property
    def data_factor(self) -> Array:
        """Kappa of each parameter as the pieces have it, (10,)."""
        return _enlargement(self.z)

    @property
    def factor(self) -> Array:
        """Kappa: how much deviations are enlarged, (10,)."""
        return self._floored(self.data_factor)

    @property
    def freedom(self) -> float:
        """Degrees of freedom of what is enlarged."""
        return PRIOR + len(self.z)

    def judged(self, gain: LoadedGain, confidence: float) -> GainCheck:
        """Return what changes of gains say, their deviations enlarged like those of pieces."""
        factor = self._floored(_enlargement(self.gain_z))
        return gain.judged(factor, self.freedom, confidence)

    def enlarged(self, recordings: int) -> float:
        """Kappa of the mass if so many empty recordings were like these."""
        floor = FLOORS[min(recordings, len(FLOORS)) - 1]
        return max(float(self.data_factor[0]), floor)

    def _floored(self, factor: Array) -> Array:
        floor = FLOORS[min(self.recordings, len(FLOORS)) - 1]
        floored: Array = np.maximum(factor, floor)
        return floored

    def half_width(self, deviation: Array, freedom: Array, confidence: float) -> Array:
        """Student interval of the enlarged deviation, never less than that of the fit's own."""
        tail = 0.5 * (1.0 + confidence)
        enlarged = stdtrit(self.freedom, tail) * self.factor * deviation
        own: Array = stdtrit(freedom, tail) * deviation
        wider: Array = np.maximum(enlarged, own)
        return wider


def _enlargement(z: Array) -> Array:
    """Root mean square of each column of z, which is 1 before there are any, or 1, (c,)."""
    squares: Array = (PRIOR + np.sum(z**2, axis=0)) / (PRIOR + len(z))
    return np.sqrt(np.maximum(squares, 1.0))


def held_out_pieces(rows: DifferenceRows, seconds: float, prior: Array) -> Pieces:
    """Identify the payload of pieces of empty rows, as if they were loaded."""
    numbers = np.unique(rows.recording)
    lengths = [float(np.ptp(rows.t[rows.recording == i])) for i in numbers]
    if len(numbers) == 1:
        seconds = min(seconds, lengths[0] / SHARE)
    z, mass, gains = [], [], []
    for number, length in zip(numbers, lengths, strict=True):
        if min(seconds, length) < SHORTEST:
            continue
        here = rows.recording == number
        first = float(rows.t[here].min())
        count = max(int((length + 1.0 / rows.rate) / min(seconds, length)), 1)
        for i in range(count):
            begin, end = first + i * seconds, first + (i + 1) * seconds
            piece = here & (rows.t >= begin) & (rows.t < end)
            rest = ~here
            if len(numbers) == 1:
                rest = here & ((rows.t < begin - GAP) | (rows.t >= end + GAP))
            chosen = rows.held_in(piece).part(piece | rest)
            fit = shared_fit(chosen, prior)
            errors = block_errors(chosen, fit)
            z.append(fit.phi / np.maximum(errors.deviation, 1e-300))
            mass.append(fit.phi[0])
            gains.append(loaded_gain(chosen, fit, errors).z)
    return Pieces(
        np.array(z).reshape(-1, 10), np.array(mass), seconds, len(numbers),
        np.array(gains).reshape(-1, rows.tau.shape[1] + 1),
    )  # fmt: skip
