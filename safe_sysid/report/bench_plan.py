"""`safe-sysid bench plan`: from where plans are found, how fast, whether they hold and teach."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
import time

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.model.inertia import LABELS
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.aims import Excite
from safe_sysid.plan.mission import Mission, MissionSettings
from safe_sysid.plan.plan_result import Finding, Outcome
from safe_sysid.plan.plan_search import Budget, SearchSettings, search, stand_still
from safe_sysid.plan.receding_horizon import PlannerSettings
from safe_sysid.report.bench import BenchSettings, Progress
from safe_sysid.report.excitation_episodes import MOVES, Arm, Episode, RandomPlans, Trial, episode
from safe_sysid.report.figures import Axes, line_plot
from safe_sysid.report.kinova_trials import DUMBBELLS, kinova_prior
from safe_sysid.report.plan_trials import (
    at_rest,
    bare_estimate,
    boxes_beside,
    random_start,
    violations,
)
from safe_sysid.report.reach_trials import kinova_with_dumbbell

BOXES = (0, 4, 10)
STRONG = 'conservative_90_45'  # with the limits that the published planner assumed
PUBLISHED_TORQUE = np.array([90.0] * 4 + [45.0] * 3)  # [N m]
BUDGET = 1.5  # [s] of wall-clock time for one search
SECONDS = 9.0  # 1.5 s at rest, four plans of 1.5 s, and the braking half of the last one
WITHOUT_IPOPT = PlannerSettings(search=SearchSettings(rounds=0))
ALWAYS_FOUR = MissionSettings(shrinking=0.0)
INERTIA = slice(4, 10)


@dataclass(frozen=True, eq=False)
class Case:
    """One search and what came of it."""

    bounds: str  # bare, conservative, STRONG
    start: int
    boxes: int
    still: Finding  # whether standing still can be certified
    found: Finding
    cpu_s: float
    violations: int

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


def run(settings: BenchSettings, progress: Progress) -> dict[str, object]:
    """Searches from random starts, falsification of what they found, episodes of excitation."""
    starts = settings.trials or (2 if settings.quick else 20)
    samples = 1000 if settings.quick else 10_000
    cases = _searches(settings.seed, starts, samples, progress)
    dumbbells = DUMBBELLS[-1:] if settings.quick else DUMBBELLS
    ours, random = _episodes(settings.seed, dumbbells, progress)
    if settings.plots is not None:
        _plot(settings.plots, ours)
    return {
        **_counts(cases),
        **_times(cases),
        'falsified': sum(case.violations > 0 for case in cases),
        'samples_per_plan': samples,
        **_learned(ours, random),
        'torque_limits': _torque_limits(),
        'refused': [_refusal(case) for case in cases if case.found.outcome is not Outcome.FOUND],
    }


def _searches(seed: int, starts: int, samples: int, progress: Progress) -> list[Case]:
    """Every start among every number of boxes, with both bounds."""
    bare, holding = RobotModel.named('kinova_gen3'), kinova_with_dumbbell()
    strong = replace(holding, limits=replace(holding.limits, torque=PUBLISHED_TORQUE))
    arms = {
        'bare': (bare, bare_estimate(bare)),
        'conservative': (holding, kinova_prior(holding)),
        STRONG: (strong, kinova_prior(strong)),
    }
    _warm_up(*arms['bare'])
    cases = []
    for start in range(starts):
        progress(f'start {start + 1} of {starts}')
        for boxes in BOXES:
            for bounds, (model, estimate) in arms.items():
                # the same start and boxes for both, free of contact with and without a payload
                rng = np.random.default_rng([seed, start])
                q = random_start(rng, holding)
                problem = at_rest(model, estimate, q, boxes_beside(rng, holding, q, boxes))
                still = stand_still(problem, Budget.of(60.0), SearchSettings())
                cpu = time.process_time()
                found = search(
                    problem, Excite(model, 1.5), Budget.of(BUDGET), SearchSettings(), start
                )
                cpu = time.process_time() - cpu
                broken = 0
                if found.certificate is not None:
                    broken = violations(rng, found.certificate, samples)
                cases.append(Case(bounds, start, boxes, still, found, cpu, broken))
    return cases


def _warm_up(model: RobotModel, estimate: ParameterEstimate) -> None:
    """Compile everything that a search calls."""
    rng = np.random.default_rng(0)
    q = random_start(rng, model)
    problem = at_rest(model, estimate, q, boxes_beside(rng, model, q, 1))
    search(problem, Excite(model, 1.5), Budget.of(600.0), SearchSettings(), 0)


def _counts(cases: Sequence[Case]) -> dict[str, object]:
    """From how many starts there is a plan, out of how many."""
    counts: dict[str, object] = {'starts': sum(case.bounds == 'bare' for case in cases)}
    for name in ('bare', 'conservative', STRONG):
        some = [case for case in cases if case.bounds == name]
        certified = [case for case in some if case.found.outcome is Outcome.FOUND]
        counts[f'certified_{name}'] = len(certified)
        counts[f'can_stand_still_{name}'] = sum(
            case.still.outcome is Outcome.FOUND for case in some
        )
        counts[f'moving_{name}'] = sum(case.moves for case in some)
        counts[f'certified_{name}_by_boxes'] = {
            boxes: sum(case.boxes == boxes for case in certified) for boxes in BOXES
        }
        counts[f'log_condition_{name}_median'] = _median([case.found.cost for case in certified])
    return counts


def _times(cases: Sequence[Case]) -> dict[str, object]:
    certified = [case for case in cases if case.found.outcome is Outcome.FOUND]
    first = [case.found.first for case in certified]
    return {
        'first_plan_s_median': _median(first),
        'first_plan_s_p95': float(np.quantile(first, 0.95)) if first else float('nan'),
        'search_s_median': _median([case.wall for case in certified]),
        'search_s_max': max((case.wall for case in cases), default=float('nan')),
        'cpu_s_median': _median([case.cpu_s for case in certified]),
        'cpu_s_max': max((case.cpu_s for case in cases), default=float('nan')),
        'budget_overruns': sum(case.wall > BUDGET for case in cases),
    }


def _median(values: Sequence[float]) -> float:
    return float(np.median(values)) if values else float('nan')


def _episodes(
    seed: int, dumbbells: Sequence[str], progress: Progress
) -> tuple[dict[str, Episode], dict[str, Episode]]:
    """Four exciting plans and four random ones, with every dumbbell."""
    ours, random = {}, {}
    for number, name in enumerate(dumbbells):
        progress(f'excitation with {name}')
        arm = Arm.holding(name, np.random.default_rng([seed, 1, number]))
        mission = Mission(arm.nominal, None, ALWAYS_FOUR)
        noise = np.random.default_rng([seed, 2, number])
        ours[name] = episode(noise, Trial(arm, mission, SECONDS, PlannerSettings(seed=seed)))
        random[name] = episode(noise, Trial(arm, RandomPlans(4), SECONDS, WITHOUT_IPOPT))
    return ours, random


def _learned(ours: dict[str, Episode], random: dict[str, Episode]) -> dict[str, object]:
    """What the episodes taught."""
    every = [*ours.values(), *random.values()]
    return {
        'cond_Y': {name: done.condition for name, done in ours.items()},
        'cond_Y_random': {name: done.condition for name, done in random.items()},
        'half_widths': {name: done.half_widths for name, done in ours.items()},
        'half_widths_random': {name: done.half_widths for name, done in random.items()},
        'mass_half_width_max': max(float(done.half_widths[0]) for done in ours.values()),
        'inertia_half_width_max': max(float(d.half_widths[INERTIA].max()) for d in ours.values()),
        'truth_outside': sum(not done.contains_truth for done in every),
    }


def _torque_limits() -> str:
    torque = RobotModel.named('kinova_gen3').limits.torque
    return (
        ', '.join(f'{x:g}' for x in torque)
        + f' N m, of the settings of the arm; 90 / 45 N m in {STRONG}'
    )


def _refusal(case: Case) -> dict[str, object]:
    return {
        'bounds': case.bounds,
        'start': case.start,
        'boxes': case.boxes,
        'sentence': str(case.found),
    }


def _plot(folder: Path, ours: dict[str, Episode]) -> None:
    """Half widths over time, as shares of the first ones."""
    for name, done in ours.items():
        t, widths = done.widths_over_time()
        shares: dict[str, Array] = {
            label: widths[:, i] / widths[0, i] for i, label in enumerate(LABELS)
        }
        axes = Axes('time [s]', 'half width as a share of Table I', y_scale='log')
        line_plot(folder / f'widths_{name}.png', t, shares, axes)
