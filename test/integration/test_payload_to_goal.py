"""Algorithm 2 from end to end: pick up an unknown payload, learn, carry it around a post."""

from dataclasses import dataclass

import numpy as np
import pytest

from safe_sysid.audit.loop_record import LoopRecord, LoopRecorder
from safe_sysid.bench.experiments.excitation_episodes import UPRIGHT
from safe_sysid.bench.experiments.identification import PARAMETER_RATIO, TORQUE_RATIO
from safe_sysid.bench.experiments.kinova_dumbbell import kinova_prior
from safe_sysid.bench.experiments.planning import GAINS, at_rest
from safe_sysid.closed_loop import run
from safe_sysid.identify.momentum_observation import ObservationSettings
from safe_sysid.identify.online_identifier import IdentifierSettings, OnlineIdentifier
from safe_sysid.identify.solves import SolvesAtOnce
from safe_sysid.measure.clock import Clock
from safe_sysid.model.collision.arm_clearance import arm_clearance
from safe_sysid.model.collision.contact import ContactGauge
from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.aims import Excite
from safe_sysid.plan.mission import Mission, MissionSettings
from safe_sysid.plan.path.route import Follow
from safe_sysid.plan.receding_horizon import PlannerSettings, RecedingHorizonPlanner
from safe_sysid.plan.result import SearchOutcome
from safe_sysid.plan.search.best_plan import SearchSettings
from safe_sysid.sets.box import Box
from safe_sysid.simulate.sensors import SensorSettings
from safe_sysid.simulate.simulated_arm import ArmSettings, SimulatedArm
from safe_sysid.track.robust_passivity import RobustPassivityController

GOAL = np.array([1.6, 0.3, 0.0, 1.9, 0.0, 0.9, 0.0])
POST = Box(np.array([0.34, -0.34, 0.5]), np.array([0.03, 0.03, 0.5]), np.eye(3))
PAYLOAD = read_payload('dumbbell_8lb')
PERIOD = 0.002  # [s]
EMPTY_SECONDS = 0.1  # at rest before the payload is there
SECONDS = 40.0
SEED = 5
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
IDENTIFIER = IdentifierSettings(OBSERVED, solve_period=1.4)


class Told(Mission):
    """A mission that remembers which plans it was told about."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.told = []

    def planned(self, aim, plan, estimate):
        super().planned(aim, plan, estimate)
        self.told.append((aim, plan))


@dataclass(repr=False)  # a failed assertion would print it for minutes
class Carried:
    truth: RobotModel
    record: LoopRecord
    moments: list
    told: list
    bounds: list  # (plan, [theta] in use, whether the plan moves) of every period
    energies: np.ndarray  # lower bounds of V


@pytest.fixture(scope='module')
def carried():
    rng, clock = np.random.default_rng(SEED), Clock(0)
    empty = RobotModel.named('kinova_gen3')
    nominal = empty.with_payload(PAYLOAD)
    theta, rest = empty.theta.copy(), empty.layout.rest
    theta[rest] *= 1.0 + 0.999 * PARAMETER_RATIO * rng.uniform(-1.0, 1.0, size=len(rest))
    sensors = SensorSettings(torque_ratio=(TORQUE_RATIO,))
    robot = SimulatedArm(empty.with_parameters(theta), UPRIGHT, rng, ArmSettings(PERIOD, sensors))
    prior = kinova_prior(nominal)
    mission = Told(nominal, GOAL, MissionSettings(route_seconds=600.0))
    problem = at_rest(nominal, prior, UPRIGHT, Obstacles.of({'post': POST}))
    planner = RecedingHorizonPlanner(problem, mission, clock, SETTINGS)
    planner.warm_up(UPRIGHT, prior)
    identifier = OnlineIdentifier(nominal, prior, IDENTIFIER, SolvesAtOnce)
    controller = RobustPassivityController(nominal, GAINS, clock)
    recorder, bounds, energies = LoopRecorder(nominal, clock), [], []

    def watch(moment):
        recorder.take(moment)
        plan, now = moment.result.plan, clock.seconds(moment.measurement.stamp)
        bounds.append((plan, controller.bounds, not plan.stands_still and now < plan.end_time))
        energies.append(float(controller.last.energy.lower))

    def drive(seconds):
        run(robot, identifier, planner, controller, round(seconds / PERIOD), watch)

    drive(EMPTY_SECONDS)
    robot.attach(PAYLOAD)
    identifier.new_payload()
    while robot.truth.stamp < SECONDS * 1e9 and recorder.moments[-1].result.outcome is not (
        SearchOutcome.NOTHING_DUE
    ):
        drive(1.0)
    drive(recorder.moments[-1].result.plan.end_time - robot.truth.stamp * 1e-9 + 0.5)
    identifier.close()
    return Carried(
        robot.model, recorder.record(), recorder.moments, mission.told, bounds, np.array(energies)
    )


@pytest.mark.slow
def test_the_arm_learns_first_and_then_carries_the_payload_to_the_goal(carried):
    kinds = [Follow if isinstance(aim, Follow) else Excite for aim, _ in carried.told]
    exciting, outcome = kinds.count(Excite), carried.moments[-1].result.outcome
    assert 3 <= exciting <= 8
    assert kinds == [Excite] * exciting + [Follow] * (len(kinds) - exciting)
    assert outcome is SearchOutcome.NOTHING_DUE
    away = np.angle(np.exp(1j * (carried.record.q[-1] - GOAL)))
    assert np.abs(away).max() < 0.03  # 0.01 of the mission, and the tracking error
    assert np.abs(carried.record.qd[-1]).max() < 0.01


@pytest.mark.slow
def test_the_straight_way_is_blocked_and_plans_go_around_it_in_two_pieces(carried):
    straight = [UPRIGHT + share * (GOAL - UPRIGHT) for share in np.linspace(0.0, 1.0, 60)]
    obstacles = Obstacles.of({'post': POST})
    assert min(arm_clearance(carried.truth, obstacles, q).distance for q in straight) < 0.0
    driven = {id(m.result.plan): m.result.plan for m in carried.moments}
    tasks = [p for aim, p in carried.told if isinstance(aim, Follow) and id(p) in driven]
    assert len(tasks) > 2
    assert sum(len(plan.motion.pieces) == 2 for plan in tasks) > 2
    certificates = [(plan.certificate, len(plan.then)) for plan in driven.values()]
    assert [c.holds and len(c.then) == later for c, later in certificates].count(False) == 0


@pytest.mark.slow
def test_the_truth_is_inside_the_bounds_and_they_shrink(carried):
    truth = carried.truth.theta
    estimates = {id(m.estimate): m.estimate for m in carried.moments}
    inside = [estimate.bounds.contains(truth) for estimate in estimates.values()]
    assert len(inside) > 4
    assert inside.count(False) == 0
    widths = carried.record.estimates.half_width
    assert np.all(np.diff(widths, axis=0) <= 0.0)
    assert np.all(widths[-1] < 0.5 * widths[0])


@pytest.mark.slow
def test_bounds_never_change_inside_a_plan_nor_leave_those_it_was_certified_for(carried):
    """Where a plan is over, or stands still, all that it was certified for counts."""
    pairs = zip(carried.bounds[:-1], carried.bounds[1:], strict=True)
    changed = [(a, b) for a, b in pairs if b[1] is not a[1]]
    inside_a_plan = sum(plan is last and moves for (last, *_), (plan, _, moves) in changed)
    outside = sum(not plan.theta_bounds.contains(used) for plan, used, _ in carried.bounds[::10])
    assert len(changed) > 4
    assert inside_a_plan == 0
    assert outside == 0
    assert all(moves or used is plan.theta_bounds for plan, used, moves in carried.bounds)


@pytest.mark.slow
def test_every_promise_is_kept(carried):
    record, limits = carried.record, carried.truth.limits
    assert np.all(np.abs(record.tau) < limits.torque)
    assert np.all((record.tau_lower <= record.tau) & (record.tau <= record.tau_upper))
    assert np.all(np.abs(record.qd) < limits.velocity)
    assert np.all((limits.position_lower < record.q) & (record.q < limits.position_upper))
    assert np.all(np.abs(record.error) <= record.error_bound)
    assert carried.energies.max() <= GAINS.V_M
    gauge = ContactGauge(carried.truth, {'post': POST})
    assert min(gauge.clearance(q).distance for q in record.q[::20]) > 0.0
