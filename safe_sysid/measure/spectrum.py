"""Sums of shifted values, and power spectra, by the Fourier transform of numpy.

scipy.signal has both, and importing it takes a second; it is what these are tested against.
"""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array


def convolved(values: Array, weights: Array) -> Array:
    """Return sums of values with weights at every shift at which they overlap, the first axis."""
    count = len(values) + len(weights) - 1
    size = 1 << (count - 1).bit_length()
    spectrum = np.fft.rfft(weights, size).reshape(-1, *(1,) * (values.ndim - 1))
    sums = np.fft.irfft(np.fft.rfft(values, size, axis=0) * spectrum, size, axis=0)
    return sums[:count]


def power_spectrum(values: Array, rate: float, segment: int) -> tuple[Array, Array]:
    """Frequencies [Hz] and density along the first axis, Welch's mean of segments that overlap.

    Each has its mean taken off and is seen through Hann's window.
    """
    window = np.sin(np.pi * np.arange(segment) / segment) ** 2
    begins = range(0, len(values) - segment + 1, segment - segment // 2)
    pieces = np.stack([values[i : i + segment] for i in begins])
    pieces = (pieces - pieces.mean(axis=1, keepdims=True)) * window[:, None]
    density = np.mean(np.abs(np.fft.rfft(pieces, axis=1)) ** 2, axis=0)
    density *= 2.0 / (rate * np.sum(window**2))
    density[0] /= 2.0
    if segment % 2 == 0:
        density[-1] /= 2.0
    count = segment // 2 + 1
    return np.linspace(0.0, (count - 1) * rate / segment, count), density
