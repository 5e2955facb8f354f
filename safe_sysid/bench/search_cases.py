"""Searches for a plan from random starts, among boxes, with several bounds of theta and limits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
import time

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.excitation_episodes import MOVES
from safe_sysid.bench.experiments.kinova_dumbbell import kinova_prior
from safe_sysid.bench.experiments.planning import (
    GAINS,
    at_rest,
    bare_estimate,
    boxes_beside,
    random_start,
    violations,
)
from safe_sysid.bench.experiments.reach import kinova_with_dumbbell
from safe_sysid.bench.experiments.static_torque import static_share
from safe_sysid.bench.settings import Progress
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.aims import Excite
from safe_sysid.plan.cost.predicted_rows import PredictedRows
from safe_sysid.plan.cost.terms import Conditioning
from safe_sysid.plan.result import SearchFinding
from safe_sysid.plan.search.best_plan import Budget, SearchSettings, search, stand_still
from safe_sysid.reach.certificate import PlanCertificate
from safe_sysid.track.gains import Gains

BOXES = (0, 4, 10)
STRONG = 'conservative_90_45'  # with the limits that the published planner assumed
CLOSE = 'conservative_small_V_M'  # with a controller that follows more closely
PUBLISHED_TORQUE = np.array([90.0] * 4 + [45.0] * 3)  # [N m]
SMALL_V_M = 0.005  # [J], a quarter of the published one
BUDGET = 1.5  # [s] of wall-clock time for one search
SWITCH = 1.5  # [s]


@dataclass(frozen=True, eq=False)
class Setting:
    """An arm, what is known of it, and how it is controlled."""

    model: RobotModel
    estimate: ParameterEstimate
    gains: Gains


@dataclass(frozen=True, eq=False)
class Case:
    """One search and what came of it."""

    setting: str  # name of `settings`
    start: int
    boxes: int
    still: SearchFinding  # whether standing still can be certified
    found: SearchFinding
    cpu_s: float
    violations: int
    static: float  # see `static_torque`

    @property
    def moves(self) -> bool:
        """Whether the certified plan goes anywhere."""
        certificate = self.found.certificate
        return certificate is not None and bool(np.abs(certificate.k).max() > MOVES)

    @property
    def wall(self) -> float:
        """Seconds of the search."""
        assert self.found.seconds is not None
        return self.found.seconds['total']


def settings() -> dict[str, Setting]:
    """Return the bare gripper, and Table I with different limits and gains."""
    bare, holding = RobotModel.named('kinova_gen3'), kinova_with_dumbbell()
    strong = replace(holding, limits=replace(holding.limits, torque=PUBLISHED_TORQUE))
    prior = kinova_prior(holding)
    return {
        'bare': Setting(bare, bare_estimate(bare), GAINS),
        'conservative': Setting(holding, prior, GAINS),
        STRONG: Setting(strong, kinova_prior(strong), GAINS),
        CLOSE: Setting(holding, prior, replace(GAINS, V_M=SMALL_V_M)),
    }


def searches(seed: int, starts: int, samples: int, progress: Progress) -> Iterator[Case]:
    """Every start among every number of boxes, in every setting."""
    arms = settings()
    _warm_up(arms['bare'])
    for start in range(starts):
        progress(f'start {start + 1} of {starts}')
        for boxes in BOXES:
            for name, setting in arms.items():
                yield _case(
                    np.random.default_rng([seed, start]), (name, start, boxes), setting, samples
                )


def _case(
    rng: np.random.Generator, what: tuple[str, int, int], setting: Setting, samples: int
) -> Case:
    """Start and boxes are the same in all settings, free of contact with and without payload."""
    name, start, boxes = what
    model, estimate, holding = setting.model, setting.estimate, kinova_with_dumbbell()
    q = random_start(rng, holding)
    problem = at_rest(model, estimate, q, boxes_beside(rng, holding, q, boxes))
    problem = replace(problem, gains=setting.gains)
    still = stand_still(problem, Budget.of(60.0), SearchSettings())
    cpu = time.process_time()
    aim = Excite(model, estimate, SWITCH)
    found = search(problem, aim, Budget.of(BUDGET), SearchSettings(), start)
    cpu = time.process_time() - cpu
    broken = 0
    if found.certificate is not None:
        broken = violations(rng, found.certificate, samples)
    static = static_share(model, estimate.bounds, q)
    return Case(name, start, boxes, still, found, cpu, broken, static)


def _warm_up(setting: Setting) -> None:
    """Compile everything that a search calls."""
    rng, model = np.random.default_rng(0), setting.model
    q = random_start(rng, model)
    problem = at_rest(model, setting.estimate, q, boxes_beside(rng, model, q, 1))
    aim = Excite(model, setting.estimate, SWITCH)
    search(problem, aim, Budget.of(600.0), SearchSettings(), 0)


def log_condition(certificate: PlanCertificate) -> float:
    """Of the rows that the plan gives until the next one takes over."""
    problem = certificate.problem
    rows = PredictedRows(problem.model, problem.horizon, SWITCH)
    still: Array = np.zeros(problem.model.n)
    return Conditioning(rows).evaluate(still).value
