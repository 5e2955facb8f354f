"""`certify` proves what plans do one after the other, whatever is said of them."""

from dataclasses import replace
import re

import numpy as np
import pytest

import safe_sysid as ss
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.sets.interval import Interval


@pytest.fixture(scope='module')
def motion():
    """The first plan stands, the others go on from each other in motion."""
    goal = [0.5, 0.6, 0.3, -1.2, 0.2, 0.9, 0.1]
    found = ss.plan('kinova_gen3', goal=goal, payload='dumbbell_4lb')
    assert found.is_complete and found.plans[0].stands_still and len(found.plans) >= 4
    assert not found.plans[1].stands_still
    return found


def test_what_plan_returns_is_proven_again(motion):
    proof = ss.certify(motion)
    assert proof.holds and len(proof.certificates) == len(motion.plans)
    for again, plan in zip(proof.certificates, motion.plans, strict=True):
        told = plan.certificate
        for one, other in zip((again, *again.then), (told, *told.then), strict=True):
            assert one.smallest.margin == pytest.approx(other.smallest.margin, rel=1e-6)
            np.testing.assert_allclose(one.error.position, other.error.position, rtol=1e-9)


def test_a_plan_that_leads_elsewhere_than_its_certificate_is_not_proven(motion):
    far = replace(motion.plans[0], k=np.full(7, 25.0))
    for plan in (far, replace(far, certificate=None)):
        proof = ss.certify(replace(motion, plans=(plan,)))
        assert not proof.holds


def test_a_plan_is_proven_without_a_certificate_of_its_own(motion):
    bare = tuple(replace(plan, certificate=None, laws=()) for plan in motion.plans)
    assert ss.certify(replace(motion, plans=bare)).holds


def test_plans_that_do_not_go_on_from_each_other_are_not_proven(motion):
    plans = list(motion.plans)
    late = replace(plans[2], start_time=plans[2].start_time + 0.3)
    swapped = [*plans[:1], plans[2], plans[1], *plans[3:]]
    for told, words in (
        ([*plans[:2], late, *plans[3:]], r'plan 3 begins \S+ rad and .* where the plan before'),
        (swapped, 'plan 2 begins .* from where the plan before it is'),
        (plans[2:], 'plan 1 begins in motion, .* and nothing leads there'),
        ([*plans[:2], plans[0]], r'plan 3 begins at 0\.000 s, before the plan that it follows'),
    ):
        proof = ss.certify(replace(motion, plans=tuple(told)))
        assert not proof.holds
        assert re.match(f'not certified: {words}', str(proof)), str(proof)


def test_wider_bounds_leave_more_error_to_the_plan_that_goes_on(motion):
    known = motion.loop.prior
    spread = 1.1 * (known.bounds.upper - known.theta), 1.1 * (known.theta - known.bounds.lower)
    bounds = Interval(known.theta - spread[1], known.theta + spread[0])
    proof = ss.certify(motion, bounds=ParameterEstimate(known.layout, known.theta, bounds))
    first, second = proof.certificates[1:3]
    begin, follow = (motion.plans[i].start_time for i in (1, 2))
    left = first.error_shape(follow - begin)
    np.testing.assert_allclose(second.problem.error_at_start, left, rtol=1e-9)
    assert np.all(np.diag(left) > np.diag(motion.certificates[2].problem.error_at_start))


def test_bounds_that_grow_from_plan_to_plan_prove_nothing(motion):
    known, wide = motion.plans[1].theta_bounds, motion.plans[2].theta_bounds
    wide = Interval(wide.lower - 1e-6, wide.upper)
    plans = [*motion.plans[:2], replace(motion.plans[2], theta_bounds=wide), *motion.plans[3:]]
    proof = ss.certify(replace(motion, plans=tuple(plans)))
    assert not proof.holds and not known.contains(wide)
    assert 'plan 3 is to hold for parameters that the plan before' in str(proof)
