"""MotionObjective: what a user wants of a motion, summed or maximised along it.

It steers searches and proves nothing: where it can't be evaluated it is infinite, which costs a
search one candidate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
import math
from pathlib import Path
from typing import Annotated, Protocol

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.config import NotNegative, OneOf, Settings
from safe_sysid.model.own_cost import WAYS, OwnCostSettings
from safe_sysid.model.robot_model import RobotModel

KEPT = 1e-6  # by which a limit may be exceeded and counts as kept
STIFFNESS = 100.0  # times the square of what exceeds a limit: cost on the way to keeping it


class SampleCosts(Protocol):
    """Costs of the samples of a motion."""

    def evaluate(self, states: Array, theta: Array, times: Array) -> tuple[Array, Array]:
        """Return costs and excesses over limits (2, N), and slopes of both (2, 3, N, n)."""


@dataclass(frozen=True, eq=False)
class Along:
    """An objective of one motion."""

    value: float  # weighted; infinite where it can't be evaluated
    slopes: Array  # (3, N, n) in q, qd, qdd of every sample
    excess: float  # over limits, 0 where they are kept

    @property
    def is_kept(self) -> bool:
        """Whether it can be evaluated, and limits of its own are kept."""
        return math.isfinite(self.value) and self.excess <= KEPT


@dataclass(frozen=True, eq=False)
class MotionObjective(Settings):
    """Costs of samples, put together and weighed against other costs."""

    samples: SampleCosts
    name: str = 'own cost'
    weight: NotNegative = 1.0
    over: Annotated[str, OneOf(WAYS)] = 'integral'
    unit: str = ''  # of the cost of a sample

    def along(self, states: Array, theta: Array, times: Array) -> Along:
        """Return the objective of samples (3, N, n) at equal steps of time [s]."""
        none = Along(math.inf, np.zeros_like(states), math.inf)
        try:
            (costs, excesses), slopes = self.samples.evaluate(states, theta, times)
        except Exception:  # noqa: BLE001 - whatever a user's function raises costs one candidate
            return none
        if not (np.isfinite(costs).all() and np.isfinite(excesses).all()):
            return none
        share = self._shares(costs, times)
        value = self.weight * float(share @ costs)
        pushed = STIFFNESS / len(times)
        value += pushed * float(excesses @ excesses)
        by_cost, by_excess = self.weight * share, 2.0 * pushed * excesses
        total = by_cost[:, None] * slopes[0] + by_excess[:, None] * slopes[1]
        if not (math.isfinite(value) and np.isfinite(total).all()):
            return none
        return Along(value, total, float(excesses.max(initial=0.0)))

    def figure(self, states: Array, theta: Array, times: Array) -> str:
        """Return the objective of a motion with its unit, for people."""
        found = replace(self, weight=1.0).along(states, theta, times)
        unit = f'{self.unit} s'.strip() if self.over == 'integral' else self.unit
        kept = '' if found.is_kept else ' (can not be evaluated, or exceeds a limit of its own)'
        return f'{self.name}: {found.value:.4g} {unit}'.rstrip() + kept

    def _shares(self, costs: Array, times: Array) -> Array:
        """Return derivative of the whole in the cost of every sample."""
        share = np.zeros(len(costs))
        if self.over == 'max':
            share[int(np.argmax(costs))] = 1.0
            return share
        step = np.diff(times)
        share[:-1] += 0.5 * step
        share[1:] += 0.5 * step
        return share


def objective_of(settings: OwnCostSettings, model: RobotModel) -> MotionObjective | None:
    """Return what settings ask for; CasADi is imported only if they ask for something."""
    if not settings.file:
        return None
    from safe_sysid.model.symbolic.sample_costs import CasadiSampleCosts, read_function

    function = read_function(Path(settings.file))
    samples = CasadiSampleCosts(model, function, settings.link)
    name = function.name()
    return MotionObjective(samples, name, settings.weight, settings.over, settings.unit)
