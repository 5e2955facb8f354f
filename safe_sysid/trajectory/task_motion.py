"""Task motions: Bezier pieces one after the other, the smoothest ones through a via point.

Between two states the quintic has the smallest integral of squared jerk of all curves, so only
velocity and acceleration at the via point are left to choose. For one joint and one piece with
z = (qd0 T, qdd0 T^2, k, qd1 T, qdd1 T^2) the integral is z' S z / T^5, where S has the integrals
of products of the third derivatives of V, A, K, V1, A1. What is chosen enters z linearly, hence
one 2 x 2 system.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError
from safe_sysid.trajectory.bezier import Bezier, basis_derivative, end_derivative


@dataclass(frozen=True, eq=False)
class Piece:
    """One curve with its parameter."""

    curve: Bezier
    k: Array  # (n,) [rad]

    def __post_init__(self) -> None:
        k = np.array(self.k, dtype=np.float64)
        if k.shape != self.curve.q0.shape or not np.all(np.isfinite(k)):
            raise BoundError(f'k = {k} has to be {len(self.curve.q0)} finite numbers')
        k.setflags(write=False)
        object.__setattr__(self, 'k', k)

    @property
    def end(self) -> tuple[Array, Array, Array]:
        """Position, velocity and acceleration at the end."""
        return self.curve.q0 + self.k, self.curve.qd1, self.curve.qdd1


@dataclass(frozen=True, eq=False)
class TaskMotion:
    """Pieces that follow each other without a jump and end at rest.

    Each piece can be certified by itself, and all have to be before the first one starts: only the
    last one ends at rest.
    """

    pieces: tuple[Piece, ...]

    def __post_init__(self) -> None:
        if not self.pieces:
            raise BoundError('a motion needs at least one piece')
        last = self.pieces[-1].curve
        if not last.ends_at_rest:
            raise BoundError(
                'the last curve of a plan has to end at rest, because that is what the arm falls '
                f'back to; this one ends at {last.qd1} rad/s and {last.qdd1} rad/s^2'
            )
        for before, after in zip(self.pieces[:-1], self.pieces[1:], strict=True):
            start = (after.curve.q0, after.curve.qd0, after.curve.qdd0)
            if not all(np.array_equal(a, b) for a, b in zip(before.end, start, strict=True)):
                raise BoundError(
                    f'a piece of a task motion starts at {start}, the one before ends at '
                    f'{before.end}; they have to be the same'
                )

    @property
    def duration(self) -> float:
        """Of all pieces together [s]."""
        return sum(piece.curve.duration for piece in self.pieces)

    @property
    def end_position(self) -> Array:
        """Where the arm comes to rest, (n,)."""
        return self.pieces[-1].end[0]

    def desired(self, since_start: float) -> tuple[Array, Array, Array]:
        """Position, velocity and acceleration, each (n,); at rest after the end."""
        if since_start < 0.0:
            raise BoundError(f'time {since_start} s is before the start of the motion')
        number, t = self.piece_at(since_start)
        if number == len(self.pieces):
            rest = np.zeros_like(self.end_position)
            return self.end_position, rest, rest.copy()
        curve, k = self.pieces[number].curve, self.pieces[number].k
        return curve.position(t, k), curve.velocity(t, k), curve.acceleration(t, k)

    def piece_at(self, since_start: float) -> tuple[int, float]:
        """Return a piece's number and the time since its start [s]; after the end their count."""
        t = since_start
        for number, piece in enumerate(self.pieces):
            if t < piece.curve.duration:
                return number, t
            t -= piece.curve.duration
        return len(self.pieces), t


def minimum_jerk(
    start: tuple[Array, Array, Array],
    via: Array,
    goal: Array,
    durations: tuple[float, float] = (1.0, 1.0),
) -> TaskMotion:
    """Smallest integral of squared jerk from a state through a via point to rest at a goal.

    Joints that turn without end are not wrapped here: via and goal say which way to go.
    """
    q0, qd0, qdd0 = (np.asarray(x, dtype=float) for x in start)
    via, goal = np.asarray(via, dtype=float), np.asarray(goal, dtype=float)
    if via.shape != q0.shape or goal.shape != q0.shape:
        raise BoundError(f'via {via} and goal {goal} have to be {q0.shape} numbers, as the start')
    T1, T2 = durations
    zero = np.zeros_like(q0)
    S = jerk_products()
    free_1, free_2 = np.zeros((5, 2)), np.zeros((5, 2))  # qd, qdd at the via point to z
    free_1[3, 0] = T1
    free_1[4, 1] = T1**2
    free_2[0, 0] = T2
    free_2[1, 1] = T2**2
    fixed_1 = np.stack([qd0 * T1, qdd0 * T1**2, via - q0, zero, zero])
    fixed_2 = np.stack([zero, zero, goal - via, zero, zero])
    curvature = free_1.T @ S @ free_1 / T1**5 + free_2.T @ S @ free_2 / T2**5
    slope = free_1.T @ S @ fixed_1 / T1**5 + free_2.T @ S @ fixed_2 / T2**5
    qd, qdd = -np.linalg.solve(curvature, slope)
    first = Piece(Bezier(q0, qd0, qdd0, T1, qd1=qd, qdd1=qdd), via - q0)
    middle = first.end[0]
    return TaskMotion((first, Piece(Bezier(middle, qd, qdd, T2), goal - middle)))


def jerk_products() -> Array:
    """Integrals over [0, 1] of products of third derivatives of V, A, K, V1, A1; (5, 5)."""
    jerks = np.concatenate([basis_derivative(3), end_derivative(3)])
    powers = np.arange(6.0)
    return np.asarray(jerks @ (1.0 / (powers[:, None] + powers + 1.0)) @ jerks.T)
