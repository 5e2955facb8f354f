"""Compiled sine and cosine of one Taylor model: Taylor's formula about its constant coefficient.

With a = c + p + e, |e| <= r the radius of the model and |p| <= rho:
- sin(c + p + e) is within r sup|cos| of sin(c + p), by the mean value theorem; the supremum is
  over the whole argument range, |c + x| with |x| <= rho + r, where
  |cos(c + x)| <= |cos c| + |sin c| |x|, and at most 1;
- sin(c + p) is its Taylor polynomial of degree D in p within rho^(D+1) / (D+1)! times the supremum
  of the next derivative over the whole range of c + p, bounded the same way (Lagrange).
Cosine likewise with the next derivative.
"""

from __future__ import annotations

import math

from safe_sysid.arrays import Array, IntArray
from safe_sysid.sets.compiled import jit
from safe_sysid.sets.elementary import LARGEST_ARGUMENT, SINE_MARGIN
from safe_sysid.sets.interval import EPS
from safe_sysid.sets.taylor_kernels import (
    add_scaled,
    clear,
    copy,
    magnitude,
    multiply,
)


@jit
def _largest(value: float, slope: float, reach: float) -> float:
    """Bound of |cos(c + x)| for |x| <= reach from value = cos c and slope = sin c, or swapped."""
    return min(1.0, abs(value) + abs(slope) * min(reach, 1.0) + 4.0 * SINE_MARGIN)


@jit
def _set_to_unit_interval(pool: Array, out: int) -> None:
    """Set out to [-1, 1], the range of sine and cosine."""
    clear(pool, out)
    pool[out, pool.shape[1] - 1] = 1.0


@jit
def sine_cosine(pool: Array, a: int, sine: int, cosine: int, work: int, table: IntArray) -> None:
    """Enclose sin a and cos a; the three rows from `work` on are overwritten."""
    M = pool.shape[1] - 1
    D = table[0]
    center, radius = pool[a, 0], pool[a, M]
    p, power, following = work, work + 1, work + 2
    copy(pool, a, p)
    pool[p, 0] = pool[p, M] = 0.0
    rho = magnitude(pool, p, table)
    if not (abs(center) <= LARGEST_ARGUMENT and rho + radius < 2.0):
        _set_to_unit_interval(pool, sine)
        _set_to_unit_interval(pool, cosine)
        return
    s, c = math.sin(center), math.cos(center)
    error = 2.0 * SINE_MARGIN  # of sine and cosine, and of the division by n!
    clear(pool, sine)
    clear(pool, cosine)
    pool[sine, 0], pool[cosine, 0] = s, c
    copy(pool, p, power)
    sine_slope, cosine_slope = c, -s  # derivatives of order n at the centre
    factorial, rho_power = 1.0, rho
    for n in range(1, D + 1):
        add_scaled(pool, power, sine_slope / factorial, error / factorial, sine)
        add_scaled(pool, power, cosine_slope / factorial, error / factorial, cosine)
        sine_slope, cosine_slope = cosine_slope, -sine_slope
        factorial *= n + 1.0
        rho_power *= rho
        if n < D:
            multiply(pool, p, power, following, table)
            power, following = following, power
    lagrange = rho_power / factorial
    reach = (rho + radius) * (1.0 + 4.0 * EPS)
    sine_slack = lagrange * _largest(sine_slope, cosine_slope, reach)
    cosine_slack = lagrange * _largest(cosine_slope, sine_slope, reach)
    _finish(pool, sine, sine_slack + radius * _largest(c, s, reach) + error)
    _finish(pool, cosine, cosine_slack + radius * _largest(s, c, reach) + error)


@jit
def _finish(pool: Array, out: int, slack: float) -> None:
    """Add the slack, and fall back to [-1, 1] where that is the better bound."""
    M = pool.shape[1] - 1
    pool[out, M] = (pool[out, M] + slack) * (1.0 + 32.0 * EPS)
    if not pool[out, M] < 1.0:
        _set_to_unit_interval(pool, out)
