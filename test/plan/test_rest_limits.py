"""Where an arm may rest near its joint limits: as the certificate of standing there has it."""

from dataclasses import replace
import re

import numpy as np
from plan.kinova_problem import START, kinova_problem, with_unknown_payload
import pytest

from safe_sysid.model.collision.obstacles import NO_OBSTACLES
from safe_sysid.plan.possible_payloads import known_to
from safe_sysid.plan.rest_limits import RestLimits
from safe_sysid.plan.task_goal import GoalError, Surroundings, choices_of_joints
from safe_sysid.reach.margin import POSITION
from safe_sysid.reach.plan_error import plan_error
from safe_sysid.reach.reachable_set import ReachableSet
from safe_sysid.track.seen_law import Sampling
from safe_sysid.trajectory.bezier import Bezier

PROBLEM = kinova_problem()
MODEL = PROBLEM.model
LIMITED = np.flatnonzero(np.isfinite(MODEL.limits.position_upper))
SAID = re.compile(
    r'(\w+) is at \S+ rad, (\S+) rad inside its limit of (\S+) rad; where the arm rests it may '
    r'be (\S+) rad from its plan, so it has to be at least (\S+) rad inside'
)


def near(joint, side, inside):
    """START with one joint so far inside a limit."""
    q = START.copy()
    upper, lower = MODEL.limits.position_upper[joint], MODEL.limits.position_lower[joint]
    q[joint] = upper - inside if side > 0 else lower + inside
    return q


def standing_margin(problem, q):
    """The certificate's own margin of positions."""
    still = np.zeros_like(q)
    curve = Bezier(q, still, still, 3.0)
    standing = replace(problem.horizon, curve=curve, k_center=still, k_range=still)
    found = ReachableSet.certify_center(replace(problem, horizon=standing))
    return found.margins[POSITION].margin


@pytest.mark.parametrize('side', [-1, 1])
@pytest.mark.parametrize('joint', LIMITED)
def test_a_place_is_refused_exactly_where_standing_is_not_certified(joint, side):
    rest = RestLimits(PROBLEM)
    found = SAID.fullmatch(rest.trouble(near(joint, side, 0.0)))
    name, inside, limit, error, least = found.groups()
    assert name == MODEL.layout.joint_names[joint]
    assert float(inside) == 0.0
    bound = MODEL.limits.position_upper if side > 0 else MODEL.limits.position_lower
    assert float(limit) == pytest.approx(bound[joint], abs=1e-3)
    told = near(joint, side, float(least))
    assert not rest.trouble(told)
    assert standing_margin(PROBLEM, told) > 0.0
    beside = near(joint, side, float(least) - 2e-4)
    assert rest.trouble(beside)
    assert standing_margin(PROBLEM, beside) <= 0.0
    assert float(error) == pytest.approx(float(least), abs=2e-4)


def test_zeros_that_encoders_are_off_count_as_in_the_certificate():
    n = MODEL.n
    zero = np.full(n, 0.004)
    seen = replace(
        PROBLEM, sampling=Sampling(period=0.001, delay=0.0, step=np.full(n, 1e-6), zero=zero)
    )
    joint, error = LIMITED[0], plan_error(PROBLEM).position
    between = near(joint, 1, float(error[joint]) + 0.002)
    assert not RestLimits(PROBLEM).trouble(between)
    assert RestLimits(seen).trouble(between)


def test_what_learning_may_certify_is_not_refused(monkeypatch):
    """Of a place between what is certified now and what would be with all known of the load."""
    problem = with_unknown_payload(PROBLEM)
    joint, seen = LIMITED[0], []
    error = plan_error(problem).position
    exactly = known_to(problem.bounds)(0.0)

    def smaller_once_known(asked):
        seen.append(asked.bounds.bounds.radius.max())
        found = plan_error(replace(asked, bounds=problem.bounds))
        is_known = np.array_equal(asked.bounds.bounds.lower, exactly.bounds.lower)
        return replace(found, position=0.5 * error) if is_known else found

    monkeypatch.setattr('safe_sysid.reach.resting.plan_error', smaller_once_known)
    assert not RestLimits(problem).trouble(near(joint, 1, 0.7 * float(error[joint])))
    assert len(seen) == 2  # what is known now, and what may be
    assert RestLimits(problem).trouble(near(joint, 1, 0.3 * float(error[joint])))


def test_a_goal_at_a_joint_limit_is_refused_and_one_inside_is_taken():
    around = Surroundings(MODEL, NO_OBSTACLES, START, RestLimits(PROBLEM))
    (joint, *_), side = LIMITED, 1
    with pytest.raises(GoalError, match=r'inside its limit of .* it has to be at least'):
        choices_of_joints(near(joint, side, 0.0), around)
    choices_of_joints(START, around)
