"""Fourier series and B-splines: at rest at both ends, derivatives, and limits at all times."""

import numpy as np
import pytest
from scipy.optimize import linprog

from safe_sysid.errors import BoundError
from safe_sysid.trajectory import fourier
from safe_sysid.trajectory.bspline import SplineBasis
from safe_sysid.trajectory.fourier import FourierBasis
from safe_sysid.trajectory.motion_basis import Motion

BASES = [FourierBasis(10.0, 5), FourierBasis(3.0, 2), SplineBasis(10.0, 12), SplineBasis(4.0, 1)]
EACH = pytest.mark.parametrize('basis', BASES, ids=str)


def some_motion(basis, rng, joints=3):
    return Motion(basis, rng.normal(size=(joints, basis.count)))


@EACH
def test_a_motion_starts_and_ends_at_rest_in_its_first_coefficients(basis, rng):
    motion = some_motion(basis, rng)
    for state in motion.states(np.array([0.0, basis.duration])).transpose(1, 0, 2):
        np.testing.assert_allclose(state[0], motion.x[:, 0], atol=1e-12)
        np.testing.assert_allclose(state[1:], 0.0, atol=1e-11)


@EACH
def test_the_first_coefficient_moves_everything_alike(basis):
    t = np.linspace(0.0, basis.duration, 50)
    np.testing.assert_allclose(basis.rows(t, 0)[:, 0], 1.0, atol=1e-15)
    np.testing.assert_allclose(basis.rows(t, 1)[:, 0], 0.0, atol=1e-15)


@EACH
@pytest.mark.parametrize('order', [1, 2, 3, 4])
def test_derivatives_agree_with_differences(basis, order, rng):
    motion = some_motion(basis, rng)
    h = 1e-5
    t = rng.uniform(h, basis.duration - h, size=40)
    t = t[np.abs(t / basis.duration * 7 % 1 - 0.5) < 0.49]  # not across a knot
    difference = motion.derivative(t + h, order - 1) - motion.derivative(t - h, order - 1)
    exact = motion.derivative(t, order)
    scale = np.abs(motion.derivative(t, order)).max() + np.abs(difference / h).max()
    np.testing.assert_allclose(difference / (2.0 * h), exact, atol=1e-3 * scale)


def test_published_boundary_conditions_hold_for_the_series(rng):
    """Sum a = 0 and sum l b = 0, recovered from samples by projection on the harmonics."""
    basis = FourierBasis(10.0, 5)
    t = np.arange(200) * 0.05
    velocity = some_motion(basis, rng).derivative(t, 1)
    harmonics = 2.0 * np.pi / basis.duration * np.outer(t, np.arange(1, 6))
    a, b = np.cos(harmonics).T @ velocity / 100, np.sin(harmonics).T @ velocity / 100
    np.testing.assert_allclose(a.sum(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(np.arange(1, 6) @ b, 0.0, atol=1e-12)


@EACH
@pytest.mark.parametrize('derivative', [0, 1, 2])
def test_limiting_rows_limit_all_times_even_for_the_worst_motion(basis, derivative, rng):
    """Linear programs look for the motion that goes furthest between the rows."""
    A, share = basis.limiting_rows(derivative)
    times = np.linspace(0.0, basis.duration, 4001)
    rows = basis.rows(times, derivative)
    at = np.unique([*rng.integers(0, len(times), 12), *np.argsort(-np.abs(rows).sum(axis=1))[:4]])
    for row in rows[at]:
        found = linprog(-row, np.vstack([A, -A]), np.full(2 * len(A), share), bounds=(None, None))
        if found.status == 3:  # unbounded would be a motion that no row sees
            pytest.fail('the rows do not bound the motion')
        assert -found.fun <= 1.0 + 1e-9


def test_the_series_needs_its_share(rng):
    """Without it a series does leave its limit between the rows: the factor is attained."""
    basis = FourierBasis(10.0, 5)
    A, share = basis.limiting_rows(1)
    points = len(A)
    between = basis.rows((np.arange(points) + 0.5) * basis.duration / points, 1)
    worst = 0.0
    for row in between[rng.integers(0, points, size=8)]:
        found = linprog(-row, np.vstack([A, -A]), np.ones(2 * points), bounds=(None, None))
        worst = max(worst, -found.fun)
    assert 1.0 < worst <= 1.0 / share
    assert share == pytest.approx(np.cos(np.pi / fourier.LIMITING_POINTS), rel=1e-9)


@EACH
@pytest.mark.parametrize('order', [1, 2, 3, 4])
def test_bounds_of_derivatives_hold_between_samples(basis, order, rng):
    for _ in range(20):
        motion = some_motion(basis, rng)
        t = np.linspace(0.0, basis.duration, 4011)
        assert (np.abs(motion.derivative(t, order)).max(axis=0) <= motion.bound(order)).all()


@pytest.mark.parametrize(
    ('make', 'words'),
    [
        (lambda: FourierBasis(0.0, 5), 'duration is 0.0 s'),
        (lambda: FourierBasis(10.0, 1), '1 harmonics can not start and end at rest'),
        (lambda: SplineBasis(-1.0, 5), 'duration is -1.0 s'),
        (lambda: SplineBasis(1.0, 0), '0 control points move nothing'),
        (lambda: Motion(FourierBasis(1.0, 5), np.zeros((2, 8))), 'the basis takes 9'),
        (lambda: Motion(FourierBasis(1.0, 5), np.full((2, 9), np.nan)), 'have to be finite'),
    ],
)
def test_what_is_refused(make, words):
    with pytest.raises(BoundError, match=words):
        make()
