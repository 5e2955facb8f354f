"""ErrorTube: ellipsoids of tracking errors that change along a plan.

With r(t) in E(Q(t)), de/dt = r - K_r e and any beta > 0,

    dP/dt = - K_r P - P K_r + beta P + Q / beta     keeps e(t) in E(P(t)) if it is so at the start

(external ellipsoids of Kurzhanski and Valyi). Proof: f = e'P^-1 e changes by

    df/dt = 2 e'P^-1 r - beta f - x / beta,   x = e'P^-1 Q P^-1 e,

and 2 e'P^-1 r <= 2 sqrt(x) <= beta + x / beta; so df/dt <= beta (1 - f), and f <= 1 stays true.

Q is constant in each step of time. With d = K_r - beta / 2 every entry of P goes on its own,

    P_ij(t + h) = w P_ij(t) + (1 - w) S_ij,   w = exp(-(d_i + d_j) h),
                                              S_ij = Q_ij / (beta (d_i + d_j)),

towards S, at which it is at rest. Within a step P(t) <= x S for any x >= 1 with x S >= P at its
beginning: with D = x S - P, dD/dt = -diag(d) D - D diag(d) + (x - 1) Q / beta keeps D >= 0. For
the same reason the last step, whose Q holds as long as the arm stands at the end of its plan,
bounds e for ever after.
"""

from __future__ import annotations

from dataclasses import dataclass
import math

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.sets.compiled import jit, part_jit
from safe_sysid.sets.ellipsoids import SLACK, is_inside, widened
from safe_sysid.sets.interval import EPS, Interval

MARGIN = 1.0 + 1e-6  # of a share that is found in floats, before it is proven
TRIES = 20  # of a larger share, each time twice as much larger


@dataclass(frozen=True, eq=False)
class ErrorTube:
    """r and e in every time step of a plan, each L z with |z| <= 1 for its own L."""

    time: Interval  # (T,) [s] since the start of the plan
    r: Array  # (T, n, n) [rad/s]
    e: Array  # (T, n, n) [rad]

    def __post_init__(self) -> None:
        for name in ('r', 'e'):
            value = np.ascontiguousarray(getattr(self, name), dtype=np.float64)
            value.setflags(write=False)
            object.__setattr__(self, name, value)

    def position_shape(self, t: float) -> Array:
        """Shape of an ellipsoid that contains e at a time since the start, (n, n)."""
        step = int(np.searchsorted(self.time.upper, t))
        L = self.e[min(step, len(self.e) - 1)]
        return widened(L @ L.T)

    @property
    def largest_r(self) -> Array:
        """Bounds of |r_j| in every step, (T, n)."""
        return row_norms(self.r)

    @property
    def largest_e(self) -> Array:
        """Bounds of |e_j| in every step, (T, n)."""
        return row_norms(self.e)


def row_norms(L: Array) -> Array:
    """Bounds of |(L z)_j| over |z| <= 1, (..., n)."""
    n = L.shape[-1]
    return np.asarray(np.sqrt((L**2).sum(axis=-1)) * (1.0 + (n + 8) * EPS) + 1e-150)


def position_shapes(K_r: Array, Q: Array, durations: Array, start: Array) -> Array | None:
    """Shapes that contain e in every step, (S, n, n), for r in E(Q[s]) and e at first in E(start).

    None where that cannot be proven in floats.
    """
    rates = (K_r - 0.5 * K_r.min())[:, None] + (K_r - 0.5 * K_r.min())
    rest = widened(Q / (K_r.min() * rates))  # is at rest for a Q that is larger than rounding
    shapes = np.empty_like(Q)
    if not (np.all(np.isfinite(rest)) and np.all(np.isfinite(start))):
        return None
    proven = _shapes_into(np.ascontiguousarray(rest), rates, durations, widened(start), shapes)
    return widened(shapes) if proven and np.all(np.isfinite(shapes)) else None


def rest_shape(K_r: Array, Q: Array) -> Array:
    """Shape of all e with K_r e in E(Q), with which an arm may begin at rest, (n, n)."""
    return widened(Q / (K_r[:, None] * K_r))


@jit
def _shapes_into(rest: Array, rates: Array, durations: Array, start: Array, shapes: Array) -> bool:
    """Go from step to step; whether all of it is proven."""
    n, P = len(start), start.copy()
    for s in range(len(rest)):
        x, more, proven = _share(rest[s], P), MARGIN - 1.0, False
        for _ in range(TRIES):
            for i in range(n):
                for j in range(n):
                    shapes[s, i, j] = x * rest[s, i, j]
            proven = is_inside(shapes[s], P)
            if proven:
                break
            x *= 1.0 + more
            more *= 2.0
        if not proven:
            return False
        for i in range(n):
            for j in range(n):
                w = math.exp(-rates[i, j] * durations[s])
                P[i, j] = w * P[i, j] - math.expm1(-rates[i, j] * durations[s]) * rest[s, i, j]
            P[i, i] *= 1.0 + SLACK
    return True


@jit
def _solved(L: Array, B: Array) -> Array:
    """X with L X = B, for a lower triangular L: numba's solver alone would compile for 4 s."""
    X: Array = B.copy()
    for i in range(len(L)):
        for j in range(B.shape[1]):
            for k in range(i):
                X[i, j] -= L[i, k] * X[k, j]
            X[i, j] /= L[i, i]
    return X


@part_jit
def _share(rest: Array, P: Array) -> float:
    """About the smallest x >= 1 with x rest >= P: the largest eigenvalue of L^-1 P L^-T."""
    L = np.linalg.cholesky(rest)
    ratio = _solved(L, np.ascontiguousarray(_solved(L, P).T))
    largest = np.linalg.eigvalsh(0.5 * (ratio + ratio.T))[-1]
    return max(1.0, float(largest)) * MARGIN
