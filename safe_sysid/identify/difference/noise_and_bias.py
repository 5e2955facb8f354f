"""Half-width of an interval that covers whatever a bias within a bound is, beside noise.

A share by which the unit of an effort may be off is no noise: all joints may be off by all of it,
one way, in every repetition. Joined in quadrature it would be covered on average over biases, and
too seldom by the worst of them. With the bias at its end noise has one side to leave by, so the
noise that is added is less than that of a two-sided interval (Imbens and Manski 2004).
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from safe_sysid.arrays import Array


def half_width(noise: Array, bias: Array, confidence: float) -> Array:
    """Half-widths for noise of two-sided half-widths and biases of at most so much, any shape."""
    width, most = np.broadcast_arrays(np.asarray(noise, float), np.asarray(bias, float))
    found = [
        b + (_share(b / n, confidence) * n if n > 0.0 else 0.0)
        for n, b in zip(width.ravel(), most.ravel(), strict=True)
    ]
    return np.array(found).reshape(width.shape)


def _share(ratio: float, confidence: float) -> float:
    """Share of a two-sided half-width that has to be added to a bias so many times as large."""
    two_sided = float(ndtri(0.5 * (1.0 + confidence)))

    def lacking(quantile: float) -> float:
        beyond = quantile + 2.0 * ratio * two_sided
        return float(ndtr(beyond) - ndtr(-quantile)) - confidence

    one_sided = float(ndtri(confidence))
    if lacking(one_sided) >= 0.0:
        return one_sided / two_sided
    return float(brentq(lacking, one_sided, two_sided + 1e-9)) / two_sided
