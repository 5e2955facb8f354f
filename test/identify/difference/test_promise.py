"""The guaranteed interval against errors that are as large as the promise allows."""

from dataclasses import replace

from identify.difference.promised_rows import BOX, PRIOR, REACH, Promised
from identify.difference.two_recordings import PAYLOAD
import numpy as np
import pytest
from tiers import slow_after

from safe_sysid.identify.difference import guaranteed
from safe_sysid.identify.difference.guaranteed import Promise, guarantee, promise_of
from safe_sysid.identify.difference.shared_fit import shared_fit
from safe_sysid.identify.difference.spectral_blocks import spectral_blocks


@pytest.mark.parametrize('seed', slow_after(2, range(4)))
def test_errors_at_the_vertices_of_the_promise_do_not_lose_the_payload(seed):
    """With random signs, and with the sign of each row's pull on the mass."""
    rng = np.random.default_rng(seed)
    given = Promised(rng)
    shape = (len(given.blocks.rows), len(given.blocks.transform), 2)
    delta = np.broadcast_to([[0.05, 0.02]], shape[1:]) * rng.uniform(0.5, 1.0, shape[1:])
    promise = Promise(delta, 10, 5.0)
    pull = given.blocks.of(given.rows.Y_L[:, :, 0] * given.rows.loaded[:, None])
    for signs in (rng.choice([-1.0, 1.0], shape), np.sign(pull) + (pull == 0.0)):
        rows = given.with_errors(guaranteed.FACTOR * signs * delta)
        found = given.bounds(rows, promise)
        assert found.refused is None
        assert found.factor >= guaranteed.FACTOR
        assert np.all((found.bounds.lower <= PAYLOAD) & (found.bounds.upper >= PAYLOAD))


def test_errors_far_beyond_the_promise_are_refused(rng):
    given = Promised(rng)
    shape = (len(given.blocks.rows), len(given.blocks.transform), 2)
    promise = Promise(np.full(shape[1:], 0.01), 10, 5.0)
    found = given.bounds(given.with_errors(0.2 * rng.choice([-1.0, 1.0], shape)), promise)
    assert found.bounds is None
    assert found.least > guaranteed.LARGEST_LEAST
    assert 'contradict' in found.refused


def test_a_wrong_gain_within_its_range_does_not_lose_the_payload(rng):
    given = Promised(rng)
    promise = Promise(np.full((len(given.blocks.transform), 2), 0.02), 10, 5.0)
    rows = replace(given.rows, tau=given.rows.tau / np.array([1.04, 0.97]))
    fit = shared_fit(rows, PRIOR, 1e-6)
    exact, ranged = (
        guarantee(given.blocks, rows, fit, promise, (BOX, REACH), np.full(2, share))
        for share in (0.0, 0.05)
    )
    assert ranged.bounds.lower[0] <= PAYLOAD[0] <= ranged.bounds.upper[0]
    assert exact.bounds is None or not exact.bounds.contains(PAYLOAD)


def test_a_promise_from_few_blocks_is_doubled_and_none_is_no_promise(rng):
    given = Promised(rng)
    delta = np.full((len(given.blocks.transform), 2), 0.05)
    assert given.bounds(given.rows, Promise(delta, 5, 5.0)).factor == guaranteed.FACTOR_OF_FEW
    assert 'no empty block' in given.bounds(given.rows, Promise(delta, 0, 5.0)).refused


def test_what_was_seen_is_the_largest_of_blocks_and_neighbours(rng):
    given = Promised(rng)
    empty = given.rows.part(~given.rows.loaded)
    fit = shared_fit(empty, PRIOR)
    spiky = replace(fit, residual=fit.residual.copy())
    blocks = spectral_blocks(empty, 5.0)
    spiky.residual[blocks.rows[1]] += 3.0 * np.outer(blocks.transform[4], [1.0, 0.0])
    seen = promise_of(blocks, empty, spiky).delta
    assert np.all(seen[2:7, 0] >= 2.9)
    assert np.all(seen[:, 1] < 0.5)
