"""A plan follows its curve on its own clock and rests after the end."""

from dataclasses import replace

import numpy as np
import pytest
from trajectory.exact_curve import random_curve, random_k, state

from safe_sysid.errors import BoundError
from safe_sysid.sets.interval import Interval
from safe_sysid.trajectory.plan import Plan
from safe_sysid.trajectory.task_motion import Piece, minimum_jerk


def test_desired_state_is_that_of_the_curve_and_rest_after_the_end(rng):
    curve, k = random_curve(rng), random_k(rng)
    plan = Plan(10.0, 10.0 + curve.duration / 2, curve, k)
    assert np.allclose(plan.desired(10.25), state(curve, 0.25, k))
    rest = np.stack([curve.q0 + k, 0 * k, 0 * k])
    assert np.array_equal(plan.desired(plan.end_time), rest)
    assert np.array_equal(plan.desired(1e6), rest)
    assert np.allclose(plan.desired(plan.end_time - 1e-9), rest, atol=1e-6)


def test_the_next_curve_starts_in_the_desired_state_at_the_switch(rng):
    curve, k = random_curve(rng), random_k(rng)
    plan = Plan(0.0, curve.duration / 2, curve, k)
    following = plan.curve_from(plan.switch_time, 3.0)
    assert np.array_equal(
        [following.q0, following.qd0, following.qdd0], plan.desired(plan.switch_time)
    )
    assert following.duration == 3.0


def test_refuses_times_and_parameters_that_make_no_sense(rng):
    curve, k = random_curve(rng), random_k(rng)
    with pytest.raises(BoundError, match='switch time'):
        Plan(0.0, 100.0, curve, k)
    with pytest.raises(BoundError, match='finite numbers'):
        Plan(0.0, 0.1, curve, np.full(3, np.nan))
    with pytest.raises(BoundError, match='before the plan starts'):
        Plan(1.0, 1.1, curve, k).desired(0.5)
    with pytest.raises(BoundError, match='has to end at rest'):
        Plan(0.0, 0.1, replace(curve, qd1=np.array([0.0, 0.1, 0.0])), k)
    with pytest.raises(BoundError, match='not a time'):
        Plan(np.nan, 1.1, curve, k)


def test_nominal_parameters_are_among_those_the_plan_is_certified_for(rng):
    curve, k = random_curve(rng), random_k(rng)
    bounds = Interval(np.zeros(2), np.ones(2))
    plan = Plan(0.0, 0.0, curve, k, bounds, theta_0=np.array([0.0, 0.5]))
    with pytest.raises(ValueError, match='read-only'):
        plan.theta_0[0] = 1.0
    for theta_0 in (np.array([0.5, 1.5]), np.array([0.5, np.nan])):
        with pytest.raises(BoundError, match='inside the theta_bounds'):
            Plan(0.0, 0.0, curve, k, bounds, theta_0=theta_0)
    with pytest.raises(BoundError, match='inside the theta_bounds'):
        Plan(0.0, 0.0, curve, k, theta_0=np.zeros(2))


def test_a_plan_of_two_pieces_goes_through_both_and_rests_after_the_second(rng):
    first, second = minimum_jerk(rng.normal(size=(3, 4)), *rng.normal(size=(2, 4))).pieces
    plan = Plan(5.0, 6.0, first.curve, first.k, then=(second,))
    assert plan.end_time == 7.0
    for since in (0.0, 0.4, 0.9):
        assert np.allclose(plan.desired(5.0 + since), state(first.curve, since, first.k))
        assert np.allclose(plan.desired(6.0 + since), state(second.curve, since, second.k))
    rest = [second.curve.q0 + second.k, np.zeros(4), np.zeros(4)]
    assert np.array_equal(plan.desired(7.0), rest)
    assert np.array_equal(plan.end_position, rest[0])
    braking = plan.curve_from(6.5, 3.0)
    assert np.array_equal([braking.q0, braking.qd0, braking.qdd0], plan.desired(6.5))


def test_refuses_pieces_that_leave_a_gap_or_do_not_stop(rng):
    first, second = minimum_jerk(rng.normal(size=(3, 4)), *rng.normal(size=(2, 4))).pieces
    for gap in ('q0', 'qd0', 'qdd0'):
        moved = replace(second.curve, **{gap: getattr(second.curve, gap) + 1e-9})
        with pytest.raises(BoundError, match='have to be the same'):
            Plan(0.0, 1.0, first.curve, first.k, then=(Piece(moved, second.k),))
    with pytest.raises(BoundError, match='has to end at rest'):
        Plan(0.0, 1.0, first.curve, first.k)
    restless = replace(second.curve, qdd1=np.full(4, 1e-9))
    with pytest.raises(BoundError, match='has to end at rest'):
        Plan(0.0, 1.0, first.curve, first.k, then=(Piece(restless, second.k),))
    with pytest.raises(BoundError, match='finite numbers'):
        Piece(second.curve, np.array([0.0, np.inf, 0.0, 0.0]))
