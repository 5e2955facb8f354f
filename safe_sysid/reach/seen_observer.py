"""What is promised of r as it is observed on a plan: joint by joint, and of all joints together.

In the norm of M that part of dr/dt that is not known is at most (omega + coriolis) / mu + off nu
omega, M being that of its instant. M of the newest sample is near that (`Turning`), the nearer the
shorter the time between readings; of the plan before the same holds up to where it ends, and there
M of this plan is at most kappa / mu times M of that one. So every time between readings gives a
bound of |r - r_hat|_M, and the best one is taken where it is less than what follows from the
bounds of single joints, each from the readings that are best for it. It needs the same rate K_r on
all joints, else the weights of ages differ, and the torques of a sample begin at one instant, so
that one which is not as expected moves r by a part of M^-1 v.

Periods between samples may be a little longer or shorter than said, or not be whole nanoseconds:
what is promised has ROOM for that. In a window positions change by no more than the speed of the
arm allows for, on this plan and on the one before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError
from safe_sysid.reach.seen_inertia import SeenInertia
from safe_sysid.reach.state_differences import OF_Q
from safe_sysid.track.error_observer import (
    LENGTH,
    ROUNDING,
    SPARE,
    InWindow,
    ObserverBounds,
    Together,
    distances,
    observation_bound,
)
from safe_sysid.track.seen_law import Pace, Sampling

UP = 1.0 + 1e-9
ROOM = 1.05  # times as long, or as short, as periods are said to be


class SeenRates(NamedTuple):
    """How fast r changes on a plan, and on the one before in norms of this plan; None: at rest."""

    own: Pace
    before: Pace | None
    most: Pace  # of both


class Observed(NamedTuple):
    """What follows for the law."""

    bounds: ObserverBounds
    half_width: Array  # (n,) [rad/s] of each joint by itself
    together: Array  # (n,) [rad/s] of all together
    length: float  # |r - r_hat|_M at a sample, likewise


def in_window(sampling: Sampling, speed: Array) -> Array:
    """Return what positions change by in a window, in their row of `differences`, (6, n)."""
    away = np.zeros((6, len(speed)))
    away[OF_Q] = sampling.window * speed * UP
    return away


def observed(
    s: Sampling,
    K: Array,
    step: Array,
    rates: SeenRates,
    inertia: SeenInertia,
) -> Observed:
    """Return what readings within step / 2 promise of r."""
    most = rates.most
    kept = (LENGTH - SPARE) * s.period - s.begins - s.reach  # with all torques in it
    window = min(s.window, kept)
    if window < s.period:
        raise BoundError(
            f'torques begin up to {1e3 * s.delay:g} ms after their samples, which come every '
            f'{1e3 * s.period:g} ms: {LENGTH - SPARE} of them are kept, which hold no window then'
        )
    bounds = ObserverBounds(
        *(K, step, most.unknown, window, s.jitter + s.stamp, s.reach, most.lagged)
    )
    late = bounds._replace(drift=most.unknown + 2.0 * most.moved / s.period)
    at_edges = 4.0 * (1.0 + s.reach / s.period)
    edges = at_edges * most.moved
    each = (observation_bound(late, s.period) + edges) * ROOM
    alone = Observed(bounds, each, each, inertia.length(each))
    if np.ptp(K) > 0.0:
        return alone
    D = distances(bounds, s.period)
    near, far = D / ROOM - 2.0 * s.stamp, D * ROOM + 2.0 * s.stamp
    stretch = inertia.turning.stretch(far / s.window) * UP
    with np.errstate(invalid='ignore'):
        unknown, known = _up_to_start(rates, far / s.window, stretch)
        usable = (near > 0.0) & (far < s.window) & np.isfinite(stretch)
        by_torques = known * stretch * UP
        moved = np.minimum((s.jitter + s.stamp) * by_torques, inertia.length(most.moved))
        lagged = np.minimum(2.0 * s.shifted * by_torques, inertia.length(most.lagged))
        early, fixed = 2.0 * moved / s.period, (at_edges * moved + lagged) * UP
        changes = (np.fmin(unknown * stretch, inertia.length(most.unknown)) + early) * UP
    reading = inertia.length(0.5 * step + ROUNDING) * UP
    coarse = reading * K[0] / np.tanh(0.5 * K[0] * np.abs(near))
    length = np.where(usable, (coarse + 0.5 * far * changes + fixed) * UP, np.inf)
    i = int(np.argmin(length))
    if not length[i] < alone.length:
        return alone
    taken, within = InWindow(float(unknown[i]), float(known[i])), float(length[i])
    each_one = float(changes[i]), float(fixed[i]), float(far[i]), within
    width = np.maximum(late.at(float(near[i])), late.at(float(far[i]))) + edges
    seen = bounds._replace(together=Together(reading, *each_one, taken))
    return Observed(seen, each, width * UP, within)


def _up_to_start(rates: SeenRates, share: Array, stretch: Array) -> tuple[Array, Array]:
    """Bounds in a window before this plan begins, also after one that is like it."""
    found = [x * stretch for x in rates.own.in_window]
    if rates.before is not None:
        longer = rates.before.turning.stretch(share)
        before = rates.before.in_window
        found = [np.maximum(x, y * longer) for x, y in zip(found, before, strict=True)]
    unknown, known = (x * UP for x in found)
    return unknown, known
