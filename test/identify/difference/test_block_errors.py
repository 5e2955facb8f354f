"""Deviations from correlated residuals: right on average, where those of white noise are not."""

from dataclasses import replace

from identify.difference.two_recordings import PAYLOAD, RATE, TwoLinks
import numpy as np
import pytest
from scipy.stats import t as student
from tiers import slow_after

from safe_sysid.calibrate.even_log import EvenLog
from safe_sysid.identify.difference.block_errors import block_errors, correlation_time
from safe_sysid.identify.difference.friction_terms import FrictionTerms, standing
from safe_sysid.identify.difference.held_out_pieces import Pieces, held_out_pieces
from safe_sysid.identify.difference.row_products import joint_grams
from safe_sysid.identify.difference.rows import rows_of, stretch_of
from safe_sysid.identify.difference.shared_fit import joint_fit, payload_prior, shared_fit
from safe_sysid.identify.difference.spectral_blocks import largest_seen, spectral_blocks
from safe_sysid.model.dynamics.regressors import standard_regressor

PRIOR, UNKNOWN = (payload_prior(10.0, 0.5, inertia) for inertia in (0.1, 100.0))


def exact_rows(rng, **arm):
    """Rows of a loaded and an empty recording, and the arm."""
    arm = TwoLinks(rng, **arm)
    stretches = [
        stretch_of(arm.model, arm.log(payload), 5.0, i, loaded=i == 1)
        for i, payload in enumerate((0.0 * PAYLOAD, PAYLOAD))
    ]
    return arm, rows_of(arm.model, stretches, FrictionTerms())


def test_a_fit_of_exact_rows_is_exact(rng):
    _, rows = exact_rows(rng, noise=0.0)
    fit = shared_fit(rows, UNKNOWN)
    assert fit.phi[:2] == pytest.approx(PAYLOAD[:2], abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize('correlated', slow_after(1, [1.0, 0.0]))
def test_deviations_are_those_of_repeated_errors(correlated):
    """White or not: what 60 errors of the same kind do to the mass, against what is said."""
    rng = np.random.default_rng(7)
    _, rows = exact_rows(rng, noise=0.0)
    clean = shared_fit(rows, PRIOR)
    keep = np.exp(-1.0 / (correlated * rows.rate)) if correlated else 0.0
    off, said, white, inside = [], [], [], 0
    for _ in range(60):
        e = rng.normal(size=rows.tau.shape)
        for i in range(1, len(e)):
            e[i] = keep * e[i - 1] + np.sqrt(1.0 - keep**2) * e[i]
        noisy = replace(rows, tau=rows.tau + 0.3 * e)
        fit = shared_fit(noisy, PRIOR)
        errors = block_errors(noisy, fit)
        off.append(fit.phi[0] - clean.phi[0])
        said.append(errors.deviation[0])
        white.append(np.sqrt(fit.covariance[-10, -10]))
        inside += abs(off[-1]) < student.ppf(0.975, errors.freedom[0]) * said[-1]
    spread = np.std(off)
    assert 0.7 * spread < np.median(said) < 1.8 * spread
    assert inside >= 52
    if correlated:
        assert np.median(white) < 0.6 * spread  # what blocks are for


def test_errors_that_act_on_both_joints_cost_less_than_on_each_alone(rng):
    """The estimate of fits with and without the covariance of joints, over repeated errors."""
    _, rows = exact_rows(rng, noise=0.0)
    clean = shared_fit(rows, PRIOR).phi[0]
    joined, alone, said = [], [], []
    for _ in range(25):
        common, own = rng.normal(size=(len(rows), 1)), rng.normal(size=rows.tau.shape)
        noisy = replace(rows, tau=rows.tau + 0.5 * common + 0.1 * own)
        fit = shared_fit(noisy, PRIOR)
        joined.append(fit.phi[0] - clean)
        said.append(block_errors(noisy, fit).deviation[0])
        apart = joint_fit(joint_grams(noisy), noisy.counts.sum(axis=0), PRIOR)
        alone.append(apart.z[-10] - clean)
    assert np.std(joined) < 0.7 * np.std(alone)
    assert 0.6 * np.std(joined) < np.median(said) < 1.8 * np.std(joined)


def test_the_correlation_time_is_that_of_the_noise(rng):
    _, rows = exact_rows(rng)
    e = rng.normal(size=rows.tau.shape)
    assert correlation_time(rows, e) == pytest.approx(1.0 / rows.rate)
    slow = np.cumsum(e, axis=0) - np.mean(np.cumsum(e, axis=0), axis=0)
    assert correlation_time(rows, slow) > 1.0


def test_errors_that_last_longer_than_a_piece_show_in_pieces_only():
    """What the model lacks is a function of the position, and the motion one slow harmonic."""
    rng = np.random.default_rng(2)
    arm = TwoLinks(rng)
    t = np.arange(12000) / RATE
    phase = 2 * np.pi * 0.02 * t[:, None] * np.array([1.0, 1.27])
    w = 2 * np.pi * 0.02 * np.array([1.0, 1.27])
    q, qd, qdd = np.sin(phase), w * np.cos(phase), -(w**2) * np.sin(phase)
    tau = standard_regressor(arm.truth, q, qd, qdd) @ arm.truth.theta
    size = np.sqrt(np.mean(tau**2, axis=0))
    lacking = 0.05 * size * np.sin(1.5 * q + np.array([0.3, 1.0]))
    stretch = stretch_of(arm.model, EvenLog(RATE, q, tau + lacking), 2.0, 0, loaded=False)
    pieces = held_out_pieces(rows_of(arm.model, [stretch], FrictionTerms()), 8.0, PRIOR)
    assert len(pieces.z) >= 12
    assert pieces.data_factor[0] > 1.15
    inside = np.abs(pieces.z[:, 0]) < student.ppf(0.975, 5 + len(pieces.z)) * pieces.factor[0]
    assert inside.mean() >= 0.9


def test_an_interval_is_never_narrower_than_that_of_its_own_degrees_of_freedom():
    none = Pieces(np.zeros((0, 10)), np.zeros(0), 10.0, 3, np.zeros((0, 3)))
    assert none.half_width(np.ones(10), np.full(10, 1.0), 0.95)[0] == pytest.approx(12.7, abs=0.1)
    one = Pieces(np.zeros((4, 10)), np.zeros(4), 10.0, 1, np.zeros((0, 3)))
    assert np.all(one.factor == 2.0)
    assert np.all(
        Pieces(np.full((9, 10), 3.0), np.zeros(9), 10.0, 3, np.zeros((0, 3))).factor > 2.0
    )


def test_spectra_of_blocks_are_those_of_an_orthonormal_basis(rng):
    _, rows = exact_rows(rng)
    blocks = spectral_blocks(rows, 5.0)
    assert set(blocks.loaded.tolist()) == {False, True}
    assert blocks.transform @ blocks.transform.T == pytest.approx(np.eye(len(blocks.transform)))
    values = rng.normal(size=rows.tau.shape)
    spectra = blocks.of(values)
    assert spectra[1, 3, 0] == pytest.approx(blocks.transform[3] @ values[blocks.rows[1], 0])
    assert np.all(np.abs(spectra) <= blocks.largest(np.abs(values)) + 1e-12)
    moves = np.ones((len(blocks.rows), 2), dtype=bool)
    assert np.all(largest_seen(spectra, moves) >= np.abs(spectra).max(axis=0))
    moves[:, 1] = False
    assert np.all(largest_seen(spectra, moves)[:, 1] == 0.0)


def test_a_joint_stands_only_where_it_is_slow_for_longer_than_a_reversal():
    qd = np.ones((100, 2))
    qd[10:15, 0] = 0.0  # 0.05 s
    qd[20:80, 1] = 0.005
    stands = standing(qd, 100.0, 0.01)
    assert not stands[:, 0].any()
    assert stands[20:80, 1].all()
    assert stands[:, 1].sum() == 60
