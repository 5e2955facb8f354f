"""JointPath: a motion that somebody else made, as quintics between its points, to be followed.

It is given by points. Where velocities are missing they are those of a curve that turns back
nowhere between its points; missing accelerations are differences of the velocities. Where times
are missing the way is straight from point to point, and the arm rests in each of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.errors import SafeSysidError
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.trajectory.bezier import Bezier
from safe_sysid.trajectory.task_motion import Piece

MOST = 300  # pieces
BRIEFEST = 0.05  # [s] of a piece: each takes so long to certify that shorter ones come too late
LONGEST = 1.5  # [s] of a piece; longer ones are halved until they are shorter
NEAR = 0.05  # [rad] from the first point, where the arm may stand when it begins
SAME = 1e-6  # [rad, rad/s] between two states that are the same up to rounding
SLOW = 0.5  # share of the largest speed at which points without times are left
FARTHEST = 1e6  # [rad, m] of any position; beyond, floats hardly tell angles apart
PEAK = 15.0 / 8.0  # of the speed of a quintic from rest to rest, and its mean


class PathError(SafeSysidError):
    """A path is refused."""


@dataclass(frozen=True, eq=False)
class Points:
    """What somebody asks for; rows of velocities and accelerations may be empty."""

    times: Sequence[float]  # [s] since the start; all 0: as they follow from the arm
    positions: Sequence[Array]  # (n,) each [rad]
    velocities: Sequence[Array]
    accelerations: Sequence[Array]


@dataclass(frozen=True, eq=False)
class JointPath:
    """States at times, the first and the last at rest; quintics between them."""

    times: Array  # (W,) [s], from 0 on
    states: Array  # (W, 3, n) position, velocity, acceleration
    asked: IntArray  # (W - 1,) number of the piece that was asked for, of which a piece is a part

    @property
    def last(self) -> int:
        """Number of the last state."""
        return len(self.times) - 1

    @property
    def end(self) -> Array:
        """Where the arm comes to rest, (n,)."""
        return np.asarray(self.states[-1, 0])

    @property
    def count(self) -> int:
        """Pieces that were asked for."""
        return int(self.asked[-1]) + 1

    def passes(self, knot: int, state: tuple[Array, Array, Array]) -> bool:
        """Whether a state is that of a knot, to rounding."""
        return bool(np.abs(self.states[knot] - np.stack(state)).max() < SAME)

    def piece(self, knot: int, start: tuple[Array, Array, Array]) -> Piece:
        """From a state, which is that of a knot to rounding, to the next knot."""
        q, qd, qdd = self.states[knot + 1]
        duration = float(self.times[knot + 1] - self.times[knot])
        return Piece(Bezier(*start, duration, qd1=qd, qdd1=qdd), q - start[0])

    def rests_at(self, knot: int) -> bool:
        """Whether the arm is at rest there."""
        return not np.any(self.states[knot, 1:])

    def beginning_at(self, q: Array) -> JointPath:
        """Return the same from where the arm stands, which has to be near the first point."""
        away = np.abs(self.states[0, 0] - q)
        if away.max() > NEAR:
            j = int(away.argmax())
            raise PathError(
                f'the path begins {away[j]:.3g} rad from where joint {j + 1} stands; {NEAR} rad '
                'are allowed. Go there first'
            )
        states = self.states.copy()
        states[0, 0] = q
        return replace(self, states=states)

    def slower(self, piece: int, times: float) -> JointPath:
        """Return the same with a piece that lasts longer; both its ends have to be at rest."""
        lasts = np.diff(self.times)
        lasts[piece] *= times
        _check_count(_parts(lasts))
        return replace(self, times=np.concatenate([[0.0], np.cumsum(lasts)]))


def joint_path(model: RobotModel, points: Points, start: Array) -> tuple[JointPath, bool]:
    """Return a path for an arm that stands at `start`, and whether its times were told."""
    if not len(points.times):
        raise PathError('the path has no points')
    times, q = np.array(points.times, dtype=float), _positions(model, points)
    if not (np.isfinite(q).all() and np.isfinite(times).all()):
        raise PathError(f'every point of the path needs {model.n} finite positions and a time')
    _check_limits(model, q)
    turning = model.limits.is_continuous
    q = q - np.where(turning, 2.0 * np.pi * np.round((q[0] - start) / (2.0 * np.pi)), 0.0)
    is_timed = bool(times.any())
    if not is_timed:
        return _straight(model, q, start), False
    if times[0] < 0.0:
        raise PathError(
            f'the first point of the path is at {times[0]:.3g} s; times count from where it begins'
        )
    derivatives = [_rows(each, q.shape) for each in (points.velocities, points.accelerations)]
    if times[0] > 0.0:  # from where the arm stands to the first point
        q, times = np.concatenate([start[None], q]), np.concatenate([[0.0], times])
        derivatives = [
            None if each is None else np.concatenate([np.zeros((1, model.n)), each])
            for each in derivatives
        ]
    lasts = np.diff(times)
    if not len(lasts) or lasts.min() < BRIEFEST:
        raise PathError(
            f'the shortest piece of the path lasts {min(lasts, default=0.0):.3g} s; at least '
            f'{BRIEFEST} s are allowed'
        )
    qd = _slopes(times, q) if derivatives[0] is None else derivatives[0]
    if qd[0].any() or qd[-1].any():
        raise PathError(
            f'the path begins at {qd[0].tolist()} rad/s and ends at {qd[-1].tolist()} rad/s; it '
            'has to begin and to end at rest'
        )
    qdd = _differences(times, qd) if derivatives[1] is None else derivatives[1].copy()
    qdd[0] = qdd[-1] = 0.0
    return _split(times, np.stack([q, qd, qdd], axis=1)), True


def _positions(model: RobotModel, points: Points) -> Array:
    """Return positions of all points, or say which point has too few or too many."""
    for i, row in enumerate(points.positions):
        if len(row) != model.n:
            raise PathError(
                f'point {i + 1} of the path has {len(row)} positions; every point needs {model.n}'
            )
    return np.array(points.positions, dtype=float)


def _check_limits(model: RobotModel, q: Array) -> None:
    """Say which point is where a joint may not be, before curves lead there."""
    limits = model.limits
    lower = np.maximum(limits.position_lower, -FARTHEST)
    upper = np.minimum(limits.position_upper, FARTHEST)
    outside = np.argwhere((q < lower) | (q > upper))
    if outside.size:
        i, j = outside[0].tolist()
        raise PathError(
            f'point {i + 1} of the path has {model.layout.joint_names[j]} at {q[i, j]:.4g} rad; '
            f'[{lower[j]:.4g}, {upper[j]:.4g}] is allowed'
        )


def _straight(model: RobotModel, q: Array, start: Array) -> JointPath:
    """From point to point, at rest in each, as fast as a share of the speed limits lets it."""
    if np.abs(q[0] - start).max() > NEAR:
        q = np.concatenate([start[None], q])
    q = q[np.concatenate([[True], np.abs(np.diff(q, axis=0)).max(axis=1) > 0.0])]
    if len(q) < 2:
        raise PathError('the path leads nowhere: all its points are where the arm stands')
    lasts = (PEAK * np.abs(np.diff(q, axis=0)) / (SLOW * model.limits.velocity)).max(axis=1)
    times = np.concatenate([[0.0], np.cumsum(np.maximum(lasts, 4.0 * BRIEFEST))])
    rest = np.zeros_like(q)
    _check_count(_parts(np.diff(times)))
    return JointPath(times, np.stack([q, rest, rest], axis=1), np.arange(len(q) - 1))


def _rows(given: Sequence[Array], shape: tuple[int, ...]) -> Array | None:
    """Return what was told of all points, or None where nothing was."""
    if not any(len(row) for row in given):
        return None
    if any(len(row) != shape[1] for row in given) or len(given) != shape[0]:
        raise PathError('velocities and accelerations are told for all points of a path or none')
    rows = np.array(given, dtype=float)
    if not np.isfinite(rows).all():
        raise PathError('velocities and accelerations of a path have to be finite')
    return rows


def _slopes(times: Array, q: Array) -> Array:
    """Velocities of a curve that is monotone wherever its points are; 0 at both ends."""
    h, d = np.diff(times)[:, None], np.diff(q, axis=0) / np.diff(times)[:, None]
    slopes = np.zeros_like(q)
    before, after = d[:-1], d[1:]
    first, second = 2.0 * h[1:] + h[:-1], h[1:] + 2.0 * h[:-1]
    on = before * after > 0.0
    inverse = first / np.where(on, before, 1.0) + second / np.where(on, after, 1.0)
    slopes[1:-1] = np.where(on, (first + second) / np.where(on, inverse, 1.0), 0.0)
    return slopes


def _differences(times: Array, qd: Array) -> Array:
    """Accelerations in the middle, from the velocities beside."""
    qdd = np.zeros_like(qd)
    qdd[1:-1] = (qd[2:] - qd[:-2]) / (times[2:] - times[:-2])[:, None]
    return qdd


def _split(times: Array, states: Array) -> JointPath:
    """Cut pieces that last long; the parts are the same curve."""
    _check_count(_parts(np.diff(times)))  # before any is made: a time may be as long as one likes
    pieces = np.ceil(np.diff(times) / LONGEST)
    new_times, new_states, asked = [times[0]], [states[0]], []
    for i in range(len(times) - 1):
        duration, parts = float(times[i + 1] - times[i]), int(pieces[i])
        (q0, qd0, qdd0), (q1, qd1, qdd1) = states[i], states[i + 1]
        curve, k = Bezier(q0, qd0, qdd0, duration, qd1=qd1, qdd1=qdd1), q1 - q0
        for part in range(1, parts):
            t = duration * part / parts
            new_times.append(times[i] + t)
            new_states.append(np.stack([curve.derivative(order, t, k) for order in range(3)]))
            asked.append(i)
        new_times.append(times[i + 1])
        new_states.append(states[i + 1])
        asked.append(i)
    return JointPath(np.array(new_times), np.stack(new_states), np.array(asked))


def _parts(lasts: Array) -> float:
    """Return how many pieces there would be if none lasted too long."""
    return float(np.ceil(lasts / LONGEST).sum())


def _check_count(pieces: float) -> None:
    if pieces > MOST:
        raise PathError(
            f'the path has {pieces:.6g} pieces, none of which lasts more than {LONGEST} s; at '
            f'most {MOST} are allowed'
        )


@dataclass(frozen=True, eq=False)
class Traverse:
    """Aim: go on along a path, from one of its knots."""

    path: JointPath
    begin: int
