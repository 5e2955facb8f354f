"""Plans of a bag have the certificates that they were sent with, margin by margin."""

from dataclasses import replace

import numpy as np
from plan.kinova_problem import QUICK, START, kinova_problem
import pytest

from safe_sysid.audit.bag_plans import RecordedPlans
from safe_sysid.audit.bag_settings import RecordedSettings
from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.plan.message import name_of, notice_of
from safe_sysid.plan.mission import Mission, MissionSettings
from safe_sysid.plan.receding_horizon import PlannerSettings, RecedingHorizonPlanner

CLOCK = Clock(0)
SETTINGS = PlannerSettings(pace=1e4, intervals=64, search=replace(QUICK, slow=0.01))
GOAL = START + 2.4 * np.eye(7)[0]
ASIDE = 0.01  # [rad] that an arm is measured beside its plan


def measured(seconds, position, velocity):
    return JointMeasurement(round(seconds * 1e9), position, velocity, np.zeros(7))


@pytest.fixture(scope='module')
def problem():
    return kinova_problem()


@pytest.fixture(scope='module')
def sent(problem):
    """Plans to a goal, and of a planner that begins anew beside the last one and leads back."""
    plans = []
    position, begin = START, 0.0
    for goal in (GOAL, START):
        mission = Mission(problem.model, goal, MissionSettings(0, route_seconds=600.0))
        planner = RecedingHorizonPlanner(problem, mission, CLOCK, SETTINGS)
        plan = planner.step(measured(begin, position, np.zeros(7)), problem.bounds).plan
        plans.append(plan)
        for _ in range(2):
            q, qd, _ = plan.desired(plan.switch_time)
            plan = planner.step(measured(plan.switch_time, q, qd), problem.bounds).plan
            plans.append(plan)
        position, begin = plan.end_position + ASIDE, plan.end_time + 1.0
    return plans


def recorded(problem, plans):
    settings = RecordedSettings(
        nodes={},
        model=problem.model,
        gains=problem.gains,
        boxes={},
        intervals=SETTINGS.intervals,
        degree=SETTINGS.degree,
        duration=SETTINGS.duration,
    )
    name = name_of(problem.bounds)
    notices = [notice_of(plan, CLOCK, name) for plan in plans]
    return RecordedPlans(settings, {name: problem.bounds}, {each.start: each for each in notices})


def test_every_plan_has_the_margins_that_it_was_sent_with(problem, sent):
    assert [len(plan.motion.pieces) for plan in sent] == [1, 2, 2] * 2
    found = recorded(problem, sent).certified(CLOCK)
    for plan, again in zip(sent, found, strict=True):
        own = [plan.certificate, *plan.certificate.then]
        for piece, anew in zip(own, [again.certificate, *again.certificate.then], strict=True):
            assert anew.holds
            assert anew.problem.horizon.intervals == piece.problem.horizon.intervals
            assert anew.smallest.margin == pytest.approx(piece.smallest.margin, rel=1e-9)


def test_the_error_before_counts_for_a_plan_that_goes_on_and_for_no_other(problem, sent):
    found = recorded(problem, sent).certified(CLOCK)
    begins = [plan.certificate.problem.error_at_start is None for plan in found]
    assert begins == [True, False, False] * 2
