"""What is known of an arm and its payload before a recording is looked at, in sentences too."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.config import Positive
from safe_sysid.model.arm_knowledge import ArmKnowledge
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval


@dataclass(frozen=True)
class RecordingPriorSettings(ArmKnowledge):
    """How well the arm is known, and how large the payload may be."""

    payload_mass: Positive = 10.0  # [kg] at most, with everything else on the last joint
    reach: Positive = 0.5  # [m] no part of the payload is farther from the last joint


def prior_of(model: RobotModel, settings: RecordingPriorSettings) -> ParameterEstimate:
    """theta of the model with bounds on all of it."""
    bounds, place = settings.bounds(model), model.layout.end_effector
    lower, upper = bounds.lower.copy(), bounds.upper.copy()
    lower[place], upper[place] = _payload_bounds(settings)
    theta = np.clip(settings.nominal(model), lower, upper)
    return ParameterEstimate(model.layout, theta, Interval(lower, upper))


def sentences(model: RobotModel, settings: RecordingPriorSettings) -> list[str]:
    """Return what these bounds assume."""
    return [
        *settings.sentences(model),
        f'what the last joint moves weighs at most {settings.payload_mass:g} kg, and no part of '
        f'it is farther than {settings.reach:g} m from the origin of that joint',
        f'every value of the last link of {model.name}, to which the payload is the difference, '
        f'is right to the same widths ({100 * settings.links:g} % where none is stated), too',
        f'your arm may have other values if an arm within these shares of {model.name} needs the '
        'same torques, as torques show combinations of values only: bounds on the payload hold '
        "then, too, but those on everything that the last joint moves are that arm's. Of a file "
        'that `safe-sysid calibrate` wrote, a share of single values is a judgement',
    ]


def _payload_bounds(settings: RecordingPriorSettings) -> tuple[Array, Array]:
    """Any body of that mass within that distance."""
    mass, reach = settings.payload_mass, settings.reach
    first, second = mass * reach, mass * reach**2
    upper = np.array([mass, *(first,) * 3, *(second,) * 6])
    lower = np.array([0.0, *(-first,) * 3, *(-second,) * 6])
    lower[[4, 6, 9]] = 0.0  # moments of inertia are not negative
    return lower, upper
