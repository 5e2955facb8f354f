"""ReadingErrors: how wrong positions and velocities of an arm may be, and who says so.

The one place that turns what an arm's settings say of its sensors into error bounds:

    position   what is stated, else half a step of the encoder
    velocity   what the driver states, else that of a difference of two positions one sample apart,
               2 dq / h for the positions and A h / 2 for what the arm, with acceleration up to A,
               does between the middle of the step and its end

A bound that nobody stated is never 0: an encoder without a step is taken for a coarse one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import ConfigError
from safe_sysid.model.robot_model import RobotModel

PerJoint = tuple[float, ...]  # one entry for all joints, or one each
COARSE = 1e-3  # [rad] step of an encoder nobody knows, three times that of the coarsest arm here


@dataclass(frozen=True, eq=False)
class ReadingErrors:
    """Bounds on the errors of every sample, per joint."""

    position: Array  # (n,) [rad]
    velocity: Array  # (n,) [rad/s]
    sentences: tuple[str, ...]  # what is assumed, and not stated


def reading_errors(
    model: RobotModel,
    period: float,
    position_error: PerJoint | None = None,
    velocity_error: PerJoint | None = None,
) -> ReadingErrors:
    """Errors of samples every `period` seconds: those given, else what is stated of the arm."""
    sensing, step = model.sensors.sensing, model.sensors.encoder_resolution
    position_error = sensing.position_error if position_error is None else position_error
    velocity_error = sensing.velocity_error if velocity_error is None else velocity_error
    sentences: list[str] = []
    if position_error is not None:
        position = _per_joint(model, 'position_error', position_error)
    else:
        position = 0.5 * np.where(step > 0.0, step, COARSE)
        unknown = [x for x, s in zip(model.layout.joint_names, step, strict=True) if s == 0.0]
        if unknown:
            sentences.append(
                f'assumed, as nobody stated it: the encoders of {", ".join(unknown)} have steps '
                f'of at most {COARSE:g} rad'
            )
    if velocity_error is not None:
        velocity = _per_joint(model, 'velocity_error', velocity_error)
        return ReadingErrors(position, velocity, tuple(sentences))
    velocity = 2.0 * position / period + 0.5 * period * model.limits.acceleration
    sentences.append(
        'assumed, as nobody stated it: a velocity is the difference of two positions '
        f'{1e3 * period:g} ms apart or better, and off by at most '
        f'{", ".join(f"{x:.3g}" for x in velocity)} rad/s; state sensing.velocity_error in '
        f'config/robots/{model.name}.yaml if your driver promises more'
    )
    return ReadingErrors(position, velocity, tuple(sentences))


def _per_joint(model: RobotModel, name: str, values: PerJoint) -> Array:
    if len(values) not in (1, model.n):
        raise ConfigError(
            f'{name} has {len(values)} entries; 1 or {model.n} (one per joint) are needed'
        )
    array: Array = np.broadcast_to(np.array(values, dtype=float), (model.n,)).copy()
    return array
