"""Blocks of rows as cosine spectra, and the largest error of each frequency in empty blocks.

A-R: in every block of L seconds and at every frequency k, the error of the model of joint j is at
most delta_j(k) in magnitude. A zero-mean error averages inside a block, not across blocks.
"""

from __future__ import annotations

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


def block_seconds(loaded: float) -> float:
    """Length of a block [s] for so many seconds with the payload."""
    return min(LONGEST, loaded / FEWEST)


def spectral_blocks(rows: DifferenceRows, seconds: float) -> SpectralBlocks:
    """Cut all rows into whole blocks, none across a gap."""
    length = int(seconds * rows.rate + 1e-6)
    if length < 3:
        raise MeasurementError(f'{seconds:.3g} s of motion are too short for a block of rows')
    found, loaded = [], []
    for number in np.unique(rows.stretch):
        for held in (False, True):
            there = np.flatnonzero((rows.stretch == number) & (rows.loaded == held))
            for run in np.split(there, np.flatnonzero(np.diff(there) > 1) + 1):
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


def largest_seen(spectra: Array, moves: AnyArray) -> Array:
    """Largest magnitude over blocks and neighbouring frequencies, (blocks, K, n) -> (K, n)."""
    size = (np.abs(spectra) * moves[:, None, :]).max(axis=0, initial=0.0)
    K = len(size)
    near = [slice(max(k - max(2, k // 4), 0), k + max(2, k // 4) + 1) for k in range(K)]
    return np.array([size[x].max(axis=0) for x in near])
