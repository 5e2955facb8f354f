"""`safe-sysid bench plan`: from where plans are found, how fast, whether they hold and teach."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.arm_plans import plans_of_arms
from safe_sysid.bench.experiments.excitation_episodes import (
    Episode,
    EpisodeArm,
    EpisodeTrial,
    RandomPlans,
    episode,
)
from safe_sysid.bench.experiments.kinova_dumbbell import DUMBBELLS, kinova_prior
from safe_sysid.bench.experiments.new_obstacles import times_among_new_obstacles
from safe_sysid.bench.experiments.planning import at_rest, random_start
from safe_sysid.bench.experiments.reach import kinova_with_dumbbell
from safe_sysid.bench.plots import PLOTS, LinePlot
from safe_sysid.bench.search_cases import (
    BOXES,
    BUDGET,
    CLOSE,
    SMALL_V_M,
    STRONG,
    Case,
    log_condition,
    searches,
)
from safe_sysid.bench.settings import BenchSettings, Progress
from safe_sysid.model.collision.obstacles import NO_OBSTACLES
from safe_sysid.model.inertia import LABELS
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.mission import Mission, MissionSettings
from safe_sysid.plan.receding_horizon import PlannerSettings
from safe_sysid.plan.result import SearchOutcome
from safe_sysid.plan.search.best_plan import Budget, SearchSettings, stand_still
from safe_sysid.report.figures import Axes

SECONDS = 9.0  # 1.5 s at rest, four plans of 1.5 s, and the braking half of the last one
PACE = 4.0  # simulated time waits for searches, so that a busy computer does not plan less well
WITHOUT_IPOPT = PlannerSettings(search=SearchSettings(rounds=0), pace=PACE)
ALWAYS_FOUR = MissionSettings(shrinking=0.0)
INERTIA = slice(4, 10)


def run(settings: BenchSettings, progress: Progress) -> dict[str, object]:
    """Search from random starts, try to falsify what is found, and run excitation episodes."""
    starts = settings.trials or (2 if settings.quick else 20)
    samples = 1000 if settings.quick else 10_000
    if settings.arms:
        return plans_of_arms(settings.seed, starts, samples // 10, progress)
    cases = list(searches(settings.seed, starts, samples, progress))
    dumbbells = DUMBBELLS[-1:] if settings.quick else DUMBBELLS
    ours, random = _episodes(settings.seed, dumbbells, progress)
    elsewhere = {} if settings.quick else _elsewhere(settings.seed + 1, dumbbells, progress)
    return {
        **_counts(cases),
        **_times(cases),
        **times_among_new_obstacles(np.random.default_rng([settings.seed, 4])),
        'falsified': sum(case.violations > 0 for case in cases),
        'samples_per_plan': samples,
        **_learned(ours, random),
        'elsewhere': {name: _widths(done) for name, done in elsewhere.items()},
        'torque_limits': _torque_limits(),
        'refused': [
            _refusal(case) for case in cases if case.found.outcome is not SearchOutcome.FOUND
        ],
        PLOTS: [_plot(name, done) for name, done in ours.items()],
    }


def _counts(cases: Sequence[Case]) -> dict[str, object]:
    """From how many starts there is a plan, out of how many."""
    counts: dict[str, object] = {'starts': sum(case.setting == 'bare' for case in cases)}
    for name in ('bare', 'conservative', STRONG, CLOSE):
        some = [case for case in cases if case.setting == name]
        certified = [case for case in some if case.found.outcome is SearchOutcome.FOUND]
        counts[f'certified_{name}'] = len(certified)
        counts[f'can_stand_still_{name}'] = sum(
            case.still.outcome is SearchOutcome.FOUND for case in some
        )
        counts[f'moving_{name}'] = sum(case.moves for case in some)
        counts[f'certified_{name}_by_boxes'] = {
            boxes: sum(case.boxes == boxes for case in certified) for boxes in BOXES
        }
        counts[f'impossible_{name}'] = sum(case.static > 1.0 for case in some)
        counts[f'log_condition_{name}_median'] = _median(
            [log_condition(case.found.certificate) for case in certified if case.found.certificate]
        )
    return counts


def _times(cases: Sequence[Case]) -> dict[str, object]:
    certified = [case for case in cases if case.found.outcome is SearchOutcome.FOUND]
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
        arm = EpisodeArm.holding(name, np.random.default_rng([seed, 1, number]))
        mission = Mission(arm.nominal, None, ALWAYS_FOUR)
        noise = np.random.default_rng([seed, 2, number])
        ours[name] = episode(
            noise, EpisodeTrial(arm, mission, SECONDS, PlannerSettings(seed=seed, pace=PACE))
        )
        random[name] = episode(noise, EpisodeTrial(arm, RandomPlans(4), SECONDS, WITHOUT_IPOPT))
    return ours, random


def _elsewhere(seed: int, dumbbells: Sequence[str], progress: Progress) -> dict[str, Episode]:
    """Four exciting plans from a random start at which standing still can be certified."""
    done, holding = {}, kinova_with_dumbbell()
    for number, name in enumerate(dumbbells):
        progress(f'excitation with {name} from a random start')
        rng = np.random.default_rng([seed, 3, number])
        start = random_start(rng, holding)
        while not _can_stand_still(holding, start):
            start = random_start(rng, holding)
        arm = EpisodeArm.holding(name, rng)
        mission = Mission(arm.nominal, None, ALWAYS_FOUR)
        settings = PlannerSettings(seed=seed, pace=PACE)
        done[name] = episode(rng, EpisodeTrial(arm, mission, SECONDS, settings, start=start))
    return done


def _can_stand_still(model: RobotModel, q: Array) -> bool:
    problem = at_rest(model, kinova_prior(model), q, NO_OBSTACLES)
    return stand_still(problem, Budget.of(60.0), SearchSettings()).outcome is SearchOutcome.FOUND


def _widths(done: Episode) -> dict[str, float]:
    return {
        'mass': float(done.half_widths[0]),
        'inertia_max': float(done.half_widths[INERTIA].max()),
        'cond_Y': done.condition,
        'truth_inside': float(done.contains_truth),
    }


def _learned(ours: dict[str, Episode], random: dict[str, Episode]) -> dict[str, object]:
    """Return what the episodes taught."""
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
        + f' N m, of the settings of the arm; 90 / 45 N m in {STRONG}; '
        f'V_M = {SMALL_V_M} J in {CLOSE}'
    )


def _refusal(case: Case) -> dict[str, object]:
    return {
        'setting': case.setting,
        'start': case.start,
        'boxes': case.boxes,
        'sentence': str(case.found),
        'static_share': case.static,
    }


def _plot(name: str, done: Episode) -> LinePlot:
    """Half widths over time, as shares of the first ones."""
    t, widths = done.widths_over_time()
    shares: dict[str, Array] = {
        label: widths[:, i] / widths[0, i] for i, label in enumerate(LABELS)
    }
    axes = Axes('time [s]', 'half width as a share of Table I', y_scale='log')
    return LinePlot(f'widths_{name}.png', t, shares, axes)
