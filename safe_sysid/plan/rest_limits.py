"""RestLimits: whether an arm that rests somewhere is certified to be within its joint limits.

The arm is where its plan has it but for the tracking error, so a plan that ends nearer to a limit
than that error is never certified. Bounds of theta that get narrower make the error smaller; so a
place is refused only where knowing exactly what is held would not help either.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
import math

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import SafeSysidError
from safe_sysid.plan.possible_payloads import known_to
from safe_sysid.reach.limits import LimitMargins
from safe_sysid.reach.problem import Problem
from safe_sysid.reach.resting import resting_margins

FINE = 1e4  # parts of a radian, or of a metre, in which a place is told
ROUNDS = 4  # in which one is looked for, as the error is another one there


@dataclass(frozen=True, eq=False)
class RestLimits:
    """Of plans that are made now."""

    problem: Problem  # with what is known now; its curves are any

    def trouble(self, q: Array) -> str:
        """Why no plan may end at q, which is within the limits; empty: they do not refuse it."""
        try:
            found = self._best(q)
        except SafeSysidError:  # there is no bound of the error, which whoever plans says
            return ''
        return '' if found.margin.min() > 0.0 else self._said(q, found)

    def _best(self, q: Array) -> LimitMargins:
        """Margins with what is known now, or where they are not enough, with what may be."""
        now = resting_margins(self.problem, q)
        if now.margin.min() > 0.0:
            return now
        known = replace(self.problem, bounds=known_to(self.problem.bounds)(0.0))
        then = resting_margins(known, q)
        return now if now.margin.min() >= then.margin.min() else then

    def _said(self, q: Array, found: LimitMargins) -> str:
        i = int(np.argmin(found.margin))
        joint, model, limit = i % len(q), self.problem.model, float(found.limit[i])
        unit = 'm' if model.tree.is_prismatic[joint] else 'rad'
        inside, error = abs(q[joint] - limit), abs(found.reached[i] - q[joint])
        return (
            f'{model.layout.joint_names[joint]} is at {q[joint]:.4g} {unit}, {inside:.3g} {unit} '
            f'inside its limit of {limit:.4g} {unit}; where the arm rests it may be {error:.3g} '
            f'{unit} from its plan, so it has to be at least {self._least(q, i, found):.4f} '
            f'{unit} inside'
        )

    def _least(self, q: Array, i: int, found: LimitMargins) -> float:
        """How far inside limit i its joint has to be, with the others where they are."""
        joint, side = i % len(q), 1.0 if i < len(q) else -1.0
        limit, there = float(found.limit[i]), q.copy()
        for _ in range(ROUNDS):
            needed = side * (float(there[joint]) - limit) - float(found.margin[i])
            least = (math.floor(FINE * needed) + 1) / FINE
            there[joint] = limit + side * least
            found = self._best(there)
            if found.margin[i] > 0.0:
                break
        return least
