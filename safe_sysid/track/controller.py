"""Controller: what every control law takes and gives."""

from __future__ import annotations

from typing import Protocol

from safe_sysid.arrays import Array
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.trajectory.plan import Plan


class Controller(Protocol):
    """Makes an arm follow a plan.

    Time is the stamp of the measurement, in seconds since the origin of the clock the controller
    was built with; plans count on the same clock.
    """

    def step(
        self, measurement: JointMeasurement, plan: Plan, estimate: ParameterEstimate
    ) -> Array:
        """Torque to hold until the next measurement, (n,) [N m]."""
        ...


class BrakingLaw(Controller, Protocol):
    """A law that leads an arm to rest after a fault."""

    @property
    def ahead(self) -> float:
        """Time from a sample until its torque does not act any more, for which it is made [s]."""
        ...

    @property
    def most_energy(self) -> float:
        """Upper bound of V in the last step [J], for all theta that count."""
        ...

    def note(
        self, measurement: JointMeasurement, plan: Plan | None, estimate: ParameterEstimate
    ) -> None:
        """Take a sample whose torque is given by somebody else, by the same law or by brakes."""
        ...

    def brake(
        self, measurement: JointMeasurement, plan: Plan, estimate: ParameterEstimate
    ) -> Array:
        """Return a torque though what is seen need not be as promised."""
        ...
