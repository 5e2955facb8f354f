"""Whether loaded rows fit as well as empty ones do, and these beside them as well as alone."""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import AnyArray, Array
from safe_sysid.identify.difference.rows import DifferenceRows
from safe_sysid.identify.difference.shared_fit import SharedFit

BY_CHANCE = 2.0  # times the error that random errors leave in a fit to as many rows
WITHHELD = 2.5  # residuals over those they should be like, where a term is missing or a unit wrong


def load_ratio(rows: DifferenceRows, fit: SharedFit) -> Array:
    """Residuals with the payload over those without, joint by joint, beyond those of torques."""
    left = [_rms(rows, fit.residual, chosen) for chosen in (rows.loaded, ~rows.loaded)]
    ratio: Array = left[0] / np.maximum(left[1], 1e-12) / torque_growth(rows)
    return ratio


def torque_growth(rows: DifferenceRows) -> Array:
    """Torques with the payload over those without, joint by joint, 1 at least."""
    held, empty = (_rms(rows, rows.tau, chosen) for chosen in (rows.loaded, ~rows.loaded))
    growth: Array = np.maximum(held / np.maximum(empty, 1e-12), 1.0)
    return growth


def _rms(rows: DifferenceRows, values: Array, chosen: AnyArray) -> Array:
    squares = np.sum((values * rows.counts)[chosen] ** 2, axis=0)
    found: Array = np.sqrt(squares / np.maximum(rows.counts[chosen].sum(axis=0), 1))
    return found


def strained(
    names: tuple[str, ...],
    empty: tuple[DifferenceRows, SharedFit],
    every: tuple[DifferenceRows, SharedFit],
) -> str | None:
    """Return what speaks against one arm in all recordings: empty rows that fit no longer.

    A gain that is another one with the payload bends the arm, so that the error is in all rows.
    Errors of the loaded recording that are larger because its torques are, and otherwise random,
    bend it by chance, as far as a fit follows its rows: that is no sign of anything.
    """
    (empty_rows, empty_fit), (rows, fit) = empty, every
    alone = _rms(empty_rows, empty_fit.residual, np.ones(len(empty_rows.tau), bool))
    counts = max(int(empty_rows.counts.sum()), 1)
    spare = max(1.0 - empty_fit.basis.shape[1] / counts, 1.0 / counts)  # of what was fitted
    joined, held = (_rms(rows, fit.residual, part) for part in (~rows.loaded, rows.loaded))
    followed = fit.basis.shape[1] / max(int(rows.counts[rows.loaded].sum()), 1)
    by_chance = BY_CHANCE**2 * followed * held**2
    bent = np.sqrt(np.maximum(joined**2 - by_chance, 0.0))
    grown = bent / np.maximum(alone / np.sqrt(spare), 1e-12)
    worst = int(np.argmax(grown))
    if grown[worst] <= WITHHELD:
        return None
    return (
        f'residuals of {names[worst]} without the payload are {grown[worst]:.2g} times as '
        f'large once the recording with it is explained too ({WITHHELD:g} at most): another arm, '
        'zero or unit of the effort in one of the recordings, or friction that grows with the load'
    )


def load_doubt(names: tuple[str, ...], ratio: Array) -> str | None:
    """Return what speaks against a statistical interval."""
    worst = int(np.argmax(ratio))
    if ratio[worst] <= WITHHELD:
        return None
    return (
        f'residuals of {names[worst]} with the payload are '
        f'{ratio[worst]:.2g} times what those without grow to with the torque ({WITHHELD:g} at '
        'most): the model lacks something that grows with the load, or the effort has another '
        'unit there'
    )
