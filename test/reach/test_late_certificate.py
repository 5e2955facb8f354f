"""Certificates of an arm as its file describes it: encoder steps, delay, zeros and tilt."""

from dataclasses import replace
from functools import cache

import numpy as np
import pinocchio as pin
import pytest

from safe_sysid.errors import BoundError
from safe_sysid.model.collision.obstacles import NO_OBSTACLES
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.reach.problem import Problem
from safe_sysid.reach.reachable_set import ReachableSet
from safe_sysid.sets.interval import Interval
from safe_sysid.track.error_observer import LENGTH, SPARE
from safe_sysid.track.gains import Gains
from safe_sysid.track.seen_law import OLDER, Sampling
from safe_sysid.trajectory.bezier import Bezier

START = np.array([-0.48, 0.05, -0.12, 0.17, 3.12, 0.13, -1.39])
ZERO = 0.002


@cache
def arm():
    return RobotModel.named('kinova_gen3')


def known(share=0.01, coulomb=0.2):
    """The arm to a share of each figure, friction in N m beside it."""
    model = arm()
    spread = share * np.abs(model.theta)
    spread[model.layout.joint_entries('Fc')] = coulomb
    spread[model.layout.joint_entries('beta')] = 0.05
    bounds = Interval(model.theta - spread, model.theta + spread)
    return ParameterEstimate(model.layout, model.theta, bounds)


def published(**changes):
    """Published encoder steps, a delay of one period and a hold of another."""
    return replace(Sampling(arm().sensors.encoder_resolution, 1e-3, 1e-3), **changes)


def problem(sampling, V_M=0.035, k=0.0, intervals=32, **changes):
    model, rest = arm(), np.zeros(7)
    horizon = Horizon(Bezier(START, rest, rest, 3.0), np.full(7, k), rest, intervals)
    off = model.actuation
    gains = Gains(np.full(7, 5.0), V_M, 1000.0, 0.05, 0.0, off.absolute, off.ratio)
    made = Problem(model, known(), horizon, gains, NO_OBSTACLES, sampling=sampling)
    return replace(made, **changes)


def test_published_encoders_and_delay_are_certified_at_no_more_error():
    """At the V_M of exact readings, with twice as much torque for what is not known."""
    late, exact = (ReachableSet.certify_center(problem(x, 0.02)) for x in (published(), None))
    assert late.holds and exact.holds
    assert late.error.position.max() <= 1.01 * exact.error.position.max()
    assert 0.3 < late.law.bounds.sigma / late.law.bounds.y < 0.6


@pytest.mark.parametrize(
    ('worse', 'V_M', 'share'), [({'jitter': 1e-4}, 0.02, 0.75), ({'slow': 5e-4}, 0.035, 0.75)]
)
def test_what_varying_delays_and_slow_drives_take_is_still_certified(worse, V_M, share):
    told, plain = published(**late_drives(worse)), published()
    law, at_best = (ReachableSet.certify_center(problem(x, V_M)).law for x in (told, plain))
    used, less = (x.bounds.sigma / x.bounds.y for x in (law, at_best))
    assert 1.2 * less < used < share


def test_a_constant_that_nobody_knows_costs_a_tenth_of_what_varying_does():
    plain, biased, jittering = (
        ReachableSet.certify_center(problem(published(**more), 0.02)).law.bounds.sigma
        for more in ({}, {'bias': 1e-4}, {'jitter': 1e-4})
    )
    assert plain < biased < plain + 0.1 * (jittering - plain)
    all_of_it = ReachableSet.certify_center(problem(published(bias=5e-4), 0.02))
    assert all_of_it.holds and all_of_it.law.bounds.sigma < 1.1 * plain


@pytest.mark.parametrize('worse', [{'jitter': 5e-4}, {'slow': 1e-3}])
def test_delays_that_vary_by_half_a_period_and_slower_drives_are_refused(worse):
    for V_M in (0.02, 0.035, 0.05):
        with pytest.raises(BoundError, match='too small'):
            ReachableSet.certify_center(problem(published(**late_drives(worse)), V_M))


def late_drives(worse):
    """Return the same, and what older commands change where drives are slow."""
    older = 2.0 * OLDER * arm().limits.torque if 'slow' in worse else 0.0
    return {**worse, 'older': older}


def test_a_certificate_says_whether_readings_count_as_exact():
    late, exact = (ReachableSet.certify_center(problem(x)) for x in (published(), None))
    assert exact.law is None and exact.laws == ()
    assert 'read exactly' in exact.assumptions[-1]
    assert late.laws == (late.law,)
    assert 'within the steps and times' in late.assumptions[-1]


def test_what_is_too_much_is_refused_with_what_would_do():
    with pytest.raises(BoundError, match=r'too small .*; it takes 0\.\d+ J.* readings \d+ %'):
        ReachableSet.certify_center(problem(published(), bounds=known(0.1, 2.0)))


def test_a_range_has_the_torques_of_its_middle_and_certifies_afresh():
    wide = problem(published(), V_M=0.05)
    wide = replace(wide, horizon=replace(wide.horizon, k_range=np.full(7, 0.05)))
    sets = ReachableSet.of(wide)
    alone = ReachableSet.certify_center(wide)
    assert sets.law.bounds == alone.law.bounds
    assert sets.certify(np.zeros(7)).law.bounds == alone.law.bounds


def test_zero_errors_cost_clearance_and_position():
    model = arm()
    sets = ReachableSet.of(problem(published()))
    off = ReachableSet.of(problem(published(zero=ZERO)))
    reached = [each.certify(np.zeros(7)).margins['position'].margin for each in (sets, off)]
    assert reached[1] == pytest.approx(reached[0] - ZERO, abs=1e-9)
    rng = np.random.default_rng(4)
    rigid = model.pinocchio()
    data = rigid.createData()
    centers, radii = off.occupancy.whole_range
    assert np.all(radii[0] > sets.occupancy.whole_range[1][0] - 1e-12)
    for _ in range(50):
        q = START + ZERO * rng.choice([-1.0, 1.0], 7)
        pin.forwardKinematics(rigid, data, q)
        for capsule in np.flatnonzero(model.capsules.joint >= 0):
            placed = data.oMi[int(model.capsules.joint[capsule]) + 1]
            point = placed.act(model.capsules.a[capsule])
            assert np.linalg.norm(point - centers[0, capsule]) <= radii[0, capsule]


@pytest.mark.parametrize(
    'more',
    [
        {'step': 1.2 * RobotModel.named('kinova_gen3').sensors.encoder_resolution},
        {'delay': 1.5e-3},
        {'jitter': 2e-5},
        {'bias': 2e-4},
        {'stamp': 2e-5},
        {'zero': 2e-3},
        {'tilt': 5e-3},
    ],
    ids=lambda more: next(iter(more)),
)
def test_everything_that_is_worse_costs_tube(more):
    def x(sampling):
        law = ReachableSet.certify_center(problem(sampling, V_M=0.05)).law
        return law.bounds.sigma / law.bounds.y

    assert x(published(**more)) > x(published()) + 1e-6


def test_a_window_has_no_more_torques_than_the_observer_keeps():
    law = ReachableSet.certify_center(problem(published(period=2e-4, delay=1e-3))).law
    kept = LENGTH - SPARE
    assert law.observer.window + law.sampling.begins <= kept * 2e-4 < law.sampling.window
    with pytest.raises(BoundError, match='hold no window'):
        ReachableSet.certify_center(problem(published(period=2e-4, delay=25e-3)))
