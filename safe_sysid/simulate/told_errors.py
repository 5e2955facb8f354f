"""What an identifier beside a simulator is told of its readings: no less than they err.

Of a quantity that its sensors read exactly it is told so, whatever its settings state for an arm
that is real. Where they err, what its settings state stands; where these state nothing, it is
told the bound that the sensors keep (`sensors.py`), of constant errors and of random ones. Less
than that is refused: bounds could exclude the truth.

The share of a torque is the arm's own where nobody states another, in simulators as elsewhere; so
it is told only where sensors err by more.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.config import NotNegative, Settings
from safe_sysid.errors import ConfigError
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.sensing import torque_errors
from safe_sysid.simulate.sensors import SensorSettings, per_joint

PerJoint = tuple[NotNegative, ...]  # one entry for all joints, or one each
UNIT = {'position_error': ' rad', 'velocity_error': ' rad/s', 'torque_error': ' N m'}


@dataclass(frozen=True)
class StatedErrors(Settings):
    """What an identifier takes for the errors of its readings, as `ObservationSettings` has it."""

    position_error: PerJoint | None = None  # [rad]
    velocity_error: PerJoint | None = None  # [rad/s]
    torque_ratio: PerJoint | None = None  # share of the measured value
    torque_error: PerJoint | None = None  # [N m] on top


ERRORS = tuple(field.name for field in fields(StatedErrors))


@dataclass(frozen=True)
class SimulatedReadings:
    """How wrong the readings of a simulated arm are."""

    sensors: SensorSettings
    creep: Array | float = 0.0  # [rad/s] that velocities are off besides where friction is soft

    def to_tell(
        self, model: RobotModel, stated: StatedErrors, chosen: StatedErrors | None = None
    ) -> dict[str, list[float]]:
        """Return the errors to tell in place of those stated, by their names.

        What is `chosen` for this run, with these readings in mind, stands where they are exact.
        """
        in_file, insisted = asdict(stated), asdict(chosen or StatedErrors())
        told: dict[str, list[float]] = {}
        for name, error in self._errors(model.n).items():
            least = error + (self.creep if name == 'velocity_error' else 0.0)
            is_ratio = name == 'torque_ratio'
            given = insisted[name]
            if given is None and (error.any() or is_ratio):
                given = in_file[name]
            if given is not None:
                _check(name, given, least)
            elif not is_ratio:
                is_alike = not error.any() and np.ptp(least) == 0.0
                told[name] = [float(least[0])] if is_alike else least.tolist()
            elif (least > (known := torque_errors(model, None, (0.0,)).ratio)).any():
                told[name] = np.maximum(least, known).tolist()
        return told

    def _errors(self, n: int) -> dict[str, Array]:
        """Largest errors of the sensors, (n,) each."""

        def bound(name: str) -> Array:
            return per_joint(f'sensors.{name}', getattr(self.sensors, name), n)

        return {
            'position_error': 0.5 * bound('position_resolution'),
            'velocity_error': 0.5 * bound('velocity_resolution') + bound('velocity_noise'),
            'torque_ratio': bound('torque_ratio'),
            'torque_error': bound('torque_error'),
        }


def _check(name: str, given: PerJoint, least: Array) -> None:
    """Refuse errors that are less than those of the sensors."""
    stated = per_joint(f'identifier.observation.{name}', given, len(least))
    for one, own in zip(stated, least, strict=True):
        if one < own:
            raise ConfigError(
                f'identifier.observation.{name} is {one:g}{UNIT.get(name, "")}, and sensors of '
                f'the simulator err by {own:g}: state as much or more, or leave it out'
            )
