"""What k of n trials say about a probability."""

from __future__ import annotations

import math

from scipy.stats import beta, binom, norm


def wilson(k: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Score interval of Wilson: covers the probability in about this share of all repetitions."""
    if n == 0:
        return 0.0, 1.0
    z = float(norm.ppf(0.5 + 0.5 * level))
    share, z2 = k / n, z * z / n
    middle = (share + 0.5 * z2) / (1.0 + z2)
    half = z * math.sqrt(share * (1.0 - share) / n + 0.25 * z2 / n) / (1.0 + z2)
    return max(0.0, middle - half), min(1.0, middle + half)


def clopper_pearson(k: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Exact interval of Clopper and Pearson: covers the probability in at least this share."""
    tail = 0.5 * (1.0 - level)
    lower = 0.0 if k == 0 else float(beta.ppf(tail, k, n - k + 1))
    upper = 1.0 if k == n else float(beta.ppf(1.0 - tail, k + 1, n - k))
    return lower, upper


def mcnemar(only_first: int, only_second: int) -> float:
    """Exact p-value that two methods are alike, from the pairs that only one of them passed."""
    n = only_first + only_second
    if n == 0:
        return 1.0
    return min(1.0, 2.0 * float(binom.cdf(min(only_first, only_second), n, 0.5)))
