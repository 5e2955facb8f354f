"""Simulated arms that pick things up and let go of them: the whole loop in one process."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.changing_loop import ChangingLoop
from safe_sysid.closed_loop import LoopSample
from safe_sysid.config import from_mapping, read_yaml
from safe_sysid.identify.change.change_test import ChangeSettings
from safe_sysid.identify.change.change_watch import ChangeWatch, LooksAtOnce
from safe_sysid.identify.change.held_next import (
    HeldNext,
    from_library,
    within,
)
from safe_sysid.identify.momentum_observation import ObservationSettings
from safe_sysid.identify.online_identifier import IdentifierSettings, OnlineIdentifier
from safe_sysid.identify.payload_estimator import SolveSettings
from safe_sysid.identify.solves import SolvesAtOnce
from safe_sysid.loop_settings import LoopSettings
from safe_sysid.measure.clock import Clock
from safe_sysid.model.collision.contact import ContactGauge
from safe_sysid.model.collision.obstacles import NO_OBSTACLES
from safe_sysid.model.grasp import GraspError, holding_any
from safe_sysid.model.inertia import from_mass_com_inertia, mass_com_inertia
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.payload import Payload, read_payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.mission import Mission, MissionSettings
from safe_sysid.plan.receding_horizon import PlannerSettings, RecedingHorizonPlanner
from safe_sysid.plan.search.best_plan import SearchSettings
from safe_sysid.reach.certificate import PlanCertificate
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.reach.problem import Problem
from safe_sysid.share import share_directory
from safe_sysid.simulate.sensors import SensorSettings
from safe_sysid.simulate.simulated_arm import ArmSettings, SimulatedArm
from safe_sysid.track.gains import Gains
from safe_sysid.track.robust_passivity import RobustPassivityController
from safe_sysid.track.tracking import shortest_turn
from safe_sysid.trajectory.bezier import Bezier

# [kg] of the things that an arm may find, all of them shaped as a dumbbell
MASSES = {
    'two_link': (0.2, 0.4),
}
RATIO = 0.02  # [1] error of measured torques
INSIDE = 0.999  # share of its bounds within which theta_r of a simulated arm is
PERIOD = 0.002  # [s] of a loop, where nothing else is said
LOOKS = 20_000_000  # [ns] between two looks at what it touches
WINDOW = 25  # samples of that period
EXPECTED = ChangeSettings(unmodelled_torque=0.05, velocity_noise=0.001)  # nothing no model has
SEARCH = SearchSettings(candidates=16, rounds=0, nearby=1, intervals=32, slow=0.02)


def thing(mass: float) -> Payload:
    """Return a dumbbell of this mass."""
    dumbbell = read_payload('dumbbell_4lb')
    return replace(dumbbell, mass=mass, inertia=dumbbell.inertia * (mass / dumbbell.mass))


@dataclass(eq=False)
class HandlingArm:
    """An arm whose hand is empty at first, its loop, and what went wrong so far."""

    robot: SimulatedArm
    loop: ChangingLoop
    model: RobotModel  # as the loop knows it
    held: HeldNext
    gauge: ContactGauge
    period: float  # [s]
    broken: list[str] = field(default_factory=list)  # promises, and when
    _answered: int | None = None  # changes, when the last one came that nobody announced
    _before: int = 0  # [ns] stamp of the period before
    _looked_at: ParameterEstimate | None = None

    def run(self, seconds: float) -> None:
        """Go on, and look whether the arm keeps its limits and touches nothing."""
        self.loop.run(round(seconds / self.period), self.look)

    def look(self, sample: LoopSample) -> None:
        """Compare a period with what holds whatever is held, and with what is promised."""
        before, self._before = self._before, sample.measurement.stamp
        truth, limits = self.robot.truth, self.model.limits
        when = f'at {truth.stamp * 1e-9:.3f} s'
        if np.any(np.abs(truth.velocity) > limits.velocity):
            self.broken.append(f'velocity {when}')
        if np.any(truth.position < limits.position_lower):
            self.broken.append(f'position {when}')
        if np.any(truth.position > limits.position_upper):
            self.broken.append(f'position {when}')
        if np.any(np.abs(sample.torque) > limits.torque):
            self.broken.append(f'torque{" of braking" if sample.fault else ""} {when}')
        if not sample.fault and not self.is_untold:
            self._look_at_promises(sample, when)
        if before // LOOKS != self._before // LOOKS and (
            self.gauge.clearance(truth.position).distance <= 0.0
        ):
            self.broken.append(f'contact {when}')

    def _look_at_promises(self, sample: LoopSample, when: str) -> None:
        """Compare with bounds on theta, and with those on the error of a certified plan."""
        estimate, plan, theta = sample.estimate, sample.result.in_force, self.robot.model.theta
        if estimate is not self._looked_at:
            self._looked_at = estimate
            if not estimate.bounds.contains(theta):
                self.broken.append(f'truth {when}')
        t, known = sample.measurement.stamp * 1e-9, plan.theta_bounds
        if not isinstance(plan.certificate, PlanCertificate) or t < plan.start_time:
            return
        if known is None or not known.contains(theta):
            self.broken.append(f'truth of the plan {when}')
            return
        q_d, qd_d, _ = plan.desired(t)
        m, error, limits = sample.measurement, plan.certificate.error, self.model.limits
        e = shortest_turn(q_d - m.position, limits.is_continuous)
        if np.any(np.abs(e) > error.position):
            self.broken.append(f'tracking error {when}')
        if np.any(np.abs(qd_d - m.velocity) > error.velocity):
            self.broken.append(f'error of velocity {when}')

    @property
    def stamp(self) -> int:
        """Time now [ns]."""
        return self.robot.truth.stamp

    @property
    def moves(self) -> bool:
        """Whether the arm moves so that somebody would see it."""
        return bool(np.abs(self.robot.truth.velocity).max() > 0.1)

    @property
    def is_inside(self) -> bool:
        """Whether the bounds given out contain what the arm is and holds."""
        last = self.loop.last
        return last is not None and last.estimate.bounds.contains(self.robot.model.theta)

    @property
    def is_untold(self) -> bool:
        """Whether something has changed that nobody announced, and the arm has not gone on."""
        outcomes = self.loop.outcomes
        if self._answered is None:
            return False
        return len(outcomes) <= self._answered or not outcomes[-1].goes_on

    def _note(self) -> None:
        self._answered = None if self.loop.may_change else len(self.loop.outcomes)

    def pick(self, payload: Payload) -> None:
        """Take something into the empty hand."""
        self._note()
        self.robot.attach(payload)

    def slip(self, way: Array) -> None:
        """Let what is held move in the hand [m], along the axes of the last joint."""
        self._note()
        model, place = self.robot.model, self.robot.model.layout.end_effector
        empty = self._empty.theta[place]
        mass, com, inertia = mass_com_inertia(model.theta[place] - empty)
        theta = model.theta.copy()
        theta[place] = empty + from_mass_com_inertia(mass, com + way, inertia)
        self.robot.become(model.with_parameters(theta))

    def drop(self) -> None:
        """Let go of what is held."""
        self._note()
        self.robot.detach()

    def push(self, torque: Array) -> None:
        """Press against the joints with a constant torque (n,) [N m], until `release`."""
        self._note()
        theta = self.robot.model.theta.copy()
        theta[self.robot.model.layout.joint_entries('beta')] += torque
        self.robot.become(self.robot.model.with_parameters(theta))

    def __post_init__(self) -> None:
        self._empty = self.robot.model


@dataclass(frozen=True, eq=False)
class Setup:
    """What a loop with a simulated arm is put together from."""

    model: RobotModel  # with the shapes of all that may be held
    prior: ParameterEstimate
    gains: Gains
    held: HeldNext  # what may be held after a change
    times: PlannerSettings
    observed: ObservationSettings
    changes: ChangeSettings
    period: float = PERIOD  # [s]
    nominal: str = 'fit'  # theta_e that plans are certified with, or 'middle' of the bounds


def assembled(setup: Setup, robot: SimulatedArm, mission: Mission) -> HandlingArm:
    """Return a loop with an arm; the planner gets the time it asks for."""
    model, prior, clock = setup.model, setup.prior, Clock(0)
    still = np.zeros(model.n)
    curve = Bezier(robot.truth.position, still, still, setup.times.duration)
    horizon = Horizon(curve, still, still)
    problem = Problem(model, prior, horizon, setup.gains, NO_OBSTACLES)
    receding = RecedingHorizonPlanner(problem, mission, clock, setup.times)
    watch = ChangeWatch(model, prior, setup.observed, setup.changes, LooksAtOnce)
    settings = IdentifierSettings(
        setup.observed, SolveSettings(seconds=100.0, nominal=setup.nominal)
    )
    identifier = OnlineIdentifier(model, prior, settings, SolvesAtOnce, watch)
    controller = RobustPassivityController(model, setup.gains, clock)
    loop = ChangingLoop(robot, identifier, receding, controller, setup.held)
    return HandlingArm(robot, loop, model, setup.held, ContactGauge(model), setup.period)


def seen_exactly(
    unmodelled: float, creep: tuple[float, ...] = (0.0,), period: float = PERIOD
) -> ObservationSettings:
    """Return how rows are made: torques to `RATIO` and as promised, the rest exact.

    Below speeds of `creep` [rad/s], by joint or one for all, a simulator need not have Coulomb
    friction.
    """
    return ObservationSettings(
        round(WINDOW * PERIOD / period),
        torque_ratio=(1.01 * RATIO / (1.0 - RATIO),),
        torque_error=(unmodelled,),
        longest_step=1.5 * period,
        torque_signal='held_until',
        position_error=(0.0,),
        velocity_error=creep,
    )


def handling_arm(
    name: str, seed: int, changes: ChangeSettings | None = None, exciting: int = 2
) -> HandlingArm:
    """Return an arm of config/loop with an empty hand, links within their bounds at random.

    The planner gets the time it asks for, so that results do not depend on the machine.
    """
    blocks = read_yaml(share_directory() / 'config' / 'loop' / f'{name}.yaml')
    shared = {**blocks['/**']['ros__parameters'], 'payload': ''}
    planner = blocks['/**/planner']['ros__parameters']
    start = np.array(blocks['/**/builtin_sim_bridge']['ros__parameters']['start'])
    arm = from_mapping(LoopSettings, shared, name).arm()
    library = [thing(mass) for mass in MASSES[name]]
    model = holding_any(arm.model, library, GraspError())
    own = from_mapping(LoopSettings, shared, name).prior.known(arm.model).bounds(arm.model)
    held = within(
        from_library(model, library, GraspError(), own[model.layout.end_effector]), arm.prior
    )
    rng = np.random.default_rng(seed)
    theta, rest = arm.model.theta.copy(), model.layout.rest
    away = rng.uniform(-INSIDE, INSIDE, len(rest)) * arm.prior.bounds.radius[rest]
    theta[rest] = arm.prior.bounds.center[rest] + away
    sensors = SensorSettings(torque_ratio=(RATIO,))
    truth = arm.model.with_parameters(theta)
    robot = SimulatedArm(truth, start, rng, ArmSettings(PERIOD, sensors))
    mission = Mission(
        model,
        np.array(planner['goal']),
        MissionSettings(exciting=exciting, shrinking=0.0, route_seconds=600.0),
    )
    seconds = planner['planner']
    times = PlannerSettings(
        seconds['duration'], seconds['switch'], seconds['budget'], pace=1e4, search=SEARCH
    )
    looked = changes or EXPECTED
    setup = Setup(model, arm.prior, arm.gains, held, times, seen_exactly(0.0), looked)
    return assembled(setup, robot, mission)
