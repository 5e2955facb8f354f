"""Recordings of random arms whose every assumption holds, by construction and to the corner."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.bench.experiments.falsification import motion
from safe_sysid.bench.experiments.falsification.dynamics import (
    Mechanism,
    drive_torque,
    mass_matrix,
    posed,
)
from safe_sysid.bench.experiments.falsification.mechanisms import model_of, random_mechanism
from safe_sysid.identify.momentum_observation import ObservationSettings
from safe_sysid.measure.joint_log import JointLog
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval

PERIODS = (0.001, 0.002, 0.005, 0.008)  # [s]
SIGNALS = ('held', 'held', 'held_until', 'sampled', 'sampled')
DRIVES = ('track', 'dead_beat', 'dead_beat', 'bang')
SENSORS = ('exact', 'bounded', 'corner', 'encoder')
NOISES = ('none', 'random', 'gain', 'velocity', 'acceleration', 'alternating', 'blocks')
STEP = 0.2  # of the integration, in units of the fastest rate of the arm
FINEST = 100e-6  # [s] of a step; faster arms are not drawn
# What the integration may be wrong by is promised on top of every error, with room: position
# [rad], velocity [rad/s] and torque (share of its size), of arms without and with dry friction.
FLOORS = {False: (1e-12, 1e-11, 1e-12), True: (1e-10, 1e-8, 1e-8)}


@dataclass(frozen=True)
class Recipe:
    """Everything a recording follows from."""

    arm: int  # seeds
    motion: int
    errors: int
    joints: int = 3
    period: float = 0.001  # [s]
    signal: str = 'held'
    drive: str = 'track'  # prescribed | smooth for sampled torque, else of DRIVES
    dry: float = 0.0  # Coulomb friction, see `random_mechanism`
    viscous: float = 2.0  # [1/s]
    speed: float = 0.5  # [rad/s] of the reference
    highest: float = 1.0  # [Hz] of the reference
    bend: float = 1.0  # dead_beat: velocities go with this power of time
    sensors: str = 'exact'
    difference: int = 1  # encoder: samples that a velocity is the difference over
    noise: str = 'none'
    ratio: float = 0.025  # promised torque error, as a share
    lost: float = 0.0  # share of the samples
    jitter: float = 0.0  # of the stamps, as a share of the period
    wraps: bool = False  # revolute joints are continuous, and told within half a turn
    known: float = 0.05  # share to which theta_r is known
    corner: bool = False  # of these bounds is the truth
    slack: float = 1.0  # promised errors are so many times those made
    window: int = 20  # samples
    windows: int = 4
    tip: int = -1


def random_recipe(rng: np.random.Generator) -> Recipe:
    """Any recording; every other one with next to no error, where nothing hides a wrong sum."""
    recipe = _any_recipe(rng)
    if rng.random() < 0.5:
        return without_errors(recipe)
    return recipe


def without_errors(recipe: Recipe) -> Recipe:
    """Return the recipe with next to no error made or promised."""
    return replace(recipe, sensors='exact', ratio=0.0, known=0.0, slack=1.0)


def _any_recipe(rng: np.random.Generator) -> Recipe:
    signal = str(rng.choice(SIGNALS))
    sampled = ('prescribed', 'prescribed', 'smooth')
    dry = float(rng.choice([0.0, 0.1, 0.5]))
    joints = int(rng.integers(1, 7)) if rng.random() < 0.85 else int(rng.integers(7, 13))
    arm, motion_seed, errors = (int(x) for x in rng.integers(2**31, size=3))
    period = float(rng.choice(PERIODS))
    return Recipe(
        arm,
        motion_seed,
        errors,
        joints=joints,
        period=period,
        signal=signal,
        drive=str(rng.choice(sampled if signal == 'sampled' else DRIVES)),
        dry=dry,
        viscous=float(rng.choice([0.0, 0.5, 2.0, 5.0])),
        speed=float(rng.choice([0.05, 0.3, 1.0])),
        highest=float(rng.choice([0.5, 1.0, 2.0])),
        bend=float(rng.choice([0.5, 1.0, 2.0])),
        sensors=str(rng.choice(SENSORS)),
        difference=int(rng.integers(1, 5)),
        noise=str(rng.choice(NOISES)),
        ratio=float(rng.choice([0.0, 0.005, 0.025, 0.1])),
        lost=float(rng.choice([0.0, 0.0, 0.01, 0.05])),
        jitter=float(rng.choice([0.0, 0.0, 0.2])),
        wraps=bool(rng.random() < 0.25),
        known=float(rng.choice([0.0, 0.01, 0.05, 0.3])),
        corner=bool(rng.random() < 0.5),
        slack=float(rng.choice([1.0, 1.0, 3.0])),
        window=int(rng.choice([5, 10, 20, 40])),
        windows=int(rng.integers(2, 7)),
        tip=-1 if rng.random() < 0.9 else int(rng.integers(joints)),
    )


def mutated(rng: np.random.Generator, recipe: Recipe) -> Recipe:
    """Return the same but for one or two entries."""
    other, fields = random_recipe(rng), list(Recipe.__dataclass_fields__)
    for name in rng.choice(fields, size=int(rng.integers(1, 3)), replace=False):
        if name in ('signal', 'drive'):
            recipe = replace(recipe, signal=other.signal, drive=other.drive)
        elif name in ('joints', 'tip'):
            recipe = replace(recipe, joints=other.joints, tip=other.tip)
        else:
            recipe = replace(recipe, **{str(name): getattr(other, name)})
    return recipe


class Recorded(NamedTuple):
    """What an arm did, what it told, and what the identifier may believe."""

    mechanism: Mechanism  # the truth
    model: RobotModel  # of the package
    prior: ParameterEstimate
    settings: ObservationSettings
    log: JointLog

    @property
    def truth(self) -> Array:
        """True theta_e."""
        return self.mechanism.theta[self.model.layout.end_effector]


class _Motion(NamedTuple):
    q: Array  # (N, n)
    qd: Array
    torque: Array  # of the drives at the stamp, or held from it on or until it
    times: Array  # [s]


class _Errors(NamedTuple):
    """Readings and what they are off by at most."""

    reading: Array  # (N, n)
    bound: tuple[float, ...]  # one per joint


def record(recipe: Recipe) -> Recorded | None:
    """Record a recipe, if its arm is not too fast and its motion comes to a state."""
    mechanism = random_mechanism(
        np.random.default_rng(recipe.arm), recipe.joints, recipe.dry, recipe.viscous
    )
    moved = _moved(recipe, mechanism, _times(recipe))
    if moved is None:
        return None
    return recorded(recipe, mechanism, moved)


def recorded(recipe: Recipe, mechanism: Mechanism, moved: _Motion) -> Recorded:
    """Return what sensors tell of a motion, and what is promised about it."""
    rng = np.random.default_rng(recipe.errors)
    position, velocity = _sensed(rng, recipe, moved)
    torque, absolute = _told_torque(rng, recipe, moved)
    reading = position.reading
    tip = recipe.tip % recipe.joints
    turning = {}
    if recipe.wraps:
        turning = {i: 'continuous' for i in range(recipe.joints) if not mechanism.slides[i]}
        half = np.where(mechanism.slides, np.inf, np.pi)
        turns = np.where(mechanism.slides, 0.0, np.round(reading / (2.0 * half)))
        reading = reading - 2.0 * np.pi * turns
    model = model_of(mechanism, tip, turning)
    settings = ObservationSettings(
        window=recipe.window,
        torque_signal=recipe.signal,
        torque_ratio=(recipe.ratio,),
        torque_error=absolute,
        position_error=position.bound,
        velocity_error=velocity.bound,
        longest_step=(2.5 if recipe.signal == 'sampled' else 1.5) * recipe.period,
    )
    kept = rng.random(len(moved.times)) >= recipe.lost
    stamp = np.round(moved.times * 1e9).astype(np.int64)
    log = JointLog(stamp[kept], reading[kept], velocity.reading[kept], torque[kept])
    return Recorded(mechanism, model, _prior(rng, recipe, mechanism, model), settings, log)


def _times(recipe: Recipe) -> Array:
    """Stamps [s], whole nanoseconds."""
    rng = np.random.default_rng([recipe.motion, 1])
    count = recipe.window * recipe.windows + 2
    ideal = np.arange(count) + recipe.jitter * rng.uniform(-0.5, 0.5, size=count)
    return np.asarray(np.round((ideal - ideal[0]) * recipe.period * 1e9) * 1e-9)


def _moved(recipe: Recipe, mechanism: Mechanism, times: Array) -> _Motion | None:
    rng, n = np.random.default_rng(recipe.motion), recipe.joints
    start = np.where(mechanism.slides, 0.3, np.pi) * rng.uniform(-1.0, 1.0, size=n)
    if recipe.wraps:
        start = np.where(mechanism.slides, start, np.pi - 0.02 * rng.random(n))
    drive = _drive(rng, recipe, mechanism, start, len(times))
    if recipe.drive == 'prescribed':
        q, qd, torque = motion.prescribed(mechanism, drive, start, times)
        return _Motion(q, qd, torque, times)
    rest = np.zeros(n)
    if recipe.drive == 'dead_beat':
        speed = drive.amplitude[:, 0] * drive.frequency[:, 0] * 0.2**recipe.bend
    elif recipe.dry > 0.0 and rng.random() < 0.5:
        speed = rest  # begins at rest, and may stick
    else:
        speed = motion.reference(drive, 0.0)[1]
    H = mass_matrix(mechanism, posed(mechanism, start))
    rates = np.linalg.eigvals(np.linalg.solve(H, np.diag(mechanism.viscous + drive.damping)))
    largest = STEP / max(float(np.abs(rates).max()), STEP / recipe.period)
    if largest < FINEST:
        return None
    try:
        q, qd, held, events = motion.simulate(mechanism, drive, start, speed, times, largest)
    except np.linalg.LinAlgError:  # it grows without bound
        return None
    if (events < 0).any() or np.abs(qd).max() > 20.0 * max(recipe.speed, 0.3):
        return None
    if _hidden(events, qd):
        return None
    if recipe.signal == 'held_until':
        held = np.concatenate([held[:1], held[:-1]])
    return _Motion(q, qd, held, times)


def _hidden(events: IntArray, qd: Array) -> bool:
    """Whether a joint stops and goes on between two samples that do not show it: not promised."""
    twice, sign = events[1:] > 1, np.sign(qd)
    return bool((twice & (sign[1:] == sign[:-1])).any())


def _drive(
    rng: np.random.Generator, recipe: Recipe, m: Mechanism, start: Array, count: int
) -> motion.Drive:
    n = recipe.joints
    rest = np.zeros(n)
    felt = np.diag(mass_matrix(m, posed(m, start)))
    w = 2.0 * np.pi * rng.uniform(0.3, 1.5)
    frequency = 2.0 * np.pi * recipe.highest * rng.uniform(0.2, 1.0, size=(n, 2))
    speed = recipe.speed * rng.uniform(-1.0, 1.0, size=(n, 2))
    pattern = rng.choice([-1.0, 1.0], size=(n, count))
    if rng.random() < 0.5:
        pattern = np.repeat(pattern, 7, axis=1)[:, :count]
    kind = {'track': motion.TRACK, 'dead_beat': motion.DEAD_BEAT, 'bang': motion.BANG}
    return motion.Drive(
        kind.get(recipe.drive, motion.SMOOTH),
        drive_torque(m, start, rest, rest),
        w * w * felt,
        (0.5 if recipe.drive == 'bang' else 1.6) * w * felt,
        speed / frequency,
        frequency,
        rng.uniform(0.0, 2.0 * np.pi, size=(n, 2)),
        recipe.bend,
        pattern * (5.0 * recipe.speed * felt)[:, None],
    )


def _sensed(rng: np.random.Generator, recipe: Recipe, moved: _Motion) -> tuple[_Errors, _Errors]:
    """Positions and velocities as told."""
    q, qd, shape, floor = moved.q, moved.qd, moved.q.shape, FLOORS[recipe.dry > 0.0]
    if recipe.sensors == 'encoder':
        step = 10.0 ** rng.uniform(-5.0, -3.0, size=shape[1])
        told = step * np.round(q / step)
        velocity = _differences(recipe, told, moved)
        return _off(recipe, q, told, floor[0]), _off(recipe, qd, velocity, floor[1])
    draw = np.zeros((2, *shape))
    if recipe.sensors == 'bounded':
        draw = rng.uniform(-1.0, 1.0, size=(2, *shape))
    elif recipe.sensors == 'corner':
        draw = draw + rng.choice([-1.0, 1.0], size=(2, 1, shape[1]))
    size = 10.0 ** rng.uniform([-6.0, -5.0], [-3.5, -2.5])
    return (
        _off(recipe, q, q + size[0] * draw[0], floor[0]),
        _off(recipe, qd, qd + size[1] * draw[1], floor[1]),
    )


def _differences(recipe: Recipe, told: Array, moved: _Motion) -> Array:
    """Velocities as a driver makes them of positions; the first ones are told right."""
    back, velocity = recipe.difference, moved.qd.copy()
    spans = moved.times[back:] - moved.times[:-back]
    velocity[back:] = (told[back:] - told[:-back]) / spans[:, None]
    return np.asarray(velocity)


def _off(recipe: Recipe, true: Array, told: Array, floor: float) -> _Errors:
    bound = recipe.slack * np.abs(told - true).max(axis=0) + floor
    return _Errors(told, tuple(float(x) for x in bound))


def _told_torque(
    rng: np.random.Generator, recipe: Recipe, moved: _Motion
) -> tuple[Array, tuple[float, ...]]:
    """Torques as told, (N, n), with abs(true - told) <= ratio abs(told) + absolute."""
    true, (N, n) = moved.torque, moved.torque.shape
    error = np.zeros((N, n))
    sign = rng.choice([-1.0, 1.0], size=n)
    if recipe.noise == 'random':
        error = rng.uniform(-1.0, 1.0, size=(N, n))
    elif recipe.noise == 'gain':
        error = error + sign
    elif recipe.noise == 'velocity':
        error = sign * np.sign(moved.qd * true)
    elif recipe.noise == 'acceleration':
        error = sign * np.sign(np.gradient(moved.qd, axis=0) * true)
    elif recipe.noise == 'alternating':
        error = error + sign * (1.0 - 2.0 * (np.arange(N) % 2))[:, None]
    elif recipe.noise == 'blocks':
        blocks = rng.choice([-1.0, 1.0], size=(N // recipe.window + 1, n))
        error = np.repeat(blocks, recipe.window, axis=0)[:N]
    size = np.abs(true).max(axis=0)
    absolute = (rng.choice([0.0, 0.01]) if recipe.ratio > 0.0 else 0.0) * size
    told = (true - absolute * error * np.sign(true)) / (1.0 + recipe.ratio * error)
    bound = recipe.slack * absolute + FLOORS[recipe.dry > 0.0][2] * (1.0 + size)
    return told, tuple(float(x) for x in bound)


def _prior(
    rng: np.random.Generator, recipe: Recipe, m: Mechanism, model: RobotModel
) -> ParameterEstimate:
    """Bounds that contain the truth, of which it is a corner or any point."""
    layout, truth = model.layout, m.theta
    place = rng.uniform(-1.0, 1.0, size=layout.size)
    if recipe.corner:
        place = np.sign(place)
    usual = np.concatenate(
        [np.abs(m.body).ravel(), *np.abs([m.dry, m.viscous, m.rotor, m.offset])]
    )
    usual += 0.1 * float(rng.integers(2)) * usual.mean()
    radius = recipe.known * usual
    center = truth - 0.999 * place * radius
    body = truth[layout.end_effector]
    size = np.concatenate([[body[0]], np.full(3, 0.3 * body[0]), np.full(6, 0.1 * body[0])])
    lower, upper = np.minimum(center - radius, truth), np.maximum(center + radius, truth)
    lower[layout.end_effector] = body - size * rng.uniform(0.0, 3.0, size=10)
    upper[layout.end_effector] = body + size * rng.uniform(0.0, 3.0, size=10)
    bounds = Interval(lower, upper)
    return ParameterEstimate(layout, np.clip(bounds.center, lower, upper), bounds)
