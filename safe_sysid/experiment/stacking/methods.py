"""The eleven methods of Table II: which law, what it knows, and what happens before the task.

Gains of the baselines are not published; one rule gives those here. A position error of 1 rad is
answered by 450 N m where a law has such a gain, which is the size that the first failures of
gravity PID in the published table imply; rates of adaptation are the tenth of the defaults, above
which noise of velocities makes the torque jump. They are the same for all loads and tasks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.kinova_dumbbell import kinova_prior
from safe_sysid.experiment.stacking.course import GAINS
from safe_sysid.experiment.stacking.learning import Phase, arm_of, learned, robot_of
from safe_sysid.experiment.stacking.scene import ROBOT
from safe_sysid.experiment.stacking.taught import Taught
from safe_sysid.measure.clock import Clock
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval
from safe_sysid.track.baselines.adaptation import Adaptation, rates_of_end_effector, unbounded
from safe_sysid.track.baselines.adaptive import AdaptiveController, AdaptiveSettings
from safe_sysid.track.baselines.adaptive_robust import (
    AdaptiveRobustController,
    AdaptiveRobustSettings,
)
from safe_sysid.track.baselines.gravity_pid import GravityPidController, GravityPidSettings
from safe_sysid.track.controller import Controller
from safe_sysid.track.robust_passivity import RobustPassivityController

PID = GravityPidSettings(P=(450.0,), D=(45.0,))
ADAPTIVE = AdaptiveSettings(K_r=(5.0,), K_d=(90.0,))
ADAPTIVE_ROBUST = AdaptiveRobustSettings(K_r=(5.0,), K_d=(90.0,))
EXCITATIONS = ('exciting', 'random', 'fourier')
SLOWER = 0.1  # times the default rates of adaptation


@dataclass(frozen=True)
class Method:
    """A row of Table II."""

    law: str  # robust | adaptive | adaptive_robust | gravity_pid
    knows: str  # learned | nothing | table_1 | adapts
    excitation: str  # none | exciting | random | fourier
    width: float = 1.0  # times that of the bounds learned

    @property
    def is_certified(self) -> bool:
        """Whether its bound holds where its assumptions do: it has bounds, and they are true."""
        return self.law == 'robust' and self.knows in ('learned', 'table_1')


METHODS = {
    'ours': Method('robust', 'learned', 'exciting'),
    'wrong': Method('robust', 'nothing', 'none'),
    'conservative': Method('robust', 'table_1', 'none'),
    'random': Method('robust', 'learned', 'random'),
    'adap-1': Method('adaptive', 'adapts', 'none'),
    'adap-1-excit': Method('adaptive', 'adapts', 'exciting'),
    'adap-2': Method('adaptive_robust', 'adapts', 'none'),
    'adap-2-excit': Method('adaptive_robust', 'adapts', 'exciting'),
    'grav-pid': Method('gravity_pid', 'nothing', 'none'),
    'grav-pid-ours': Method('gravity_pid', 'learned', 'exciting'),
    'grav-pid-excit': Method('gravity_pid', 'learned', 'fourier'),
}

OWN = {'ours-wide': Method('robust', 'learned', 'exciting', width=3.0)}  # not in the paper
EVERY = METHODS | OWN


def estimate_of(method: Method, load: str, seed: int, taught: Taught | None) -> ParameterEstimate:
    """Return what the law takes for theta and its bounds."""
    nominal = arm_of(load, seed).nominal
    if method.knows == 'table_1':
        return kinova_prior(nominal)
    if method.knows == 'learned':
        assert taught is not None
        return _widened(taught.estimate, method.width)
    theta = empty_theta()
    return ParameterEstimate(nominal.layout, theta, Interval.of(theta))


def _widened(estimate: ParameterEstimate, times: float) -> ParameterEstimate:
    """Return the same with bounds that reach as many times as far from theta."""
    theta, bounds = estimate.theta, estimate.bounds
    if times == 1.0:
        return estimate
    lower, upper = theta + times * (bounds.lower - theta), theta + times * (bounds.upper - theta)
    return replace(estimate, bounds=Interval(lower, upper))


def empty_theta() -> Array:
    """Return theta of the arm with its gripper, holding nothing."""
    return RobotModel.named(ROBOT).theta


def controller_of(
    method: Method, nominal: RobotModel, clock: Clock, taught: Taught | None
) -> Controller:
    """Return the law of a method, as it is when the task begins."""
    if method.law == 'robust':
        return RobustPassivityController(nominal, GAINS, clock)
    if method.law == 'gravity_pid':
        return GravityPidController(nominal, PID, clock)
    theta = empty_theta() if taught is None else taught.adapted[method.law]
    return _adaptive(method.law, nominal, clock, theta)[0]


def adapted(law: str, phase: Phase) -> Array:
    """Return theta_hat of an adaptive law after the motions of a phase."""
    taught = learned(phase)
    assert taught.episode is not None
    controller, adaptation = _adaptive(law, taught.arm.nominal, Clock(0), empty_theta())
    robot = robot_of(phase, taught.arm)
    for sample in taught.episode.samples:
        robot.apply(controller.step(robot.measure(), sample.plan, taught.estimate))
    theta_hat: Array = adaptation.theta.copy()
    return theta_hat


def _adaptive(
    law: str, nominal: RobotModel, clock: Clock, theta: Array
) -> tuple[Controller, Adaptation]:
    rates = SLOWER * rates_of_end_effector(nominal.layout)
    adaptation = Adaptation(rates, np.asarray(theta), unbounded(theta))
    if law == 'adaptive':
        return AdaptiveController(nominal, ADAPTIVE, clock, adaptation), adaptation
    return AdaptiveRobustController(nominal, ADAPTIVE_ROBUST, clock, adaptation), adaptation
