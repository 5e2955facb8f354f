"""A loop whose first motions are with an empty gripper: what it learns of the arm is kept."""

from dataclasses import replace

import numpy as np
import pytest

from safe_sysid.bench.experiments.excitation_episodes import UPRIGHT
from safe_sysid.bench.experiments.identification import PARAMETER_RATIO
from safe_sysid.bench.experiments.kinova_dumbbell import kinova_prior
from safe_sysid.bench.experiments.planning import GAINS, at_rest
from safe_sysid.closed_loop import run
from safe_sysid.identify.momentum_observation import ObservationSettings
from safe_sysid.identify.online_identifier import IdentifierSettings, OnlineIdentifier
from safe_sysid.identify.payload_estimator import SolveSettings
from safe_sysid.identify.solves import SolvesAtOnce
from safe_sysid.measure.clock import Clock
from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.mission import Mission, MissionSettings
from safe_sysid.plan.receding_horizon import PlannerSettings, RecedingHorizonPlanner
from safe_sysid.plan.result import SearchOutcome
from safe_sysid.plan.search.best_plan import SearchSettings
from safe_sysid.simulate.sensors import SensorSettings
from safe_sysid.simulate.simulated_arm import ArmSettings, SimulatedArm
from safe_sysid.track.robust_passivity import RobustPassivityController

PAYLOAD = read_payload('dumbbell_4lb')
PERIOD = 0.002  # [s]
SOON = 1.5  # [s] with the payload, when it begins to move
TORQUE_RATIO = 0.002
NEVER = 1e4  # [s] no solve is cut short where a machine is busy: pivots are counted
SETTINGS = PlannerSettings(
    pace=1e4, search=SearchSettings(candidates=16, rounds=0, intervals=32, slow=0.02)
)
OBSERVED = ObservationSettings(
    50,
    torque_ratio=(TORQUE_RATIO,),
    longest_step=0.003,
    torque_signal='held_until',
    position_error=(0.0,),
    velocity_error=(0.0,),
)
SOLVE = SolveSettings(seconds=NEVER, fit_seconds=NEVER)
IDENTIFIER = IdentifierSettings(OBSERVED, SOLVE, solve_period=1.0)
FORGETFUL = replace(IDENTIFIER, solve=replace(SOLVE, remembered_payloads=0))


@pytest.mark.slow
def test_what_an_empty_gripper_taught_narrows_the_bounds_of_the_payload_after_it():
    rng, clock = np.random.default_rng(3), Clock(0)
    empty = RobotModel.named('kinova_gen3')
    nominal = empty.with_payload(PAYLOAD)
    theta, rest = empty.theta.copy(), empty.layout.rest
    theta[rest] *= 1.0 + 0.9 * PARAMETER_RATIO * rng.uniform(-1.0, 1.0, size=len(rest))
    sensors = SensorSettings(torque_ratio=(TORQUE_RATIO,))
    robot = SimulatedArm(empty.with_parameters(theta), UPRIGHT, rng, ArmSettings(PERIOD, sensors))
    prior = kinova_prior(nominal)
    mission = Mission(nominal, None, MissionSettings(exciting=3))
    problem = at_rest(nominal, prior, UPRIGHT, Obstacles.of({}))
    planner = RecedingHorizonPlanner(problem, mission, clock, SETTINGS)
    planner.warm_up(UPRIGHT, prior)
    identifier = OnlineIdentifier(nominal, prior, IDENTIFIER, SolvesAtOnce)
    controller = RobustPassivityController(nominal, GAINS, clock)
    moments = []

    def drive(seconds):
        steps = round(seconds / PERIOD)
        run(robot, identifier, planner, controller, steps, moments.append)

    drive(1.0)
    while moments[-1].result.outcome is not SearchOutcome.NOTHING_DUE:
        drive(1.0)
    drive(moments[-1].result.plan.end_time - robot.truth.stamp * 1e-9 + 0.5)
    taught = moments[-1].estimate
    assert np.abs(moments[-1].measurement.velocity).max() < 0.01
    robot.attach(PAYLOAD)
    identifier.new_payload()
    held = len(moments)
    drive(SOON)
    after = identifier.finish()
    identifier.close()

    fresh = OnlineIdentifier(nominal, prior, FORGETFUL, SolvesAtOnce)
    for moment in moments[held:]:
        fresh.step(moment.measurement)
    without = fresh.finish()
    fresh.close()

    truth = robot.model.theta
    assert taught.end_effector_bounds.upper[0] < truth[robot.model.layout.end_effector][0]
    for estimate in (*(m.estimate for m in moments[held::50]), after, without):
        assert estimate.bounds.contains(truth)
    tared, fresh_one = (x.end_effector_bounds.radius for x in (after, without))
    assert np.all(tared <= fresh_one * (1.0 + 1e-6))
    # The last link's own mass, which no torque tells from the payload's, is most of the width of
    # the mass. First moments and all ten together show what was taught: 0.65 and 0.69 measured.
    ratio = tared / fresh_one
    assert np.all(ratio[1:3] < 0.85)
    assert np.exp(np.mean(np.log(ratio))) < 0.85
