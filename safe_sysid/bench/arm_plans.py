"""Part of `safe-sysid bench plan`: first plans of all arms, from random starts to random goals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
import time

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.calibrated_arms import (
    ARMS,
    LOADS,
    CalibratedArm,
    assumptions,
)
from safe_sysid.bench.experiments.excitation_episodes import MOVES
from safe_sysid.bench.experiments.late_shipped_arms import late_assumptions, late_figures_of
from safe_sysid.bench.experiments.planning import at_rest, violations
from safe_sysid.bench.search_cases import BUDGET
from safe_sysid.bench.settings import Progress
from safe_sysid.model.collision.obstacles import NO_OBSTACLES
from safe_sysid.plan.aims import Approach
from safe_sysid.plan.result import SearchFinding, SearchOutcome
from safe_sysid.plan.search.best_plan import Budget, SearchSettings, search, stand_still
from safe_sysid.reach.problem import Problem

DRAWS = 4  # times as many starts as are asked for are tried at most
PATIENCE = 60.0  # [s] to find out whether standing still can be certified
WAY = 0.5  # [rad] to a goal at most, in every joint
INSIDE = 0.1  # [rad] of its limits
COMPILING = 600.0  # [s] of the first search, which is not counted


class CpuBudget(Budget):
    """Counts seconds of this process, so that a busy computer does not plan less well."""

    @property
    def now(self) -> float:
        """Time of this process [s]."""
        return time.process_time()


@dataclass(frozen=True, eq=False)
class FirstPlan:
    """What came of one search."""

    found: SearchFinding
    cpu_s: float
    violations: int


def plans_of_arms(
    seed: int, starts: int, samples: int, progress: Progress, names: Sequence[str] = ARMS
) -> dict[str, object]:
    """Return figures of every arm, bare and holding 2 kg, and what is assumed of them."""
    arms: dict[str, object] = {}
    for number, name in enumerate(names):
        progress(f'first plans of {name}')
        rng = np.random.default_rng([seed, 7, number])
        arms[name] = _figures(name, rng, starts, samples)
    assumed = {'arms_assumed': assumptions(), 'late_assumed': late_assumptions()}
    return {'arms': arms, **assumed}


def plans_from(
    arm: CalibratedArm, poses: Iterable[Array], starts: int, samples: int
) -> dict[str, object]:
    """Return how many first plans are certified from poses of an arm, and why others are not."""
    reasons: Counter[str] = Counter()
    tried, certified, falsified = 0, 0, 0
    rng = np.random.default_rng(0)
    for tried, q in enumerate(poses, start=1):
        found = _standing(arm, q)
        if _is_found(found):
            found = _search(arm, q, tried)
        if not _is_found(found) or found.certificate is None:
            reasons[_limit_of(found)] += 1
            continue
        certified += 1
        falsified += violations(rng, found.certificate, samples) > 0
        if certified == starts:
            break
    return {
        'starts': tried,
        'certified': certified,
        'falsified': falsified,
        'refused_by': reasons.most_common(1)[0][0] if reasons else '',
    }


def _limit_of(found: SearchFinding) -> str:
    """Return what stands in the way, without the figures of one pose."""
    refused = found.refused
    if refused is None:
        return str(found)
    return f'{refused.smallest.kind} of {refused.smallest.where}'


def _kind_of(found: SearchFinding) -> str:
    """Return what kind of limit is in the way of standing still."""
    return 'tracking error' if found.refused is None else found.refused.smallest.kind


def _figures(name: str, rng: np.random.Generator, starts: int, samples: int) -> dict[str, object]:
    arms = {load: CalibratedArm.holding(name, payload) for load, payload in LOADS.items()}
    drawn, refused = _starts(rng, list(arms.values()), starts)
    if drawn:
        _search(arms['bare'], drawn[0], 0, COMPILING)
    figures: dict[str, object] = {'starts': len(drawn), 'can_stand_still': len(drawn)}
    figures['starts_that_cannot'] = len(refused)
    figures['these_break'] = dict(Counter(_kind_of(found) for found in refused))
    plans = {
        load: [_first_plan(rng, arm, q, i, samples) for i, q in enumerate(drawn)]
        for load, arm in arms.items()
    }
    for load, each in plans.items():
        figures[f'certified_{load}'] = sum(_is_found(plan.found) for plan in each)
    every = [plan for each in plans.values() for plan in each]
    first = [plan.found.first for plan in every if _is_found(plan.found)]
    figures |= {
        'first_plan_s_median': float(np.median(first)) if first else float('nan'),
        'first_plan_s_p95': float(np.quantile(first, 0.95)) if first else float('nan'),
        'cpu_s_median': float(np.median([plan.cpu_s for plan in every])) if every else np.nan,
        'moving': sum(_moves(plan.found) for plan in every),
        'falsified': sum(plan.violations > 0 for plan in every),
        'refused': [str(plan.found) for plan in every if not _is_found(plan.found)]
        + [str(found) for found in refused[:3]],
        'without_assumed_armature': _as_described(name, drawn),
        'late': late_figures_of(name, drawn),
    }
    return figures


def _starts(
    rng: np.random.Generator, arms: Sequence[CalibratedArm], count: int
) -> tuple[list[Array], list[SearchFinding]]:
    """Draw starts at which every one of these can stand still, and why others cannot."""
    good: list[Array] = []
    refused: list[SearchFinding] = []
    for _ in range(DRAWS * count):
        q = arms[-1].start(rng)
        standing = (_standing(arm, q) for arm in arms)
        refusal = next((found for found in standing if not _is_found(found)), None)
        if refusal is None:
            good.append(q)
        else:
            refused.append(refusal)
        if len(good) == count:
            break
    return good, refused


def _problem(arm: CalibratedArm, q: Array) -> Problem:
    return replace(at_rest(arm.model, arm.estimate, q, NO_OBSTACLES), gains=arm.gains)


def _standing(arm: CalibratedArm, q: Array) -> SearchFinding:
    return stand_still(_problem(arm, q), Budget.of(PATIENCE), SearchSettings())


def _search(arm: CalibratedArm, q: Array, seed: int, seconds: float = BUDGET) -> SearchFinding:
    """Look for a plan that moves all joints, as far as the arm may."""
    limits, way = arm.model.limits, np.random.default_rng([seed, 8]).uniform(-WAY, WAY, len(q))
    goal = np.clip(q + way, limits.position_lower + INSIDE, limits.position_upper - INSIDE)
    budget = CpuBudget(time.process_time() + seconds)
    return search(_problem(arm, q), Approach(arm.model, goal), budget, SearchSettings(), seed)


def _first_plan(
    rng: np.random.Generator, arm: CalibratedArm, q: Array, seed: int, samples: int
) -> FirstPlan:
    cpu = time.process_time()
    found = _search(arm, q, seed)
    cpu = time.process_time() - cpu
    broken = 0
    if found.certificate is not None:
        broken = violations(rng, found.certificate, samples)
    return FirstPlan(found, cpu, broken)


def _is_found(found: SearchFinding) -> bool:
    return found.outcome is SearchOutcome.FOUND


def _moves(found: SearchFinding) -> bool:
    return found.certificate is not None and bool(np.abs(found.certificate.k).max() > MOVES)


def _as_described(name: str, starts: Sequence[Array]) -> str:
    """Return what standing still comes to if nobody says more of armatures than the file."""
    if not starts:
        return ''
    return str(_standing(CalibratedArm.without_armature(name), starts[0]))
