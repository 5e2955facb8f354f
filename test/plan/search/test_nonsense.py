"""Whatever comes into `step`, there is a result with a sentence, and no plan without a proof."""

from dataclasses import replace

import numpy as np
from plan.kinova_problem import QUICK, START, estimate_of, kinova_problem
import pytest
from tiers import slow_after

from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.mission import Mission, MissionSettings
from safe_sysid.plan.receding_horizon import PlannerSettings, RecedingHorizonPlanner
from safe_sysid.sets.box import Box
from safe_sysid.sets.interval import Interval

MODEL = RobotModel.named('kinova_gen3')
STEPS = 5
SETTINGS = PlannerSettings(intervals=32, search=replace(QUICK, candidates=8, slow=0.01))


def some_position(rng):
    """Anywhere, not a number, astronomical, or of another shape."""
    q = START + rng.normal(scale=0.5, size=7)
    j = rng.integers(7)
    spoiled = (np.nan, np.inf, -1e300, 1e3)[rng.integers(4)]
    choices = (q, np.where(np.arange(7) == j, spoiled, q), q[:6], q[:, None])
    return choices[rng.integers(4)]


def some_estimate(rng):
    """Of this arm, certain, hopeless, of bodies that cannot exist, or of another arm."""
    theta, layout = MODEL.theta, MODEL.layout
    other = RobotModel.named('two_link')
    massless = theta.copy()
    massless[layout.joint_entries('Ia')] = 0.0
    wide = 10.0 * np.abs(theta) + 1.0
    choices = (
        estimate_of(MODEL, rng.choice([0.0, 0.5, 2.0])),
        ParameterEstimate(layout, theta, Interval(-wide, wide)),
        ParameterEstimate(layout, -theta, Interval.of(-theta)),
        ParameterEstimate(layout, 1e150 * theta, Interval.of(1e150 * theta)),
        ParameterEstimate(layout, massless, Interval.of(massless)),
        ParameterEstimate(other.layout, other.theta, Interval.of(other.theta)),
    )
    return choices[rng.integers(len(choices))]


def some_boxes(rng):
    """None, or some anywhere, in the arm too."""
    boxes = {
        f'box_{i}': Box(rng.uniform(-0.6, 0.8, 3), rng.uniform(0.01, 0.2, 3), np.eye(3))
        for i in range(rng.integers(4))
    }
    return Obstacles.of(boxes)


@pytest.mark.parametrize('seed', slow_after(5, range(10)))
def test_whatever_comes_in_there_is_a_result_and_no_plan_without_a_proof(seed):
    rng = np.random.default_rng(seed)
    problem = replace(kinova_problem(intervals=32), obstacles=some_boxes(rng))
    settings = replace(SETTINGS, budget=float(rng.choice([1e-3, 0.3])))
    mission = Mission(MODEL, some_position(rng), MissionSettings(exciting=int(rng.integers(2))))
    planner = RecedingHorizonPlanner(problem, mission, Clock(0), settings)
    t = 0.0
    for _ in range(STEPS):
        known = some_estimate(rng) if rng.random() < 0.4 else estimate_of(MODEL)
        q = some_position(rng) if rng.random() < 0.3 else START
        result = planner.step(JointMeasurement(round(t * 1e9), q, 0 * q, 0 * q), known)
        assert len(str(result)) > 20
        plans = [plan for plan in (result.plan, result.successor) if plan is not None]
        assert all(plan.certificate.holds for plan in plans)
        assert [len(plan.certificate.then) for plan in plans] == [len(p.then) for p in plans]
        t += rng.choice([0.5, 1.0, 1.5, 3.0])
