"""What a constraint is about: kind, place, time, value and limit, in words for the operator."""

from __future__ import annotations

from dataclasses import dataclass

TORQUE, OBSTACLE, CAPSULES, POSITION, VELOCITY, ACCELERATION, JERK = KINDS = (
    'torque',
    'obstacle clearance',
    'self clearance',
    'position',
    'velocity',
    'desired acceleration',
    'desired jerk',
)
LIFT_OFF = 'lift-off'  # only of plans that begin with a payload that stands on something
LIMITED = (
    POSITION,
    VELOCITY,
    ACCELERATION,
    JERK,
)  # kinds in closed form, in the order of `limits`


@dataclass(frozen=True)
class Margin:
    """How far a plan is from breaking one constraint; negative when it may break it."""

    kind: str
    margin: float  # in `unit`
    where: str  # joint, or the two shapes
    time: tuple[float, float] | None  # [s] since the start of the plan; None: the whole plan
    value: float
    limit: float
    unit: str

    def __str__(self) -> str:
        when = '' if self.time is None else f' at t = {self.time[0]:.2f} to {self.time[1]:.2f} s'
        if self.kind in (OBSTACLE, CAPSULES, LIFT_OFF):
            return f'{self.kind} of {self.where}{when}: {self.value:.3g} {self.unit}'
        return (
            f'{self.kind} of {self.where}{when}: {self.value:.3g} of {self.limit:.3g} {self.unit}'
        )
