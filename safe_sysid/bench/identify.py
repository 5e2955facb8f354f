"""`safe-sysid bench identify`: are the bounds right, how tight are they, and how fast."""

from __future__ import annotations

from dataclasses import replace
import time

import numpy as np

from safe_sysid.bench.experiments.condition_correlation import condition_correlation
from safe_sysid.bench.experiments.identification import IdentificationTrial, random_trial
from safe_sysid.bench.experiments.kinova_dumbbell import (
    PERIOD,
    SETTINGS,
    WRONG_CASES,
    kinova_trial,
    wrong_trial,
)
from safe_sysid.bench.plots import PLOTS, LinePlot
from safe_sysid.bench.settings import BenchSettings, Progress
from safe_sysid.errors import BoundError
from safe_sysid.identify.linear_bounds import linear, linear_unweighted
from safe_sysid.identify.momentum_observation import MomentumObserver
from safe_sysid.identify.online_identifier import (
    IdentificationFault,
    IdentifierSettings,
    OnlineIdentifier,
)
from safe_sysid.identify.payload_estimator import PayloadEstimator, SolveSettings
from safe_sysid.identify.sensitivity_bounds import sensitivity
from safe_sysid.identify.set_membership import set_membership
from safe_sysid.identify.solves import SolvesAtOnce, SolvesInBackground
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.inertia import LABELS
from safe_sysid.report.figures import Axes

BASE_FREQUENCIES = (0.1, 1.0, 2.0)  # [Hz] of the motions of Table IV
FORMS = {
    'linear_unweighted': linear_unweighted,
    'linear': linear,
    'set_membership': set_membership,
    'sensitivity': sensitivity,
}
CONTROL = range(2000)  # its sum takes about as long as a step


def run(settings: BenchSettings, progress: Progress) -> dict[str, object]:
    """Containment, tightness, speed, scaling and what happens when an assumption is false."""
    if settings.table4:
        return _table4(settings, progress)
    quick = settings.quick
    trials = settings.trials or (8 if quick else 1000)
    figures: dict[str, object] = {'trials': trials}
    figures |= _containment(settings.seed, trials, progress)
    figures |= _tightness(settings.seed, 1 if quick else 5, progress)
    figures |= _speed(settings.seed, progress)
    lengths = (1, 10, 30) if quick else (1, 3, 10, 30, 60, 120, 300, 600)
    costs = _cost_by_length(settings, lengths, progress)
    figures['cost_by_length'] = costs
    each = min(trials, 2 if quick else 100)
    figures['contradiction_rate'] = {
        case: _contradiction_rate(settings.seed, case, each, progress) for case in WRONG_CASES
    }
    plot = LinePlot(
        'identify_cost_by_length.svg',
        np.array([row['seconds'] for row in costs]),
        {'solve [s]': np.array([row['solve_s'] for row in costs])},
        Axes('seconds recorded', 'seconds per solve', 'log', 'linear'),
    )
    return {**figures, PLOTS: [plot]}


def _table4(settings: BenchSettings, progress: Progress) -> dict[str, object]:
    """Correlation of cond(W_e) with cond(Y_e) for every h, at several speeds of the motion."""
    motions = settings.trials or (12 if settings.quick else 200)
    model = kinova_trial(np.random.default_rng(settings.seed), 0.1).model
    tables = {}
    for base in BASE_FREQUENCIES:
        progress(f'condition numbers of {motions} random motions from {base} Hz up')
        rng = np.random.default_rng([settings.seed, 4])
        tables[base] = condition_correlation(model, rng, motions, base)
    return {
        'motions': motions,
        'base_frequency_hz': BASE_FREQUENCIES[-1],
        'table4': tables[BASE_FREQUENCIES[-1]],
        'table4_by_base_frequency_hz': tables,
    }


def _containment(seed: int, trials: int, progress: Progress) -> dict[str, object]:
    """Bounds that don't contain the truth; contradictions found although there are none."""
    misses = dict.fromkeys(FORMS, 0)
    false_alarms = 0
    for number in range(trials):
        if number % 50 == 0:
            progress(f'containment: trial {number} of {trials}')
        trial = random_trial(np.random.default_rng([seed, number]))
        rows, prior = trial.observation(), trial.prior.end_effector_bounds
        for name, form in FORMS.items():
            try:
                misses[name] += not form(rows, trial.rest, prior).contains(trial.truth)
            except BoundError:
                false_alarms += 1
    counted = {f'{name}_misses': count for name, count in misses.items()}
    return {**counted, 'false_alarms': false_alarms}


def _tightness(seed: int, motions: int, progress: Progress) -> dict[str, object]:
    """Half-widths on the Kinova, and their ratio to the linear form of the published method."""
    progress(f'tightness on the Kinova Gen3, {motions} motions')
    widths = {name: np.zeros((motions, 10)) for name in FORMS}
    for number in range(motions):
        trial = kinova_trial(np.random.default_rng([seed, 1, number]))
        rows, prior = trial.observation(), trial.prior.end_effector_bounds
        for name, form in FORMS.items():
            widths[name][number] = form(rows, trial.rest, prior).radius
    ratio = widths['set_membership'] / widths['linear_unweighted']
    return {
        'parameters': list(LABELS),
        'half_widths': {name: width.mean(axis=0) for name, width in widths.items()},
        'tightness_geomean': float(np.exp(np.log(ratio).mean())),
        'tightness_max': float(ratio.max()),
    }


def _speed(seed: int, progress: Progress) -> dict[str, object]:
    progress('speed: rows, solves, and what a step costs while a solve runs')
    trial = kinova_trial(np.random.default_rng([seed, 2]), seconds=8.0)
    measurements = [trial.log[i] for i in range(len(trial.log))]
    observer = MomentumObserver(trial.model, trial.prior.bounds, SETTINGS)
    parts = [observer.add(m) for m in measurements[:200]]
    begin = time.perf_counter()
    parts += [observer.add(m) for m in measurements[200:]]
    ingest = (len(measurements) - 200) / (time.perf_counter() - begin)
    rows = [part for part in parts if part is not None]
    solves, warm = [], []
    for _ in range(3):
        estimator = PayloadEstimator(trial.model, trial.prior, SolveSettings())
        for part in rows[:75]:
            estimator.add(part)
        solves.append(estimator.solve().seconds)
        for part in rows[75:]:
            estimator.add(part)
        warm.append(estimator.solve().seconds)
    return {
        'ingest_per_s': ingest,
        'solve_s': float(np.median(solves)),
        'solve_warm_s': float(np.median(warm)),
        **_step_us(trial, measurements),
    }


def _step_us(
    trial: IdentificationTrial, measurements: list[JointMeasurement]
) -> dict[str, dict[str, float]]:
    """Time a step takes at 1 kHz while bounds are computed in the background.

    `control` is the time that a fixed sum takes right after: what is long there is the machine's.
    """
    identifier = OnlineIdentifier(
        trial.model, trial.prior, IdentifierSettings(SETTINGS), SolvesInBackground
    )
    step, control = [], []
    due = time.perf_counter()
    for measurement in measurements:
        begin = time.perf_counter()
        identifier.step(measurement)
        middle = time.perf_counter()
        sum(CONTROL)
        control.append(time.perf_counter() - middle)
        step.append(middle - begin)
        due += PERIOD
        time.sleep(max(0.0, due - time.perf_counter()))
    identifier.close()
    return {'step_us': _spread(step), 'control_us': _spread(control)}


def _spread(seconds: list[float]) -> dict[str, float]:
    """Microseconds."""
    us = 1e6 * np.array(seconds)
    return {
        'median': float(np.median(us)),
        'p99': float(np.quantile(us, 0.99)),
        'p999': float(np.quantile(us, 0.999)),
        'max': float(us.max()),
    }


def _cost_by_length(
    settings: BenchSettings, lengths: tuple[int, ...], progress: Progress
) -> list[dict[str, float]]:
    """Rows kept and solve time after streams of several lengths; a solve every 5 s of them."""
    trial = kinova_trial(np.random.default_rng([settings.seed, 3]), seconds=float(lengths[-1]))
    observer = MomentumObserver(trial.model, trial.prior.bounds, SETTINGS)
    estimator = PayloadEstimator(trial.model, trial.prior, SolveSettings())
    table = []
    for index in range(len(trial.log)):
        rows = observer.add(trial.log[index])
        if rows is None:
            continue
        estimator.add(rows)
        seconds = float(rows.end[0])
        if round(seconds, 3) in lengths or seconds % 5.0 < 0.1:
            solution = estimator.solve()
            if round(seconds, 3) in lengths:
                progress(
                    f'{seconds:.0f} s of 1 kHz: {solution.rows} rows, {solution.seconds:.2f} s'
                )
                table.append({
                    'seconds': seconds, 'rows': solution.rows, 'solve_s': solution.seconds,
                    'mass_half_width': float(solution.bounds.radius[0]),
                })  # fmt: skip
    return table


def _contradiction_rate(seed: int, case: str, trials: int, progress: Progress) -> float:
    """Share of recordings with a false assumption that are reported as a contradiction."""
    progress(f'contradiction: {trials} trials of {case}')
    found = 0
    for number in range(trials):
        trial = wrong_trial(np.random.default_rng([seed, 5, number]), case)
        settings = IdentifierSettings(SETTINGS, replace(SolveSettings(), seconds=10.0))
        identifier = OnlineIdentifier(trial.model, trial.prior, settings, SolvesAtOnce)
        try:
            for index in range(len(trial.log)):
                identifier.step(trial.log[index])
            identifier.finish()
        except IdentificationFault:
            found += 1
    return found / trials
