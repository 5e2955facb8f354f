"""What config/robots/<arm>.yaml says of the signals of an arm: readings, commands, dry friction.

What is left out is not known: `sensing`, `actuation` and `dry_friction` of this folder then take
wide figures, and say so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, TypeVar

from safe_sysid.config import Count, NotNegative, OneOf, Positive, Settings, Share
from safe_sysid.errors import ConfigError

PerJoint = tuple[NotNegative, ...]  # one entry for all joints, or one each
FromTo = tuple[NotNegative, NotNegative]  # least and largest
VelocitySource = Annotated[str, OneOf(('difference', 'driver'))]
T = TypeVar('T')
EffortKind = Annotated[str, OneOf(('torque', 'current'))]
Assumable = Annotated[str, OneOf(('torque', 'encoder_resolution'))]
TorqueSensor = Annotated[str, OneOf(('motor', 'link', 'command'))]


@dataclass(frozen=True)
class EffortSignal(Settings):
    """What the driver of an arm calls effort; the bridges turn it into joint torque [N m]."""

    kind: EffortKind
    gravity_included: bool  # whether it contains what holds the arm against gravity

    def __post_init__(self) -> None:
        if self.kind not in ('torque', 'current'):
            raise ConfigError(f"effort kind is '{self.kind}', allowed are torque and current")


@dataclass(frozen=True)
class VelocityFacts(Settings):
    """Where velocities come from, and what a driver does to them."""

    source: VelocitySource = 'difference'  # of two positions; driver: a signal of its own
    samples: Count = 1  # periods between the two positions
    filter: NotNegative = 0.0  # [s] time constant of a low-pass of first order behind that
    lag: NotNegative = 0.0  # [s] at most by which they come later still
    step: PerJoint = (0.0,)  # [rad/s] to which they are rounded


@dataclass(frozen=True)
class TorqueReadingFacts(Settings):
    """What a measured torque is, and how wrong."""

    sensor: TorqueSensor = 'motor'  # link: behind gear, its friction and rotor; command: as told
    ratio: tuple[Share, ...] | None = None  # error as a share of what is read
    absolute: PerJoint | None = None  # [N m] on top
    filter: FromTo | None = None  # [s] time constant of its low-pass of first order, from and to

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.ratio is None) != (self.absolute is None):
            raise ConfigError('torque: state ratio and absolute, or neither')
        _check_order('filter', self.filter)


@dataclass(frozen=True)
class SensingFacts(Settings):
    """What is stated of readings; one entry for all joints, or one each."""

    position_error: PerJoint | None = None  # [rad], zero_error aside; none: half an encoder's step
    zero_error: PerJoint | None = None  # [rad] constant, of the angle at which a joint reads 0
    backlash: PerJoint | None = None  # [rad] width of the play between what is read and the link
    velocity_error: PerJoint | None = None  # [rad/s] of all causes; none: as `velocity` has it
    velocity: VelocityFacts | None = None  # where velocities come from
    torque: TorqueReadingFacts = field(default_factory=TorqueReadingFacts)
    stamp_error: NotNegative | None = None  # [s] from sample to sample; not a constant lateness
    assumed: tuple[Assumable, ...] = ()  # figures that are those of a kind of arm, not of this one

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.velocity_error is not None and self.velocity is not None:
            raise ConfigError(
                'sensing: velocity_error is the error of all causes, and velocity says what they '
                'are: state one of them'
            )

    def in_order(self, order: Sequence[int]) -> SensingFacts:
        """Return the same for joints in another order, see `in_order` below."""
        velocity = self.velocity and in_order(self.velocity, order, ('step',))
        torque = in_order(self.torque, order, ('ratio', 'absolute'))
        own = in_order(self, order, ('position_error', 'zero_error', 'backlash', 'velocity_error'))
        return replace(own, velocity=velocity, torque=torque)


@dataclass(frozen=True)
class ActuationFacts(Settings):
    """How far the torque on one joint may be from the one commanded."""

    ratio: Share  # share of the command
    absolute: NotNegative  # [N m] on top
    bandwidth: NotNegative | None = None  # [s] time constant by which it follows, of first order
    slew: Positive | None = None  # [N m/s] at most by which the driver lets commands change
    assumed: bool = False  # ratio and absolute are those of a kind of arm, not of this one


@dataclass(frozen=True)
class CommandFacts(Settings):
    """From the instant at which a sample is true to the one at which its torque acts."""

    hold: NotNegative | None = None  # [s] for which a torque is held; none: a period of the loop
    delay: FromTo | None = None  # [s] least and largest, beside `delay_periods`
    delay_periods: FromTo | None = None  # the same in periods of the loop
    # [s] either way, of a delay that is a constant but for this, which need not be known; none:
    # each delay is anywhere between least and largest
    jitter: NotNegative | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_order('delay', self.delay)
        _check_order('delay_periods', self.delay_periods)


@dataclass(frozen=True)
class DryFrictionFacts(Settings):
    """What Coulomb friction of `joints` leaves out; one entry for all joints, or one each."""

    static: PerJoint | None = None  # [N m] most that a joint at rest holds; not below coulomb
    stribeck_speed: tuple[Positive, ...] = (0.01,)  # [rad/s] by which `static` is down to a third
    load: tuple[Share, ...] | None = None  # share of the torque on a joint, more or less friction


def _check_order(name: str, ends: FromTo | None) -> None:
    if ends is not None and ends[0] > ends[1]:
        raise ConfigError(f'{name} is {list(ends)}: the least is above the largest')


def in_order(facts: T, order: Sequence[int], names: Sequence[str]) -> T:
    """Return facts whose fields `names` have entries for joints in another order.

    The first joint is `order[0]` of now; one entry for all joints stays one.
    """
    turned = {}
    for name in names:
        values = getattr(facts, name)
        if values is not None and len(values) == len(order):
            turned[name] = tuple(values[i] for i in order)
    return replace(facts, **turned)  # type: ignore[type-var]
