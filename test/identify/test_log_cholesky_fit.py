"""The fit is the best body that can exist, and always a body that can exist."""

from dataclasses import replace
import time

import numpy as np
import pytest
from scipy.optimize import least_squares
from tiers import slow_after

from safe_sysid.errors import MeasurementError
from safe_sysid.identify import log_cholesky_fit
from safe_sysid.identify.log_cholesky_fit import FitOutcome, fit, reference_body
from safe_sysid.identify.observation import Observation
from safe_sysid.identify.payload_estimator import SolveSettings
from safe_sysid.model import log_cholesky
from safe_sysid.model.inertia import (
    from_mass_com_inertia,
    from_pseudo_inertia,
    is_consistent,
    pseudo_inertia,
)
from safe_sysid.simulate.random_arm import random_body

UNITS = np.array([1, 0.1, 0.1, 0.1, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01])  # of a 1 kg body of 10 cm
GUESS = from_mass_com_inertia(2.0, np.array([0.0, 0.0, 0.1]), 0.004 * np.eye(3))


def rows_of(Y_e, phi, noise, rng):
    """Rows with errors up to `noise` times the largest response, and other parameters that act."""
    m = len(Y_e)
    Y_r, theta_r = rng.normal(size=(m, 4)), rng.normal(size=4)
    delta = rng.uniform(0.5, 1.0, m) * noise * np.abs(Y_e @ phi).max()
    b = Y_e @ phi + Y_r @ theta_r + delta * rng.uniform(-1, 1, m)
    joint, start = np.zeros(m, dtype=np.int64), np.arange(m) * 0.1
    return Observation(Y_e, Y_r, b, delta, joint, start, start + 0.1), theta_r


def random_rows(rng, phi, noise, m=40):
    weak = 10.0 ** rng.uniform(-1, 0, 10)  # inertias are seen less well than the mass
    return rows_of(rng.normal(size=(m, 10)) / UNITS * weak, phi, noise, rng)


def thin_body(rng):
    """A rod, a plate or a point: on the edge of what can exist."""
    spread = np.array([1.0, rng.choice([0.0, 0.3]), 0.0]) * rng.choice([0.0, 0.1])
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    sigma = (turn * spread**2) @ turn.T
    body = from_mass_com_inertia(
        rng.uniform(0.1, 5.0), rng.normal(scale=0.1, size=3), np.zeros((3, 3))
    )
    J = pseudo_inertia(body)
    J[:3, :3] += body[0] * sigma
    return from_pseudo_inertia(J)


def weighted(rows, theta_r):
    return rows.Y_e / rows.delta[:, None], rows.response(theta_r) / rows.delta


def cost(rows, theta_r, phi):
    Y, U = weighted(rows, theta_r)
    return 0.5 * np.sum((Y @ phi - U) ** 2)


def by_scipy(rows, theta_r, starts):
    """Least cost over J = U U' with the entries of U free: the edge is within reach."""
    upper = np.triu_indices(4)
    Y, U = weighted(rows, theta_r)
    size = np.diag([0.1, 0.1, 0.1, 1.0])

    def body(entries):
        factor = np.zeros((4, 4))
        factor[upper] = entries
        return from_pseudo_inertia(size @ factor @ factor.T @ size)

    def residual(entries):
        return Y @ body(entries) - U

    options = {'xtol': 1e-14, 'ftol': 1e-14, 'gtol': 1e-14, 'max_nfev': 2000}
    return min(least_squares(residual, start[upper], **options).cost for start in starts)


def optimality(rows, theta_r, phi):
    """Share of the cost that a better body could save at most, by convexity.

    With G the gradient by J, any other J' has cost >= cost + <G, J' - J>; for G >= 0 that is
    at least cost - <G, J>.
    """
    Y, U = weighted(rows, theta_r)
    basis = pseudo_inertia(np.eye(10))
    upper = np.triu_indices(4)
    twice = np.where(upper[0] == upper[1], 1.0, 2.0)
    G = np.zeros((4, 4))
    G[upper] = np.linalg.solve(basis[:, upper[0], upper[1]] * twice, Y.T @ (Y @ phi - U))
    G = G + G.T - np.diag(np.diag(G))
    size = np.diag([0.1, 0.1, 0.1, 1.0])
    J = pseudo_inertia(phi)
    J_sized = np.linalg.solve(size, np.linalg.solve(size, J).T)
    negative = max(0.0, -np.linalg.eigvalsh(size @ G @ size)[0])
    saving = abs(np.sum(G * J)) + negative * 2.0 * np.trace(J_sized)  # J' up to twice the size
    return saving / cost(rows, theta_r, phi)


def test_other_parameters_that_are_uncertain_are_fitted_too(rng):
    """One and the same error of theta_r is in every row: it is no noise of each of them."""
    phi = random_body(rng)
    rows, theta_r = random_rows(rng, phi, 1e-3)
    uncertain = rng.uniform(0.5, 2.0, len(theta_r))
    guess = theta_r + uncertain * rng.uniform(-1.0, 1.0, len(theta_r))
    found = fit(rows, guess, GUESS, uncertain=uncertain)
    Y, U = weighted(rows, guess)
    whole = np.block([
        [Y, rows.Y_r / rows.delta[:, None]],
        [np.zeros((len(guess), 10)), np.diag(1.0 / uncertain)],
    ])  # fmt: skip
    best = np.linalg.lstsq(whole, np.concatenate([U, np.zeros(len(guess))]))[0]
    np.testing.assert_allclose(found.phi / UNITS, best[:10] / UNITS, atol=1e-6)
    assert np.abs(found.phi - phi).max() < 0.1 * np.abs(fit(rows, guess, GUESS).phi - phi).max()


def test_without_noise_the_truth_is_found_directly(rng):
    for _ in range(20):
        phi = random_body(rng)
        rows, theta_r = random_rows(rng, phi, 1e-9)
        result = fit(rows, theta_r, GUESS)
        assert result.outcome is FitOutcome.LEAST_SQUARES
        np.testing.assert_allclose(result.phi / UNITS, phi / UNITS, atol=1e-5)
        np.testing.assert_allclose(
            log_cholesky.parameters(result.eta), result.phi, rtol=1e-7, atol=1e-9
        )


def test_a_consistent_least_squares_solution_is_the_answer(rng):
    for _ in range(20):
        rows, theta_r = random_rows(rng, random_body(rng), 1e-3)
        Y, U = weighted(rows, theta_r)
        free = np.linalg.lstsq(Y, U, rcond=None)[0]
        result = fit(rows, theta_r, GUESS)
        if is_consistent(free):
            np.testing.assert_allclose(result.phi / UNITS, free / UNITS, atol=1e-7)
        assert result.cost == pytest.approx(cost(rows, theta_r, result.phi), rel=1e-6)


@pytest.mark.parametrize(
    'trials', [*slow_after(1, [6, 16]), pytest.param(40, marks=pytest.mark.nightly)]
)
def test_pressed_against_the_edge_no_body_is_better(trials, rng):
    found = []
    for _ in range(trials):
        rows, theta_r = random_rows(rng, thin_body(rng), 10.0 ** rng.uniform(-3, -1))
        result = fit(rows, theta_r, GUESS, iterations=2000)
        assert is_consistent(result.phi)
        found.append(result.outcome)
        if result.outcome is FitOutcome.SOLVED:
            assert optimality(rows, theta_r, result.phi) < 1e-2
    assert found.count(FitOutcome.SOLVED) >= 0.6 * trials
    assert found.count(FitOutcome.STOPPED_EARLY) <= 0.07 * trials


@pytest.mark.slow
def test_scipy_finds_no_lower_cost(rng):
    for _ in range(8):
        rows, theta_r = random_rows(rng, thin_body(rng), 0.01)
        starts = [np.eye(4), np.eye(4) + 0.3 * rng.normal(size=(4, 4))]
        result = fit(rows, theta_r, GUESS, iterations=2000)
        assert result.undetermined == 0
        assert result.cost <= by_scipy(rows, theta_r, starts) * (1.0 + 1e-4)


def test_derivatives_of_the_objective(rng):
    for _ in range(10):
        R, c = rng.normal(size=(10, 10)), rng.normal(size=10)
        problem, eta = log_cholesky_fit._Problem(R, c), rng.normal(scale=0.5, size=10)
        step = 1e-6 * np.eye(10)
        slope = [(problem.objective(eta + s) - problem.objective(eta - s)) / 2e-6 for s in step]
        bend = [(problem.gradient(eta + s) - problem.gradient(eta - s)) / 2e-6 for s in step]
        np.testing.assert_allclose(problem.gradient(eta), slope, atol=1e-6 * np.abs(slope).max())
        np.testing.assert_allclose(problem.curvature(eta), bend, atol=1e-6 * np.abs(bend).max())
        lower = problem.hessian(eta, np.zeros(0), 3.0)
        np.testing.assert_allclose(lower, 3.0 * problem.curvature(eta)[problem.hessianstructure()])


def test_units_of_the_rows_do_not_matter(rng):
    rows, theta_r = random_rows(rng, thin_body(rng), 0.05)
    same = replace(
        rows, Y_e=rows.Y_e * 1e6, Y_r=rows.Y_r * 1e6, b=rows.b * 1e6, delta=rows.delta * 1e6
    )
    one, other = (fit(x, theta_r, GUESS) for x in (rows, same))
    np.testing.assert_allclose(one.phi / UNITS, other.phi / UNITS, rtol=1e-4, atol=1e-6)


def test_size_of_the_payload_does_not_matter(rng):
    for size in (1e-3, 1e3):  # grams and tonnes with the guess of 2 kg
        phi = size * random_body(rng)
        rows, theta_r = random_rows(rng, phi, 1e-6)
        np.testing.assert_allclose(fit(rows, theta_r, GUESS).phi / size, phi / size, atol=1e-3)


def test_what_the_data_leave_open_is_as_in_the_prior(rng):
    seen = np.arange(10) < 4  # an arm that stands still in several poses sees m and m c only
    Y_e = np.where(seen, rng.normal(size=(40, 10)), 0.0)
    truth = from_mass_com_inertia(2.2, np.array([0.01, 0.02, 0.08]), 0.004 * np.eye(3))
    rows, theta_r = rows_of(Y_e, truth, 1e-6, rng)
    result = fit(rows, theta_r, GUESS)
    assert result.outcome is FitOutcome.UNDETERMINED
    assert result.undetermined == 6
    assert is_consistent(result.phi)
    np.testing.assert_allclose(result.phi[:4], truth[:4], atol=1e-4)


@pytest.mark.parametrize('m', [0, 1, 3, 40])
def test_rows_that_say_nothing_give_the_prior(m, rng):
    rows, theta_r = random_rows(rng, GUESS, 1e-3)
    rows = replace(rows, Y_e=np.zeros((40, 10))).rows(slice(0, m))
    result = fit(rows, theta_r, GUESS)
    assert result.outcome is FitOutcome.UNDETERMINED
    assert result.undetermined == 10
    np.testing.assert_allclose(result.phi, GUESS, atol=1e-9)


def test_noise_that_says_standing_still_is_a_tonne_is_not_believed(rng):
    # columns of the inertias 1e-9 of what they need: their fit would be noise
    Y_e = rng.normal(size=(40, 10)) * np.where(np.arange(10) < 4, 1.0, 1e-9)
    rows, theta_r = rows_of(Y_e, GUESS, 1e-3, rng)
    result = fit(rows, theta_r, GUESS)
    assert result.undetermined == 6
    assert np.abs(result.phi - GUESS).max() < 0.05


@pytest.mark.parametrize('trials', [8, pytest.param(60, marks=pytest.mark.nightly)])
def test_any_rows_and_any_guess_give_a_body(trials, rng):
    for _ in range(trials):
        m = int(rng.integers(1, 30))
        Y_e = rng.normal(size=(m, 10)) * 10.0 ** rng.uniform(-9, 3, 10)
        if rng.random() < 0.5:
            Y_e[:, int(rng.integers(10))] = Y_e[:, 0]
        rows, theta_r = rows_of(Y_e, rng.normal(size=10), 0.1, rng)
        rows = replace(rows, delta=10.0 ** rng.uniform(-300, 2, m))
        guess = rng.normal(size=10) * 10.0 ** rng.uniform(-6, 2, 10)
        result = fit(rows, theta_r, guess, iterations=40)
        assert is_consistent(result.phi)
        assert np.isfinite(result.eta).all()


def thin_rows(rng):
    """Rows of a body on the edge of what can exist, for which Ipopt is asked."""
    while True:
        rows, theta_r = random_rows(rng, thin_body(rng), 0.1)
        if fit(rows, theta_r, GUESS, iterations=1).outcome is FitOutcome.STOPPED_EARLY:
            return rows, theta_r


def test_a_fit_does_not_depend_on_how_fast_the_machine_is(rng, monkeypatch):
    rows, theta_r = thin_rows(rng)
    seconds = SolveSettings().fit_seconds
    fast = fit(rows, theta_r, GUESS, seconds=seconds)
    pauses, parameters = [0.6], log_cholesky.parameters

    def slow(eta):
        time.sleep(pauses.pop() if pauses else 0.0)
        return parameters(eta)

    monkeypatch.setattr(log_cholesky, 'parameters', slow)
    other = fit(rows, theta_r, GUESS, seconds=seconds)
    assert not pauses
    assert other.outcome is fast.outcome
    np.testing.assert_array_equal(other.phi, fast.phi)


def test_what_the_clock_ends_is_said_and_a_body(rng):
    rows, theta_r = thin_rows(rng)
    result = fit(rows, theta_r, GUESS, seconds=1e-9)
    assert result.outcome is FitOutcome.OUT_OF_TIME
    assert is_consistent(result.phi)


def test_stopped_early_is_said_and_still_a_body_no_worse_than_the_prior(rng):
    for iterations in (0, 1, 3):
        rows, theta_r = random_rows(rng, thin_body(rng), 0.1)
        result = fit(rows, theta_r, GUESS, iterations=iterations)
        assert result.outcome is FitOutcome.STOPPED_EARLY
        assert is_consistent(result.phi)
        assert result.cost <= cost(rows, theta_r, GUESS) * (1.0 + 1e-9)


def test_one_row_that_is_called_exact_does_not_outvote_the_others(rng):
    truth = random_body(rng)
    rows, theta_r = random_rows(rng, truth, 1e-3)
    wrong = rows.b + np.where(np.arange(40) == 0, 3e-3 * np.abs(rows.Y_e @ truth).max(), 0.0)
    rows = replace(rows, b=wrong, delta=np.where(np.arange(40) == 0, 1e-300, rows.delta))
    result = fit(rows, theta_r, truth)
    assert np.isfinite(result.cost)
    assert is_consistent(result.phi)


def test_reference_body_keeps_a_body_and_repairs_a_guess(rng):
    for _ in range(20):
        phi = random_body(rng)
        np.testing.assert_allclose(reference_body(phi), phi, atol=1e-12)
    guess = np.array([3.2, 0.0, 0.0, -0.5, 0, 0, 0, 0, 0, 0])  # mass and centre, no inertia
    body = reference_body(guess)
    assert is_consistent(body)
    np.testing.assert_allclose(body[:4], guess[:4])


def test_rows_that_are_not_finite_are_refused(rng):
    rows, theta_r = random_rows(rng, GUESS, 1e-3)
    with pytest.raises(MeasurementError, match='finite'):
        fit(replace(rows, Y_e=np.full((40, 10), np.nan)), theta_r, GUESS)
