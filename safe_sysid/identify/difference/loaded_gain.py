"""Whether the unit of the effort is the same with the payload: the arm's own torque tells.

What the arm itself takes is in all recordings. If efforts of the loaded one are (1 + r) times too
large, its own part grows too, and ten parameters of a payload explain only some of that. For each
joint alone, and for all joints by one factor, r is what the rest of it says: the torque of loaded
rows without what arm and payload can explain, against the residuals. How far r may be off by what
the model lacks is seen in pieces of empty recordings, where it is 0. Friction that grows with the
load looks like some of it and moves no mass, so what is seen widens intervals by what it would do,
and only a change beyond such friction forbids them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from safe_sysid.arrays import AnyArray, Array
from safe_sysid.identify.difference.block_errors import BlockErrors
from safe_sysid.identify.difference.rows import DifferenceRows
from safe_sysid.identify.difference.shared_fit import SharedFit, whitened

SURE = 0.999  # confidence beyond which a change is one
LIKE_FRICTION = 0.05  # share up to which friction that grows with the load looks like a change,
# so that it widens intervals and does not forbid them
LEAST_LEFT = 1e-9  # share of a torque that arm and payload leave, below which it says nothing


@dataclass(frozen=True, eq=False)
class LoadedGain:
    """By how much efforts are larger with the payload: of each joint, last of all together."""

    change: Array  # (n + 1,) r
    deviation: Array  # (n + 1,) by blocks of residuals; infinite where nothing tells
    moves: Array  # (n + 1, 10) payload per unit of r

    @property
    def z(self) -> Array:
        """Changes over their deviations, (n + 1,)."""
        ratio: Array = self.change / self.deviation
        return ratio

    def judged(self, factor: Array, freedom: float, confidence: float) -> GainCheck:
        """Return what it says with deviations enlarged (n + 1,), all of them looked at."""
        enlarged = factor * self.deviation
        half, sure = (
            stdtrit(freedom, 1.0 - 0.5 * (1.0 - x) / len(self.change)) * enlarged
            for x in (confidence, SURE)
        )
        return GainCheck(self, half, sure)


@dataclass(frozen=True, eq=False)
class GainCheck:
    """Changes of gains, and how far they may be off."""

    found: LoadedGain
    half: Array  # (n + 1,) at the confidence of the answer
    sure: Array  # (n + 1,) beyond doubt

    @property
    def is_seen(self) -> AnyArray:
        """Which changes the recordings show, (n + 1,) bool."""
        seen: AnyArray = np.abs(self.found.change) > self.half
        return seen

    @property
    def widening(self) -> Array:
        """How far the payload is off by the worst of the changes that are seen, (10,)."""
        moved = np.abs(self.found.change[:, None] * self.found.moves)[self.is_seen]
        widest: Array = moved.max(axis=0, initial=0.0)
        return widest

    def doubt(self, names: tuple[str, ...], stated: float) -> str | None:
        """Return what forbids intervals: a change that is larger than what was stated of units."""
        allowed = max(stated, LIKE_FRICTION)
        beyond = np.abs(self.found.change) - self.sure - allowed
        worst = int(np.argmax(beyond))
        if not beyond[worst] > 0.0:
            return None
        return (
            f'{self._sentence(names, worst)}, more than {100 * allowed:g} %: its unit is '
            'another one in one of the recordings, or another arm was recorded'
        )

    def caution(self, names: tuple[str, ...]) -> str | None:
        """Return what a reader has to know of changes that made intervals wider."""
        if not self.is_seen.any():
            return None
        worst = int(np.argmax(np.abs(self.found.change) / self.half))
        return (
            f'{self._sentence(names, worst)}; intervals are wider by what that does to the payload'
        )

    def _sentence(self, names: tuple[str, ...], i: int) -> str:
        whose = (*names, 'all joints')[i]
        return (
            f'effort of {whose} is {100 * self.found.change[i]:+.1f} ± {100 * self.half[i]:.1f} % '
            'another one with the payload, by what the arm itself takes'
        )


def loaded_gain(rows: DifferenceRows, fit: SharedFit, errors: BlockErrors) -> LoadedGain:
    """Compare the efforts of loaded rows with those of empty ones; blocks count as one error."""
    N, n = rows.tau.shape
    torque = (rows.tau - fit.residual) * rows.loaded[:, None]
    columns = np.zeros((N, n, n + 1))
    columns[:, np.arange(n), np.arange(n)] = torque
    columns[:, :, n] = torque
    C = whitened(columns, rows.counts, fit.spread)
    F = errors.weighted
    explained = fit.covariance @ np.tensordot(F, C, axes=((0, 1), (0, 1)))
    left = C - F @ explained
    power, whole = (np.sum(x * x, axis=(0, 1)) for x in (left, C))
    told = power > LEAST_LEFT * np.maximum(whole, 1e-300)
    power = np.where(told, power, 1.0)
    products = np.einsum('tnc,tn->tc', left, fit.errors(rows))
    change = np.where(told, products.sum(axis=0) / power, 0.0)
    squares = np.einsum('tnc,tnc->tc', left, left)
    sums = np.array([(products[b] - change * squares[b]).sum(axis=0) for b in errors.blocks])
    few = len(sums) / max(len(sums) - 1, 1)
    deviation = np.sqrt(few * np.sum(sums**2, axis=0)) / power
    deviation = np.where(told, np.maximum(deviation, 1e-300), np.inf)
    return LoadedGain(change, deviation, explained[-10:].T)
