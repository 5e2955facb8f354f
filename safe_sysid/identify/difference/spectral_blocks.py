"""Blocks of rows as cosine spectra, and the largest error of each frequency in empty blocks.

A-R: in every block of L seconds and at every frequency k, the error of the model of joint j is at
most delta_j(k) in magnitude. A zero-mean error averages inside a block, not across blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.fft import dct

from safe_sysid.arrays import AnyArray, Array, IntArray
from safe_sysid.errors import MeasurementError
from safe_sysid.identify.difference.rows import DifferenceRows

BAND = 2.0  # [Hz] frequencies above teach next to nothing of a payload
LONGEST = 8.0  # [s] of a block
SHORTEST = 1.0  # [s] of a block of motions with rests between them
FEWEST = 2  # blocks that a loaded recording is cut into
SHORTER, SHORTER_AT_MOST = 0.9, 30  # blocks, until gaps between pieces leave enough of them
LEAST_HELD = 0.5  # share of the rows with a payload that whole blocks hold


@dataclass(frozen=True, eq=False)
class SpectralBlocks:
    """Where blocks are, and how rows become their spectra."""

    rows: IntArray  # (blocks, length) numbers of rows
    loaded: AnyArray  # (blocks,) bool
    moves: AnyArray  # (blocks, n) bool, whether the joint moves all the time: else it says nothing
    transform: Array  # (K, length) orthonormal cosines
    seconds: float  # L

    def of(self, values: Array) -> Array:
        """Spectra of signals (N, ...) in all blocks, (blocks, K, ...)."""
        spectra: Array = np.tensordot(values[self.rows], self.transform, axes=(1, 1))
        return np.moveaxis(spectra, -1, 1)

    def largest(self, bound: Array) -> Array:
        """Bound the spectra of signals that are within +- bound (N, ...), (blocks, K, ...)."""
        spectra: Array = np.tensordot(bound[self.rows], np.abs(self.transform), axes=(1, 1))
        return np.moveaxis(spectra, -1, 1)


def block_seconds(rows: DifferenceRows) -> float:
    """Longest block [s] of which recordings with a payload hold enough between their gaps.

    Where gaps leave pieces that are shorter than a block, nothing of the payload would be in any.
    """
    loaded = int(np.count_nonzero(rows.loaded))
    longest = min(LONGEST, loaded / FEWEST / rows.rate)
    lengths = longest * SHORTER ** np.arange(SHORTER_AT_MOST)
    for seconds in lengths[lengths > SHORTEST]:
        length = _length(float(seconds), rows.rate)
        held = [len(run) // length for run in _runs(rows, loaded=True)]
        if sum(held) >= FEWEST and sum(held) * length >= LEAST_HELD * loaded:
            return float(seconds)
    return min(SHORTEST, longest)


def spectral_blocks(rows: DifferenceRows, seconds: float) -> SpectralBlocks:
    """Cut all rows into whole blocks, none across a gap."""
    length = _length(seconds, rows.rate)
    if length < 3:
        raise MeasurementError(f'{seconds:.3g} s of motion are too short for a block of rows')
    found, loaded = [], []
    for held in (False, True):
        for run in _runs(rows, loaded=held):
            whole = len(run) // length
            spare = (len(run) - whole * length) // 2
            for i in range(whole):
                found.append(run[spare + i * length : spare + (i + 1) * length])
                loaded.append(held)
    rows_of_blocks = np.array(found, dtype=np.int64).reshape(-1, length)
    count = min(int(2.0 * BAND * seconds) + 1, length)
    transform = dct(np.eye(length), type=2, norm='ortho', axis=0)[:count]
    return SpectralBlocks(
        rows_of_blocks,
        np.array(loaded, dtype=bool),
        np.asarray(rows.counts[rows_of_blocks].all(axis=1)),
        transform,
        seconds,
    )


def _length(seconds: float, rate: float) -> int:
    """Rows of a block."""
    return int(seconds * rate + 1e-6)


def _runs(rows: DifferenceRows, *, loaded: bool) -> Iterator[IntArray]:
    """Rows with or without the payload that have no gap between them."""
    for number in np.unique(rows.stretch):
        there = np.flatnonzero((rows.stretch == number) & (rows.loaded == loaded))
        yield from np.split(there, np.flatnonzero(np.diff(there) > 1) + 1)


def largest_seen(spectra: Array, moves: AnyArray) -> Array:
    """Largest magnitude over blocks and neighbouring frequencies, (blocks, K, n) -> (K, n)."""
    size = (np.abs(spectra) * moves[:, None, :]).max(axis=0, initial=0.0)
    K = len(size)
    near = [slice(max(k - max(2, k // 4), 0), k + max(2, k // 4) + 1) for k in range(K)]
    return np.array([size[x].max(axis=0) for x in near])
