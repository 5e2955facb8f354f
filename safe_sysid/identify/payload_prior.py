"""What is known of an arm and its payload before a recording is looked at, in sentences too."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import ConfigError
from safe_sysid.model.parameters import ParameterEstimate, ratio_bounds
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval

# Friction nobody knows, as shares of what the joint can do.
DRY_SHARE = 0.3  # Coulomb and viscous friction, at full speed, of the torque limit
OFFSET_SHARE = 0.1
ROTOR_SHARE = 0.3  # of the torque limit goes into the rotor at the acceleration limit


@dataclass(frozen=True)
class PriorSettings:
    """How well the arm is known, and how large the payload may be."""

    links: float = 0.05  # every mass, first moment and inertia of a link is known to this share
    com: float = 0.0  # [m] and its centre of mass to this distance on top
    friction: float | None = 0.05  # as links, for friction, armature, offset; none: unknown
    payload_mass: float = 10.0  # [kg] at most, with everything else on the last joint
    reach: float = 0.5  # [m] no part of the payload is farther from the last joint

    def __post_init__(self) -> None:
        for name in ('links', 'com'):
            if not 0.0 <= getattr(self, name) < np.inf:
                raise ConfigError(f'{name} is {getattr(self, name)}, it has to be 0 or more')
        if self.friction is not None and not 0.0 <= self.friction < np.inf:
            raise ConfigError(f'friction is {self.friction}, it has to be 0 or more')
        for name in ('payload_mass', 'reach'):
            if not 0.0 < getattr(self, name) < np.inf:
                raise ConfigError(f'{name} is {getattr(self, name)}, it has to be above 0')


def prior_of(model: RobotModel, settings: PriorSettings) -> ParameterEstimate:
    """theta of the model with bounds on all of it."""
    layout, theta = model.layout, model.theta.copy()
    moved = np.zeros(layout.size)
    for joint in range(layout.n):
        shift = _shifted(theta[layout.inertial(joint)], settings.com)
        moved[layout.inertial(joint)] = (1.0 + settings.links) * shift
    bounds = ratio_bounds(theta, settings.links, moved)
    lower, upper = bounds.lower.copy(), bounds.upper.copy()
    for kind, (low, high) in _friction_bounds(model, settings.friction).items():
        place = layout.joint_entries(kind)
        lower[place], upper[place] = low, high
    place = layout.end_effector
    lower[place], upper[place] = _payload_bounds(settings)
    theta = np.clip(theta, lower, upper)
    return ParameterEstimate(layout, theta, Interval(lower, upper))


def sentences(model: RobotModel, settings: PriorSettings) -> list[str]:
    """What these bounds assume."""
    com = f', its centre of mass to {100 * settings.com:g} cm on top' if settings.com else ''
    friction = (
        f'friction, rotor inertia and offset of every joint are those of {model.name} to '
        f'{100 * settings.friction:g} %'
        if settings.friction is not None
        else f'dry and viscous friction are at most {100 * DRY_SHARE:g} %, the offset at most '
        f'{100 * OFFSET_SHARE:g} % of the torque limit of a joint, and the rotor takes at most '
        f'{100 * ROTOR_SHARE:g} % of it at the acceleration limit'
    )
    return [
        f'every mass, first moment and inertia of the links but the last is that of {model.name} '
        f'to {100 * settings.links:g} %{com}',
        friction,
        f'what the last joint moves weighs at most {settings.payload_mass:g} kg, and no part of '
        f'it is farther than {settings.reach:g} m from the origin of that joint',
        f'every value of the last link of {model.name}, to which the payload is the difference, '
        f'is right to {100 * settings.links:g} %, too',
        f'your arm may have other values if an arm within these shares of {model.name} needs the '
        'same torques, as torques show combinations of values only: bounds on the payload hold '
        "then, too, but those on everything that the last joint moves are that arm's. Of a file "
        'that `safe-sysid calibrate` wrote, a share of single values is a judgement',
    ]


def _shifted(body: Array, distance: float) -> Array:
    """How much the parameters of a body change when its mass is off by a distance."""
    first = np.full(3, body[0] * distance)
    # |(c + d)(c + d)' - c c'| entry by entry, for the inertia about the origin
    moment = 2.0 * np.abs(body[1:4]).sum() * distance + 3.0 * body[0] * distance**2
    shift: Array = np.concatenate([[0.0], first, np.full(6, moment)])
    return shift


def _friction_bounds(model: RobotModel, share: float | None) -> dict[str, tuple[Array, Array]]:
    limits = model.limits
    if share is not None:
        known = ratio_bounds(model.theta, share)
        places = {kind: model.layout.joint_entries(kind) for kind in _KINDS}
        return {kind: (known.lower[place], known.upper[place]) for kind, place in places.items()}
    zero = np.zeros(model.n)
    offset = OFFSET_SHARE * limits.torque
    return {
        'Fc': (zero, DRY_SHARE * limits.torque),
        'Fv': (zero, DRY_SHARE * limits.torque / limits.velocity),
        'Ia': (zero, ROTOR_SHARE * limits.torque / limits.acceleration),
        'beta': (-offset, offset),
    }


_KINDS = ('Fc', 'Fv', 'Ia', 'beta')


def _payload_bounds(settings: PriorSettings) -> tuple[Array, Array]:
    """Any body of that mass within that distance."""
    mass, reach = settings.payload_mass, settings.reach
    first, second = mass * reach, mass * reach**2
    upper = np.array([mass, *(first,) * 3, *(second,) * 6])
    lower = np.array([0.0, *(-first,) * 3, *(-second,) * 6])
    lower[[4, 6, 9]] = 0.0  # moments of inertia are not negative
    return lower, upper
