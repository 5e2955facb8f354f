"""What the torque guard looks at, and what it gives out."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from safe_sysid.arrays import Array
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.trajectory.plan import Plan


@dataclass(frozen=True, eq=False)
class Command:
    """A torque, and the measurement it answers."""

    torque: Array  # (n,) [N m]
    stamp: int  # [ns]


@dataclass(frozen=True, eq=False)
class GuardInput:
    """Everything the guard may look at in one step; None is what has not come yet."""

    command: Command | None
    measurement: JointMeasurement | None
    plan: Plan | None  # in force
    estimate: ParameterEstimate


class GuardOutcome(Enum):
    """What the guard gave out, in words for the operator."""

    PASSED = 'the command'
    LIMITED = 'as near to the command as the rate allows'
    BRAKING = 'braking along the rest of the plan'
    HOLDING = 'holding'
    BLIND = 'what the plan needs, without a measurement to correct it'
    STUCK = 'the last torque, as nothing better can be computed'


@dataclass(frozen=True, eq=False)
class GuardedTorque:
    """What may reach the robot, and why it is what it is."""

    torque: Array  # (n,) [N m]
    outcome: GuardOutcome
    reason: str  # why the command did not pass; empty if it did

    def __str__(self) -> str:
        return f'{self.reason}; now: {self.outcome.value}' if self.reason else self.outcome.value
