"""A plan that is certified for what nobody has told is not followed, and that is said."""

import numpy as np
import pytest

from safe_sysid.measure.clock import Clock
from safe_sysid.model.parameters import ParameterEstimate, ParameterLayout, ratio_bounds
from safe_sysid.plan.message import SECOND, PlanNotice, name_of
from safe_sysid.ros.messages.certified_plan_buffer import KEPT, CertifiedPlanBuffer
from safe_sysid.ros.messages.codec import plan_message
from safe_sysid.trajectory.bezier import Bezier
from safe_sysid.trajectory.task_motion import Piece, TaskMotion

NAMES = ('one', 'two')
START = 1_763_744_000 * SECOND
CLOCK = Clock(START)


@pytest.fixture
def estimate(rng):
    layout = ParameterLayout(NAMES, 1)
    theta = rng.normal(size=layout.size)
    return ParameterEstimate(layout, theta, ratio_bounds(theta, 0.1, 0.2))


def plan(start, certified_for):
    rest = np.zeros(2)
    motion = TaskMotion((Piece(Bezier(rest, rest, rest, 2.0), np.array([0.1, 0.2])),))
    return plan_message(PlanNotice(start, motion, certified_for), NAMES)


def test_a_plan_is_incomplete_from_its_start_until_its_estimate_comes(estimate):
    told = CertifiedPlanBuffer(NAMES)
    name = name_of(estimate)
    told.hear(plan(START, name))
    assert told.incomplete(START - 1) == ''
    assert f"certified for '{name}'" in told.incomplete(START)
    told.learn(estimate)
    assert told.incomplete(START) == ''
    (complete,) = told.complete(CLOCK)
    assert (str(complete.certificate), told.incomplete(START)) == (name, '')


def test_a_later_plan_that_is_complete_ends_the_complaint(estimate):
    told = CertifiedPlanBuffer(NAMES)
    told.learn(estimate)
    told.hear(plan(START, 'of somebody'))
    told.complete(CLOCK)
    assert told.incomplete(START + SECOND) != ''
    told.hear(plan(START + SECOND, name_of(estimate)))
    told.complete(CLOCK)
    assert told.incomplete(START + SECOND) == ''


def test_who_tells_plans_so_often_that_none_is_due_is_noticed_too():
    told = CertifiedPlanBuffer(NAMES)
    for start in range(KEPT):
        told.hear(plan(START + start, 'of somebody'))
    assert told.incomplete(START - 1) == ''
    told.hear(plan(START + KEPT, 'of somebody'))
    assert "'of somebody'" in told.incomplete(START - 1)
