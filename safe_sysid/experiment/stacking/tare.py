"""What the arm knows that has moved its empty gripper before: a tare, and a statistical interval.

The empty arm follows the plans that taught the loaded one. Rows of both bind the same links, so
that the guaranteed bounds of the load get narrower; the difference of both recordings has a
statistical interval too, which holds with its confidence and is not guaranteed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.excitation_episodes import OBSERVED, UPRIGHT
from safe_sysid.bench.experiments.identification import TORQUE_RATIO
from safe_sysid.bench.experiments.kinova_dumbbell import PERIOD, kinova_prior
from safe_sysid.calibrate.even_log import EvenLog
from safe_sysid.experiment.stacking.learning import SOLVE, Learned, Phase
from safe_sysid.experiment.stacking.scene import ROBOT
from safe_sysid.identify.difference.against_empty import DifferenceProblem, payload_difference
from safe_sysid.identify.online_identifier import IdentifierSettings, OnlineIdentifier
from safe_sysid.identify.solves import SolvesAtOnce
from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval
from safe_sysid.simulate.sensors import SensorSettings
from safe_sysid.simulate.simulated_arm import ArmSettings, SimulatedArm
from safe_sysid.track.baselines.computed_torque import (
    ComputedTorqueController,
    ComputedTorqueSettings,
)

ONCE = 1e4  # [s] between solves: there is one, at the end
HEAVIEST, REACH = 4.0, 0.5  # [kg], [m] of a load at most
CONFIDENCE, INERTIA = 0.95, 0.1  # [kg m^2] of a load at most, for statistics


@dataclass(frozen=True, eq=False)
class Compared:
    """What the empty arm adds to what the loaded one was taught."""

    guaranteed: ParameterEstimate
    statistical: Interval | None  # of the end effector, (10,)
    withheld: str  # why there is no statistical interval


def compared(phase: Phase, taught: Learned) -> Compared:
    """Let the empty arm follow the same plans, and identify the load from both."""
    assert taught.episode is not None
    loaded = [sample.measurement for sample in taught.episode.samples]
    empty = _empty_samples(phase, taught)
    statistical, withheld = _difference(empty, loaded)
    return Compared(_with_tare(taught, empty, loaded), statistical, withheld)


def _empty_samples(phase: Phase, taught: Learned) -> list[JointMeasurement]:
    """Follow the plans with an empty gripper."""
    assert taught.episode is not None
    model, truth = RobotModel.named(ROBOT), taught.arm.truth
    theta: Array = truth.theta.copy()
    theta[model.layout.end_effector] = model.theta[model.layout.end_effector]
    sensors = SensorSettings(torque_ratio=(TORQUE_RATIO,))
    rng = np.random.default_rng([phase.seed, 5])
    arm = model.with_parameters(theta)
    robot = SimulatedArm(arm, UPRIGHT, rng, ArmSettings(PERIOD, sensors))
    law = ComputedTorqueController(model, ComputedTorqueSettings(), Clock(0))
    known = ParameterEstimate(model.layout, model.theta, Interval.of(model.theta))
    samples = []
    for sample in taught.episode.samples:
        samples.append(robot.measure())
        robot.apply(law.step(samples[-1], sample.plan, known))
    return samples


def _with_tare(
    taught: Learned, empty: Sequence[JointMeasurement], loaded: Sequence[JointMeasurement]
) -> ParameterEstimate:
    """Bounds from rows of both."""
    nominal = taught.arm.nominal
    settings = IdentifierSettings(OBSERVED, SOLVE, ONCE)
    identifier = OnlineIdentifier(nominal, kinova_prior(nominal), settings, SolvesAtOnce)
    for measurement in empty:
        identifier.step(measurement)
    identifier.new_payload()
    for measurement in loaded:
        identifier.step(measurement)
    return identifier.finish()


def _difference(
    empty: Sequence[JointMeasurement], loaded: Sequence[JointMeasurement]
) -> tuple[Interval | None, str]:
    """Statistical interval of the end effector with its load, and why there is none."""
    model = RobotModel.named(ROBOT)
    problem = DifferenceProblem(
        model=model,
        loaded=[_log(loaded)],
        empty=[[_log(empty)]],
        frame=('last joint', np.eye(10), 0.0),
        payload_mass=HEAVIEST,
        reach=REACH,
        gain_error=np.full(model.n, TORQUE_RATIO),
        inertia_prior=INERTIA,
        confidence=CONFIDENCE,
        unit_is_stated=True,
    )
    found = payload_difference(problem)
    bounds = found.statistical_bounds
    if bounds is None:
        return None, str(found.withheld)
    return bounds + model.theta[model.layout.end_effector], ''


def _log(samples: Sequence[JointMeasurement]) -> EvenLog:
    q, tau = (np.array([getattr(s, x) for s in samples]) for x in ('position', 'torque'))
    return EvenLog(1.0 / PERIOD, q, tau)


def estimate_with(taught: ParameterEstimate, statistical: Interval) -> ParameterEstimate:
    """Return an estimate with another interval of the end effector, its middle the nominal."""
    place = taught.layout.end_effector
    lower, upper, theta = (
        taught.bounds.lower.copy(),
        taught.bounds.upper.copy(),
        taught.theta.copy(),
    )
    lower[place], upper[place] = statistical.lower, statistical.upper
    theta[place] = statistical.center
    return replace(taught, theta=theta, bounds=Interval(lower, upper))
