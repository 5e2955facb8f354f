"""Intervals of proportions against published examples and against their definitions."""

import pytest
from scipy.stats import binom

from safe_sysid.experiment.proportions import clopper_pearson, mcnemar, wilson


def test_five_of_five_says_little():
    assert wilson(5, 5) == (pytest.approx(0.5655, abs=1e-4), 1.0)
    assert clopper_pearson(0, 20) == (0.0, pytest.approx(1.0 - 0.025 ** (1 / 20)))


@pytest.mark.parametrize(('k', 'n'), [(1, 5), (3, 8), (19, 20)])
def test_ends_of_the_exact_interval_make_what_was_seen_as_rare_as_its_level_allows(k, n):
    lower, upper = clopper_pearson(k, n)
    assert binom.sf(k - 1, n, lower) == pytest.approx(0.025)
    assert binom.cdf(k, n, upper) == pytest.approx(0.025)
    assert lower < wilson(k, n)[0] < k / n < wilson(k, n)[1] < upper


def test_nothing_seen_allows_everything():
    assert wilson(0, 0) == (0.0, 1.0)


def test_pairs_that_differ_both_ways_tell_nothing():
    assert mcnemar(0, 0) == mcnemar(3, 3) == 1.0
    assert mcnemar(6, 0) == pytest.approx(2 * 0.5**6)
