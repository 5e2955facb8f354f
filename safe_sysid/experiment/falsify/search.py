"""Search for the smallest of something: signs are flipped greedily, numbers by cross-entropy.

Errors within intervals do most harm at corners, so that what is unknown of an arm is searched as
signs. Where it starts and goes has no corners: there the best draws of late say where the next
ones lie. Some draws are always new, against an objective that leads astray.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.experiment.falsify.cell import Draw, Part

FIRST = 8  # draws at random, of which the best is begun with
NEW = 0.2  # share of draws at random later
REMEMBERED, ELITE = 16, 5  # last draws of numbers, and the best of them
NARROWEST, WIDEST = 0.02, 0.3  # of a number's deviation
BEYOND = 10.0  # value of a draw of which nothing can be said


class Search:
    """Ask for a draw, tell its value, and again."""

    def __init__(self, rng: np.random.Generator, parts: tuple[Part, ...]) -> None:
        self._rng, self._parts = rng, parts
        self._best: Draw | None = None
        self._value, self._told = np.inf, 0
        self._late: deque[tuple[float, Array]] = deque(maxlen=REMEMBERED)

    def ask(self) -> Draw:
        """Return what to try next."""
        if self._told < FIRST or self._best is None or self._rng.random() < NEW:
            return Draw.at_random(self._rng, self._parts)
        values, is_sign = self._best.values.copy(), self._best.is_sign
        if self._told % 2 or is_sign.all():
            count = min(int(self._rng.geometric(0.5)), int(is_sign.sum()))
            values[self._rng.choice(np.flatnonzero(is_sign), count, replace=False)] *= -1.0
        else:
            values[~is_sign] = self._numbers(values[~is_sign])
        return Draw(self._parts, values, self._best.seed)

    def tell(self, draw: Draw, value: float) -> None:
        """Take in what became of a draw."""
        self._told += 1
        numbers = draw.values[~draw.is_sign]
        self._late.append((value, numbers))
        if value <= self._value:
            self._best, self._value = draw, value

    def _numbers(self, best: Array) -> Array:
        """Draw about the best of late draws."""
        elite = sorted(self._late, key=lambda told: told[0])[:ELITE]
        numbers = np.array([told[1] for told in elite])
        spread = np.clip(numbers.std(axis=0), NARROWEST, WIDEST)
        middle = 0.5 * (best + numbers.mean(axis=0))
        moved = self._rng.random(len(best)) < 0.5
        drawn = middle + spread * self._rng.normal(size=len(best))
        return np.asarray(np.where(moved, np.clip(drawn, 0.0, 1.0), best))


class AtRandom:
    """The control: every draw is new."""

    def __init__(self, rng: np.random.Generator, parts: tuple[Part, ...]) -> None:
        self._rng, self._parts = rng, parts

    def ask(self) -> Draw:
        """Return any draw."""
        return Draw.at_random(self._rng, self._parts)

    def tell(self, draw: Draw, value: float) -> None:
        """Nothing is learned."""
