"""Loops of an arm that is read late keep their promises, and do not without what that needs."""

import numpy as np
import pytest

from safe_sysid.bench.experiments.late_loops import (
    differentiated,
    late_loop,
    random_pair,
)
from safe_sysid.bench.late_readings import term_costs


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
    assert broken.shares['energy'] > 1.0


@pytest.mark.slow
def test_every_error_that_is_left_out_leaves_more_of_the_tube():
    whole, *others = term_costs()
    assert whole['without'] == 'nothing'
    assert all(row['share_of_tube'] < whole['share_of_tube'] for row in others)
    assert others[0]['without'] == 'encoder steps'
    assert others[0]['share_of_tube'] < 0.2 * whole['share_of_tube']
