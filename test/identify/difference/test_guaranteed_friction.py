"""Bounds on friction against errors that are as large as the promise allows."""

from identify.difference.promised_rows import PRIOR, Promised
import numpy as np
import pytest

from safe_sysid.identify.difference.guaranteed import Promise
from safe_sysid.identify.difference.guaranteed_friction import factor_of, parameter_bounds
from safe_sysid.identify.difference.shared_fit import shared_fit
from safe_sysid.identify.difference.spectral_blocks import spectral_blocks

NEARLY = 0.9  # of the promise: with all of it only one arm is possible, and no bounds are given
PLACES = np.arange(20, 24)  # Coulomb and viscous friction of two joints


def of_empty_blocks(given, signs_of):
    """Bounds, the truth, and by how much a fit without errors of such signs was moved."""
    empty = ~given.rows.loaded
    rows = given.rows.part(empty)
    blocks = spectral_blocks(rows, 5.0)
    given.blocks, given.rows = blocks, rows
    truth = shared_fit(rows, PRIOR, 1e-6).x[PLACES]
    delta = np.broadcast_to([0.05, 0.02], (len(blocks.transform), 2))
    promise = Promise(delta, len(blocks.rows), 5.0)
    wrong = given.with_errors(NEARLY * factor_of(promise) * signs_of(blocks, rows) * delta)
    fit = shared_fit(wrong, PRIOR, 1e-6)
    found = parameter_bounds(blocks, wrong, fit, promise, PLACES)
    return found, truth, fit.x[PLACES] - truth


def at_random(rng):
    return lambda blocks, rows: rng.choice([-1.0, 1.0], blocks.of(rows.tau).shape)


def along_the_friction(blocks, rows):
    """Signs of the pull on Coulomb friction of the first joint, the worst for it."""
    pull = blocks.of(rows.Y[:, :, PLACES[0]])
    return np.sign(pull) + (pull == 0.0)


@pytest.mark.parametrize('seed', range(2))
def test_errors_at_the_vertices_of_the_promise_do_not_lose_the_friction(seed):
    rng = np.random.default_rng(seed)
    for signs_of in (at_random(rng), along_the_friction):
        found, truth, moved = of_empty_blocks(Promised(np.random.default_rng(seed)), signs_of)
        assert (found.lower <= truth).all() and (truth <= found.upper).all()
        assert (np.abs(moved) > 0.0).any() and (found.radius < 2.0).all()


def test_an_error_that_was_not_seen_loses_the_friction():
    """The oracle sees a promise that is too small: bounds at a twentieth of it miss."""
    given = Promised(np.random.default_rng(0))
    rows = given.rows.part(~given.rows.loaded)
    blocks = spectral_blocks(rows, 5.0)
    truth = shared_fit(rows, PRIOR, 1e-6).x[PLACES]
    delta = np.broadcast_to([0.05, 0.02], (len(blocks.transform), 2))
    given.blocks, given.rows = blocks, rows
    wrong = given.with_errors(2.0 * along_the_friction(blocks, rows) * delta)
    fit = shared_fit(wrong, PRIOR, 1e-6)
    small = Promise(0.05 * delta, len(blocks.rows), 5.0)
    found = parameter_bounds(blocks, wrong, fit, small, PLACES)
    assert found is None or not ((found.lower <= truth) & (truth <= found.upper)).all()
