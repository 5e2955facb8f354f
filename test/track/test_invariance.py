"""The theorem of the robust law by itself: no dynamics, the worst that its assumptions allow."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest

from safe_sysid.errors import BoundError
from safe_sysid.track.invariance import (
    Disturbance,
    LawBounds,
    Rates,
    Shell,
    StateError,
    damping,
    energy_range,
    input_bound,
    invariance,
    least_energy,
)

DRAWS = 10_000  # of every number of joints, three ascents each: 10^5 starts
STEPS = 6


class Case(NamedTuple):
    """Mass matrices, bounds and what the law sees, in many draws (N, ...)."""

    M: np.ndarray
    H: np.ndarray
    box: np.ndarray
    ball: np.ndarray
    seen: np.ndarray
    sigma: np.ndarray
    V_M: np.ndarray
    mu: np.ndarray
    kappa: np.ndarray


def positive(rng, N, n):
    """Random symmetric positive definite matrices, badly conditioned ones too."""
    turn = np.linalg.qr(rng.normal(size=(N, n, n)))[0]
    sizes = 10.0 ** rng.uniform(-2.0, 1.0, size=(N, 1, n))
    return (turn * sizes) @ np.swapaxes(turn, 1, 2)


def random_cases(rng, n, N=DRAWS):
    M = positive(rng, N, n)
    L = np.linalg.cholesky(M)
    mu, kappa = rng.uniform(0.5, 1.0, N), rng.uniform(1.0, 1.5, N)
    turn = np.linalg.qr(rng.normal(size=(N, n, n)))[0]
    ends = np.where(rng.random((N, n)) < 0.5, mu[:, None], kappa[:, None])
    H = L @ ((turn * ends[:, None]) @ np.swapaxes(turn, 1, 2)) @ np.swapaxes(L, 1, 2)
    V_M = 10.0 ** rng.uniform(-3.0, 0.0, N)
    y = np.sqrt(2.0 * V_M / kappa)
    sigma = y * rng.uniform(0.0, 0.97, N)
    length = np.where(
        rng.random(N) < 0.5, y + rng.choice([-1.0, 0.0, 1.0], N) * sigma, 3.0 * y * rng.random(N)
    )
    seen = rng.normal(size=(N, n))
    seen *= (length / norm(M, seen))[:, None]
    box = rng.exponential(size=(N, n)) * rng.choice([0.0, 1.0], (N, n), p=[0.2, 0.8])
    ball = rng.exponential(size=N) * rng.choice([0.0, 1.0], N)
    return Case(M, H, box, ball, seen, sigma, V_M, mu, kappa)


def norm(M, x):
    return np.sqrt(np.maximum(np.einsum('ni,nij,nj->n', x, M, x), 0.0))


def disturbance_length(case):
    """omega."""
    inverse = np.abs(np.linalg.inv(case.M))
    return np.sqrt(np.einsum('ni,nij,nj->n', case.box, inverse, case.box)) + case.ball


def law(case, mutant=''):
    """v of the text, or of a wrong one."""
    length, omega = norm(case.M, case.seen), disturbance_length(case)
    sigma, alpha = case.sigma, 1000.0
    y = np.sqrt(2.0 * case.V_M / (case.mu if mutant == 'y from mu' else case.kappa))
    reached = length + (0.0 if mutant == 'V_sup without sigma' else sigma)
    pull = np.abs(case.seen) * case.box @ np.ones(case.box.shape[1])
    pull = pull / np.maximum(length, 1e-300) + case.ball
    offset = 0.0 if mutant == 'no sigma omega' else sigma * omega
    gain = np.zeros_like(length)
    shares = [1.0] if mutant == 'for r_hat as it was' else np.linspace(1.0, 0.001, 300)
    for share in shares:  # the largest of all lengths, by trying them
        z = share * length
        N = pull * z + offset
        N = N - alpha * np.maximum(0.0, case.V_M - 0.5 * case.kappa * reached**2)
        B = np.maximum(z * (z - sigma), 0.5 * (y**2 + z**2 - sigma**2))
        if mutant == 'B = l^2':
            B = z**2
        wanted = share * np.maximum(0.0, N) / np.maximum(B, 1e-300)
        is_exact = (share < 1.0) & (case.sigma == 0.0)
        gain = np.where(is_exact, gain, np.maximum(gain, wanted))
        if mutant == 'B = l^2':
            break
    push = case.seen if mutant == 'v from D' else np.einsum('nij,nj->ni', case.M, case.seen)
    return gain[:, None] * push


def compiled_law(case):
    """v of the package."""
    v, omega = np.zeros_like(case.seen), disturbance_length(case)
    for i, (seen, M, sigma) in enumerate(zip(case.seen, case.M, case.sigma, strict=True)):
        shell = Shell(case.V_M[i], case.mu[i], case.kappa[i])
        square = seen @ M @ seen
        bounds = LawBounds(case.V_M[i], 1000.0, shell.least_length, sigma, omega[i], case.ball[i])
        most = energy_range(square, (shell.mu, shell.kappa), sigma)[1]
        v[i] = damping(np.abs(seen) @ case.box[i], 0.0, square, (0.0, most), bounds) * M @ seen
    return v


def worst_growth(rng, case, v):
    """Largest r' (w - v) found where V >= V_M, as a share of the power of w; by ascent.

    r is sigma from what is left of r_hat once its own torque has acted for a while.
    """
    length = norm(case.M, case.seen)
    inverse = np.linalg.inv(case.M)
    omega = disturbance_length(case)
    scale = (length + case.sigma) * omega + 1e-300
    worst = np.full(len(length), -np.inf)
    for start in range(9):
        left = rng.random(len(length)) if start >= 3 else np.ones(len(length))
        if start >= 6:  # near where most is wanted
            y = np.sqrt(2.0 * case.V_M / case.kappa)
            near = (y + rng.uniform(-1.0, 1.0, len(length)) * case.sigma) / length
            left = np.clip(near, 0.0, 1.0)
        seen = left[:, None] * case.seen
        off = rng.normal(size=case.seen.shape)
        if start % 3 == 0:
            off = -v + 1e-12
        off *= (case.sigma / np.maximum(norm(case.M, off), 1e-300))[:, None]
        for _ in range(STEPS):
            r = seen + off
            growth = np.sum(np.abs(r) * case.box - r * v, axis=1) + case.ball * norm(case.M, r)
            beyond = 0.5 * norm(case.H, r) ** 2 >= case.V_M
            worst = np.where(beyond, np.maximum(worst, growth / scale), worst)
            pull = (
                np.einsum('nij,nj->ni', case.M, r) / np.maximum(norm(case.M, r), 1e-300)[:, None]
            )
            slope = np.sign(r) * case.box - v + case.ball[:, None] * pull
            along = np.einsum('nij,nj->ni', inverse, slope)
            size = np.maximum(norm(case.M, along), 1e-300)
            off = along * (case.sigma / size)[:, None]
    return worst.max()


@pytest.mark.parametrize('n', [1, 2, 3, 5])
def test_energy_never_grows_where_it_is_at_its_limit(rng, n):
    case = random_cases(rng, n)
    assert worst_growth(rng, case, compiled_law(case)) <= 1e-10


@pytest.mark.parametrize(
    'mutant',
    [
        'B = l^2',
        'y from mu',
        'no sigma omega',
        'V_sup without sigma',
        'v from D',
        'for r_hat as it was',
    ],
)
def test_every_term_of_the_law_is_needed(rng, mutant):
    grown = []
    for n in (2, 3):
        case = random_cases(rng, n)
        grown.append(worst_growth(rng, case, law(case, mutant)))
    assert max(grown) > 0.01


def test_the_compiled_law_is_the_one_of_the_text(rng):
    case = random_cases(rng, 3, 2_000)
    asked, given = np.abs(law(case)), np.abs(compiled_law(case))
    assert np.all(given >= asked * (1.0 - 1e-6))  # the text's is the largest of a grid
    np.testing.assert_allclose(given, asked, rtol=2e-3, atol=1e-9)


def test_bounds_of_energy_are_those_of_the_triangle(rng):
    for mu, sigma, length in rng.uniform(0.1, 1.0, size=(100, 3)):
        low, high = energy_range(length**2, (mu, 1.2), sigma)
        assert low == pytest.approx(0.5 * mu * max(0.0, length - sigma) ** 2, rel=1e-12)
        assert high == pytest.approx(0.6 * (length + sigma) ** 2, rel=1e-12)


def test_broken_promises_are_damped_by_as_much_as_the_text_says(rng):
    case = random_cases(rng, 2, 500)
    stronger = 0
    for i in range(500):
        square = case.seen[i] @ case.M[i] @ case.seen[i]
        shell = (case.mu[i], case.kappa[i])
        energy = energy_range(square, shell, case.sigma[i])
        y = Shell(case.V_M[i], *shell).least_length
        bounds = LawBounds(case.V_M[i], 25.0, y, case.sigma[i], 1.0, 0.0)
        power = np.abs(case.seen[i]) @ case.box[i]
        promised = damping(power, 0.0, square, (0.0, energy[1]), bounds)
        gain = damping(power, 0.0, square, energy, bounds)
        assert promised <= gain <= promised + 0.5 * 25.0 * case.mu[i] * (1.0 + 1e-12)
        stronger += gain > promised
        assert (gain > promised) == (energy[0] > case.V_M[i])
    assert stronger > 50


@pytest.mark.parametrize('held', [0.001, 0.005, 0.01, 0.035])
def test_a_torque_that_leads_an_arm_back_takes_energy_away_though_it_is_held(rng, held):
    """For any alpha; an arm far beyond its promise is not thrown past where it should be."""
    case, least = random_cases(rng, 3, 300), 0.0
    for i in range(300):
        M, H = case.M[i], case.H[i]
        seen = case.seen[i] * 10.0 ** rng.uniform(0.0, 3.0)
        square = seen @ M @ seen
        y = Shell(case.V_M[i], case.mu[i], case.kappa[i]).least_length
        energy = energy_range(square, (case.mu[i], case.kappa[i]), 0.0)
        bounds = LawBounds(case.V_M[i], 1000.0, y, 0.0, 0.0, 0.0)
        gain = damping(0.0, 0.0, square, energy, bounds)
        after = seen - held * gain * np.linalg.solve(H, M @ seen)
        assert after @ H @ after <= seen @ H @ seen * (1.0 + 1e-12)
        least = max(least, gain)
    assert least > 10.0


def bounds_of(case, i, share=0.0):
    """Bounds of one draw, with an error of the state that is all at the sample."""
    n = len(case.seen[i])
    disturbance = Disturbance(
        case.box[i],
        np.diag(case.M[i]),
        np.abs(np.linalg.inv(case.M[i])),
        np.full(n, share),
        case.ball[i],
    )
    shell = Shell(case.V_M[i], case.mu[i], case.kappa[i])
    return invariance(shell, disturbance, StateError(case.sigma[i], 0.0, 0.0, 0.0, 0.0))


@pytest.mark.parametrize('n', [1, 2, 3])
def test_input_keeps_its_bound_and_attains_it(rng, n):
    closest = 0.0
    for _ in range(30):
        case = random_cases(rng, n, 1)
        bounds = bounds_of(case, 0)
        many = case._replace(seen=rng.normal(size=(4_000, n)))
        one = Case(
            *(np.repeat(part, 4_000, axis=0) if part is not many.seen else part for part in many)
        )
        y, sigma = bounds.y, case.sigma[0]
        length = y * 10.0 ** rng.uniform(-2.0, 1.0, 4_000)
        length[:2_000] = y + sigma
        # eigenvectors of the rank-two form, which ask for most, among the directions
        M, box = case.M[0], case.box[0]
        inverse = np.linalg.inv(M)
        for j in range(n):
            pulled = inverse @ box
            unit = np.eye(n)[j] / np.sqrt(M[j, j])
            one.seen[j] = unit + pulled / max(np.sqrt(box @ pulled), 1e-300)
        one.seen[:] *= (length / norm(one.M, one.seen))[:, None]
        v = np.abs(law(one))
        assert np.all(v <= bounds.robust * (1.0 + 1e-9))
        size = np.sqrt(np.einsum('ni,ij,nj->n', v * 0 + law(one), inverse, law(one)))
        assert np.all(size <= bounds.nu * bounds.omega * (1.0 + 1e-9))
        closest = max(closest, np.max(v / np.maximum(bounds.robust, 1e-300)))
    assert closest > 0.95


def test_without_errors_the_bound_is_half_of_norm_and_entry(rng):
    box = rng.exponential(size=(4, 3))
    M = positive(rng, 4, 3)
    inverse = np.abs(np.linalg.inv(M))
    diagonal = np.einsum('nii->ni', M)
    disturbance = Disturbance(box, diagonal, inverse, np.zeros(3))
    length = np.sqrt(np.einsum('ni,nij,nj->n', box, inverse, box))
    expected = 0.5 * (np.sqrt(diagonal) * length[:, None] + box)
    np.testing.assert_allclose(input_bound(disturbance), expected, rtol=1e-8)
    assert np.all(input_bound(disturbance) >= expected)


def test_room_for_the_share_of_actuators_is_that_of_the_bound_itself(rng):
    for _ in range(50):
        case = random_cases(rng, 3, 1)
        case = case._replace(sigma=0.5 * case.sigma, box=case.box + 0.1)
        try:
            bounds = bounds_of(case, 0, 0.02)
        except BoundError:
            continue
        np.testing.assert_allclose(bounds.box, case.box[0] + 0.02 * bounds.robust, rtol=1e-8)
        assert np.all(bounds.box >= case.box[0] + 0.02 * bounds.robust * (1.0 - 1e-12))
        seen = rng.normal(size=(200, 3)) * 10.0 ** rng.uniform(-2.0, 2.0, size=(200, 1))
        law_bounds = LawBounds(
            case.V_M[0], 1000.0, bounds.y, case.sigma[0], bounds.omega, case.ball[0]
        )
        for r in seen:
            Mr = case.M[0] @ r
            own = 0.02 * np.abs(r) @ np.abs(Mr)
            energy = energy_range(r @ Mr, (case.mu[0], case.kappa[0]), case.sigma[0])
            v = damping(np.abs(r) @ case.box[0], own, r @ Mr, (0.0, energy[1]), law_bounds) * Mr
            assert np.all(np.abs(v) <= bounds.robust * (1.0 + 1e-9))


def arm(ball=0.0):
    """Return something like a shoulder and a wrist."""
    M = np.array([[2.0, 0.05], [0.05, 0.02]])
    inverse = np.abs(np.linalg.inv(M))
    return Disturbance(np.array([2.0, 0.3]), np.diag(M), inverse, np.array([0.01, 0.01]), ball)


def test_sigma_is_the_least_that_contains_what_follows_from_it():
    error = StateError(0.01, 0.0005, 0.0001, 0.0015, 0.1)
    bounds = invariance(Shell(0.05, 0.95, 1.05), arm(), error)
    drift, robust = (bounds.omega + 0.1) / 0.95, bounds.nu * bounds.omega
    off = (1.0 / 0.95 - 1.0) * robust
    late = 0.0005 * (drift + off) + 0.0001 * robust / 0.95 + 0.0015 * (drift + off)
    assert bounds.sigma == pytest.approx(0.01 + late, rel=1e-6)
    assert bounds.sigma >= 0.01 + late * (1.0 - 1e-12)
    assert bounds.sigma > 0.01 + 0.002 * drift  # than without what v adds
    before = Rates(2.0 * (drift + robust), 2.0 * drift, 3.0 * robust, 2.0 * off)
    after = invariance(Shell(0.05, 0.95, 1.05), arm(), replace(error, before=before))
    waited = 0.0005 * (before.drift + before.off) + 0.0001 * before.robust
    assert after.sigma > 0.01 + waited + 0.0015 * before.drift
    unforeseen = replace(error, unforeseen=error.waiting, before=before)
    all_of_it = invariance(Shell(0.05, 0.95, 1.05), arm(), unforeseen)
    waited = 0.0005 * (before.drift + before.robust)
    assert all_of_it.sigma > 0.01 + waited + 0.0015 * before.drift


def test_a_refusal_names_the_shares_and_the_least_energy():
    error = StateError(0.01, 0.001, 0.001, 0.003, 0.1)
    with pytest.raises(BoundError, match='too small for what the law sees.*readings') as refused:
        invariance(Shell(0.0005), arm(), error)
    least = least_energy(Shell(0.0005), arm(), error)
    assert f'takes {least:.3g} J' in str(refused.value)
    assert 'disturbances in 1 ms until a torque acts' in str(refused.value)
    assert invariance(Shell(1.001 * least), arm(), error).x < 1.0
    with pytest.raises(BoundError):
        invariance(Shell(0.999 * least), arm(), error)


def test_no_torque_turns_round_what_it_acts_against():
    """Nothing but a torque that is held for long: x is small, lambda is what refuses it."""
    exact = StateError(0.0, 0.0, 0.0, 0.01, 0.0)
    least = least_energy(Shell(1.0), arm(), exact)
    bounds = invariance(Shell(1.0001 * least), arm(), exact)
    assert bounds.sigma + 0.01 * bounds.omega == pytest.approx(bounds.y, rel=1e-3)
    with pytest.raises(BoundError):
        invariance(Shell(0.9999 * least), arm(), exact)


def test_actuators_that_err_by_all_of_the_torque_leave_no_bound():
    with pytest.raises(BoundError, match='no V_M bounds the tracking error'):
        input_bound(Disturbance(*[*vars(arm()).values()][:3], np.array([0.9, 0.9])))


@pytest.mark.parametrize('numbers', [(0.0, 1.0, 1.0), (0.1, 0.0, 1.0), (0.1, 1.1, 1.0)])
def test_a_shell_that_bounds_nothing_is_refused(numbers):
    with pytest.raises(BoundError, match='has to be above 0'):
        Shell(*numbers)
