"""`safe-sysid bench search`: the cost that a search reaches against the processor time it takes.

Beside the search as it is, from the same random starts: plans at random alone, as many as it looks
at and several times as many, and Ipopt alone from the gentlest plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
import os
import time

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.arm_pair import at_rest_side_by_side
from safe_sysid.bench.experiments.chains import gains_of, kinova_chain, start_of
from safe_sysid.bench.experiments.planning import (
    at_rest,
    bare_estimate,
    boxes_beside,
    random_start,
)
from safe_sysid.bench.experiments.reach import kinova_with_dumbbell
from safe_sysid.bench.plots import PLOTS, LinePlot
from safe_sysid.bench.search_cases import BOXES, STRONG, SWITCH
from safe_sysid.bench.search_cases import settings as arms
from safe_sysid.bench.settings import BenchSettings, Progress
from safe_sysid.model.collision.obstacles import NO_OBSTACLES
from safe_sysid.plan.aims import Approach, Excite
from safe_sysid.plan.result import SearchFinding
from safe_sysid.plan.search.best_plan import Budget, SearchSettings, search
from safe_sysid.reach.problem import Problem
from safe_sysid.reach.reachable_set import ReachableSet
from safe_sysid.report.figures import Axes

NO_CLOCK = 1000.0  # [s]: searches end by their counts, however busy a machine is
WHOLE = SearchSettings(ipopt_seconds=NO_CLOCK)
ALL = WHOLE.candidates + WHOLE.nearby * WHOLE.fewer  # plans that a search looks at
RANDOM = replace(WHOLE, nearby=0, rounds=0)
WAYS = {
    'search': WHOLE,
    'random': replace(RANDOM, candidates=ALL),
    'random_times_5': replace(RANDOM, candidates=5 * ALL),
    'ipopt': replace(WHOLE, candidates=0, nearby=0, rounds=6),
}
SETTINGS = ('bare', STRONG)  # of `search_cases`
JOINTS = (7, 12)  # of chains whose searches are compared
AROUND = 0.3  # [rad] of where chains begin
AT = (0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.8, 1.2, 2.0, 4.0)  # [s]


@dataclass(frozen=True, eq=False)
class _Start:
    """A problem, what is sought, and the cost of standing still."""

    problem: Problem
    aim: Excite
    still: float


def run(settings: BenchSettings, progress: Progress) -> dict[str, object]:
    """Costs of all ways from every start that can be stood at, below that of standing still."""
    load, count = os.getloadavg()[0], settings.trials or (2 if settings.quick else 60)
    found: dict[str, list[SearchFinding]] = {way: [] for way in WAYS}
    still: list[float] = []
    for number in range(count):
        progress(f'start {number + 1} of {count}')
        start = _start(settings.seed, number)
        every = {way: _found(start, chosen, number) for way, chosen in WAYS.items()}
        if any(finding.certificate is None for finding in every.values()):
            continue  # standing still is not certified there
        still.append(start.still)
        for way, finding in every.items():
            found[way].append(finding)
    seconds = {n: _seconds(settings.seed, n, count, progress) for n in JOINTS}
    by_joints = {
        'cpu_s_by_joints': seconds,
        'cpu_of_12_to_7_joints': seconds[JOINTS[-1]] / seconds[JOINTS[0]],
        'pair_of_arms': _pair(settings.seed, count, progress),
    }
    if not still:
        return {'starts': count, 'searched': 0, **by_joints, 'load': load}
    reached = {way: _reached(findings, np.array(still)) for way, findings in found.items()}
    return {
        'starts': count,
        'searched': len(still),
        PLOTS: [_plot(reached)],
        'cpu_s': AT,
        'cost_below_standing_still': reached,
        'last_cost_median': {
            way: float(np.median([each.cost for each in findings]))
            for way, findings in found.items()
        },
        'cpu_s_of_last_improvement_median': {
            way: float(np.median([each.improved[-1][0] for each in findings]))
            for way, findings in found.items()
        },
        'no_worse_than_others': {
            way: float(np.mean([_is_best(found, way, i) for i in range(len(still))]))
            for way in WAYS
        },
        **by_joints,
        'load': load,
    }


def _start(seed: int, number: int) -> _Start:
    """Arms in turn, among boxes in turn."""
    rng, holding = np.random.default_rng([seed, number]), kinova_with_dumbbell()
    arm = arms()[SETTINGS[number % len(SETTINGS)]]
    q = random_start(rng, holding)
    boxes = boxes_beside(rng, holding, q, BOXES[number % len(BOXES)])
    problem = replace(at_rest(arm.model, arm.estimate, q, boxes), gains=arm.gains)
    aim = Excite(arm.model, arm.estimate, SWITCH)
    rest = np.zeros(arm.model.n)
    unit = replace(problem.horizon, k_center=rest, k_range=rest + 1.0)
    return _Start(problem, aim, aim.cost(unit).value(rest))


def _seconds(seed: int, n: int, count: int, progress: Progress) -> float:
    """Median processor time of whole searches from rest, of a chain of n joints [s]."""
    model = kinova_chain(n)
    bounds = bare_estimate(model)
    aim, spent = Excite(model, bounds, SWITCH), []
    for number in range(1 + count):
        progress(f'{n} joints: start {number} of {count}')
        q = start_of(n) + np.random.default_rng([seed, n, number]).uniform(-AROUND, AROUND, n)
        problem = replace(at_rest(model, bounds, q, NO_OBSTACLES), gains=gains_of(n))
        begin = time.process_time()
        search(problem, aim, Budget.of(NO_CLOCK), WHOLE, number)
        spent.append(time.process_time() - begin)
    return float(np.median(spent[1:]))  # the first one may load kernels


def _pair(seed: int, count: int, progress: Progress) -> dict[str, float]:
    """Two arms on one base that are to come nearer to goals: plans, and processor time [s]."""
    problem, moved, spent = at_rest_side_by_side(), 0, []
    start = problem.horizon.curve.q0
    for number in range(1 + count):
        progress(f'a pair of arms: goal {number} of {count}')
        way = np.random.default_rng([seed, 14, number]).uniform(-1.0, 1.0, len(start))
        aim, begin = Approach(problem.model, start + way), time.process_time()
        found = search(problem, aim, Budget.of(NO_CLOCK), WHOLE, number)
        spent.append(time.process_time() - begin)
        moved += number > 0 and found.certificate is not None and not found.stands_still
    begin = time.process_time()
    ReachableSet.certify_center(problem)
    certify = 1e3 * (time.process_time() - begin)
    return {
        'joints': len(start),
        'goals': count,
        'plans_that_move': moved,
        'cpu_s': float(np.median(spent[1:])),
        'certify_cpu_ms': certify,
    }


def _found(start: _Start, chosen: SearchSettings, seed: int) -> SearchFinding:
    return search(start.problem, start.aim, Budget.of(NO_CLOCK), chosen, seed)


def _reached(findings: list[SearchFinding], still: Array) -> Array:
    """Median over starts of the cost below that of standing still, at every time of AT."""
    costs = [
        [min((c for t, c in each.improved if t <= limit), default=rest) for limit in AT]
        for each, rest in zip(findings, still, strict=True)
    ]
    below: Array = np.median(np.array(costs) - still[:, None], axis=0)
    return below


def _is_best(found: Mapping[str, list[SearchFinding]], way: str, i: int) -> bool:
    """Whether no other way came more than a hundredth lower from a start."""
    return found[way][i].cost <= min(each[i].cost for each in found.values()) + 0.01


def _plot(reached: Mapping[str, Array]) -> LinePlot:
    axes = Axes('processor time [s]', 'cost below standing still', 'log', 'linear')
    return LinePlot('search_cost.svg', np.array(AT), reached, axes)
