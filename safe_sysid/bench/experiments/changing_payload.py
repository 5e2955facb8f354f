"""Arms in motion whose payload changes: what they measure, and whether the change is noticed."""

from __future__ import annotations

from collections.abc import Iterator
import copy
from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.identification import PARAMETER_RATIO, TORQUE_RATIO
from safe_sysid.identify.change.change_test import Change, ChangeSettings, ChangeTest
from safe_sysid.identify.momentum_observation import MomentumObserver, ObservationSettings
from safe_sysid.identify.observation import Observation
from safe_sysid.measure.joint_log import JointLog
from safe_sysid.model.dynamics.forward_kinematics import tip_jacobian
from safe_sysid.model.dynamics.tip_regressor import tip_regressor
from safe_sysid.model.inertia import from_mass_com_inertia, mass_com_inertia, moved
from safe_sysid.model.parameters import ParameterEstimate, ratio_bounds
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval
from safe_sysid.simulate.excited_motion import SimulatedMotion, fourier_motion, measured_torque

PERIOD = 0.001  # [s]
WINDOW = 50  # samples
MEMORY = 0.05  # [s] that unmodelled torque lasts
ROWS = ObservationSettings(
    window=WINDOW, torque_ratio=(TORQUE_RATIO,), position_error=(0.0,), velocity_error=(0.0,)
)
HEAVIEST, WIDEST = 5.0, 0.3  # [kg, m] of what may be held
DENSE = 0.04  # [m] radius of gyration of what is picked


@dataclass(frozen=True)
class Event:
    """A change of so much: mass [kg] picked, way [m] slipped or force [N] of a touch."""

    kind: str
    size: float


@dataclass(frozen=True, eq=False)
class Motion:
    """A motion of an arm that holds something, and everything that its torques consist of."""

    truth: RobotModel
    prior: ParameterEstimate
    motion: SimulatedMotion
    torque: Array  # (N, n) [N m] without a change, as drives give it
    errors: Array  # (N, n) of sensors, in shares of the promise
    way: Array  # (3,) direction in which something slips or pushes

    def log(self, first: int, event: Event | None = None, last: int | None = None) -> JointLog:
        """Return what is measured from a sample on, after which the event happens at once."""
        part = slice(first, last)
        torque = self.torque[part].copy()
        if event is not None:
            torque[1:] += self._added(event, part)[1:]
        measured = torque / (1.0 + TORQUE_RATIO * self.errors[part])
        motion = self.motion
        return JointLog(motion.stamp[part], motion.q[part], motion.qd[part], measured)

    def _added(self, event: Event, part: slice) -> Array:
        """Torque that the event adds, (N, n)."""
        motion = self.motion
        if event.kind == 'touched':
            force = event.size * self.way
            jacobians = [tip_jacobian(self.truth, q)[:3] for q in motion.q[part]]
            pushed: Array = -np.array(jacobians).transpose(0, 2, 1) @ force
            return pushed
        states = (x[part] for x in (motion.q, motion.qd, motion.qdd))
        added: Array = tip_regressor(self.truth, *states) @ self._change(event)
        return added

    def _change(self, event: Event) -> Array:
        body = self.truth.theta[self.truth.layout.end_effector]
        if event.kind == 'slipped':
            load = body - RobotModel.named(self.truth.name).own_end_effector
            return np.asarray(moved(load, np.eye(3), event.size * self.way) - load)
        _, com, _ = mass_com_inertia(body)
        own = abs(event.size) * DENSE**2 * np.eye(3)
        change = from_mass_com_inertia(np.array(abs(event.size)), com, own)
        return np.asarray(np.sign(event.size) * change)


def random_motion(
    rng: np.random.Generator,
    robot: str,
    seconds: float,
    unmodelled: float,
    load: Array | None = None,
) -> Motion:
    """Return a motion of an arm within 5 % of its description, with this load or 0.5 to 3 kg."""
    nominal = RobotModel.named(robot)
    theta = nominal.theta.copy()
    rest = nominal.layout.rest
    theta[rest] *= 1.0 + 0.999 * PARAMETER_RATIO * rng.uniform(-1.0, 1.0, len(rest))
    theta[nominal.layout.end_effector] += _random_load(rng, nominal) if load is None else load
    truth = nominal.with_parameters(theta)
    motion = fourier_motion(rng, truth.n, seconds, PERIOD)
    torque = measured_torque(truth, motion)
    torque += coloured(rng, torque.shape, unmodelled)
    lasting = np.broadcast_to(rng.uniform(-1.0, 1.0, truth.n), torque.shape)
    errors = 0.5 * lasting + 0.5 * rng.uniform(-1.0, 1.0, torque.shape)
    way = rng.normal(size=3)
    return Motion(truth, prior(nominal), motion, torque, errors, way / np.linalg.norm(way))


def _random_load(rng: np.random.Generator, model: RobotModel) -> Array:
    mass = rng.uniform(0.5, 3.0)
    com = np.append(rng.uniform(-0.04, 0.04, 2), rng.uniform(0.05, 0.2) * _outward(model))
    return from_mass_com_inertia(np.array(mass), com, mass * DENSE**2 * np.eye(3))


def _outward(model: RobotModel) -> float:
    """Side of the last joint on which its body is."""
    body = model.theta[model.layout.end_effector]
    return float(np.sign(body[3])) or 1.0


def prior(model: RobotModel) -> ParameterEstimate:
    """5 % on all entries of theta_r; any load up to some kilogrammes."""
    bounds = ratio_bounds(model.theta, PARAMETER_RATIO)
    lower, upper, place = bounds.lower.copy(), bounds.upper.copy(), model.layout.end_effector
    first, second = HEAVIEST * WIDEST, HEAVIEST * WIDEST**2
    lower[place] = [0.0, *(-first,) * 3, *(-second,) * 6]
    upper[place] = [HEAVIEST, *(first,) * 3, *(second,) * 6]
    box = Interval(lower, upper)
    theta = model.theta.copy()
    theta[place] = np.clip(theta[place], lower[place], upper[place])
    return ParameterEstimate(model.layout, theta, box)


def coloured(rng: np.random.Generator, shape: tuple[int, ...], deviation: float) -> Array:
    """Noise of some deviation that forgets itself over `MEMORY`."""
    keep = np.exp(-PERIOD / MEMORY)
    fresh = rng.normal(size=shape) * np.sqrt(1.0 - keep**2)
    noise = np.empty(shape)
    noise[0] = rng.normal(size=shape[1:])
    for k in range(1, shape[0]):
        noise[k] = keep * noise[k - 1] + fresh[k]
    return deviation * noise


def windows_of(motion: Motion, log: JointLog) -> Iterator[tuple[Observation, Array]]:
    """Rows of every window, with times since the motion began, and the pose in its middle."""
    observer = MomentumObserver(motion.truth, motion.prior.bounds, ROWS)
    since = (int(log.stamp[0]) - int(motion.motion.stamp[0])) * 1e-9
    for k in range(len(log)):
        rows = observer.add(log[k])
        if rows is not None:
            later = Observation(
                *(rows.Y_e, rows.Y_r, rows.b, rows.delta, rows.joint),
                rows.start + since,
                rows.end + since,
            )
            yield later, log.position[k - WINDOW // 2]


def begun(motion: Motion, settings: ChangeSettings) -> ChangeTest:
    """Return a test that has seen nothing."""
    return ChangeTest(RobotModel.named(motion.truth.name), motion.prior, WINDOW, settings)


def noticed(test: ChangeTest, motion: Motion, first: int, event: Event | None) -> Change | None:
    """Return what a copy of a test notices from a sample on."""
    test = copy.deepcopy(test)
    for rows, position in windows_of(motion, motion.log(first, event)):
        change = test.add(rows, position)
        if change is not None:
            return change
    return None
