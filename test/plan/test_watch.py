"""A position beyond the certified error is a fault that names its joint; one within is none."""

from dataclasses import replace

import numpy as np
from plan.kinova_problem import kinova_problem
import pytest

from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.plan.watch import TrackingFault, refuse_broken_promise
from safe_sysid.reach.reachable_set import ReachableSet
from safe_sysid.track.seen_law import Sampling
from safe_sysid.trajectory.plan import Plan

CLOCK = Clock(7_000_000_000)


@pytest.fixture(scope='module')
def plan():
    problem = kinova_problem(intervals=32)
    certificate = ReachableSet.certify_center(problem)
    return Plan(1.0, 2.5, problem.horizon.curve, np.full(7, 0.3), certificate=certificate)


def measured(plan, seconds, error):
    q = plan.desired(seconds)[0] - error
    return JointMeasurement(CLOCK.stamp(seconds), q, 0 * q, 0 * q)


def test_errors_within_the_bound_pass_at_all_times(plan):
    bound = plan.certificate.error.position
    for t in (1.0, 2.2, 4.0, 9.0):
        for sign in (-0.999, 0.999):
            refuse_broken_promise(measured(plan, t, sign * bound), plan, CLOCK)


def test_the_joint_that_is_farthest_beyond_is_named(plan):
    error = np.zeros(7)
    error[2], error[4] = 1.01 * plan.certificate.error.position[2], -0.5
    with pytest.raises(TrackingFault, match='joint_5 is 0.5 away from its plan'):
        refuse_broken_promise(measured(plan, 2.2, error), plan, CLOCK)
    error[4] = 0.0
    with pytest.raises(TrackingFault, match='joint_3'):
        refuse_broken_promise(measured(plan, 2.2, error), plan, CLOCK)


def test_period_and_delay_are_a_possible_cause_where_certificates_leave_them_out(plan):
    with pytest.raises(TrackingFault, match='`sampling: ideal`, for period, delay and encoder'):
        refuse_broken_promise(measured(plan, 2.2, np.full(7, 0.5)), plan, CLOCK)
    seen = Sampling(np.full(7, 1e-6), 0.001, 0.0005)
    problem = replace(plan.certificate.problem, sampling=seen)
    known = replace(plan, certificate=replace(plan.certificate, problem=problem))
    with pytest.raises(TrackingFault) as told:
        refuse_broken_promise(measured(known, 2.2, np.full(7, 0.5)), known, CLOCK)
    assert 'sampling' not in str(told.value)


def test_full_turns_are_no_error_where_a_joint_turns_without_end(plan):
    turns = 2.0 * np.pi * kinova_problem().model.limits.is_continuous
    refuse_broken_promise(measured(plan, 2.2, turns), plan, CLOCK)
    with pytest.raises(TrackingFault, match='joint_2'):
        refuse_broken_promise(measured(plan, 2.2, 2.0 * np.pi * np.eye(7)[1]), plan, CLOCK)


def test_a_position_that_is_no_number_is_a_fault(plan):
    with pytest.raises(TrackingFault, match='joint_4 is nan'):
        refuse_broken_promise(
            measured(plan, 2.2, np.where(np.arange(7) == 3, np.nan, 0.0)), plan, CLOCK
        )
