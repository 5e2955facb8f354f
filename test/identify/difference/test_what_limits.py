"""Shares of what limits a parameter, against arms whose friction or links are told apart."""

from identify.difference.test_block_errors import PRIOR, exact_rows
import numpy as np

from safe_sysid.identify.difference.shared_fit import shared_fit
from safe_sysid.identify.difference.what_limits import Shares, variance_shares, what_to_record

BODIES = np.r_[0:20, 24:26]  # of two links, and rotors


def test_more_of_the_empty_arm_leaves_less_to_friction_and_links(rng):
    _, rows = exact_rows(rng)
    fit = shared_fit(rows, PRIOR)
    noise, friction, links = variance_shares(rows, fit, PRIOR, BODIES)
    assert np.allclose(noise + friction + links, 1.0)
    empty = np.flatnonzero(~rows.loaded)
    short = np.ones(len(rows), dtype=bool)
    short[empty[: 2 * len(empty) // 3]] = False
    fewer = variance_shares(rows.part(short), shared_fit(rows.part(short), PRIOR), PRIOR, BODIES)
    assert fewer[0][0] < noise[0]


def shares(**given):
    every = dict.fromkeys(('noise', 'friction', 'links'), np.full(10, 1 / 3))
    every |= dict.fromkeys(('residuals', 'before', 'delay', 'unit'), np.zeros(10))
    return Shares(**(every | {name: np.full(10, x) for name, x in given.items()}))


def test_what_to_record_follows_the_cause():
    assert 'known mass' in what_to_record(shares(unit=1.0, residuals=0.5), 2.0, 1, 20.0)
    assert 'twice more' in what_to_record(shares(residuals=0.5), 2.0, 1, 20.0)
    assert 'reversals' in what_to_record(shares(residuals=0.5), 2.5, 3, 20.0)
    assert '80 s' in what_to_record(shares(residuals=0.5, noise=0.9), 1.0, 3, 20.0)
    assert 'friction' in what_to_record(shares(residuals=0.5, friction=0.6), 1.0, 3, 20.0)
    assert 'delay' in what_to_record(shares(residuals=0.1, delay=0.6), 1.0, 3, 20.0)
