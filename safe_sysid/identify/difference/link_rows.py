"""Rows of empty recordings over all of theta that bind an arm most, for whoever moves it later.

The rows are those of `guaranteed`, with theta itself as the unknown, so no direction is dropped
and no range of the arm is assumed. A cosine spectrum is turned into an impulse over its block.

Few rows say nearly all: in the middle of the set that they leave, each has a share in the
curvature of the product of all distances to them. Rows with large shares are kept. Leaving a row
out makes bounds wider, never wrong.
"""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.identify.difference.guaranteed import Promise, arm_rows
from safe_sysid.identify.difference.rows import DifferenceRows
from safe_sysid.identify.difference.shared_fit import SharedFit
from safe_sysid.identify.difference.spectral_blocks import SpectralBlocks
from safe_sysid.identify.interior_programs import InteriorPrograms
from safe_sysid.identify.linear_programs import Budget, Polytope
from safe_sysid.identify.observation import Observation
from safe_sysid.model.promised_links import LinkRows
from safe_sysid.sets.interval import Interval

MOST = 300  # rows; of a seven-joint arm, 175 narrow bounds on a payload nearly as 1848 do


def link_rows(
    blocks: SpectralBlocks, rows: DifferenceRows, fit: SharedFit, promise: Promise, factor: float
) -> LinkRows | None:
    """Return rows of empty blocks; None where no block is long enough, or rows contradict."""
    if promise.blocks == 0:
        return None
    observation, arm, _ = arm_rows(blocks, rows, fit, promise, factor)
    shares = _shares(observation, arm)
    if shares is None:
        return None
    n = rows.tau.shape[1]
    p, length = 14 * n, blocks.rows.shape[1]
    spectra = (len(blocks.rows), len(blocks.transform), n)
    moves = np.broadcast_to(blocks.moves[:, None, :], spectra).ravel()
    chosen = np.flatnonzero(moves)[np.argsort(-shares, kind='stable')[:MOST]]
    Y = rows.Y[:, :, :p]
    error = 4.0 * (p + length) * 2.0**-52
    sizes = blocks.largest(np.abs(Y)).max(axis=-1), blocks.largest(np.abs(rows.tau))
    impulse = np.sqrt(length) / rows.rate  # of the first cosine, which is 1 / sqrt(length)
    return LinkRows(
        impulse * blocks.of(Y).reshape(-1, p)[chosen],
        impulse * blocks.of(rows.tau).ravel()[chosen],
        impulse * factor * np.broadcast_to(promise.delta, spectra).ravel()[chosen],
        impulse * error * np.stack(sizes, -1).reshape(-1, 2)[chosen],
        np.broadcast_to(np.arange(n), spectra).ravel()[chosen],
        blocks.seconds,
    )


def _shares(observation: Observation, arm: Interval) -> Array | None:
    """Share of each row in the curvature of the middle, in deviations of a fit."""
    A = observation.Y_r * arm.magnitude / observation.delta[:, None]
    b, one = observation.b / observation.delta, np.ones(A.shape[1])
    polytope = Polytope(A, b - 1.0, b + 1.0, -one, one)
    return InteriorPrograms(polytope, np.arange(len(A)), Budget(np.inf)).shares()
