"""Butterworth low-pass, once forwards and once backwards over the first axis of an array.

scipy.signal does the same and is what it is tested against; importing it takes an eighth of the
time that `identify` takes for a minute of data.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.sets.compiled import jit


@lru_cache(maxsize=64)
def sections(order: int, share: float) -> Array:
    """Return b0, a1, a2 of each section of an even order; the cut-off is a share of half the rate.

    A section is b0 (1 + z^-1)^2 / (1 + a1 z^-1 + a2 z^-2), whose gain at rest is 1: two conjugate
    poles of the analog filter, bilinear.
    """
    angles = np.pi * (np.arange(order // 2) + 0.5) / order  # of the poles, from the imaginary axis
    poles = np.tan(0.5 * np.pi * share) * (-np.sin(angles) + 1j * np.cos(angles))
    z = (1.0 + poles) / (1.0 - poles)
    a1, a2 = -2.0 * z.real, np.abs(z) ** 2
    gain = np.abs(1.0 - z) ** 2 / 4.0
    return np.column_stack([gain, a1, a2])


def filtered_both_ways(values: Array, order: int, share: float, padding: int) -> Array:
    """Filter as if before and after the values came `padding` of them turned about the ends."""
    flat = np.ascontiguousarray(values, dtype=float).reshape(len(values), -1)
    whole = np.empty((len(flat) + 2 * padding, flat.shape[1]))
    whole[padding : padding + len(flat)] = flat
    whole[:padding] = 2.0 * flat[0] - flat[padding:0:-1]
    whole[padding + len(flat) :] = 2.0 * flat[-1] - flat[-2 : -2 - padding : -1]
    for _ in range(2):
        filter_into(whole, sections(order, share))
        whole = whole[::-1].copy()
    found: Array = whole[padding : padding + len(flat)].reshape(values.shape)
    return found


@jit
def filter_into(values: Array, parts: Array) -> None:
    """Filter (N, m) in place, from the state in which a constant first value leaves it."""
    columns = values.shape[1]
    first, second = np.empty((len(parts), columns)), np.empty((len(parts), columns))
    for s in range(len(parts)):
        b0, a1, a2 = parts[s]
        for j in range(columns):
            second[s, j] = (b0 - a2) * values[0, j]
            first[s, j] = (2.0 * b0 - a1) * values[0, j] + second[s, j]
    for i in range(len(values)):
        for s in range(len(parts)):
            b0, a1, a2 = parts[s]
            for j in range(columns):
                x = b0 * values[i, j]
                y = x + first[s, j]
                first[s, j] = 2.0 * x - a1 * y + second[s, j]
                second[s, j] = x - a2 * y
                values[i, j] = y
