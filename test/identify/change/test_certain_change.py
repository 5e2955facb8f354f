"""A proof that something changed is never given where nothing did, and says when rightly."""

from dataclasses import replace

import numpy as np
import pytest

from safe_sysid.bench.experiments.changing_payload import Event, random_motion, windows_of
from safe_sysid.bench.experiments.identification import random_trial
from safe_sysid.identify.change.certain_change import certain_change
from safe_sysid.identify.contradiction import ContradictionError
from safe_sysid.identify.observation import stacked
from safe_sysid.identify.set_membership import set_membership

AT = 1000


def rows_of(motion, event):
    first = windows_of(motion, motion.log(0, last=AT + 1))
    then = windows_of(motion, motion.log(AT, event))
    return stacked([rows for rows, _ in (*first, *then)])


def ranges(motion):
    layout = motion.prior.layout
    return motion.prior.bounds[layout.rest], motion.prior.end_effector_bounds


@pytest.mark.parametrize('event', [Event('picked', 2.0), Event('picked', -1.0)])
def test_a_body_picked_or_dropped_is_proven_and_the_time_contains_it(event):
    motion = random_motion(np.random.default_rng(4), 'two_link', 2.0, 0.0)
    rows, (rest, prior) = rows_of(motion, event), ranges(motion)
    found = certain_change(rows, rest, prior)
    assert found.after <= AT * 1e-3 <= found.before
    assert found.before - found.after < rows.end.max() - rows.start.min()
    assert found.factor > 1.0
    inside = (rows.start >= found.after) & (rows.end <= found.before)
    with pytest.raises(ContradictionError):
        set_membership(rows.rows(inside), rest, prior)
    for fewer in (rows.start > found.after, rows.end < found.before):
        assert certain_change(rows.rows(inside & fewer), rest, prior) is None


@pytest.mark.parametrize('sign', [-1.0, 1.0])
def test_errors_at_their_bounds_are_no_change(sign):
    motion = random_motion(np.random.default_rng(4), 'two_link', 2.0, 0.0)
    worst = sign * np.sign(motion.motion.t - AT * 1e-3)  # a gain that jumps from end to end
    motion = replace(motion, errors=np.repeat(worst[:, None], motion.truth.n, axis=1))
    assert certain_change(rows_of(motion, None), *ranges(motion)) is None


def test_no_random_arm_with_errors_within_the_promise_has_changed(rng):
    for _ in range(6):
        trial = random_trial(rng, seconds=1.0)
        rows, prior = trial.observation(), trial.prior.end_effector_bounds
        assert certain_change(rows, trial.rest, prior) is None
