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
    resolution_hz: float = 0.0  # what the shortest recording can tell apart

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
    """Band and peak speeds of recordings."""
    bands, speeds = [], []
    for log in logs:
        motion = motion_of(log, min(SEEN, 0.45 * log.rate))
        spectrum = np.abs(np.fft.rfft(motion.qd * np.hanning(len(motion.qd))[:, None], axis=0))
        power = np.sum((spectrum / (np.std(motion.qd, axis=0) + 1e-9)) ** 2, axis=1)
        frequency = np.fft.rfftfreq(len(motion.qd), 1.0 / log.rate)
        power[frequency > SEEN] = 0.0
        share = np.cumsum(power) / max(float(power.sum()), 1e-300)
        bands.append(float(frequency[int(np.searchsorted(share, VARIANCE))]))
        speeds.append(np.quantile(np.abs(zero_phase(motion.qd, log.rate, 5.0)), 0.999, axis=0))
    resolution = 1.0 / max(min(log.seconds for log in logs), 1e-9)
    return MotionBand(max(bands), np.max(speeds, axis=0), resolution)


def cutoff_of(band: MotionBand) -> float:
    """Smallest cut-off that leaves the motion as it is [Hz]."""
    return next((x for x in CUTOFFS if x >= ABOVE_BAND * band.band_hz), CUTOFFS[-1])
