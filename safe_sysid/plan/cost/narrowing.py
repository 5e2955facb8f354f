"""How much rows narrow what is known: covariance of the last unknowns, and its slope in the rows.

With the information M = U' U about all unknowns, their columns X of M^-1 follow from U X = Z,
where Z = U'^-1 E vanishes above the last ones. When a row of H in M = M_0 + H' H changes,
d(M^-1)_ii = -2 (H X_i)' dH X_i.

Compiled, in one thread: of matrices this small a parallel BLAS makes several times as much work,
most of it threads that wait for each other. Inner loops are over slices, which a compiler can do
four entries at a time, as it need not ask of every index whether it is negative.
"""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.sets.compiled import jit

NOTHING = 1e-100  # of an entry of a row


@jit
def scaled_columns(rows: Array, order: IntArray, scale: Array) -> Array:
    """Columns of rows in an order, times a scale.

    What is left where a motion begins, some 1e-320, is no normal number: processors take many
    times as long for it as for a zero.
    """
    scaled = np.empty((len(rows), len(order)))
    for r in range(len(rows)):
        for j in range(len(order)):
            entry = rows[r, order[j]] * scale[j]
            scaled[r, j] = 0.0 if abs(entry) < NOTHING else entry
    return scaled


@jit
def information(before: Array, H: Array) -> Array:
    """Upper triangle of before + H' H; most entries of H are 0.

    Row after row of M, which stays near the processor while all of H is gone through.
    """
    M: Array = before.copy()
    m, p = H.shape
    for i in range(p):
        row = M[i, i:]
        for r in range(m):
            h = H[r, i]
            if h != 0.0:
                more = H[r, i:]
                for j in range(len(row)):
                    row[j] += h * more[j]
    return M


@jit
def last_variances(M: Array, count: int) -> Array:
    """Last entries of the diagonal of the inverse of a positive definite M; uses M up.

    With M = U' U the last block of M^-1 is (T' T)^-1, T that of U: nothing else of M^-1 is needed.
    """
    p = len(M)
    _factorise(M)
    inverse = np.zeros((count, count))  # of T
    variances = np.zeros(count)
    first = p - count
    for i in range(count):
        inverse[i, i] = 1.0 / M[first + i, first + i]
        for r in range(i - 1, -1, -1):
            for j in range(r + 1, i + 1):
                inverse[r, i] -= M[first + r, first + j] * inverse[j, i]
            inverse[r, i] /= M[first + r, first + r]
        for r in range(i + 1):
            variances[r] += inverse[r, i] * inverse[r, i]
    return variances


@jit
def covariance_columns(M: Array, count: int) -> Array:
    """Last columns of the inverse of a positive definite M, (p, count); uses M up."""
    p = len(M)
    first = p - count
    _factorise(M)
    X = np.zeros((p, count))
    for i in range(count):
        X[first + i, i] = 1.0
        for r in range(first + i, p):
            for j in range(first + i, r):
                X[r, i] -= M[j, r] * X[j, i]
            X[r, i] /= M[r, r]
    for r in range(p - 1, -1, -1):
        for j in range(r + 1, p):
            for i in range(count):
                X[r, i] -= M[r, j] * X[j, i]
        for i in range(count):
            X[r, i] /= M[r, r]
    return X


@jit
def _factorise(M: Array) -> None:
    """U with M = U' U, in place of the upper triangle."""
    p = len(M)
    for k in range(p):
        root = np.sqrt(M[k, k])
        for j in range(k, p):
            M[k, j] /= root
        for i in range(k + 1, p):
            u, row, pivot = M[k, i], M[i, i:], M[k, i:]
            for j in range(len(row)):
                row[j] -= u * pivot[j]


@jit
def slopes_in_rows(H: Array, X: Array, weights: Array) -> Array:
    """Return d(sum of weights_i (M^-1)_ii)/dH from the columns X of M^-1."""
    m, (p, count) = len(H), X.shape
    slopes, columns = np.zeros((m, p)), X.T.copy()
    for r in range(m):
        for i in range(count):
            factor = 0.0
            for j in range(p):
                factor += H[r, j] * columns[i, j]
            factor *= -2.0 * weights[i]
            for j in range(p):
                slopes[r, j] += factor * columns[i, j]
    return slopes
