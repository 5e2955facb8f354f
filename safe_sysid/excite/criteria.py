"""How informative rows are: functions of the eigenvalues of H = Y' Sigma^-1 Y, to be minimised.

    kappa    log of the condition number, 1/2 log(l_max / l_min)
    rho      1/2 (log |H|_p + log |H^-1|_p), Schatten norms: log kappa <= rho <= log kappa
             + log(dim) / p, smooth, and the same for every scale of Y
    D        -log det H: volume of the confidence ellipsoid     A   trace H^-1: sum of variances
    E        -l_min: worst direction     r_c   1/2 (|H|_F + |H^-1|_F), a bound of kappa that
             depends on the scale of Y

The derivative in H is U diag(g) U' with g the derivative in the eigenvalues.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import ConfigError

SMALLEST = 1e-14  # of the largest eigenvalue; what is below counts as this much

Criterion = Callable[[Array], tuple[float, Array]]  # eigenvalues, ascending -> value and g


def log_condition(eigenvalues: Array) -> tuple[float, Array]:
    """Log of the condition number of Y."""
    low, high = eigenvalues[0], eigenvalues[-1]
    g = np.zeros_like(eigenvalues)
    g[0], g[-1] = -0.5 / low, 0.5 / high
    return 0.5 * float(np.log(high / low)), g


def smooth_condition(power: float) -> Criterion:
    """rho_p, a smooth and scale-free bound of the log of the condition number."""

    def criterion(eigenvalues: Array) -> tuple[float, Array]:
        up = (eigenvalues / eigenvalues[-1]) ** power
        down = (eigenvalues[0] / eigenvalues) ** power
        high, low = up.sum(), down.sum()
        value = 0.5 * (
            np.log(eigenvalues[-1] / eigenvalues[0]) + (np.log(high) + np.log(low)) / power
        )
        return float(value), 0.5 * (up / high - down / low) / eigenvalues

    return criterion


def negative_log_determinant(eigenvalues: Array) -> tuple[float, Array]:
    """D-optimality."""
    return -float(np.log(eigenvalues).sum()), -1.0 / eigenvalues


def mean_log_variance(eigenvalues: Array) -> tuple[float, Array]:
    """Return the mean log variance, with the optimum of D-optimality, per parameter."""
    value, g = negative_log_determinant(eigenvalues)
    return value / len(eigenvalues), g / len(eigenvalues)


def total_variance(eigenvalues: Array) -> tuple[float, Array]:
    """A-optimality: trace of the covariance."""
    return float((1.0 / eigenvalues).sum()), -(eigenvalues**-2)


def log_total_variance(eigenvalues: Array) -> tuple[float, Array]:
    """Return the same optimum as A-optimality, on a scale that suits an optimiser."""
    value, g = total_variance(eigenvalues)
    return float(np.log(value)), g / value


def smooth_smallest(power: float) -> Criterion:
    """1/p log sum l^-p, a smooth bound of -log l_min from above, off by at most log(dim) / p."""

    def criterion(eigenvalues: Array) -> tuple[float, Array]:
        down = (eigenvalues[0] / eigenvalues) ** power
        low = down.sum()
        value = -np.log(eigenvalues[0]) + np.log(low) / power
        return float(value), -down / low / eigenvalues

    return criterion


def negative_log_smallest(eigenvalues: Array) -> tuple[float, Array]:
    """E-optimality: the worst direction."""
    g = np.zeros_like(eigenvalues)
    g[0] = -1.0 / eigenvalues[0]
    return -float(np.log(eigenvalues[0])), g


def frobenius_sum(eigenvalues: Array) -> tuple[float, Array]:
    """r_c of the literature, a bound of the condition number that depends on units."""
    high = np.sqrt((eigenvalues**2).sum())
    low = np.sqrt((eigenvalues**-2).sum())
    return 0.5 * float(high + low), 0.5 * (eigenvalues / high - eigenvalues**-3 / low)


def log_frobenius_sum(eigenvalues: Array) -> tuple[float, Array]:
    """Return the same optimum as r_c, on a scale that suits an optimiser."""
    value, g = frobenius_sum(eigenvalues)
    return float(np.log(value)), g / value


POWERS = (2.0, 4.0, 8.0, 16.0, 32.0)  # of the way from the smooth bound to kappa itself
STAGES: dict[str, tuple[Criterion, ...]] = {  # what is minimised, one after the other
    'kappa': tuple(smooth_condition(power) for power in POWERS),
    'rho': (smooth_condition(2.0),),
    'D': (mean_log_variance,),
    'A': (log_total_variance,),
    'E': tuple(smooth_smallest(power) for power in POWERS),
    'r_c': (log_frobenius_sum,),
    'kappa-direct': (log_condition,),  # not smooth where eigenvalues meet; for comparison
}
GOALS: dict[str, Criterion] = {  # what the results of different searches are compared by
    'kappa': log_condition,
    'rho': smooth_condition(2.0),
    'D': negative_log_determinant,
    'A': log_total_variance,
    'E': negative_log_smallest,
    'r_c': log_frobenius_sum,
    'kappa-direct': log_condition,
}


def stages_of(name: str) -> tuple[Criterion, ...]:
    """Return what is minimised, one after the other, for a criterion by name."""
    if name not in STAGES:
        raise ConfigError(f"no criterion '{name}', there are {list(STAGES)}")
    return STAGES[name]
