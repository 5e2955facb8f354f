"""What may have happened to a payload, as columns that a change of rows is made of."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.identify.observation import Observation

TOLD_APART = 10.0  # difference of scores below which both are said
HALVINGS = 50  # of what keeps an explanation short


class Kind(Enum):
    """What happened."""

    PICKED = 'picked'  # more mass than before
    DROPPED = 'dropped'  # less
    SLIPPED = 'slipped'  # the same mass elsewhere
    TOUCHED = 'touched'  # a force from outside
    DRIVE = 'drive'  # one joint alone: its sensor, drive or friction


@dataclass(frozen=True, eq=False)
class Windows:
    """Rows of the windows since a change, and what explains the torque of each."""

    rows: Observation
    pushes: Array  # (m, 3) impulse in the rows of 1 N at the tip along every axis of the base


@dataclass(frozen=True)
class Explanation:
    """A kind of change, how well it explains the rows, and what it takes for it."""

    kind: Kind
    score: float  # twice the log of the likelihood gained, less what its parameters cost
    change: tuple[float, ...]  # m, mc of a load; f [N] of a force; torque [N m] of a drive
    joint: int = -1  # whose drive; -1: of none alone

    def __str__(self) -> str:
        size = float(np.linalg.norm(self.change))
        said = {
            Kind.PICKED: f' {self.change[0]:.2g} kg',
            Kind.DROPPED: f' {-self.change[0]:.2g} kg',
            Kind.SLIPPED: f', its moment by {size:.2g} kg m',
            Kind.TOUCHED: f' with {size:.2g} N',
            Kind.DRIVE: f' {self.joint + 1} alone, by {size:.2g} N m',
        }
        return self.kind.value + said[self.kind]


def gain(D: Array, S: Array, e: Array) -> tuple[float, Array]:
    """Twice the log of the likelihood that D x in place of 0 gains, e ~ N(D x, S); and x.

    Without a change it is chi squared, one degree of freedom for each independent column of D.
    """
    factor = np.linalg.cholesky(S)
    white = np.linalg.solve(factor, np.column_stack([D, e]))
    white_D, white_e = white[:, :-1], white[:, -1]
    size = np.maximum(np.linalg.norm(white_D, axis=0), 1e-300)
    x = np.linalg.lstsq(white_D / size, white_e, rcond=1e-9)[0]
    explained = (white_D / size) @ x
    return float(explained @ explained), x / size


def gain_within(D: Array, S: Array, e: Array, largest: float) -> tuple[float, Array]:
    """Return the same of the best x that is no longer than `largest`."""
    factor = np.linalg.cholesky(S)
    white = np.linalg.solve(factor, np.column_stack([D, e]))
    squares, axes = np.linalg.eigh(white[:, :-1].T @ white[:, :-1])
    squares = np.maximum(squares, 0.0)
    along = axes.T @ (white[:, :-1].T @ white[:, -1])

    def best(more: float) -> Array:
        seen = squares + more > 1e-12 * max(squares[-1], 1e-300)
        return np.where(seen, along / np.where(seen, squares + more, 1.0), 0.0)

    low, high = 0.0, float(np.linalg.norm(along)) / max(largest, 1e-12)
    x = best(0.0)
    if np.linalg.norm(x) > largest:
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if np.linalg.norm(best(middle)) > largest else (low, middle)
        x = best(high)
    return float(2.0 * along @ x - squares @ x**2), axes @ x


def load_columns(rows: Observation) -> Array:
    """Columns of mass and of mass times centre."""
    return rows.Y_e[:, :4]


def _load(rows: Observation, S: Array, e: Array, cost: float) -> Explanation:
    """Return the load that explains rows best: mass and its centre, or mass alone.

    Below a hand that points down a mass is a force at the tip that happens to be vertical: with
    one parameter it costs less than any force.
    """
    scored, load = gain(load_columns(rows), S, e)
    alone, mass = gain(rows.Y_e[:, :1], S, e)
    scored, alone = scored - 4 * cost, alone - cost
    change = tuple(load) if scored > alone else (float(mass[0]), 0.0, 0.0, 0.0)
    kind = Kind.PICKED if change[0] > 0.0 else Kind.DROPPED
    return Explanation(kind, max(scored, alone), change)


def explanations(windows: Windows, S: Array, e: Array, slips: float) -> tuple[Explanation, ...]:
    """Kinds that explain the residuals e about equally well, the best first.

    What is held slips by a moment of `slips` [kg m] at most.
    """
    rows, cost = windows.rows, float(np.log(len(e)))
    found = []
    found.append(_load(rows, S, e, cost))
    scored, slip = gain_within(rows.Y_e[:, 1:4], S, e, slips)
    found.append(Explanation(Kind.SLIPPED, scored - 3 * cost, (0.0, *slip)))
    scored, force = gain(windows.pushes, S, e)
    found.append(Explanation(Kind.TOUCHED, scored - 3 * cost, tuple(force)))
    joints = np.unique(rows.joint)
    length = rows.end - rows.start
    drives = [gain(np.where(rows.joint == j, length, 0.0)[:, None], S, e) for j in joints]
    worst = max(range(len(joints)), key=lambda i: drives[i][0])
    best, torque = drives[worst]
    score = best - cost - 2.0 * float(np.log(len(joints)))
    found.append(Explanation(Kind.DRIVE, score, tuple(torque), int(joints[worst])))
    ranked = sorted(found, key=lambda each: -each.score)
    return tuple(each for each in ranked if each.score > ranked[0].score - TOLD_APART)
