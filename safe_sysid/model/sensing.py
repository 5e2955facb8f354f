"""How wrong the readings of an arm may be, and who says so.

The one place that turns what an arm's settings say of its sensors into error bounds. With dq half
a step of the encoder, h the time between two samples, dt the error of stamps from sample to
sample, and joints that move and accelerate by at most V and A:

    position   what is stated, else dq, half the backlash, and V dt: where the joint was by that
               much earlier or later
    velocity   what is stated, else by its causes. Of positions m h apart, behind a low-pass tf
                   2 dq min(1 / (m h), 1 / tf) + A (m h / 2 + tf + lag + dt) + step / 2:
               errors of the positions, the age of their middle, and of what the low-pass keeps.
               Weights w_i of a low-pass of first order fall, so the differences of its errors add
               up to 2 dq w_0 / h, and w_0 is at most h / tf. Of a driver's own signal the first
               term is not there, and m = 0.
    zero       a constant of the joint: no part of differences, but of where its links are
    torque     a share of what is read and an amount; a low-pass is undone where a torque is
               integrated (`identify/torque_impulse.py`), so that its lag counts once

A bound that nobody stated is never 0; `sentences` say what was assumed instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import ConfigError
from safe_sysid.model.signal_facts import VelocityFacts

if TYPE_CHECKING:
    from safe_sysid.model.robot_model import RobotModel

PerJoint = tuple[float, ...]  # one entry for all joints, or one each
# Where the settings of an arm say nothing; by kind of effort where that tells kinds of arms apart.
COARSE = 1e-3  # [rad] step of an encoder, three times that of the coarsest arm here
ZERO = 2e-3  # [rad] zero error of a joint
TILT = 5e-3  # [rad] of gravity
FASTEST = 10.0  # [rad/s] of a joint without velocity limit
STAMP = {'torque': 1e-4, 'current': 1e-3}  # [s] error of stamps
TORQUE = {'torque': (0.05, 0.02), 'current': (0.25, 0.10)}  # ratio, and share of the limit
SLOWEST = {'torque': 0.02, 'current': 0.05}  # [s] low-pass of a torque


@dataclass(frozen=True, eq=False)
class ReadingErrors:
    """Bounds on the errors of every position and velocity, per joint."""

    position: Array  # (n,) [rad]
    velocity: Array  # (n,) [rad/s]
    sentences: tuple[str, ...]  # what is assumed, and not stated
    zero: Array  # (n,) [rad] constant, beside `position`


@dataclass(frozen=True, eq=False)
class TorqueErrors:
    """Bounds on what a measured torque is off, and on what no model of the arm contains."""

    ratio: Array  # (n,) share of what is read
    absolute: Array  # (n,) [N m] on top
    friction: Array  # (n,) [N m] of dry friction that is not Coulomb's
    filter: tuple[float, float]  # [s] time constant of the low-pass, from and to
    stamp: float  # [s] error of stamps
    tilt: float  # [rad] of gravity
    has_rotors: bool  # whether it contains rotor inertia and friction of the joint
    sentences: tuple[str, ...]  # what is assumed, and not stated


def reading_errors(
    model: RobotModel,
    period: float,
    position_error: PerJoint | None = None,
    velocity_error: PerJoint | None = None,
) -> ReadingErrors:
    """Errors of samples every `period` seconds: those given, else what is stated of the arm.

    Errors that are given are of all causes.
    """
    sensing = model.sensors.sensing
    sentences: list[str] = []
    stamp = stamp_error(model, sentences)
    if position_error is not None:
        read = position = _per_joint(model, 'position_error', position_error)
        zero = np.zeros(model.n)
    else:
        read = read_error(model, sentences) + 0.5 * backlash(model)
        position, zero = read + stamp * _fastest(model), zero_error(model, sentences)
    if velocity_error is None:
        velocity_error = sensing.velocity_error
    if velocity_error is not None:
        velocity = _per_joint(model, 'velocity_error', velocity_error)
    else:
        velocity = _velocity_error(model, period, read, sentences)
    if position_error is not None and velocity_error is not None:
        sentences.clear()  # nothing of it counts
    return ReadingErrors(position, velocity, tuple(sentences), zero)


def stated_stamp_way(model: RobotModel) -> Array:
    """How far each joint moves in the error of stamps, where somebody states one [rad]."""
    stamp = model.sensors.sensing.stamp_error
    return np.asarray((0.0 if stamp is None else stamp) * _fastest(model))


def torque_errors(
    model: RobotModel,
    ratio: PerJoint | None = None,
    absolute: PerJoint | None = None,
    coulomb: Array | None = None,
) -> TorqueErrors:
    """Errors of measured torques: those given, else what is stated of the arm.

    `coulomb` is the least that Coulomb friction may be (n,) [N m]; None: that of theta.

    What is given is all there is: nothing is added for a low-pass, stamps, tilt and friction. With
    an absolute part alone the ratio is that of the arm.
    """
    facts, n = model.sensors.sensing.torque, model.n
    sentences: list[str] = []
    has_rotors = facts.sensor != 'link'
    if ratio is not None or absolute is not None:
        share = _ratio_and_absolute(model, [])[0]
        if ratio is not None:
            share = _per_joint(model, 'torque_ratio', ratio)
        amount = _per_joint(model, 'torque_error', absolute or (0.0,))
        none = (0.0, 0.0)
        return TorqueErrors(share, amount, np.zeros(n), none, 0.0, 0.0, has_rotors, ())
    share, amount = _ratio_and_absolute(model, sentences)
    beyond = np.zeros(n)
    if has_rotors:
        least = model.layout.friction(model.theta)[0] if coulomb is None else coulomb
        share, amount = model.friction.with_load(share, amount)
        beyond = model.friction.above_coulomb(np.maximum(least, 0.0))
        sentences += model.friction.assumed(
            f'the error of the torque ({_remedy(model)}: friction)'
        )
    return TorqueErrors(
        share,
        amount,
        beyond,
        _filter(model, sentences),
        stamp_error(model, []),
        tilt_error(model, sentences),
        has_rotors,
        tuple(sentences),
    )


def felt_parameters(model: RobotModel) -> Array:
    """Return theta with 0 for what the torque sensors of the arm do not feel."""
    theta: Array = model.theta.copy()
    for place in unfelt(model):
        theta[place] = 0.0
    return theta


def unfelt(model: RobotModel) -> list[slice]:
    """Entries of theta of which no torque arrives at the sensors: those before a gear."""
    if model.sensors.sensing.torque.sensor != 'link':
        return []
    return [model.layout.joint_entries(label) for label in ('Fc', 'Fv', 'Ia')]


def read_error(model: RobotModel, sentences: list[str]) -> Array:
    """Error of a position at rest but for backlash and zero (n,) [rad]; adds what is assumed."""
    stated, step = model.sensors.sensing.position_error, model.sensors.encoder_resolution
    if stated is not None:
        return _per_joint(model, 'position_error', stated)
    if 'encoder_resolution' in model.sensors.sensing.assumed:
        sentences.append(
            f'assumed for its kind of arm: encoders have steps of at most {step.max():g} rad '
            f'({_remedy(model)}: encoder_resolution, sensing.assumed)'
        )
    names = model.layout.joint_names
    unknown = [x for x, s in zip(names, step, strict=True) if s == 0.0]
    if unknown:
        whose = 'all joints' if len(unknown) == len(names) else ', '.join(unknown)
        sentences.append(
            f'assumed, as nobody stated it: the encoders of {whose} have steps '
            f'of at most {COARSE:g} rad'
        )
    return np.asarray(0.5 * np.where(step > 0.0, step, COARSE))


def backlash(model: RobotModel) -> Array:
    """Width of the play between what is read and the link (n,) [rad], where it is stated."""
    return _per_joint(model, 'backlash', model.sensors.sensing.backlash or (0.0,))


def zero_error(model: RobotModel, sentences: list[str]) -> Array:
    """Constant error of every joint (n,) [rad]; what is assumed is added to the sentences."""
    stated = model.sensors.sensing.zero_error
    if stated is None:
        sentences.append(
            f'assumed, as nobody stated it: a joint that reads 0 is within {ZERO:g} rad of its '
            f'zero, backlash included ({_remedy(model)}: sensing.zero_error)'
        )
        return np.full(model.n, ZERO)
    return _per_joint(model, 'zero_error', stated)


def stamp_error(model: RobotModel, sentences: list[str]) -> float:
    """Largest error of a stamp [s]; what is assumed is added to the sentences."""
    stated = model.sensors.sensing.stamp_error
    if stated is not None:
        return stated
    error = STAMP[model.sensors.effort.kind]
    sentences.append(
        f'assumed, as nobody stated it: stamps are within {1e3 * error:g} ms of the instants of '
        f'their samples ({_remedy(model)}: sensing.stamp_error)'
    )
    return error


def _velocity_error(
    model: RobotModel, period: float, position: Array, sentences: list[str]
) -> Array:
    """Error of velocities by their causes, see above."""
    stated = model.sensors.sensing.velocity
    facts = VelocityFacts() if stated is None else stated
    age, noise = facts.filter + facts.lag + stamp_error(model, []), np.zeros(model.n)
    if facts.source == 'difference':
        way = facts.samples * period
        age += 0.5 * way
        noise = 2.0 * position / max(way, facts.filter)
    step = _per_joint(model, 'velocity.step', facts.step)
    velocity = np.asarray(noise + model.limits.acceleration * age + 0.5 * step)
    off = ', '.join(dict.fromkeys(f'{x:.3g}' for x in velocity))
    if stated is None:
        sentences.append(
            'assumed, as nobody stated it: a velocity is the difference of two positions '
            f'{1e3 * period:g} ms apart or better, and off by at most {off} rad/s; state '
            f'sensing.velocity or sensing.velocity_error in {model.settings_file} if '
            'your driver promises more'
        )
    return velocity


def _ratio_and_absolute(model: RobotModel, sentences: list[str]) -> tuple[Array, Array]:
    facts = model.sensors.sensing.torque
    if facts.ratio is not None and facts.absolute is not None:
        if 'torque' in model.sensors.sensing.assumed:
            sentences.append(
                'assumed for its kind of arm: a measured torque is within ratio and absolute of '
                f'its value ({_remedy(model)}: sensing.torque, sensing.assumed)'
            )
        ratio = _per_joint(model, 'torque.ratio', facts.ratio)
        return ratio, _per_joint(model, 'torque.absolute', facts.absolute)
    if facts.sensor == 'command':
        return model.actuation.ratio, model.actuation.absolute
    share, of_limit = TORQUE[model.sensors.effort.kind]
    sentences.append(
        f'assumed, as nobody stated it: a measured torque is within {100 * share:g} % of its '
        f'value and {100 * of_limit:g} % of the torque limit of its joint ({_remedy(model)}: '
        'sensing.torque)'
    )
    return np.full(model.n, share), of_limit * model.limits.torque


def _filter(model: RobotModel, sentences: list[str]) -> tuple[float, float]:
    facts = model.sensors.sensing.torque
    if facts.filter is not None:
        return facts.filter
    if facts.sensor == 'command':
        return 0.0, 0.0
    slowest = SLOWEST[model.sensors.effort.kind]
    sentences.append(
        'assumed, as nobody stated it: measured torques lag behind by a low-pass of first order '
        f'with a time constant of 0 to {1e3 * slowest:g} ms ({_remedy(model)}: '
        'sensing.torque.filter)'
    )
    return 0.0, slowest


def tilt_error(model: RobotModel, sentences: list[str]) -> float:
    """Largest tilt of gravity [rad]; what is assumed is added to the sentences."""
    if model.gravity_tilt is not None:
        return model.gravity_tilt
    sentences.append(
        f'assumed, as nobody stated it: gravity is within {TILT:g} rad of its direction in the '
        f'base frame ({_remedy(model)}: gravity_tilt)'
    )
    return TILT


def _fastest(model: RobotModel) -> Array:
    limit = model.limits.velocity
    return np.where(np.isfinite(limit) & (limit > 0.0), limit, FASTEST)


def _remedy(model: RobotModel) -> str:
    return f'state it in {model.settings_file}'


def _per_joint(model: RobotModel, name: str, values: PerJoint) -> Array:
    if len(values) not in (1, model.n):
        raise ConfigError(
            f'{name} has {len(values)} entries; 1 or {model.n} (one per joint) are needed'
        )
    array: Array = np.broadcast_to(np.array(values, dtype=float), (model.n,)).copy()
    return array
