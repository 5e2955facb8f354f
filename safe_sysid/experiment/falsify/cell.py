"""Where a falsifier looks: a cell is what it cannot change, a draw the numbers it may choose."""

from __future__ import annotations

from dataclasses import dataclass
import json
from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import AnyArray, Array
from safe_sysid.bench.experiments.calibrated_arms import ARMS, LOADS

EXACT, LATE, LATE_SLOW = READINGS = ('exact', 'late', 'late_slow_drives')
SIMULATORS = ('rigid_body', 'drake', 'mujoco')
WORLDS = ('empty', 'boxes')
OTHER_SIMULATED = ('kinova_gen3', 'fr3', 'lbr_med7')  # arms that all simulators move


@dataclass(frozen=True)
class Cell:
    """An arm, what it holds, what stands around it, who simulates it, and how it is read."""

    arm: str
    load: str  # of LOADS
    world: str
    simulator: str
    readings: str

    @property
    def name(self) -> str:
        """All of it in one word."""
        return '/'.join((self.arm, self.load, self.world, self.simulator, self.readings))


def cells() -> list[Cell]:
    """Every arm with and without a load and boxes, other simulators, arms that are seen late."""
    own, *others = SIMULATORS
    exact = [Cell(a, load, w, own, EXACT) for a in ARMS for load in LOADS for w in WORLDS]
    simulated = [
        Cell(arm, '2kg', 'boxes', other, EXACT) for arm in OTHER_SIMULATED for other in others
    ]
    late = [
        Cell('kinova_gen3', 'bare', 'empty', simulator, readings)
        for simulator in SIMULATORS
        for readings in (LATE, LATE_SLOW)
    ]
    return exact + simulated + late


class Part(NamedTuple):
    """Numbers of one meaning: how many, and whether they are signs."""

    name: str
    size: int
    is_sign: bool


def parts_of(cell: Cell, n: int) -> tuple[Part, ...]:
    """Return what a draw of a cell with n joints says, in this order."""
    truth = (Part('links', n, True), Part('joints', 4 * n, True))
    if cell.readings != EXACT:
        return (*truth, Part('ways', 2 * n, False))
    boxes = 12 if cell.world == 'boxes' else 0
    return (
        *truth,
        *(Part(name, n, True) for name in ('error_signs', 'rate_signs', 'drives')),
        *(Part(name, 1, True) for name in ('against', 'oppose', 'push', 'aim')),
        *(Part(name, n, False) for name in ('start', 'speed', 'rush', 'way', 'error', 'rate')),
        Part('when', 1, False),
        Part('boxes', boxes, False),
    )


@dataclass(frozen=True, eq=False)
class Draw:
    """One choice: signs are -1 or 1, other numbers between 0 and 1, and a seed for the rest."""

    parts: tuple[Part, ...]
    values: Array
    seed: int

    @staticmethod
    def at_random(rng: np.random.Generator, parts: tuple[Part, ...]) -> Draw:
        """Return any choice."""
        drawn = [
            rng.choice([-1.0, 1.0], part.size) if part.is_sign else rng.random(part.size)
            for part in parts
        ]
        return Draw(parts, np.concatenate(drawn), int(rng.integers(2**31)))

    def __getitem__(self, name: str) -> Array:
        at = 0
        for part in self.parts:
            if part.name == name:
                return self.values[at : at + part.size]
            at += part.size
        raise KeyError(name)

    @property
    def is_sign(self) -> AnyArray:
        """Which of the values are signs."""
        return np.concatenate([np.full(part.size, part.is_sign) for part in self.parts])

    def as_text(self) -> str:
        """As a cell of a row; numbers are kept to every bit."""
        return json.dumps([self.values.tolist(), self.seed])

    @staticmethod
    def of_text(parts: tuple[Part, ...], text: str) -> Draw:
        """As it was before it was a cell."""
        values, seed = json.loads(text)
        return Draw(parts, np.array(values), seed)
