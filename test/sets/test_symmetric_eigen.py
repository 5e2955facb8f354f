"""Eigenvalues of symmetric matrices."""

import numpy as np
from numpy.linalg import LinAlgError
import pytest

from safe_sysid.sets.symmetric_eigen import symmetric_eigen


def _does_not_converge(_: np.ndarray) -> None:
    raise LinAlgError('Eigenvalues did not converge')


@pytest.mark.parametrize('converges', [True, False])
def test_eigenvectors_are_found_by_either_method(
    converges: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not converges:
        monkeypatch.setattr(np.linalg, 'eigh', _does_not_converge)
    rng = np.random.default_rng(7)
    F = rng.normal(size=(60, 40))
    A = F @ F.T
    values, vectors = symmetric_eigen(A)
    assert np.all(np.diff(values) >= 0.0)
    assert np.allclose(A @ vectors, vectors * values, atol=1e-10 * values[-1])
    assert np.allclose(vectors.T @ vectors, np.eye(60), atol=1e-12)


def test_what_is_no_number_is_an_error_of_linear_algebra() -> None:
    A = np.full((30, 30), np.nan)
    try:
        values, _ = symmetric_eigen(A)
    except LinAlgError:
        return
    assert np.isnan(values).all()
