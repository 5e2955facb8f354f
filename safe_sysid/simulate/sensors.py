"""What an arm reports about its state: errors within promised bounds, late or lost samples."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.config import Natural, NotNegative, OneOf, Settings, Share
from safe_sysid.errors import ConfigError
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.compiled import jit

PerJoint = tuple[NotNegative, ...]  # one entry for all joints, or one each
Kind = Annotated[str, OneOf(('random', 'constant'))]
# Largest share of a promise that is used, so that rounding cannot break it.
NEARLY = 1.0 - 2.0**-40


@dataclass(frozen=True)
class SensorSettings(Settings):
    """How wrong and how late a measurement is; the errors promised hold for every sample."""

    position_resolution: PerJoint = (0.0,)  # [rad], 0 is exact
    velocity_resolution: PerJoint = (0.0,)  # [rad/s], 0 is exact
    velocity_noise: PerJoint = (0.0,)  # [rad/s], before rounding to the resolution
    torque_ratio: tuple[Share, ...] = (0.0,)  # error of a torque as a share of its measured value
    torque_error: PerJoint = (0.0,)  # [N m], error on top of the ratio
    torque_kind: Kind = 'random'  # anew every sample; constant: all of the bound, always
    delay: Natural = 0  # samples
    loss: Share = 0.0  # probability that a sample never arrives

    @property
    def position_error(self) -> PerJoint:
        """Largest error of a position [rad]."""
        return tuple(0.5 * x for x in self.position_resolution)

    @property
    def velocity_error(self) -> PerJoint:
        """Largest error of a velocity [rad/s]."""
        rounding = np.array(self.velocity_resolution) * 0.5
        return tuple((rounding + np.array(self.velocity_noise)).tolist())


def encoders_of(model: RobotModel) -> SensorSettings:
    """Positions as coarse as the encoders of an arm are, everything else exact."""
    return SensorSettings(tuple(model.sensors.encoder_resolution.tolist()))


class Sensors:
    """Turns the truth of every control period into what has arrived by then.

    The first sample is always there; a later one arrives `delay` periods after it was taken, with
    the stamp of when it was taken. Until then, and when it is lost, the one before is still the
    latest.
    """

    def __init__(
        self, settings: SensorSettings, first: JointMeasurement, rng: np.random.Generator
    ) -> None:
        n = len(first.position)
        self._settings = settings
        self._rng = rng
        self._bounds = np.array(
            [
                per_joint('position_resolution', settings.position_resolution, n),
                per_joint('velocity_resolution', settings.velocity_resolution, n),
                per_joint('velocity_noise', settings.velocity_noise, n),
                per_joint('torque_ratio', settings.torque_ratio, n),
                per_joint('torque_error', settings.torque_error, n),
            ]
        )
        self._constant = rng.choice([-1.0, 1.0], size=(2, n))
        self._under_way: deque[JointMeasurement | None] = deque([None] * settings.delay)
        self._latest = self._with_errors(first)

    @property
    def latest(self) -> JointMeasurement:
        """The newest sample that has arrived."""
        return self._latest

    def take(self, truth: JointMeasurement) -> None:
        """Take one sample, and let one arrive."""
        sample = self._with_errors(truth)
        is_lost = self._rng.random() < self._settings.loss
        self._under_way.append(None if is_lost else sample)
        arrived = self._under_way.popleft()
        if arrived is not None:
            self._latest = arrived

    def _with_errors(self, truth: JointMeasurement) -> JointMeasurement:
        share = self._rng.uniform(-1.0, 1.0, size=(3, len(truth.position)))
        if self._settings.torque_kind == 'constant':
            share[1:] = self._constant
        q, qd, tau = (x.copy() for x in (truth.position, truth.velocity, truth.torque))
        _disturb(q, qd, tau, share * NEARLY, self._bounds)
        return JointMeasurement(truth.stamp, q, qd, tau)


def per_joint(name: str, values: PerJoint, n: int) -> Array:
    """Array of n entries from one entry for all joints, or one each."""
    if len(values) not in (1, n):
        raise ConfigError(f'{name} has {len(values)} entries; 1 or {n} (one per joint) are needed')
    array: Array = np.broadcast_to(np.array(values, dtype=float), (n,))
    return array


@jit
def _disturb(q: Array, qd: Array, tau: Array, share: Array, bounds: Array) -> None:
    """Put errors on one sample; `share` has rows velocity noise, torque ratio, torque error."""
    for j in range(len(q)):
        q[j] = _kept(q[j], _rounded(q[j], bounds[0, j]), 0.5 * bounds[0, j])
        noisy = _rounded(qd[j] + bounds[2, j] * share[0, j], bounds[1, j])
        qd[j] = _kept(qd[j], noisy, 0.5 * bounds[1, j] + bounds[2, j])
        # with m = (tau - e) / (1 + u ratio) the error tau - m is e + u ratio m
        ratio, error = bounds[3, j], bounds[4, j]
        m = (tau[j] - error * share[2, j]) / (1.0 + ratio * share[1, j])
        tau[j] = _kept(tau[j], m, ratio * abs(m) + error)


@jit
def _rounded(x: float, resolution: float) -> float:
    return float(np.rint(x / resolution) * resolution) if resolution > 0.0 else x


@jit
def _kept(truth: float, measured: float, bound: float) -> float:
    """Return the measured value if it is surely within the bound, else the truth."""
    return measured if abs(measured - truth) <= bound * (1.0 - 2.0**-48) else truth
