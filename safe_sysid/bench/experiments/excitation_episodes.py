"""Episodes of the closed loop on a simulated Kinova Gen3 with a dumbbell: what was learned."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.identification import PARAMETER_RATIO, TORQUE_RATIO
from safe_sysid.bench.experiments.kinova_dumbbell import PERIOD, SETTINGS, kinova_prior
from safe_sysid.bench.experiments.planning import GAINS, at_rest
from safe_sysid.closed_loop import run
from safe_sysid.identify.momentum_observation import observe
from safe_sysid.identify.online_identifier import IdentifierSettings, OnlineIdentifier
from safe_sysid.identify.solves import SolvesAtOnce
from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointLog, JointMeasurement
from safe_sysid.model.collision.obstacles import NO_OBSTACLES, Obstacles
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.aims import Aim
from safe_sysid.plan.cost.terms import Cost, CostValue
from safe_sysid.plan.path.route import Follow
from safe_sysid.plan.purpose import Ahead, Purpose
from safe_sysid.plan.receding_horizon import PlannerSettings, RecedingHorizonPlanner
from safe_sysid.plan.result import SearchFinding
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.simulate.sensors import SensorSettings
from safe_sysid.simulate.simulated_arm import ArmSettings, SimulatedArm
from safe_sysid.track.controller import BrakingLaw
from safe_sysid.track.robust_passivity import RobustPassivityController
from safe_sysid.trajectory.bezier import Bezier
from safe_sysid.trajectory.plan import Plan

MOVES = 0.1  # [rad] that some joint of a plan that moves goes at least
# A5: the torque of a sample acted during the period that ends with it
OBSERVED = replace(SETTINGS, torque_signal='held_until')
# Upright, elbow and wrist nearly straight: standing still can be certified with Table I's bounds.
UPRIGHT = np.array([-0.48, 0.05, -0.12, 0.17, 3.12, 0.13, -1.39])


@dataclass(frozen=True, eq=False)
class EpisodeArm:
    """The arm as it is described, holding a dumbbell, and as it is."""

    nominal: RobotModel
    truth: RobotModel

    @staticmethod
    def holding(dumbbell: str, rng: np.random.Generator) -> EpisodeArm:
        """Return true link parameters anywhere in their bounds."""
        nominal = RobotModel.named('kinova_gen3').with_payload(read_payload(dumbbell))
        theta, rest = nominal.theta.copy(), nominal.layout.rest
        theta[rest] *= 1.0 + 0.999 * PARAMETER_RATIO * rng.uniform(-1.0, 1.0, size=len(rest))
        return EpisodeArm(nominal, nominal.with_parameters(theta))


@dataclass(frozen=True, eq=False)
class Sample:
    """What passed the controller in one period."""

    measurement: JointMeasurement
    plan: Plan
    estimate: ParameterEstimate
    torque: Array


class Watched:
    """A controller, and everything that passes it."""

    def __init__(self, controller: BrakingLaw) -> None:
        self._controller = controller
        self.samples: list[Sample] = []

    def step(
        self, measurement: JointMeasurement, plan: Plan, estimate: ParameterEstimate
    ) -> Array:
        """Torque of the controller."""
        torque = self._controller.step(measurement, plan, estimate)
        self.samples.append(Sample(measurement, plan, estimate, torque))
        return torque

    @property
    def ahead(self) -> float:
        """As the controller [s]."""
        return self._controller.ahead

    @property
    def most_energy(self) -> float:
        """As the controller [J]."""
        return self._controller.most_energy

    def note(
        self, measurement: JointMeasurement, plan: Plan | None, estimate: ParameterEstimate
    ) -> None:
        """Pass a sample on."""
        self._controller.note(measurement, plan, estimate)

    def brake(
        self, measurement: JointMeasurement, plan: Plan, estimate: ParameterEstimate
    ) -> Array:
        """Torque of the controller after a fault, which is not kept."""
        return self._controller.brake(measurement, plan, estimate)


@dataclass(frozen=True, eq=False)
class Episode:
    """What passed the controller, and what was known at the end."""

    arm: EpisodeArm
    samples: list[Sample]
    estimate: ParameterEstimate

    @property
    def condition(self) -> float:
        """Condition number of Y, SI units, since the first plan that moves by more than MOVES."""
        began = [i for i, s in enumerate(self.samples) if np.abs(s.plan.k).max() > MOVES]
        moving = [s.measurement for s in self.samples[began[0] :]] if began else []
        if not moving:
            return float('inf')
        log = JointLog(
            np.array([m.stamp for m in moving]),
            *(
                np.array([getattr(m, x) for m in moving])
                for x in ('position', 'velocity', 'torque')
            ),
        )
        rows = observe(self.arm.nominal, self.samples[0].estimate.bounds, OBSERVED, log)
        return float(np.linalg.cond(rows.Y_e))

    @property
    def half_widths(self) -> Array:
        """Of [theta_e] at the end."""
        return self.estimate.end_effector_bounds.radius

    @property
    def contains_truth(self) -> bool:
        """Whether the true theta was in its bounds at all times."""
        estimates = {id(s.estimate): s.estimate for s in self.samples}
        every = (*estimates.values(), self.estimate)
        return all(estimate.bounds.contains(self.arm.truth.theta) for estimate in every)

    def widths_over_time(self) -> tuple[Array, Array]:
        """Return times [s] and half widths (., 10) whenever they changed."""
        changes = [self.samples[0]]
        for sample in self.samples:
            if sample.estimate is not changes[-1].estimate:
                changes.append(sample)
        times = [s.measurement.stamp * 1e-9 for s in changes]
        return np.array(times), np.array([s.estimate.end_effector_bounds.radius for s in changes])


@dataclass(frozen=True, eq=False)
class EpisodeTrial:
    """What an episode is made of."""

    arm: EpisodeArm
    purpose: Purpose
    seconds: float
    settings: PlannerSettings
    obstacles: Obstacles = NO_OBSTACLES
    start: Array = field(default_factory=lambda: UPRIGHT)  # (n,) [rad]


def episode(rng: np.random.Generator, trial: EpisodeTrial) -> Episode:
    """Begin at rest with the bounds of Table I, and follow what the planner says."""
    arm, clock = trial.arm, Clock(0)
    prior = kinova_prior(arm.nominal)
    identifier = OnlineIdentifier(arm.nominal, prior, IdentifierSettings(OBSERVED), SolvesAtOnce)
    problem = at_rest(arm.nominal, prior, trial.start, trial.obstacles)
    planner = RecedingHorizonPlanner(problem, trial.purpose, clock, trial.settings)
    planner.warm_up(trial.start, prior)
    controller = Watched(RobustPassivityController(arm.nominal, GAINS, clock))
    sensors = SensorSettings(torque_ratio=(TORQUE_RATIO,))
    robot = SimulatedArm(arm.truth, trial.start, rng, ArmSettings(PERIOD, sensors))
    run(robot, identifier, planner, controller, round(trial.seconds / PERIOD))
    return Episode(arm, controller.samples, identifier.finish())


class RandomPlans:
    """Purpose: any certified plan that moves, a number of times."""

    def __init__(self, plans: int) -> None:
        self._left = plans

    def due(self, ahead: Ahead) -> Aim | None:
        """Anything, while plans are left."""
        del ahead
        return Anything() if self._left else None

    def planned(self, aim: Aim | Follow, plan: Plan, estimate: ParameterEstimate) -> None:
        """Count."""
        del aim, plan, estimate
        self._left -= 1

    def traversed(self, finding: SearchFinding) -> None:
        """Follow no path."""

    def wish(self, end: Array) -> None:
        """Nobody asks for anything else."""

    def rehearsal(self, ahead: Ahead) -> Iterator[Aim]:
        """Of anything."""
        del ahead
        yield Anything()


@dataclass(frozen=True, eq=False)
class Anything:
    """Aim of all plans that move."""

    def cost(self, horizon: Horizon) -> Cost:
        """Less for every plan that moves."""
        return Moves(horizon)

    def suggestions(self, curve: Bezier) -> Array:
        """None."""
        return np.zeros((0, len(curve.q0)))


@dataclass(frozen=True, eq=False)
class Moves:
    """Cost 0 of plans that lead more than MOVES away in some joint, 1 of others."""

    horizon: Horizon

    def evaluate(self, x: npt.ArrayLike) -> CostValue:
        """Cost, and no slope."""
        return CostValue(self.value(x), np.zeros(self.horizon.n))

    def value(self, x: npt.ArrayLike) -> float:
        """Cost alone."""
        k = self.horizon.k_center + self.horizon.k_range * np.asarray(x)
        return float(np.abs(k).max() <= MOVES)
