"""Intervals without a distribution: covered as often as they say, and absent where they can't."""

from dataclasses import replace

from identify.difference.test_block_errors import PRIOR, exact_rows
import numpy as np
import pytest

from safe_sysid.identify.difference.block_errors import block_errors
from safe_sysid.identify.difference.distribution_free import (
    CONFORMAL,
    DistributionFree,
    distribution_free,
    sign_perturbed,
)
from safe_sysid.identify.difference.shared_fit import shared_fit

SUMS = DistributionFree('sums', 10, (0.9, 1.1), None)


def test_sums_cover_as_often_as_they_say_under_errors_that_are_not_normal(rng):
    """Errors of blocks with heavy tails, 80 % intervals: 40 trials, as many as binomial allows."""
    _, rows = exact_rows(rng, noise=0.0)
    clean = shared_fit(rows, PRIOR).phi[0]
    inside, widths = 0, []
    for _ in range(40):
        blocks = rng.standard_t(2.5, size=(len(rows) // 13 + 1, 2)).repeat(13, axis=0)
        noisy = replace(rows, tau=rows.tau + 0.1 * blocks[: len(rows)])
        fit = shared_fit(noisy, PRIOR)
        found = sign_perturbed(noisy, fit, block_errors(noisy, fit).blocks, 0.8)
        lower, upper = found.bounds
        inside += lower <= clean <= upper
        widths.append(upper - lower)
    assert 25 <= inside <= 39
    assert np.median(widths) < 0.5


def test_blocks_that_are_too_few_give_no_interval(rng):
    _, rows = exact_rows(rng)
    fit = shared_fit(rows, PRIOR)
    few = np.array_split(np.arange(len(rows)), 4)
    found = sign_perturbed(rows, fit, few, 0.95)
    assert found.bounds is None
    assert '6 or more' in found.missing
    many = np.array_split(np.arange(len(rows)), 12)
    at_95, at_999 = (sign_perturbed(rows, fit, many, c).bounds for c in (0.95, 0.999))
    assert at_999 is None or at_999[1] - at_999[0] > at_95[1] - at_95[0]
    assert 'changes' in sign_perturbed(rows, fit, many, 0.9999).missing


def test_conformal_takes_the_place_that_exchangeable_pieces_ask_for_never_the_largest():
    z = np.linspace(-1.0, 1.0, 39)
    assert distribution_free(z[:18], 0.1, SUMS, 1.0, 0.95) is SUMS
    found = distribution_free(z, 0.1, SUMS, 1.0, 0.95)
    assert found.method == CONFORMAL
    assert found.bounds[1] - 1.0 == pytest.approx(0.1 * np.sort(np.abs(z))[37])
    largest = distribution_free(z[:19], 0.1, SUMS, 1.0, 0.95)
    assert largest.bounds[1] - 1.0 == pytest.approx(0.1)
