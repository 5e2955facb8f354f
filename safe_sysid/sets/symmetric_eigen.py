"""Eigenvalues and eigenvectors of symmetric matrices, also where the fast method ends without."""

from __future__ import annotations

import numpy as np
from numpy.linalg import LinAlgError

from safe_sysid.arrays import Array


def symmetric_eigen(A: Array) -> tuple[Array, Array]:
    """Eigenvalues of a symmetric matrix (n, n), smallest first, and eigenvectors as columns.

    Divide and conquer does not converge for some matrices of good condition, on some processors;
    the iterations that it replaces do, and take several times as long.
    """
    try:
        values, vectors = np.linalg.eigh(A)
    except LinAlgError:
        import scipy.linalg  # which takes a seventh of a second, and is hardly ever needed

        values, vectors = scipy.linalg.eigh(A, driver='ev', check_finite=False)
    return values, vectors
