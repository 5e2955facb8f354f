"""Certified task motions in a second simulator: energy, errors and torques keep their bounds."""

import numpy as np
import pytest

from safe_sysid.audit.loop_record import LoopRecorder
from safe_sysid.bench.experiments.identification import PARAMETER_RATIO
from safe_sysid.bench.experiments.planning import GAINS, at_rest, bare_estimate
from safe_sysid.closed_loop import run
from safe_sysid.measure.clock import Clock
from safe_sysid.model.collision.obstacles import NO_OBSTACLES
from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.mission import Mission, MissionSettings
from safe_sysid.plan.receding_horizon import PlannerSettings, RecedingHorizonPlanner
from safe_sysid.plan.result import SearchOutcome
from safe_sysid.plan.search.best_plan import SearchSettings
from safe_sysid.simulate.simulated_arm import ArmSettings, SimulatedArm
from safe_sysid.track.robust_passivity import RobustPassivityController

START = np.array([0.0, 0.3, 0.0, 1.2, 0.0, 0.9, 0.0])
GOAL = START + 1.6 * np.array([1.0, 0.2, -0.5, 0.3, 1.0, 0.3, 1.0])
SECONDS = 7.5
HELD = 0.0025  # share by which V may be above V_M because a torque is held for a millisecond
SETTINGS = PlannerSettings(pace=1e4, search=SearchSettings(candidates=4, rounds=0))


class Knows:
    """An identifier with nothing to learn."""

    def __init__(self, estimate):
        self._estimate = estimate

    def step(self, _):
        return self._estimate


@pytest.mark.nightly
def test_task_motions_keep_their_promises_in_drake(rng):
    pytest.importorskip('pydrake', reason='Drake is an extra')
    from safe_sysid.simulate.drake import DrakeBody

    nominal = RobotModel.named('kinova_gen3').with_payload(read_payload('dumbbell_5lb'))
    corner = rng.choice([-1.0, 1.0], size=14)  # every link and every joint at an end of its bounds
    theta = nominal.theta * (1.0 + 0.999 * PARAMETER_RATIO * _by_body(nominal, corner))
    truth, estimate, clock = nominal.with_parameters(theta), bare_estimate(nominal), Clock(0)
    assert estimate.bounds.contains(theta)
    mission = Mission(nominal, GOAL, MissionSettings(exciting=0, route_seconds=600.0))
    problem = at_rest(nominal, estimate, START, NO_OBSTACLES)
    planner = RecedingHorizonPlanner(problem, mission, clock, SETTINGS)
    controller = RobustPassivityController(nominal, GAINS, clock)
    robot = SimulatedArm(truth, START, rng, ArmSettings(), DrakeBody)
    recorder, drake, energies = LoopRecorder(nominal, clock), DrakeBody(truth), []

    def watch(moment):
        recorder.take(moment)
        r = controller.last.r
        energies.append(0.5 * r @ drake.mass_matrix(moment.measurement.position) @ r)

    run(robot, Knows(estimate), planner, controller, round(SECONDS * 1000), watch)
    record, plans = recorder.record(), {id(m.result.plan): m.result.plan for m in recorder.moments}
    outcome = recorder.moments[-1].result.outcome
    assert outcome is SearchOutcome.NOTHING_DUE
    assert sum(len(plan.motion.pieces) == 2 for plan in plans.values()) >= 2
    assert 0.1 * GAINS.V_M < max(energies) <= (1.0 + HELD) * GAINS.V_M
    assert np.all(np.abs(record.error) <= record.error_bound)
    assert np.all((record.tau_lower <= record.tau) & (record.tau <= record.tau_upper))
    assert np.abs(record.qd).max() > 0.3
    assert np.abs(record.q[-1] - GOAL).max() < 0.03


def _by_body(model, signs):
    """One sign for all parameters of a body or of a joint, so that bodies stay bodies."""
    n = model.n
    return np.concatenate([np.repeat(signs[:n], 10), np.tile(signs[n:], 4)])
