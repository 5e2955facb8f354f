"""A planner that is starved of time: the arm stops inside the last certified set."""

from dataclasses import replace
from threading import Event

import numpy as np
import pytest

from safe_sysid.bench.experiments.excitation_episodes import EpisodeArm, Watched
from safe_sysid.bench.experiments.planning import GAINS, at_rest, bare_estimate
from safe_sysid.closed_loop import LoopFault, run
from safe_sysid.measure.clock import Clock
from safe_sysid.model.collision.obstacles import NO_OBSTACLES
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.plan.mission import Mission, MissionSettings
from safe_sysid.plan.receding_horizon import PlannerSettings, RecedingHorizonPlanner
from safe_sysid.plan.result import NoPlanError
from safe_sysid.plan.search.best_plan import SearchSettings
from safe_sysid.simulate.simulated_arm import ArmSettings, SimulatedArm
from safe_sysid.track.robust_passivity import RobustPassivityController

START = np.array([0.0, 0.3, 0.0, 1.2, 0.0, 0.9, 0.0])
GOAL = START + 3.0 * np.eye(7)[0]
PERIOD = 0.002  # [s]
QUICK = PlannerSettings(pace=1e4, search=SearchSettings(candidates=16, rounds=0, slow=0.02))


class Knows:
    """An identifier that has nothing to learn, and lets time run out when the arm moves."""

    def __init__(self, estimate: ParameterEstimate, starve_at: float, cancelled: Event):
        self._estimate, self._at, self._cancelled = estimate, starve_at, cancelled

    def step(self, measurement):
        if measurement.stamp * 1e-9 >= self._at:
            self._cancelled.set()
        return self._estimate


def loop(settings, starve_at, seconds):
    """What passed the controller."""
    arm = EpisodeArm.holding('dumbbell_5lb', np.random.default_rng(3))
    estimate, clock, cancelled = bare_estimate(arm.nominal), Clock(0), Event()
    problem = at_rest(arm.nominal, estimate, START, NO_OBSTACLES)
    mission = Mission(arm.nominal, GOAL, MissionSettings(exciting=0, route_seconds=600.0))
    planner = RecedingHorizonPlanner(problem, mission, clock, settings, cancelled)
    controller = Watched(RobustPassivityController(arm.nominal, GAINS, clock))
    robot = SimulatedArm(arm.truth, START, np.random.default_rng(4), ArmSettings(PERIOD))
    knows = Knows(estimate, starve_at, cancelled)
    run(robot, knows, planner, controller, round(seconds / PERIOD))
    return controller.samples


def test_the_arm_brakes_on_the_plan_it_has_and_stops_inside_its_certified_set():
    samples = loop(QUICK, starve_at=1.0, seconds=6.0)
    plans = {id(s.plan): s.plan for s in samples}
    assert len(plans) == 2  # standing, and one that moved
    plan = samples[-1].plan
    assert plan.certificate.holds
    assert np.abs(plan.end_position - START).max() > 0.1
    assert (plan.start_time, plan.end_time) == (1.5, 4.0)  # a quarter slower than asked for
    error = plan.certificate.error
    for sample in samples:
        t = max(sample.measurement.stamp * 1e-9, sample.plan.start_time)
        q_d, qd_d, _ = sample.plan.desired(t)
        assert np.all(np.abs(q_d - sample.measurement.position) <= error.position)
        assert np.all(np.abs(qd_d - sample.measurement.velocity) <= error.velocity)
    assert np.abs(samples[-1].measurement.velocity).max() < 5e-3
    assert np.all(np.abs(samples[-1].measurement.position - plan.end_position) <= error.position)


def test_without_any_plan_no_torque_is_sent():
    with pytest.raises(LoopFault, match='no plan within the time budget; without a cert') as told:
        loop(replace(QUICK, pace=1.0, budget=1e-3), starve_at=1.0, seconds=1.0)
    assert isinstance(told.value.cause, NoPlanError)
    assert str(told.value).endswith('the arm has got no torque')
