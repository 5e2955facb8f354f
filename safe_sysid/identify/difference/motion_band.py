"""How fast a recorded motion is: the band of its velocities, and the cut-off that suits it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.calibrate.even_log import EvenLog
from safe_sysid.calibrate.torque_rows import motion_of
from safe_sysid.identify.difference.spectral_blocks import BAND
from safe_sysid.measure.filters import zero_phase

FLAT = (
    2.5  # times the band that blocks are compared in: below, a filter changes it by 1e-3 at most
)
ABOVE_BAND = (
    10.0  # times the band of the motion: five odd harmonics of a reversal at its end, which
)
# are 96 % of what tells friction from weight
CUTOFFS = (FLAT * BAND, 2.0 * FLAT * BAND)  # [Hz] of which the smallest that suits is taken
VARIANCE = 0.99  # of the velocities that is below the band
SEEN = 12.0  # [Hz] velocities above are noise of differences
LARGEST_BAND = 1.5  # times that of the empty motions, beyond which their errors say nothing
LARGEST_SPEED = 2.0  # the same of peak speeds
SAME_SPEED = 1.2  # times those of the empty motions, up to which errors are the same


@dataclass(frozen=True, eq=False)
class MotionBand:
    """Frequency below which nearly all of the velocity is, and peak speeds."""

    band_hz: float
    peak_velocity: Array  # (n,) [rad/s]
    resolution_hz: float = 0.0  # what parts of the usual length can tell apart

    def beyond(self, calibrated: MotionBand) -> float | str:
        """By how much errors may be larger than in a slower motion, or why nobody can tell.

        What a model lacks grows with the square of a speed at most: inertial and viscous terms.
        """
        if self.band_hz - self.resolution_hz > LARGEST_BAND * calibrated.band_hz:
            return (
                f'the loaded motion reaches {self.band_hz:.2g} Hz, the empty ones '
                f'{calibrated.band_hz:.2g} Hz'
            )
        share = self.peak_velocity / np.maximum(calibrated.peak_velocity, 1e-9)
        worst = int(np.argmax(share))
        if share[worst] > LARGEST_SPEED:
            return (
                f'joint {worst + 1} of the loaded motion reaches '
                f'{self.peak_velocity[worst]:.2g} rad/s, of the empty ones '
                f'{calibrated.peak_velocity[worst]:.2g} rad/s'
            )
        return 1.0 if share[worst] <= SAME_SPEED else float(share[worst] ** 2)


def motion_band(logs: Sequence[EvenLog]) -> MotionBand:
    """Band and peak speeds of recordings; what is short counts for as much as it moves."""
    speeds = [motion_of(log, min(SEEN, 0.45 * log.rate)).qd for log in logs]
    rates = [log.rate for log in logs]
    moved = sum(
        np.var(qd, axis=0) * len(qd) / rate for qd, rate in zip(speeds, rates, strict=True)
    )
    seconds = max(sum(float(log.seconds) for log in logs), 1e-9)
    size = np.sqrt(moved / seconds) + 1e-9
    spectra = [_spectrum(qd / size, rate) for qd, rate in zip(speeds, rates, strict=True)]
    frequency, power = (np.concatenate(x) for x in zip(*spectra, strict=True))
    order = np.argsort(frequency, kind='stable')
    whole = float(power.sum())
    share = np.cumsum(power[order]) / whole if whole > 0.0 else np.ones(len(power))  # it stood
    band = float(frequency[order][int(np.searchsorted(share, VARIANCE))])
    peaks = [
        np.quantile(np.abs(zero_phase(qd, rate, 5.0)), 0.999, axis=0)
        for qd, rate in zip(speeds, rates, strict=True)
    ]
    usual = sum(float(log.seconds) ** 2 for log in logs) / seconds
    return MotionBand(band, np.max(peaks, axis=0), 1.0 / max(usual, 1e-9))


def _spectrum(qd: Array, rate: float) -> tuple[Array, Array]:
    """Frequencies that are looked at [Hz], and the power of all joints there."""
    window = np.hanning(len(qd))[:, None]
    amplitude = np.abs(np.fft.rfft(qd * window, axis=0))
    power: Array = np.sum(amplitude**2, axis=1) / (len(qd) * rate)
    frequency: Array = np.asarray(np.fft.rfftfreq(len(qd), 1.0 / rate), dtype=float)
    seen = frequency <= SEEN
    return frequency[seen], power[seen]


def cutoff_of(band: MotionBand) -> float:
    """Smallest cut-off that leaves the motion as it is [Hz]."""
    return next((x for x in CUTOFFS if x >= ABOVE_BAND * band.band_hz), CUTOFFS[-1])
