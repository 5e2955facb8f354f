"""Laws that follow each other within a window: what each says of the ones before it."""

from dataclasses import replace

import numpy as np
import pytest
from reach.test_seen_bounds import LOADED, SAMPLING, bounded, faster, problem_of

from safe_sysid.reach.joint_reach import joint_reach
from safe_sysid.reach.plan_error import plan_error
from safe_sysid.reach.seen_bounds import seen_bounds
from safe_sysid.track.error_observer import (
    SEEN,
    Together,
    history_for,
    observe_into,
    record_error,
    record_rate,
)

SOON = 0.02  # [s] after its start a plan is followed by the next one
LATER = replace(SAMPLING, delay=2e-3)
JITTERING = replace(SAMPLING, jitter=1e-4)


def following(before, sampling, K_r=None):
    problem = replace(problem_of(LOADED, sampling), before=before)
    if K_r is not None:
        problem = replace(problem, gains=replace(problem.gains, K_r=np.array(K_r)))
    error = plan_error(problem)
    return seen_bounds(problem, error, joint_reach(problem.model, problem.horizon, error)).law


@pytest.mark.parametrize('sampling', [LATER, JITTERING])
def test_plans_in_quick_turn_tell_of_all_that_a_window_reaches(sampling):
    """Each 20 ms after the one before: two of them are in the window of the third."""
    law = faster(following(None, sampling), 1.3)
    law = replace(law, first_pace=law.pace)
    for _ in range(3):
        before = law.since_start(SOON).pace
        law = following(law.since_start(SOON), sampling)
        assert np.all(np.array(law.first_pace.in_window) >= before.in_window)
        together = law.observer.together
        assert together.far == 0.0 or np.all(np.array(together.before) >= before.in_window)


def test_rates_of_several_plans_are_the_largest_of_each_kind():
    """What torques do is no difference of the largest changes with them and without."""
    law = following(None, SAMPLING)
    length = law.pace.length
    pushed = length._replace(drift=0.5 * length.drift, robust=1.5 * length.robust)
    known = law.pace.in_window._replace(known=1.5 * law.pace.in_window.known)
    first = law.pace._replace(length=pushed, in_window=known)
    after = following(replace(law, pace=first), SAMPLING)
    assert after.first_pace.length.robust >= pushed.robust
    assert after.first_pace.length.drift > pushed.drift
    assert after.observer.together.before.known >= known.known


@pytest.mark.parametrize('K_r', [(10.0, 10.0), (10.0, 10.5)])
@pytest.mark.parametrize('kind', ['whole', 'drift', 'robust', 'off'])
def test_a_law_allows_for_no_torques_under_way_that_do_more(K_r, kind):
    """Seen together or each joint by itself, as it is where rates differ."""
    law = following(None, SAMPLING, K_r)
    assert (law.observer.together.far > 0.0) == (K_r[0] == K_r[1])
    assert law.allows_for(law, has_same_nominal=True)
    more = law.pace.length._replace(**{kind: 1.1 * getattr(law.pace.length, kind)})
    before = replace(law, pace=law.pace._replace(length=more))
    assert not law.allows_for(before, has_same_nominal=True)


@pytest.mark.parametrize('kind', ['unknown', 'known'])
def test_a_law_allows_for_no_more_in_its_window_where_it_looks_into_it(kind):
    law = bounded(LOADED).law
    more = law.pace.in_window._replace(**{kind: 3.0 * getattr(law.pace.in_window, kind)})
    before = replace(law, pace=law.pace._replace(in_window=more))
    assert not law.allows_for(before, has_same_nominal=True)
    alone = replace(law, observer=law.observer._replace(together=Together()))
    assert alone.allows_for(before, has_same_nominal=True)


@pytest.mark.parametrize('kind', ['speed', 'straying', 'rate'])
def test_a_window_reaches_into_the_motion_before(kind):
    """Stamps are off by more where the arm was faster, and positions change by more."""
    law = following(None, replace(SAMPLING, stamp=2e-5))
    more = law.pace._replace(**{kind: 2.0 * getattr(law.pace, kind)})
    before = replace(law, pace=more)
    assert not law.allows_for(before, has_same_nominal=True)
    gentle, paying = (following(x, replace(SAMPLING, stamp=2e-5)) for x in (law, before))
    assert np.all(getattr(paying.first_pace, kind) >= getattr(more, kind))
    if kind == 'speed':
        assert np.all(paying.observer.step > gentle.observer.step)
        assert paying.pace.turning.more > gentle.pace.turning.more


@pytest.mark.parametrize('step', [2e-5, 2e-7, 1e-9])
@pytest.mark.parametrize('period', [1.0 / 900.0, 1.0 / 1024.0])
def test_periods_that_are_no_whole_nanoseconds_are_seen_as_promised(period, step):
    """Also where samples come early and late by a little in turn, or all a little later."""
    law = following(None, replace(SAMPLING, period=period, step=np.full(2, step)))
    rng = np.random.default_rng(3)
    if step < 1e-6:  # the nearest reading says most
        assert 0.0 < law.observer.together.far < 2.0 * period
    for share, longer in ((0.0, 1.0), (0.01, 1.0), (0.0, 1.03)):
        history, r, half = history_for(2), np.zeros((2, 2)), np.zeros(2)
        record_rate(history, -1e3, np.zeros(2))
        for i in range(120):
            t = (longer * i + share * rng.choice([-1.0, 1.0])) * period
            record_error(history, round(t * 1e9) * 1e-9, np.zeros(2))
            found = observe_into(history, law.observer, r, half)
        assert found == SEEN
        assert np.all(half <= law.half_width)
