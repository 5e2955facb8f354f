"""`safe-sysid bench excite`: condition number against time, designs at 1 kHz, criteria."""

from __future__ import annotations

from collections.abc import Callable
import contextlib
import time
from typing import Any

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.excitation import (
    Checked,
    CriterionRow,
    best_of_start,
    checked,
    condition_within,
    condition_within_cpu,
    criterion_rows,
    feature_point_figures,
    tool_problem,
)
from safe_sysid.bench.plots import PLOTS, LinePlot
from safe_sysid.bench.settings import BenchSettings, Progress
from safe_sysid.excite.certificate import proven_distance, torque_share
from safe_sysid.excite.criteria import smooth_condition
from safe_sysid.excite.design import random_start, warm_up
from safe_sysid.excite.design_problem import DesignProblem
from safe_sysid.excite.multi_start import NoMotionError, design
from safe_sysid.excite.multi_start import Progress as SearchProgress
from safe_sysid.excite.settings import Effort
from safe_sysid.report.figures import Axes

PROCESSES = 2
SEEDS = 5
SECONDS = 20.0  # of CPU time of the busier process
LATEST = 3.0  # times as much wall time, when others use the machine
PUBLISHED = 51.0  # condition number of the publication, after ten minutes
DESIGNS = 100
STARTS = 3  # for each criterion
VARIANTS: tuple[tuple[str, dict[str, object]], ...] = (
    ('kappa', {}),
    ('rho', {'basis': 'bspline', 'order': 12}),
    ('D', {}),
    ('A', {'extra_clearance': 0.005}),
)


def run(settings: BenchSettings, progress: Progress) -> dict[str, object]:
    """Measure searches, designs at 1 kHz, criteria, and the published test."""
    quick, seed = settings.quick, settings.seed
    problem = tool_problem()
    warm_up(problem)
    progress('time of one evaluation')
    figures: dict[str, object] = {'columns': _columns(problem), **_times(problem, seed)}
    seconds, seeds = (6.0, 1) if quick else (SECONDS, SEEDS)
    figures |= _against_time(problem, settings, seconds, seeds, progress)
    count = settings.trials or (4 if quick else DESIGNS)
    figures |= _designs(seed, count, progress)
    progress('criteria')
    rows = criterion_rows(problem, seed, 1 if quick else STARTS)
    figures['criteria'] = [_as_row(row, progress) for row in rows]
    progress('feature points and ellipsoids')
    figures['feature_points'] = feature_point_figures(seed, 2000 if quick else 20_000)
    return figures


def _columns(problem: DesignProblem) -> str:
    """Say what every condition number here is of."""
    columns = problem.information.columns
    return (
        f'{columns.count}: bodies, Coulomb and viscous friction; chosen by pivoted QR of '
        'unscaled columns (SI units) at random states'
    )


def _times(problem: DesignProblem, seed: int) -> dict[str, float]:
    """Least times of the parts of a search, which noise from other work only makes longer."""
    x = random_start(problem, np.random.default_rng([seed, 9]))
    motion, criterion = problem.motion(x), smooth_condition(2.0)
    parts: dict[str, Callable[[], object]] = {
        'value_and_gradient_ms': lambda: problem.criterion(criterion, x),
        'contact_and_torque_rows_ms': lambda: problem.rows(x),
        'distance_proof_ms': lambda: proven_distance(problem.contacts, motion, problem.required),
        'torque_proof_ms': lambda: torque_share(problem.model, motion),
    }
    times = {}
    for name, part in parts.items():
        part()
        taken = []
        for _ in range(20):
            begin = time.perf_counter()
            part()
            taken.append(time.perf_counter() - begin)
        times[name] = 1e3 * min(taken)
    return times


def _against_time(
    problem: DesignProblem,
    settings: BenchSettings,
    seconds: float,
    seeds: int,
    progress: Progress,
) -> dict[str, object]:
    """Condition numbers of some seeds after 5 and 20 s, process start included."""
    histories: list[tuple[SearchProgress, ...]] = []
    for number in range(seeds):
        effort = Effort(LATEST * seconds, None, PROCESSES, settings.seed + number, seconds)
        seen: list[SearchProgress] = []
        with contextlib.suppress(NoMotionError):  # a figure too: nothing was known in that time
            design(problem, 'kappa', effort, seen.append)
        histories.append(tuple(seen))
        progress(
            f'seed {effort.seed}: condition {condition_within(histories[-1], np.inf):.1f} in '
            f'{seen[-1].elapsed:.0f} s, CPU {seen[-1].cpu:.0f} s'
        )
    rows = [_search_row(history, seconds) for history in histories]
    medians = {name: float(np.median([row[name] for row in rows])) for name in rows[0]}
    return {
        **medians,
        'processes': PROCESSES,
        'searches': [{'seed': settings.seed + i, **row} for i, row in enumerate(rows)],
        PLOTS: [_plot(settings.seed, histories, seconds)],
    }


def _search_row(history: tuple[SearchProgress, ...], seconds: float) -> dict[str, float]:
    """Figures of one search; those after 20 s are not known when it was shorter."""
    last = history[-1]
    whole = seconds >= SECONDS
    return {
        'kappa_5s': condition_within(history, 5.0),
        'kappa_20s': condition_within(history, SECONDS) if whole else np.inf,
        'kappa_5s_cpu': condition_within_cpu(history, 5.0),
        'kappa_20s_cpu': condition_within_cpu(history, SECONDS) if whole else np.inf,
        'below_published_s': _first_below(history, PUBLISHED, 'elapsed'),
        'below_published_s_cpu': _first_below(history, PUBLISHED, 'busiest'),
        'search_wall_s': last.elapsed,
        'search_busiest_cpu_s': last.busiest,
        'search_starts': float(last.finished),
    }


def _first_below(history: tuple[SearchProgress, ...], condition: float, clock: str) -> float:
    """Seconds of wall or CPU time until a condition number was known."""
    times = [float(getattr(p, clock)) for p in history if p.best and p.best.condition < condition]
    return min(times, default=np.inf)


def _designs(seed: int, count: int, progress: Progress) -> dict[str, object]:
    """Designs of several criteria, bases and clearances, measured at 1 kHz."""
    problems = [tool_problem(**changes) for _, changes in VARIANTS]
    results: list[Checked] = []
    without = 0
    for number in range(count):
        if number % 10 == 0:
            progress(f'designs: {number} of {count}')
        variant = number % len(VARIANTS)
        problem = problems[variant]
        candidate = best_of_start(problem, VARIANTS[variant][0], seed, number)
        if candidate is None:
            without += 1
            continue
        results.append(checked(problem, candidate))
    required = problems[0].required
    return {
        'designs': len(results),
        'starts_without_motion': without,
        'clearance_required_mm': 1e3 * required,
        'clearance_violations': sum(one.clearance < required for one in results),
        'clearance_violations_by_bisection': sum(one.gauge < required for one in results),
        'proofs_above_measurement': sum(one.proven > one.clearance for one in results),
        'smallest_clearance_mm': 1e3 * min((one.clearance for one in results), default=np.inf),
        'not_proven': sum(not one.holds for one in results),
        'largest_share_of_a_limit': max((one.limits for one in results), default=0.0),
    }


def _as_row(row: CriterionRow, progress: Progress) -> dict[str, Any]:
    progress(f'criterion {row.minimised}')
    return {
        'minimised': row.minimised,
        **row.summary._asdict(),
        'condition_of_starts': list(row.range),
        'cpu_s_per_start': row.cpu_s,
    }


def _plot(seed: int, histories: list[tuple[SearchProgress, ...]], seconds: float) -> LinePlot:
    """Condition number against wall time, one line for each seed."""
    grid: Array = np.linspace(0.5, LATEST * seconds, 300)
    series = {
        f'seed {seed + i}': np.array([condition_within(history, t) for t in grid])
        for i, history in enumerate(histories)
    }
    finite = {name: np.where(np.isfinite(y), y, np.nan) for name, y in series.items()}
    axes = Axes('wall time [s]', 'condition number', 'linear', 'log')
    return LinePlot('excite_condition.svg', grid, finite, axes)
