"""Quantiles of chi squared, by the finite sum that its tail is for whole degrees of freedom.

With y = x / 2 and d degrees it exceeds x with the probability

    sum of e^-y y^k / Gamma(k + 1),  k = 0, 1, .. d/2 - 1,  or 1/2, 3/2, .. and erfc(sqrt y)

whose logarithm is concave in y, of one degree convex: Newton's method comes to the quantile from
the mean. scipy.special has it too, and is what this is tested against; importing scipy took a
quarter of the imports of `identify`.
"""

from __future__ import annotations

import math

import numpy as np

from safe_sysid.arrays import Array

EXACT = 1e-15  # of the quantile, below which steps are rounding
STEPS = 100  # five are usual


def chi_square_quantile(degrees: int, probability: float) -> float:
    """Return what chi squared exceeds with a probability; 0 if with certainty."""
    if probability >= 1.0:
        return 0.0
    if not probability > 0.0:
        return math.inf
    half = 0.5 * degrees
    exponents = np.arange(half % 1.0, half)
    log_gamma = math.lgamma(half % 1.0 + 1.0) + np.cumsum(np.log(np.maximum(exponents, 1.0)))
    y = half
    for _ in range(STEPS):
        tail = _log_tail(y, exponents, log_gamma)
        density = (half - 1.0) * math.log(y) - y - math.lgamma(half)
        step = (tail - math.log(probability)) * math.exp(tail - density)
        y = max(y + step, 0.5 * y)
        if abs(step) <= EXACT * y:
            break
    return 2.0 * y


def _log_tail(y: float, exponents: Array, log_gamma: Array) -> float:
    """Logarithm of the probability that half of chi squared exceeds y."""
    logs = exponents * math.log(y) - y - log_gamma
    largest = float(logs.max(initial=-y))
    whole = float(np.exp(logs - largest).sum())
    is_odd = len(exponents) == 0 or exponents[0] > 0.0
    rest = math.erfc(math.sqrt(y)) if is_odd else 0.0  # from y = 700 on no number is so small
    if rest > 0.0:
        whole += math.exp(math.log(rest) - largest)
    return largest + math.log(whole)
