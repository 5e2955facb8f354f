"""Table V and figures 5 to 10: what four plans teach about a dumbbell, chosen to teach or not.

Of each load ours and plans with random k learn on the same arms and sensors. A trial tells the
condition number of Y, the intervals of the ten parameters, and how those of the mass went.
"""

from __future__ import annotations

from dataclasses import dataclass
import json

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.excitation_episodes import Episode
from safe_sysid.experiment.settings import ExperimentSettings
from safe_sysid.experiment.stacking.learning import Learned, Phase, learned
from safe_sysid.experiment.stacking.methods import adapted
from safe_sysid.experiment.stacking.table3 import LOADS, QUICK_LOADS
from safe_sysid.experiment.trial import Row, Trial, seed_of
from safe_sysid.model.inertia import LABELS

NAME = 'table5'
METHODS = {'ours': 'exciting', 'random': 'random'}
TRIALS = 20  # a cell


@dataclass(frozen=True)
class MassHistory:
    """Interval of the mass of the end effector whenever an estimate came."""

    t: tuple[float, ...]  # [s]
    lower: tuple[float, ...]  # [kg]
    nominal: tuple[float, ...]
    upper: tuple[float, ...]

    def as_text(self) -> str:
        """As a cell of a row."""
        return json.dumps([self.t, self.lower, self.nominal, self.upper])

    @staticmethod
    def of_text(text: str) -> MassHistory:
        """As it was before it was a cell."""
        return MassHistory(*map(tuple, json.loads(text)))


def trials(settings: ExperimentSettings) -> list[Trial]:
    """Each load with both choices of plans."""
    count = settings.trials or (1 if settings.quick else TRIALS)
    effort = 'quick' if settings.quick else 'full'
    return [
        Trial(
            NAME,
            {'load': load, 'method': method, 'number': number, 'effort': effort},
            seed_of(settings.seed, (NAME, load), number),
        )
        for number in range(count)
        for load in (QUICK_LOADS if settings.quick else LOADS)
        for method in METHODS
    ]


def trial(spec: Trial) -> Row:
    """Learn, and tell what is known at the end."""
    load, method, effort = (str(spec.settings[key]) for key in ('load', 'method', 'effort'))
    phase = Phase(METHODS[method], load, spec.seed, effort)
    taught = learned(phase)
    assert taught.episode is not None
    known = taught.estimate
    bounds = known.end_effector_bounds
    row: Row = {
        'condition': taught.condition,
        'plans': taught.plans,
        'truth_inside': taught.contains_truth,
        'violation': not taught.contains_truth,
        'mass_history': _history(taught.episode).as_text(),
    }
    if method == 'ours':
        row['adapted_mass'] = json.dumps(adapted('adaptive', phase).way)
    columns = {
        'true': _end_effector(taught),
        'nominal': known.end_effector,
        'lower': bounds.lower,
        'upper': bounds.upper,
    }
    for kind, values in columns.items():
        row |= {f'{kind}_{label}': float(x) for label, x in zip(LABELS, values, strict=True)}
    return row


def _end_effector(taught: Learned) -> Array:
    truth = taught.arm.truth
    return np.asarray(truth.theta[truth.layout.end_effector])


def _history(done: Episode) -> MassHistory:
    """Return the first sample, and each that came with another estimate."""
    changes = [done.samples[0]]
    for sample in done.samples:
        if sample.estimate is not changes[-1].estimate:
            changes.append(sample)
    bounds = [sample.estimate.end_effector_bounds for sample in changes]
    return MassHistory(
        tuple(round(sample.measurement.stamp * 1e-9, 3) for sample in changes),
        tuple(float(x.lower[0]) for x in bounds),
        tuple(float(sample.estimate.end_effector[0]) for sample in changes),
        tuple(float(x.upper[0]) for x in bounds),
    )
