"""`safe-sysid bench learning`: how long carrying takes if the arm learns first, or on the way."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from safe_sysid.bench.experiments.learning_on_the_way import Carried, carry, random_carry
from safe_sysid.bench.settings import BenchSettings, Progress


def run(settings: BenchSettings, progress: Progress) -> dict[str, object]:
    """Carry the same dumbbells to the same goals both ways."""
    trials = settings.trials or (1 if settings.quick else 10)
    first, on_the_way = [], []
    for number in range(trials):
        progress(f'dumbbell {number + 1} of {trials}')
        task = random_carry(settings.seed, number)
        first.append(carry(task, on_the_way=False))
        on_the_way.append(carry(task, on_the_way=True))
    both = [
        (a.seconds, b.seconds)
        for a, b in zip(first, on_the_way, strict=True)
        if max(a.seconds, b.seconds) < np.inf
    ]
    return {
        'trials': trials,
        'both_arrived': len(both),
        'faster_on_the_way': sum(b < a for a, b in both),
        'slower_on_the_way': sum(b > a for a, b in both),
        'time_ratio_median': float(np.median([b / a for a, b in both])) if both else np.nan,
        'learning_first': _summary(first),
        'on_the_way': _summary(on_the_way),
        'seconds': [
            {'learning_first': a.seconds, 'on_the_way': b.seconds}
            for a, b in zip(first, on_the_way, strict=True)
        ],
    }


def _summary(done: Sequence[Carried]) -> dict[str, object]:
    arrived = [each.seconds for each in done if each.seconds < np.inf]
    return {
        'arrived': len(arrived),
        'seconds_median': float(np.median(arrived)) if arrived else np.nan,
        'plans_that_teach_mean': float(np.mean([each.taught for each in done])),
        'mass_half_width_median_kg': float(np.median([each.mass_half_width for each in done])),
        'largest_torque_share': max(each.largest_torque for each in done),
        'estimates_without_the_truth': sum(each.truth_outside for each in done),
    }
