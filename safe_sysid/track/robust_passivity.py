"""Robust passivity-based controller over interval parameters: the law of `robust_law` on plans.

What it counts on of theta is in `counted_parameters`: it changes where a plan begins or ends.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError, ConfigError, MeasurementError
from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval
from safe_sysid.track.counted_parameters import CountedParameters
from safe_sysid.track.gains import Gains
from safe_sysid.track.robust_law import (
    FINITE,
    NOMINAL,
    QD,
    ROBUST,
    TORQUE,
    W_M,
    E,
    Q,
    R,
    arm_of,
    curve_of,
    law_into,
    work_for,
)
from safe_sysid.trajectory.plan import Plan


@dataclass(frozen=True, eq=False)
class LawState:
    """What the law saw and added in one step; a monitor compares it with what was promised."""

    e: Array  # (n,) [rad]
    r: Array  # (n,) [rad/s]
    nominal: Array  # (n,) [N m] W_s theta_0
    robust: Array  # (n,) [N m] v
    disturbance: Array  # (n,) [N m] w_M
    energy: Interval  # [J] of V; above V_M as a whole, an assumption is false


class RobustPassivityController:
    """Keeps V <= V_M for every theta in the bounds its plan was certified for."""

    def __init__(self, model: RobotModel, gains: Gains, clock: Clock) -> None:
        if gains.K_r.shape != (model.n,):
            raise ConfigError(
                f'K_r has {len(gains.K_r)} entries, {model.name} has {model.n} joints'
            )
        self._model = model
        self._clock = clock
        self._arm = arm_of(model, gains)
        self._work = work_for(model.n)
        self._plan: Plan | None = None

    def step(
        self, measurement: JointMeasurement, plan: Plan, estimate: ParameterEstimate
    ) -> Array:
        """Torque to hold until the next measurement, (n,) [N m]."""
        since_start = self._clock.seconds(measurement.stamp) - plan.start_time
        if since_start < 0.0:
            raise BoundError(
                f'stamp {measurement.stamp} ns is {-since_start} s before the plan starts'
            )
        if plan is not self._plan:
            self._begin(plan, estimate)
        self._set_state(measurement)
        known, self._since_start = self._known.at(since_start), since_start
        joint = law_into(self._arm, known, self._curve, since_start, self._work)
        if joint != FINITE:
            raise MeasurementError(
                f'joint {self._model.layout.joint_names[joint]} is measured at '
                f'{measurement.position[joint]} rad with {measurement.velocity[joint]} rad/s; '
                'both have to be finite'
            )
        torque: Array = self._work.result[TORQUE].copy()
        return torque

    def note(self, *_: object) -> None:
        """Nothing: what was measured before does not count."""

    def brake(
        self, measurement: JointMeasurement, plan: Plan, estimate: ParameterEstimate
    ) -> Array:
        """Return the same after a fault."""
        return self.step(measurement, plan, estimate)

    @property
    def ahead(self) -> float:
        """No time at all: torques count as acting at once [s]."""
        return 0.0

    @property
    def bounds(self) -> Interval:
        """[theta] in use; there is none before the first step."""
        return self._known.bounds(self._since_start)

    @property
    def least_energy(self) -> float:
        """Lower bound of V in the last step [J]; above V_M an assumption is false."""
        return float(self._work.energy[0])

    @property
    def most_energy(self) -> float:
        """Upper bound of V in the last step [J], for all theta that count."""
        return float(self._work.energy[1])

    @property
    def last(self) -> LawState:
        """What the law saw and added in the last step."""
        state, result, energy = self._work.state, self._work.result, self._work.energy
        return LawState(
            state[E, 0].copy(),
            state[R, 0].copy(),
            result[NOMINAL].copy(),
            result[ROBUST].copy(),
            result[W_M].copy(),
            Interval(energy[0], energy[1]),
        )

    def _begin(self, plan: Plan, estimate: ParameterEstimate) -> None:
        """Take over a plan and the parameters it was certified for."""
        self._known = CountedParameters(self._model, plan, estimate)
        self._curve = curve_of(plan)
        self._plan = plan

    def _set_state(self, measurement: JointMeasurement) -> None:
        shape = (self._model.n,)
        for row, name in ((Q, 'position'), (QD, 'velocity')):
            value = np.asarray(getattr(measurement, name))
            if value.shape != shape:
                raise MeasurementError(
                    f'measured {name} has shape {value.shape}; {self._model.name} has '
                    f'{self._model.n} joints'
                )
            self._work.state[row, 0] = value
