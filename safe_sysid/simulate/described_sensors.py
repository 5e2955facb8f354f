"""Readings of an arm as its settings describe them, or as it is assumed where they say nothing.

    position   behind backlash, turned by a constant zero error, rounded to the encoder's step
    velocity   difference of such readings, or the driver's signal; low-pass, lag, rounding
    torque     of the motor, or behind gear, rotor and friction; low-pass; wrong by a gain, an
               offset and noise
    stamp      off by at most the stated error, never before the one of the last sample

No sample is more wrong than `model/sensing.py` says: it derives the bounds, this draws the errors.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.dynamics.regressors import standard_regressor
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.sensing import (
    COARSE,
    backlash,
    felt_parameters,
    reading_errors,
    torque_errors,
)
from safe_sysid.model.signal_facts import VelocityFacts

NEARLY = 1.0 - 2.0**-20  # share of a promise that is used, so that rounding cannot break it


class DescribedSensors:
    """Turns what an arm does into what has arrived of it."""

    def __init__(
        self, model: RobotModel, first: JointMeasurement, period: float, rng: np.random.Generator
    ) -> None:
        self._model, self._period, self._rng = model, period, rng
        self._reading = reading_errors(model, period)
        self._torque = torque_errors(model)
        n = model.n
        self._zero = NEARLY * rng.choice([-1.0, 1.0], size=n) * self._reading.zero
        step = model.sensors.encoder_resolution
        self._step = np.where(step > 0.0, step, COARSE)
        self._play = NEARLY * 0.5 * backlash(model)
        self._motor = first.position.copy()  # where the joint is on the encoder's side of its play
        self._signs = rng.choice([-1.0, 1.0], size=(2, n))
        self._constant = rng.uniform(*self._torque.filter)  # [s] of the torque's low-pass
        self._filtered = self._weight(first)
        facts = model.sensors.sensing.velocity or VelocityFacts()
        self._facts = facts
        self._positions: deque[Array] = deque(maxlen=facts.samples + 1)
        self._velocities: deque[Array] = deque(maxlen=1 + int(facts.lag / period))
        self._slow = np.zeros(n)  # velocity behind its low-pass
        self._stamp = -1
        self._latest = self._read(first)

    @property
    def latest(self) -> JointMeasurement:
        """The newest sample that has arrived."""
        return self._latest

    def feel(self, model: RobotModel, piece: tuple[float, Array], motion: Array) -> None:
        """Let a torque act for some seconds, on an arm whose q, qd, qdd are the rows of `motion`.

        The arm is as it is, and holds what it holds.
        """
        seconds, torque = piece
        felt = torque if self._torque.has_rotors else _behind_gear(model, motion)
        if self._constant == 0.0:
            self._filtered = felt.copy()
            return
        decay = np.exp(-seconds / self._constant)
        self._filtered = felt + (self._filtered - felt) * decay

    def _weight(self, first: JointMeasurement) -> Array:
        """Return what is felt of an arm at rest before the first torque.

        As `brakes.in_brakes` has it: as if its drives held the arm.
        """
        still = np.zeros_like(first.position)
        return _behind_gear(self._model, np.stack([first.position, still, still]))

    def take(self, truth: JointMeasurement) -> None:
        """Take one sample."""
        self._latest = self._read(truth)

    def _read(self, truth: JointMeasurement) -> JointMeasurement:
        link = truth.position
        self._motor = np.clip(self._motor, link - self._play, link + self._play)
        position = self._positioned(self._motor + self._zero)
        self._positions.append(position)
        return replace(
            truth,
            stamp=self._stamped(truth.stamp),
            position=position,
            velocity=self._velocity(truth.velocity),
            torque=self._with_error(self._filtered),
        )

    def _positioned(self, q: Array) -> Array:
        stated = self._model.sensors.sensing.position_error
        read = self._step * np.rint(q / self._step)
        if stated is None:
            return np.asarray(read)
        share = self._rng.uniform(-NEARLY, NEARLY, size=len(q))
        return np.asarray(q + share * np.array(stated))

    def _velocity(self, qd: Array) -> Array:
        if self._model.sensors.sensing.velocity_error is not None:
            error = self._rng.uniform(-NEARLY, NEARLY, size=len(qd)) * self._reading.velocity
            return np.asarray(qd + error)
        facts, signal = self._facts, qd
        if facts.source == 'difference':
            way = self._positions[-1] - self._positions[0]
            signal = way / (facts.samples * self._period)
        decay = np.exp(-self._period / facts.filter) if facts.filter > 0.0 else 0.0
        self._slow = signal + (self._slow - signal) * decay
        self._velocities.append(self._slow)
        late, step = self._velocities[0], np.array(facts.step)
        rounded = np.where(
            step > 0.0, np.rint(late / np.where(step > 0.0, step, 1.0)) * step, late
        )
        return np.asarray(rounded)

    def _with_error(self, torque: Array) -> Array:
        """Return a reading m with |torque - m| <= ratio |m| + absolute."""
        share = 0.7 * self._signs + 0.3 * self._rng.uniform(-1.0, 1.0, size=self._signs.shape)
        errors = self._errors_of_sensor()
        absolute, gain = NEARLY * share[1] * errors[1], NEARLY * share[0] * errors[0]
        return np.asarray((torque - absolute) / (1.0 + gain))

    def _errors_of_sensor(self) -> tuple[Array, Array]:
        """Ratio and amount of the sensor alone: the load's share of friction is in the arm."""
        if not self._torque.has_rotors:
            return self._torque.ratio, self._torque.absolute
        load = self._model.friction.load(self._model.n)
        return (self._torque.ratio - load) / (1.0 + load), self._torque.absolute / (1.0 + load)

    def _stamped(self, stamp: int) -> int:
        error = self._rng.uniform(-NEARLY, NEARLY) * self._torque.stamp
        self._stamp = max(self._stamp + 1, stamp + round(1e9 * error), 0)
        return self._stamp


def _behind_gear(model: RobotModel, motion: Array) -> Array:
    """Torque that moves the links alone, with the offset of its sensor."""
    (torque,) = standard_regressor(model, *motion[:, None, :]) @ felt_parameters(model)
    return np.asarray(torque)
