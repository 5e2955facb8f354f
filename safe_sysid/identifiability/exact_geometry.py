"""Angles, directions and placements without rounding: what a drawing says, not what a file holds.

Whether two axes are parallel decides which parameters can be known, and 1.5708 is not a right
angle. So an angle within TOLERANCE of a multiple of 15 degrees becomes that multiple, whose sine
and cosine lie in Q(sqrt 2, sqrt 3); any other becomes that multiple plus twice an arctangent of a
fraction, whose sine and cosine are fractions too. Lengths are the decimals that were written down.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
import math
from typing import NamedTuple
import warnings

import numpy as np
from scipy.spatial.transform import Rotation

from safe_sysid.arrays import Array

TOLERANCE = 1e-4  # [rad]; also of a length, relative to the size of the arm, to be zero
STEP = math.pi / 12
DECIMALS = 12  # of lengths [m] and of half tangents
WORTH_TELLING = 1e-9  # [rad], [m]; what is moved by less was rounded by arithmetic, not by people

# Turns about other axes than URDF's own may fit a rotation with more angles that are exact.
SEQUENCES = ('ZYX', 'ZXZ', 'YXY', 'XYX', 'YXZ', 'XZY', 'ZXY', 'YZX', 'XYZ', 'ZYZ', 'YZY', 'XZX')


class ExactAngle(NamedTuple):
    """The angle 15 degrees * steps + 2 atan(tan_half)."""

    steps: int
    tan_half: Fraction = Fraction(0)

    @property
    def radians(self) -> float:
        """The angle as a float."""
        return self.steps * STEP + 2.0 * math.atan(self.tan_half)


class Turn(NamedTuple):
    """Rotation about a coordinate axis of the frame reached so far."""

    axis: int  # 0, 1, 2 for x, y, z
    angle: ExactAngle


class ExactPlacement(NamedTuple):
    """A frame in another one: moved to `position`, then turned."""

    turns: tuple[Turn, ...]
    position: tuple[Fraction, Fraction, Fraction]  # [m]


@dataclass(frozen=True)
class Snap:
    """One number of a robot description that was read as what was meant."""

    place: str
    given: float
    meant: float

    def __str__(self) -> str:
        return f'{self.place}: {self.given:.12g} is read as {self.meant:.12g}'


# Rotations that carry z to a direction stand for the direction.
X_AXIS = (Turn(1, ExactAngle(6)),)
Y_AXIS = (Turn(0, ExactAngle(-6)),)
Z_AXIS: tuple[Turn, ...] = ()
AXES = (X_AXIS, Y_AXIS, Z_AXIS)
# Pairs of axes (first, second): a direction is z turned about `second`, then about `first`.
POLAR = ((2, 1), (0, 1), (1, 0))

ORIGIN = (Fraction(0), Fraction(0), Fraction(0))
HERE = ExactPlacement((), ORIGIN)


def exact_angle(radians: float, tolerance: float = TOLERANCE) -> ExactAngle:
    """Multiple of 15 degrees where one is near, otherwise an angle with rational half tangent."""
    steps = round(radians / STEP)
    rest = radians - steps * STEP
    if abs(rest) <= tolerance:
        return ExactAngle(steps)
    return ExactAngle(steps, _decimal(math.tan(rest / 2)))


def exact_length(metres: float, tolerance: float) -> Fraction:
    """Return the decimal that was written down; zero within the tolerance [m]."""
    if abs(metres) <= tolerance:
        return Fraction(0)
    return _decimal(metres)


def exact_rotation(R: Array, tolerance: float = TOLERANCE) -> tuple[Turn, ...]:
    """Return turns that make a rotation, about those axes with which most angles are exact."""
    best: tuple[Turn, ...] = ()
    fewest = 4
    for sequence in SEQUENCES:
        # Of so many angles one is near a multiple by chance, so only URDF's own are given slack.
        slack = tolerance if sequence == SEQUENCES[0] else WORTH_TELLING
        turns = _turns(sequence, R, slack)
        generic = sum(turn.angle.tan_half != 0 for turn in turns)
        if generic < fewest:
            best, fewest = turns, generic
        if fewest == 0:
            break
    return tuple(turn for turn in best if turn.angle != ExactAngle(0))


def exact_direction(u: Array, tolerance: float = TOLERANCE) -> tuple[Turn, ...]:
    """Return turns that carry z to the direction of u."""
    unit = np.asarray(u, dtype=float) / np.linalg.norm(u)
    choices = [_polar(unit, first, second, tolerance) for first, second in POLAR]
    turns = min(choices, key=lambda turns: sum(turn.angle.tan_half != 0 for turn in turns))
    return tuple(turn for turn in turns if turn.angle != ExactAngle(0))


def rotation(turns: tuple[Turn, ...]) -> Array:
    """Rotation matrix of turns, with zeros and ones that are exact."""
    R: Array = np.eye(3)
    for turn in turns:
        R = R @ elementary(turn.axis, *cosine_sine(turn.angle))
    return R


def cosine_sine(angle: ExactAngle) -> tuple[float, float]:
    """Cosine and sine as floats; of multiples of 30 and 90 degrees without an error."""
    c, s = (_of_step(angle.steps + 6), _of_step(angle.steps))
    t = float(angle.tan_half)
    ct, st = (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)
    return c * ct - s * st, s * ct + c * st


def elementary(axis: int, c: float, s: float) -> Array:
    """Rotation matrix about a coordinate axis."""
    R = np.zeros((3, 3), dtype=np.result_type(type(c), type(s)))
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R[axis, axis] = 1
    R[i, i] = R[j, j] = c
    R[j, i], R[i, j] = s, -s
    return R


# sin(15 degrees * k) = (a + b sqrt 2 + c sqrt 3 + d sqrt 6) / 4 for k = 0..6
SINES = (
    (0, 0, 0, 0),
    (0, -1, 0, 1),
    (2, 0, 0, 0),
    (0, 2, 0, 0),
    (0, 0, 2, 0),
    (0, 1, 0, 1),
    (4, 0, 0, 0),
)


def sine_of_step(steps: int) -> tuple[int, tuple[int, int, int, int]]:
    """Sign and entries of SINES of a multiple of 15 degrees."""
    k = steps % 24
    sign, k = (1, k) if k <= 12 else (-1, k - 12)
    return sign, SINES[min(k, 12 - k)]


def _of_step(steps: int) -> float:
    sign, (a, b, c, d) = sine_of_step(steps)
    return sign * (a + b * math.sqrt(2) + c * math.sqrt(3) + d * math.sqrt(6)) / 4


def _decimal(value: float) -> Fraction:
    return Fraction(repr(round(float(value), DECIMALS)))


def _turns(sequence: str, R: Array, tolerance: float) -> tuple[Turn, ...]:
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')  # gimbal lock: one of many triples is as good as any
        angles = Rotation.from_matrix(R).as_euler(sequence)
    return tuple(
        Turn('XYZ'.index(letter), exact_angle(float(angle), tolerance))
        for letter, angle in zip(sequence, angles, strict=True)
    )


def _polar(unit: Array, first: int, second: int, tolerance: float) -> tuple[Turn, ...]:
    """Turn about `first`, then `second`, that carries z to a unit vector."""
    x, y, z = unit
    if first == 2:  # Rz(a) Ry(b) z = (cos a sin b, sin a sin b, cos b)
        flat = math.hypot(x, y)
        a, b = (math.atan2(y, x) if flat > tolerance else 0.0), math.atan2(flat, z)
    elif first == 0:  # Rx(a) Ry(b) z = (sin b, -sin a cos b, cos a cos b)
        flat = math.hypot(y, z)
        a, b = (math.atan2(-y, z) if flat > tolerance else 0.0), math.atan2(x, flat)
    else:  # Ry(a) Rx(b) z = (sin a cos b, -sin b, cos a cos b)
        flat = math.hypot(x, z)
        a, b = (math.atan2(x, z) if flat > tolerance else 0.0), math.atan2(-y, flat)
    return Turn(first, exact_angle(a, tolerance)), Turn(second, exact_angle(b, tolerance))
