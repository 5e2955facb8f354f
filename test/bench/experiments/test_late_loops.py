"""Loops of an arm that is read late keep their promises, and do not without what that needs."""

from dataclasses import replace
from itertools import repeat

import numpy as np
import pytest

from safe_sysid.bench.experiments.lacking_laws import (
    LACKS,
    as_described,
    differentiated,
    without_errors_of_r,
    without_jitter,
    without_longer_periods,
    without_stamp_errors,
)
from safe_sysid.bench.experiments.late_arm import SLOW, START, truth_of
from safe_sysid.bench.experiments.late_attack import at_rest as weights_at_rest
from safe_sysid.bench.experiments.late_attack import random_attack
from safe_sysid.bench.experiments.late_loops import CLAIMS, END, followed, late_loop
from safe_sysid.bench.experiments.late_plans import BEGIN, SWITCH, random_pair
from safe_sysid.bench.experiments.needed_terms import NEEDED
from safe_sysid.bench.late_readings import LAWS, late_figures, term_costs

CAMPAIGN = 1000  # loops


@pytest.fixture(scope='module')
def pair():
    found = random_pair(np.random.default_rng(1))
    assert found is not None
    return found


def used_by(plans, seeds, end):
    """Largest claims of loops that keep every promise from the bound on."""
    loops = [late_loop(plans, np.random.default_rng([2, seed]), end=end) for seed in seeds]
    for loop in loops:
        assert loop.refusal == ''
        assert not loop.is_broken
        assert 0.99 < loop.shares['energy'] <= 1.0
    return {claim: max(loop.claims[claim] for loop in loops) for claim in CLAIMS}


def test_two_plans_keep_their_promises_from_the_bound_with_all_that_is_described(pair):
    """What the proof says on its way is true, too, and used: the attack goes to the ends."""
    told = pair.told.sampling
    assert min(told.jitter, told.bias, told.stamp, told.tilt, *told.zero) > 0.0
    used = used_by(pair, range(3), end=SWITCH + 0.1)
    assert max(used.values()) <= 1.0
    assert used['times of a torque'] > 0.98
    assert used['r at a sample'] > 0.5


def drifting(plans, rng):
    """Return an attack in which r grows to its bound as fast as it may before any torque."""
    attack = random_attack(plans, rng, truth_of(plans.described.model, rng))
    (law,) = plans.plans[0].laws
    drift = np.sign(attack.begin.r) * law.observer.drift
    M, _ = weights_at_rest(attack.truth, START + attack.zero)
    within = 0.9 * law.pace.length.drift / np.sqrt(drift @ M @ drift)  # M of the law is another
    begin = attack.begin._replace(drift=min(within, 1.0) * drift)
    return replace(attack, begin=begin)


def test_an_arm_that_is_on_its_way_before_the_first_torque_keeps_its_promises(pair):
    rngs = [np.random.default_rng([2, seed]) for seed in range(4)]
    loops = [followed(pair, drifting(pair, rng), end=BEGIN + 0.05) for rng in rngs]
    assert not any(loop.is_broken for loop in loops)
    used = {claim: max(loop.claims[claim] for loop in loops) for claim in CLAIMS}
    assert max(used.values()) <= 1.0
    assert used['r when its torque begins'] > 0.6  # more than of one that stands


def timed(plans, side):
    """Return an attack whose torques act as late after their stamps as may be; -1: as early."""
    rng = np.random.default_rng(1)
    drawn = random_attack(plans, rng, truth_of(plans.described.model, rng))
    late, early = repeat(np.full(1, side)), repeat(np.full(1, -side))
    return replace(drawn, periods=late, delays=late, bias=side, stamps=early)


def test_torques_act_when_the_proof_says_and_not_without_what_it_knows_of_times(pair):
    """Whatever that does to V: here other terms have room to spare."""
    for lack, is_true in (
        (as_described, True),
        (without_jitter, False),
        (without_stamp_errors, False),
        (without_longer_periods, False),
    ):
        told, end = pair.lacking(lack), BEGIN + 0.02
        loops = [followed(told, timed(pair, side), end=end) for side in (1.0, -1.0)]
        assert not any(loop.is_broken for loop in loops)
        used = max(loop.claims['times of a torque'] for loop in loops)
        assert 0.99 < used < 1.05
        assert (used <= 1.0) == is_true


@pytest.mark.slow
@pytest.mark.parametrize('slow', [0.0, SLOW])
def test_more_loops_keep_every_promise_to_their_end(slow):
    pair = random_pair(np.random.default_rng(3), slow)
    assert pair is not None
    assert pair.certificates[0].law.sampling.slow == slow
    assert max(used_by(pair, range(20), END).values()) <= 1.0


@pytest.mark.slow
def test_laws_that_take_what_they_see_for_what_is_leave_the_bound(pair):
    broken = {
        change: any(
            late_loop(pair, np.random.default_rng([2, seed]), change).is_broken
            for seed in range(6)
        )
        for change in (without_errors_of_r, differentiated)
    }
    assert all(broken.values())


@pytest.mark.slow
def test_every_error_that_is_left_out_leaves_more_of_the_tube():
    whole, *others = term_costs()
    assert whole['without'] == 'nothing'
    assert all(row['share_of_tube'] < whole['share_of_tube'] for row in others)
    assert others[0]['without'] == 'encoder steps'
    assert others[0]['share_of_tube'] < 0.2 * whole['share_of_tube']


@pytest.mark.slow
@pytest.mark.parametrize('term', NEEDED)
def test_a_term_that_no_other_has_room_for_is_needed(term):
    case = NEEDED[term]()
    assert all(certificate.holds for certificate in case.plans.certificates)
    begins = case.largest_energy()
    assert 0.99998 < begins < 1.0
    assert case.largest_energy(LACKS[f'without {term}']) > 1.0
    for other in {'pull', 'ageing'} - {term}:
        if term in ('pull', 'ageing'):
            assert case.largest_energy(LACKS[f'without {other}']) <= begins


@pytest.mark.nightly
def test_a_campaign_in_three_simulators_breaks_no_promise():
    """Laws without what they need do; which of their terms is needed is a figure, not a claim."""
    figures = late_figures(5, CAMPAIGN, lambda _: None)
    assert figures['real_runs'] > 0.5 * CAMPAIGN
    assert figures['real_violations'] == 0
    assert set(figures['late_simulators']) == {'built in', 'Drake', 'MuJoCo'}
    rows = {row['law']: row for row in figures['late_loops']}
    assert set(rows) == set(LAWS)
    assert rows['from two readings']['broken'] > 0
    assert rows['r_hat for r']['broken'] > 0
    assert max(rows['as it is'][claim] for claim in CLAIMS) <= 1.0
