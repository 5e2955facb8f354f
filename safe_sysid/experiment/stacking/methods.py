"""The eleven methods of Table II: which law, what it knows, and what happens before the task.

Gains of the baselines are not published; one rule gives those here. A position error of 1 rad is
answered by 450 N m where a law has such a gain, which is the size that the first failures of
gravity PID in the published table imply; rates of adaptation are the tenth of the defaults, above
which noise of velocities makes the torque jump. They are the same for all loads and tasks. What
other gains would have made of them is tried, too (`TUNINGS`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.kinova_dumbbell import kinova_prior
from safe_sysid.bench.experiments.planning import GAINS as PUBLISHED
from safe_sysid.experiment.stacking.course import DRAWN, GAINS
from safe_sysid.experiment.stacking.learning import Phase, arm_of, learned, robot_of
from safe_sysid.experiment.stacking.scene import ROBOT
from safe_sysid.experiment.stacking.taught import Taught
from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval
from safe_sysid.track.baselines.adaptation import Adaptation, rates_of_end_effector, unbounded
from safe_sysid.track.baselines.adaptive import AdaptiveController, AdaptiveSettings
from safe_sysid.track.baselines.adaptive_robust import (
    AdaptiveRobustController,
    AdaptiveRobustSettings,
)
from safe_sysid.track.baselines.computed_torque import (
    ComputedTorqueController,
    ComputedTorqueSettings,
)
from safe_sysid.track.baselines.gravity_pid import GravityPidController, GravityPidSettings
from safe_sysid.track.baselines.published_law import PublishedController
from safe_sysid.track.controller import Controller
from safe_sysid.track.robust_passivity import RobustPassivityController
from safe_sysid.trajectory.plan import Plan

PID = GravityPidSettings(P=(450.0,), D=(45.0,))
ADAPTIVE = AdaptiveSettings(K_r=(5.0,), K_d=(90.0,))
ADAPTIVE_ROBUST = AdaptiveRobustSettings(K_r=(5.0,), K_d=(90.0,))
EXCITATIONS = ('exciting', 'random', 'fourier')
LAWS = (
    'robust',  # ours; where velocities are wrong it reads positions only, if that is certified
    'robust_velocities',  # ours, which takes velocities as they are measured
    *('published', 'adaptive', 'adaptive_robust', 'gravity_pid', 'computed_torque'),
)
CERTAIN = ('learned', 'tare', 'table_1')  # knowledge with bounds that contain the truth
CONFIDENT = 'bounds hold with a confidence only'
COMPUTED = ComputedTorqueSettings()
SLOWER = 0.1  # times the default rates of adaptation


@dataclass(frozen=True)
class Method:
    """A row of Table II."""

    law: str  # of LAWS
    knows: str  # learned | tare | statistical | nothing | table_1 | adapts
    excitation: str  # none | exciting | random | fourier
    width: float = 1.0  # times that of the bounds learned

    @property
    def is_certified(self) -> bool:
        """Whether its motion can be certified: it has our law, and bounds."""
        return self.law in ('robust', 'robust_velocities') and self.knows != 'nothing'

    @property
    def false(self) -> str:
        """What certificates assume and this method does not have; empty: nothing."""
        return '' if self.knows in CERTAIN else CONFIDENT


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

# Not in the paper: the law as it is published, and what else is known, or read.
OWN = {
    **{
        f'{name}-published': replace(METHODS[name], law='published')
        for name in ('ours', 'wrong', 'conservative', 'random')
    },
    'ours-velocities': Method('robust_velocities', 'learned', 'exciting'),
    'ours-wide': Method('robust', 'learned', 'exciting', width=3.0),
    'ours-tare': Method('robust', 'tare', 'exciting'),
    'ours-stat': Method('robust', 'statistical', 'exciting'),
    'computed-torque-ours': Method('computed_torque', 'learned', 'exciting'),
}
EVERY = METHODS | OWN


@dataclass(frozen=True)
class Tuning:
    """How far gains of a baseline are from those of the rule."""

    feedback: float = 1.0  # times those that answer errors
    rates: float = 1.0  # times those of adaptation, during the task


RULE = Tuning()
OF_ADAPTIVE = ((1.0, 0.2), (1.0, 5.0), (2.0, 1.0), (2.0, 5.0), (0.5, 5.0))
OF_PID = ((0.5, 1.0), (2.0, 1.0), (4.0, 1.0), (8.0, 1.0))
TUNINGS = {
    name: tuple(Tuning(*each) for each in (OF_PID if 'pid' in name else OF_ADAPTIVE))
    for name in ('adap-1', 'adap-1-excit', 'adap-2', 'adap-2-excit', 'grav-pid', 'grav-pid-ours')
}


def estimate_of(method: Method, load: str, seed: int, taught: Taught | None) -> ParameterEstimate:
    """Return what the law takes for theta and its bounds."""
    nominal = arm_of(load, seed).nominal
    if method.knows == 'table_1':
        return kinova_prior(nominal)
    if method.knows == 'learned':
        assert taught is not None
        return _widened(taught.estimate, method.width)
    if method.knows == 'tare':
        assert taught is not None and taught.with_tare is not None
        return taught.with_tare
    if method.knows == 'statistical':
        assert taught is not None
        return taught.estimate if taught.statistical is None else taught.statistical
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
    method: Method,
    nominal: RobotModel,
    clock: Clock,
    taught: Taught | None,
    tuning: Tuning = RULE,
) -> Controller:
    """Return the law of a method, as it is when the task begins; velocities count as exact."""
    if method.law in ('robust', 'robust_velocities'):
        return RobustPassivityController(nominal, GAINS, clock)
    if method.law == 'published':
        return PublishedController(nominal, PUBLISHED, clock)
    if method.law == 'computed_torque':
        return ComputedTorqueController(nominal, COMPUTED, clock)
    if method.law == 'gravity_pid':
        more = (_times(tuning.feedback, each) for each in (PID.P, PID.D))
        pid = replace(PID, **dict(zip('PD', more, strict=True)))
        return GravityPidController(nominal, pid, clock)
    theta = empty_theta() if taught is None else taught.adapted[method.law]
    return _adaptive(method.law, nominal, clock, theta, tuning)


class Adapting:
    """An adaptive law, and what it takes for the mass of the end effector on the way."""

    def __init__(self, law: Controller, adaptation: Adaptation, mass: int) -> None:
        self._law, self._adaptation, self._mass = law, adaptation, mass
        self._count = 0
        self.way: list[tuple[float, float]] = []  # [s], [kg]

    def step(
        self, measurement: JointMeasurement, plan: Plan, estimate: ParameterEstimate
    ) -> Array:
        """Torque of the law."""
        if self._count % DRAWN == 0:
            kilograms = round(float(self._adaptation.theta[self._mass]), 4)
            self.way.append((1e-9 * measurement.stamp, kilograms))
        self._count += 1
        return self._law.step(measurement, plan, estimate)

    @property
    def theta(self) -> Array:
        """What it has adapted so far."""
        theta_hat: Array = self._adaptation.theta.copy()
        return theta_hat


def adapted(law: str, phase: Phase) -> Adapting:
    """Let an adaptive law follow the motions of a phase."""
    taught = learned(phase)
    assert taught.episode is not None
    controller = _adaptive(law, taught.arm.nominal, Clock(0), empty_theta())
    robot = robot_of(phase, taught.arm)
    for sample in taught.episode.samples:
        robot.apply(controller.step(robot.measure(), sample.plan, taught.estimate))
    return controller


def _adaptive(
    law: str, nominal: RobotModel, clock: Clock, theta: Array, tuning: Tuning = RULE
) -> Adapting:
    rates = tuning.rates * SLOWER * rates_of_end_effector(nominal.layout)
    adaptation = Adaptation(rates, np.asarray(theta), unbounded(theta))
    K_d = _times(tuning.feedback, ADAPTIVE.K_d)
    controller: Controller
    if law == 'adaptive':
        controller = AdaptiveController(nominal, replace(ADAPTIVE, K_d=K_d), clock, adaptation)
    else:
        robust = replace(ADAPTIVE_ROBUST, K_d=K_d)
        controller = AdaptiveRobustController(nominal, robust, clock, adaptation)
    return Adapting(controller, adaptation, nominal.layout.end_effector.start)


def _times(factor: float, gains: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(factor * each for each in gains)
