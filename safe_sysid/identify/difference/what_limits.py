"""What limits each parameter of a payload, and what to record next to halve its interval.

The variance of a parameter is compared with what it would be if the friction of the arm were
known, and if all of the arm were: the differences are due to friction and to links, the rest is
what the model leaves out of the loaded recording itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.identify.difference.rows import DifferenceRows
from safe_sysid.identify.difference.shared_fit import THRESHOLD, SharedFit, information
from safe_sysid.sets.symmetric_eigen import symmetric_eigen

TIMES = 4.0  # as long, for half of what averages


@dataclass(frozen=True, eq=False)
class Shares:
    """Shares of the variance of each parameter, and its half-widths by cause, (10,) each."""

    noise: Array  # left if the arm were known
    friction: Array
    links: Array
    residuals: Array  # half-widths by what the model leaves out, kappa included
    before: Array  # by what was known of the inertia before
    delay: Array
    unit: Array  # of the effort


def variance_shares(
    rows: DifferenceRows, fit: SharedFit, prior: Array, bodies: IntArray
) -> tuple[Array, Array, Array]:
    """Shares of noise, friction and links, (10,) each; `bodies` are the columns of links."""
    p = rows.Y.shape[2]
    G = information(rows, fit.spread)
    whole, without_friction, alone = (
        _variance(G, columns, p, prior) for columns in (np.arange(p), bodies, np.arange(0))
    )
    whole = np.maximum(whole, 1e-300)
    noise = np.clip(alone / whole, 0.0, 1.0)
    links = np.clip(without_friction / whole, noise, 1.0) - noise
    return noise, 1.0 - noise - links, links


def _variance(G: Array, columns: IntArray, p: int, prior: Array) -> Array:
    """Variances of the payload if only these columns of the arm were unknown, (10,)."""
    chosen = np.concatenate([columns, p + np.arange(10)])
    A = G[np.ix_(chosen, chosen)] + np.diag(np.append(np.zeros(len(columns)), prior**-2.0))
    size = np.sqrt(np.maximum(np.diag(A), 1e-300))
    values, vectors = symmetric_eigen(A / np.outer(size, size))
    kept = values > THRESHOLD**2 * values[-1]
    inverse = (vectors[-10:, kept] ** 2) @ (1.0 / values[kept])
    variance: Array = inverse / size[-10:] ** 2
    return variance


def what_to_record(shares: Shares, kappa: float, recordings: int, seconds: float) -> str:
    """Return the recording that would about halve the interval of the mass."""
    causes = {
        'unit': shares.unit[0],
        'delay': shares.delay[0],
        'residuals': shares.residuals[0],
    }
    worst = max(causes, key=lambda name: causes[name])
    if worst == 'unit':
        return (
            'most of the interval is by the unit of the effort, which no recording of this '
            'payload can show: record the arm with a body of known mass and give '
            '`safe-sysid calibrate-gains --mass`'
        )
    if worst == 'delay':
        return (
            'most of the interval is by the delay of torques: record a motion with larger '
            'accelerations on the joints that carry the weight, which tells it'
        )
    if recordings < 3:
        there = 'is one empty recording' if recordings == 1 else 'are two empty recordings'
        more = 'twice more' if recordings == 1 else 'once more'
        return (
            f'deviations are enlarged {kappa:.1f} times, as there {there}: record the empty arm '
            f'{more} in motions of the same kind, such as `safe-sysid excite ROBOT` makes'
        )
    if kappa > 1.5:
        return (
            'errors outlast the pieces that they are judged by: record other motions, with more '
            'reversals in every joint (`safe-sysid excite ROBOT`), not longer ones'
        )
    if shares.noise[0] >= 0.5:
        return f'record {TIMES * seconds:.0f} s with the payload instead of {seconds:.0f} s'
    cause = 'friction' if shares.friction[0] >= shares.links[0] else 'the links'
    return (
        f'most of the interval is by {cause} of the arm: record it empty {TIMES:g} times as long, '
        'in a motion that `safe-sysid excite ROBOT` makes for it'
    )
