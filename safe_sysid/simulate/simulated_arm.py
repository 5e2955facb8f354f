"""SimulatedArm: measures and applies torque like a real arm, in simulated time.

`exact` and `erring` actuators hold a command from the instant it is given to the next sample.
`described` ones are the arm as its settings tell it: commands late and followed slowly (`drive`),
friction at rest and under load (`stribeck`), a tilted base. `described` readings are those of its
sensors (`described_sensors`). What nobody stated is then as wrong as is assumed of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Annotated, Protocol

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.config import OneOf, Range, Settings
from safe_sysid.errors import SimulationError
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.actuation import Actuation
from safe_sysid.model.payload import Payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.simulate.actuators import Actuators
from safe_sysid.simulate.described_sensors import DescribedSensors
from safe_sysid.simulate.drive import PIECE, Drive
from safe_sysid.simulate.leaning import tilt_of
from safe_sysid.simulate.rigid_body import RigidBody
from safe_sysid.simulate.sensors import Sensors, SensorSettings
from safe_sysid.simulate.stribeck import StribeckCurve

ACTUATORS = ('exact', 'erring', 'described')
READINGS = ('set', 'described')
ActuatorKind = Annotated[str, OneOf(ACTUATORS)]
ReadingKind = Annotated[str, OneOf(READINGS)]


class Dynamics(Protocol):
    """How the state of an arm follows from its torque."""

    def advance(self, q: Array, qd: Array, torque: Array, seconds: float) -> tuple[Array, Array]:
        """Position and velocity after some time with constant torque."""
        ...

    def set_coulomb(self, coulomb: Array) -> None:
        """Take other figures of Coulomb friction (n,) [N m] from now on."""
        ...


@dataclass(frozen=True)
class ArmSettings(Settings):
    """Control period, sensors and actuators of a simulated arm."""

    period: Annotated[float, Range(at_least=1e-9)] = 0.001  # [s], rounded to whole nanoseconds
    sensors: SensorSettings = field(default_factory=SensorSettings)
    actuators: ActuatorKind = 'exact'  # erring: as much as the arm states; described: late, slow
    readings: ReadingKind = 'set'  # by `sensors`; described: as the settings of the arm state

    @property
    def nanoseconds(self) -> int:
        """Control period [ns]."""
        return round(self.period * 1e9)


class SimulatedArm:
    """An arm that starts at rest at time 0, and the time that passes while torque is applied.

    A sample at a stamp has the state then and the torque that was held until then (zero at
    first). Torque beyond the limits of the arm is cut off, then the actuators err.
    """

    def __init__(
        self,
        model: RobotModel,
        position: Array,
        rng: np.random.Generator,
        settings: ArmSettings | None = None,
        dynamics: Callable[[RobotModel], Dynamics] = RigidBody,
    ) -> None:
        settings = settings or ArmSettings()
        q = _checked(model, 'position', position)
        self._model = self._empty = model
        self._dynamics_of = dynamics
        self._period = settings.nanoseconds
        self._truth = JointMeasurement(0, q, np.zeros(model.n), np.zeros(model.n))
        self._sensors: Sensors | DescribedSensors
        if settings.readings == 'described':
            self._sensors = DescribedSensors(model, self._truth, 1e-9 * self._period, rng)
        else:
            self._sensors = Sensors(settings.sensors, self._truth, rng)
        self._actuators: Actuators | None = None
        self._drive: Drive | None = None
        self._tilt = np.eye(3)
        if settings.actuators == 'described':
            drawn = rng.spawn(1)[0]
            self._drive = Drive(model.actuation, 1e-9 * self._period, drawn)
            self._tilt = tilt_of(model, drawn)
        else:
            errs = settings.actuators == 'erring'
            actuation = model.actuation if errs else Actuation.exact(model.n)
            self._actuators = Actuators(actuation, rng.spawn(1)[0])
        self._go_on_as(model)

    @property
    def model(self) -> RobotModel:
        """The arm as it is, with what it carries."""
        return self._model

    @property
    def truth(self) -> JointMeasurement:
        """State now, and the torque that was held until now."""
        truth = self._truth
        values = (truth.position, truth.velocity, truth.torque)
        return JointMeasurement(truth.stamp, *(value.copy() for value in values))

    def measure(self) -> JointMeasurement:
        """Give the newest sample that has arrived."""
        return self._sensors.latest

    def apply(self, torque: Array) -> None:
        """Hold a torque for one control period."""
        limit = self._model.limits.torque
        command = np.clip(_checked(self._model, 'torque', torque), -limit, limit)
        before = self._truth
        q, qd, held = before.position, before.velocity, before.torque
        for seconds, held in self._pieces(command):
            after = self._advanced(q, qd, held, seconds)
            if isinstance(self._sensors, DescribedSensors):
                motion = np.array([after[0], after[1], (after[1] - qd) / seconds])
                self._sensors.feel(self._model, (seconds, held), motion)
            q, qd = after
        self._truth = JointMeasurement(before.stamp + self._period, q, qd, held)
        self._sensors.take(self._truth)

    def stand(self) -> None:
        """Stay in the brakes for one control period; for an arm at rest."""
        before = self._truth
        if before.velocity.any():
            raise SimulationError('an arm in motion cannot be put into its brakes')
        self._truth = replace(before, stamp=before.stamp + self._period)
        self._sensors.take(self._truth)

    def _pieces(self, command: Array) -> list[tuple[float, Array]]:
        """Seconds and torques that act until the next sample."""
        period = self._period * 1e-9
        if self._drive is None:
            assert self._actuators is not None
            return [(period, self._actuators.acting(command))]
        pieces = self._drive.pieces(command)
        return pieces if self._friction.is_coulomb else [cut for p in pieces for cut in _cut(*p)]

    def _advanced(self, q: Array, qd: Array, torque: Array, seconds: float) -> tuple[Array, Array]:
        """Position and velocity after one piece."""
        if self._drive is not None and not self._friction.is_coulomb:
            self._dynamics.set_coulomb(self._friction.at(qd, torque))
        return self._dynamics.advance(q, qd, torque, seconds)

    def attach(self, payload: Payload) -> None:
        """Fix a payload to the arm as it was at first; it moves as the arm does then."""
        self.become(self._empty.with_payload(payload))

    def detach(self) -> None:
        """Let go of what was attached."""
        self.become(self._empty)

    def become(self, model: RobotModel) -> None:
        """Go on with the same state and other parameters."""
        if model.layout != self._empty.layout or any(
            not np.array_equal(a, b) for a, b in zip(model.tree, self._empty.tree, strict=True)
        ):
            raise SimulationError(
                f'{self._empty.name} can not go on as {model.name}: they differ in their joints'
            )
        self._go_on_as(model)

    def _go_on_as(self, model: RobotModel) -> None:
        tree = model.tree._replace(gravity=self._tilt @ model.tree.gravity)
        self._dynamics = self._dynamics_of(replace(model, tree=tree))
        self._friction = StribeckCurve(model)
        self._model = model


def _cut(seconds: float, torque: Array) -> list[tuple[float, Array]]:
    """Cut a piece so short that friction hardly changes in it."""
    count = max(1, int(np.ceil(seconds / PIECE - 1e-9)))
    return [(seconds / count, torque)] * count


def _checked(model: RobotModel, name: str, values: Array) -> Array:
    """Copy of one finite number per joint."""
    array: Array = np.array(values, dtype=float)
    if array.shape != (model.n,):
        raise SimulationError(
            f'{name} has shape {array.shape}; {model.name} needs ({model.n},), one per joint'
        )
    if not np.isfinite(array).all():
        joint = int(np.flatnonzero(~np.isfinite(array))[0])
        raise SimulationError(
            f'{name} of {model.layout.joint_names[joint]} is {array[joint]}; it has to be finite'
        )
    return array
