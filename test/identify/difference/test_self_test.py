"""Bodies added to raw torques are found again, and a table that does not cover says so."""

from dataclasses import replace

from identify.difference.two_recordings import PAYLOAD, TwoLinks
import numpy as np
import pytest

from safe_sysid.identify.difference.self_test import (
    PieceResult,
    SelfTest,
    binomial_limits,
    self_test,
)
from safe_sysid.identify.difference.virtual_payload import VirtualPayload, holding


@pytest.fixture(scope='module')
def problem():
    arm = TwoLinks(np.random.default_rng(4))
    log = arm.log(0.0 * PAYLOAD, 50.0)
    return arm.problem(log, [log], gain_error=0.01)


def test_bodies_that_were_added_are_inside_both_intervals(problem, rng):
    found = self_test(problem, 20.0, rng, bodies=((0.0, 0.0), (2.0, 0.1)))
    assert len(found.results) == 4
    assert found.statistical == (4, 4)
    inside, given = found.guaranteed
    assert inside == given >= 3
    assert np.abs(found.errors).max() < 0.2
    assert found.warning is None


def test_a_body_is_added_as_drives_report_it(problem):
    """The estimator is linear, so only what is wrong with the raw torques proves anything."""
    log = problem.empty[0][0]
    body = VirtualPayload(2.0, 0.1)
    wrong = replace(body, gain_errors=(-0.05, -0.05), load_friction=0.02, delay=0.004)
    right, off = (holding(problem.model, log, given).tau - log.tau for given in (body, wrong))
    assert np.linalg.norm(off) == pytest.approx(1.05 * np.linalg.norm(right), rel=0.05)
    assert np.abs(right).max() > 1.0
    assert holding(problem.model, log, VirtualPayload(0.0, 0.0)) is log


def result(truth, statistical, guaranteed):
    return PieceResult(0, 0.0, truth, truth, statistical, guaranteed, None)


def test_intervals_that_miss_are_a_warning():
    good, bad = result(1.0, (0.9, 1.1), (0.5, 1.5)), result(1.0, (1.1, 1.2), (0.5, 1.5))
    assert SelfTest(10.0, (good,) * 20).warning is None
    assert '10 of 20 statistical' in SelfTest(10.0, (good,) * 10 + (bad,) * 10).warning
    assert SelfTest(10.0, (good,) * 19 + (bad,)).warning is None  # may be chance
    lost = result(1.0, (0.9, 1.1), (1.1, 1.5))
    assert '1 of 20 guaranteed' in SelfTest(10.0, (good,) * 19 + (lost,)).warning
    assert SelfTest(10.0, (good, bad)).half_widths('statistical') == pytest.approx([0.1, 0.05])


def test_limits_of_a_share_are_exact():
    assert binomial_limits(0, 0) == (0.0, 1.0)
    assert binomial_limits(10, 10) == (pytest.approx(0.025 ** (1 / 10)), 1.0)
    lower, upper = binomial_limits(5, 10)
    assert lower == pytest.approx(1.0 - upper)
