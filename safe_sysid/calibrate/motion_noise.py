"""Up to which frequency recorded positions show motion, and from where on their own noise.

Errors of encoders are white, so their spectrum is level where that of a motion falls. Two
derivatives raise them with the square of the frequency: what is kept of the positions above the
motion is noise of accelerations, and nothing else.
"""

from __future__ import annotations

import numpy as np

from safe_sysid.calibrate.even_log import EvenLog
from safe_sysid.measure.spectrum import power_spectrum

SEGMENT = 4.0  # [s] of a spectrum
NOISE = (10.0, 20.0)  # [Hz] where positions of an arm are noise, if they are anywhere
ABOVE_NOISE = 3.0  # times the amplitude of the noise, from which on there is a motion
KEPT = 3.0  # times the highest frequency of the motion; a filter there leaves it as it is


def kept_of_motion(log: EvenLog, most: float) -> float:
    """Cut-off of the positions: where they are noise, but `most` [Hz] where they never are.

    What is lost of the motion is less than the noise that is at the same frequencies.
    """
    bent = np.diff(log.q, 2, axis=0)
    frequency, power = power_spectrum(bent, log.rate, min(len(bent), _samples(log)))
    above = frequency > 0.0
    frequency = frequency[above]
    amplitude = np.sqrt(power[above]) / np.sin(np.pi * frequency / log.rate)[:, None] ** 2
    there = (frequency >= NOISE[0]) & (frequency <= NOISE[1])
    if not there.any():
        return most
    is_motion = (amplitude > ABOVE_NOISE * np.median(amplitude[there], axis=0)).any(axis=1)
    moving = np.flatnonzero(is_motion & (frequency <= NOISE[1]))
    step = float(frequency[0])
    return min(most, KEPT * (float(frequency[moving[-1]]) + step)) if moving.size else most


def _samples(log: EvenLog) -> int:
    return round(SEGMENT * log.rate)
