"""FitColumns: what each column of a fit is: theta, coupled motors and Stribeck friction."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.errors import ConfigError
from safe_sysid.model.dynamics.regressors import standard_regressor
from safe_sysid.model.parameters import ParameterLayout
from safe_sysid.model.robot_model import RobotModel

SLIDING = 1.0 / 3.0  # [m/rad] of the speed of a joint that turns: as slow for one that slides
COUPLED = ('coupled_Fc', 'coupled_Fv', 'coupled_Ia')


@dataclass(frozen=True)
class FitColumns:
    """theta (14 n), then three columns per coupled motor, then one per joint for Stribeck.

    A coupled motor of a pair (a, b) drives joint b and turns with qd_a + qd_b, so its friction
    and inertia load both joints. Stribeck friction is Fs sign(qd) exp(-(qd / v_s)^2).
    """

    layout: ParameterLayout
    creep: float  # [rad/s] of joints that turn
    couplings: tuple[tuple[int, int], ...] = ()
    stribeck_velocity: float | None = None  # [rad/s] v_s; None leaves this friction out

    def __post_init__(self) -> None:
        if not self.creep > 0.0:
            raise ConfigError(f'creep is {self.creep} rad/s, it has to be more than 0')
        if self.stribeck_velocity is not None and not self.stribeck_velocity > 0.0:
            raise ConfigError(
                f'Stribeck velocity is {self.stribeck_velocity} rad/s, it has to be more than 0'
            )
        for a, b in self.couplings:
            if a == b or not {a, b} <= set(range(self.layout.n)):
                raise ConfigError(f'coupling of joints {a} and {b}: two joints of the arm needed')

    @property
    def size(self) -> int:
        """Number of columns."""
        return len(self.labels)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Name of every column, such as `joint_3.Ixx`."""
        names = self.layout.joint_names
        coupled = [f'{names[b]}.{x}' for _, b in self.couplings for x in COUPLED]
        stribeck = [] if self.stribeck_velocity is None else [f'{name}.Fs' for name in names]
        return (*self.layout.labels, *coupled, *stribeck)

    @cached_property
    def nonnegative(self) -> IntArray:
        """Columns whose factor cannot be negative: friction and armature."""
        positive = [np.arange(self.layout.size)[self.layout.joint_entries(x)] for x in _POSITIVE]
        extra = np.arange(self.layout.size, self.size)
        if self.stribeck_velocity is not None:
            extra = extra[: 3 * len(self.couplings)]  # Fs may be of either sign
        return np.concatenate([*positive, extra])

    def nominal(self, theta: Array) -> Array:
        """Factors of the columns for known parameters: what theta does not say is 0."""
        return np.concatenate([theta, np.zeros(self.size - self.layout.size)])

    def slow(self, model: RobotModel) -> Array:
        """Return the speed (n,) [rad/s, m/s] up to which a joint as good as stands.

        The sign of a velocity v is taken as tanh(v / slow).
        """
        return np.where(model.tree.is_prismatic, SLIDING, 1.0) * self.creep

    def regressor(self, model: RobotModel, q: Array, qd: Array, qdd: Array) -> Array:
        """Y with Y x = torque, (N, n) -> (N, n, size)."""
        n, samples = model.n, len(q)
        Y = np.zeros((samples, n, self.size))
        Y[:, :, : self.layout.size] = standard_regressor(model, q, qd, qdd)
        joints, coulomb = np.arange(n), self.layout.joint_entries('Fc').start
        slow = self.slow(model)
        direction = np.tanh(qd / slow)
        Y[:, joints, coulomb + joints] = direction
        column = self.layout.size
        for a, b in self.couplings:
            rate = qd[:, a] + qd[:, b]
            motor = [np.tanh(rate / slow[b]), rate, qdd[:, a] + qdd[:, b]]
            Y[:, a, column : column + 3] = Y[:, b, column : column + 3] = np.stack(motor, -1)
            column += 3
        if self.stribeck_velocity is not None:
            fading = np.exp(-((qd / self.stribeck_velocity) ** 2))
            Y[:, joints, column + joints] = direction * fading
        return Y


_POSITIVE = ('Fc', 'Fv', 'Ia')
