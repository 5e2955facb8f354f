"""Loops of an arm that is read late keep their promises, and do not without what that needs."""

import numpy as np
import pytest

from safe_sysid.bench.experiments.late_loops import (
    differentiated,
    late_loop,
    random_pair,
    whole,
)
from safe_sysid.bench.experiments.needed_terms import NEEDED
from safe_sysid.bench.late_readings import TERMS, late_figures, term_costs

CAMPAIGN = 1000  # loops


@pytest.mark.slow
def test_two_plans_keep_their_promises_from_the_bound():
    pair = random_pair(np.random.default_rng(1))
    assert pair is not None
    for seed in range(3):
        loop = late_loop(pair, np.random.default_rng([2, seed]))
        assert loop.refusal == ''
        assert not loop.is_broken
        assert 0.99 < loop.shares['energy'] <= 1.0
    broken = late_loop(pair, np.random.default_rng([2, 0]), differentiated)
    assert broken.shares['torque'] > 1.0  # it takes steps of the encoders for errors


@pytest.mark.slow
def test_every_error_that_is_left_out_leaves_more_of_the_tube():
    whole, *others = term_costs()
    assert whole['without'] == 'nothing'
    assert all(row['share_of_tube'] < whole['share_of_tube'] for row in others)
    assert others[0]['without'] == 'encoder steps'
    assert others[0]['share_of_tube'] < 0.2 * whole['share_of_tube']


@pytest.mark.slow
def test_slow_drives_keep_the_promises_too():
    pair = random_pair(np.random.default_rng(1), slow=2e-4)
    assert pair is not None
    assert pair.certificates[0].law.sampling.slow == 2e-4
    for seed in range(2):
        loop = late_loop(pair, np.random.default_rng([3, seed]))
        assert not loop.is_broken


@pytest.mark.slow
def test_a_constant_delay_that_nobody_knows_keeps_the_promises_too():
    pair = random_pair(np.random.default_rng(1), least=0.0)
    assert pair is not None
    assert pair.certificates[0].law.sampling.bias == 5e-4
    for seed in range(4):
        loop = late_loop(pair, np.random.default_rng([4, seed]))
        assert not loop.is_broken


@pytest.mark.slow
@pytest.mark.parametrize('term', NEEDED)
def test_a_term_that_no_other_has_room_for_is_needed(term):
    case = NEEDED[term]()
    assert case.certificate.holds
    begins = case.largest_energy(whole)
    assert 0.99998 < begins < 1.0
    assert case.largest_energy(TERMS[term]) > 1.0
    for other in NEEDED.keys() - {term}:
        assert case.largest_energy(TERMS[other]) <= begins


@pytest.mark.nightly
def test_a_campaign_in_three_simulators_breaks_no_promise():
    """Laws without what they need do; which of their terms is needed is a figure, not a claim."""
    figures = late_figures(5, CAMPAIGN, lambda _: None)
    assert figures['real_runs'] > 0.5 * CAMPAIGN
    assert figures['real_violations'] == 0
    assert set(figures['late_simulators']) == {'built in', 'Drake', 'MuJoCo'}
    broken = {row['law']: row['broken'] for row in figures['late_loops']}
    assert broken['from two readings'] > 0
    assert broken['r_hat for r'] > 0
