"""Shares of what limits a parameter, against arms whose friction or links are told apart."""

from identify.difference.test_block_errors import PRIOR, exact_rows
import numpy as np

from safe_sysid.identify.difference.shared_fit import shared_fit
from safe_sysid.identify.difference.what_limits import spread_if_longer, variance_shares

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


def test_longer_recordings_are_as_good_as_they_are_predicted(rng):
    """Rows that are there twice are a recording twice as long."""
    _, rows = exact_rows(rng)
    spread = spread_if_longer(rows, shared_fit(rows, PRIOR), PRIOR)
    for loaded, without in ((2, 1), (1, 2), (4, 4)):
        times = np.where(rows.loaded, loaded, without)
        longer = rows.part(np.repeat(np.arange(len(rows)), times))
        assert spread(1, 1) == 1.0
        again = spread_if_longer(longer, shared_fit(rows, PRIOR), PRIOR)
        assert np.isclose(again(1 / loaded, 1 / without), 1 / spread(loaded, without), rtol=1e-6)
    assert 0.49 < spread(4, 4) < 0.51
