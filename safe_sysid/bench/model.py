"""`safe-sysid bench model`: how fast regressors and CasADi functions are, and how they scale."""

from __future__ import annotations

import resource

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.casadi_functions import casadi_figures
from safe_sysid.bench.plots import PLOTS, LinePlot
from safe_sysid.bench.settings import BenchSettings, Progress
from safe_sysid.bench.timing import median_seconds
from safe_sysid.model.dynamics.regressors import (
    momentum_chunks,
    momentum_regressors,
    slotine_li_into,
    slotine_li_regressor,
    standard_regressor,
)
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.report.figures import Axes

ROBOT = 'kinova_gen3'
SAMPLES = 30_000
SCALING = (1_000, 10_000, 100_000, 1_000_000)
QUICK_SCALING = SCALING[:3]


def run(settings: BenchSettings, progress: Progress) -> dict[str, object]:
    """Seconds per sample of the regressors, batched and in the control path; CasADi; scaling."""
    model = RobotModel.named(ROBOT)
    rng = np.random.default_rng(settings.seed)
    repeats = settings.trials or (5 if settings.quick else 15)
    progress(f'regressors of {SAMPLES} samples of {ROBOT}, {repeats} times each')
    q, qd, qdd = rng.normal(size=(3, SAMPLES, model.n))
    per_sample = {
        'momentum_us_per_sample': lambda: momentum_regressors(model, q, qd),
        'momentum_chunked_us_per_sample': lambda: exhaust(model, q, qd),
        'standard_us_per_sample': lambda: standard_regressor(model, q, qd, qdd),
    }
    figures: dict[str, object] = {'robot': ROBOT, 'samples': SAMPLES}
    for name, work in per_sample.items():
        figures[name] = median_seconds(work, repeats) / SAMPLES * 1e6
    progress('one Slotine-Li regressor at a time')
    figures['slotine_li_us'] = _slotine_li_us(model, q, qd, qdd)
    figures['slotine_li_checked_us'] = (
        median_seconds(lambda: slotine_li_regressor(model, q[0], qd[0], qd[1], qdd[0]), 2000) * 1e6
    )
    figures.update(casadi_figures(model, rng, progress))
    scaling = []
    for samples in QUICK_SCALING if settings.quick else SCALING:
        progress(f'{samples} samples in chunks')
        scaling.append(_scaling(model, rng, samples))
    figures['scaling'] = scaling
    plot = LinePlot(
        'model_scaling.svg',
        np.array([row['samples'] for row in scaling]),
        {'momentum and momentum rate': np.array([row['seconds'] for row in scaling])},
        Axes('samples', 'seconds', 'log', 'log'),
    )
    return {**figures, PLOTS: [plot]}


def exhaust(model: RobotModel, q: Array, qd: Array) -> None:
    """Go through a log in chunks, as a fit does."""
    for _ in momentum_chunks(model, q, qd):
        pass


def _slotine_li_us(model: RobotModel, q: Array, qd: Array, qdd: Array) -> float:
    """One regressor into an array that is there already, as a controller does it."""
    W = np.empty((1, model.n, model.layout.size))
    state = (q[:1].copy(), qd[:1].copy(), qd[1:2].copy(), qdd[:1].copy())
    return median_seconds(lambda: slotine_li_into(model.tree, *state, W), 5000) * 1e6


def _scaling(model: RobotModel, rng: np.random.Generator, samples: int) -> dict[str, float]:
    q, qd = rng.normal(size=(2, samples, model.n))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = median_seconds(lambda: exhaust(model, q, qd), 3)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return {'samples': samples, 'seconds': seconds, 'peak_memory_growth_MB': grown / 1024}
