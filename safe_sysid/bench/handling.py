"""`safe-sysid bench handling`: simulated arms that pick, carry and place, and what goes wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.stats import binomtest, chi2

from safe_sysid.bench.experiments.changing_payload import PERIOD
from safe_sysid.bench.experiments.changing_payload import WINDOW as SAMPLES
from safe_sysid.bench.experiments.handling_cycles import (
    ANNOUNCED,
    DROPPED,
    PICKED,
    SLIPPED,
    run_cycle,
)
from safe_sysid.bench.experiments.kept_trials import trials_done
from safe_sysid.bench.experiments.pick_and_place import CELLS, SIMULATORS, UNMODELLED
from safe_sysid.bench.experiments.quiet_motions import quiet
from safe_sysid.bench.settings import BenchSettings, Progress
from safe_sysid.identify.change.change_test import ChangeSettings

CYCLES, QUICK_CYCLES = 60, 2
QUIET = 3  # motions of a minute without a change for each cycle
SOON = 0.3  # [s]
LATEST = 0.001  # [s] that a stamp is rounded by
CLASSES = {  # [kg] or [m] from and to
    PICKED: (0.2, 0.3, 0.5, 1.0, 2.0, 4.0),
    DROPPED: (0.2, 0.3, 0.5, 1.0, 2.0, 4.0),
    SLIPPED: (0.01, 0.03, 0.05, 0.1),
}
LARGE = 0.5  # [kg]
SHOWN = 10

Rows = Sequence[dict[str, Any]]


def run(settings: BenchSettings, progress: Progress) -> dict[str, object]:
    """Run cycles, and motions in which nothing changes; what is kept in a folder is not run."""
    cycles = settings.trials or (QUICK_CYCLES if settings.quick else CYCLES)
    done = trials_done(run_cycle, settings.seed, range(cycles), settings.parts, progress)
    silent = trials_done(quiet, settings.seed, range(QUIET * cycles), settings.parts, progress)
    changed = [each for each in done if each['happened']]
    large = [each for each in changed if each['event'] != SLIPPED and each['size'] >= LARGE]
    return {
        'cycles': len(done),
        'arms': {cell.arm: f'{cell.heaviest} kg at most' for cell in CELLS},
        'simulators': list(SIMULATORS),
        'unmodelled_Nm': UNMODELLED,
        'simulated_h': sum(each['seconds'] for each in done) / 3600.0,
        'violations': sum(len(each['broken']) for each in done),
        'which': [f'{_name(each)}: {what}' for each in done for what in each['broken']][:SHOWN],
        'ended_early': sum(bool(each['ended']) for each in done),
        'why': [f'{_name(each)}: {each["ended"]}' for each in done if each['ended']][:SHOWN],
        'changes_of_0.5_kg_or_more': _noticed(large),
        'curve': _curve(changed),
        'after_a_change': _afterwards(changed),
        'cycle_over_known': {
            event: _ratios([each for each in done if each['event'] == event])
            for event in (ANNOUNCED, PICKED)
        },
        'false_alarms': _alarms(done, silent),
    }


def _name(each: dict[str, Any]) -> str:
    return f'{each["number"]} ({each["arm"]}, {each["simulator"]}, {each["event"]})'


def _noticed(rows: Rows) -> dict[str, object]:
    """Return how many of some changes were noticed, and how soon."""
    delays = np.array([each['delay'] for each in rows], dtype=float)
    soon, found = int(np.sum(delays <= SOON + LATEST)), delays[np.isfinite(delays)]
    ends = binomtest(soon, max(len(rows), 1)).proportion_ci(method='wilson')
    return {
        'changes': len(rows),
        'noticed': len(found),
        'within_0.3_s': soon,
        'share_at_least': float(ends.low) if rows else float('nan'),
        'share_at_most': float(ends.high) if rows else float('nan'),
        'median_delay_s': float(np.median(found)) if len(found) else float('nan'),
        'longest_delay_s': float(found.max()) if len(found) else float('nan'),
    }


def _curve(changed: Rows) -> list[dict[str, object]]:
    """Return the same by size."""
    curve: list[dict[str, object]] = []
    for event, ends in CLASSES.items():
        for low, high in pairwise(ends):
            rows = [r for r in changed if r['event'] == event and low <= r['size'] < high]
            if rows:
                size = f'{low:g} to {high:g} {"m" if event == SLIPPED else "kg"}'
                curve.append({'event': event, 'size': size, **_noticed(rows)})
    return curve


def _afterwards(changed: Rows) -> dict[str, object]:
    """Return what was said of changes that were noticed, and what the arm did."""
    found = [each for each in changed if np.isfinite(each['delay'])]
    spans = [each['span'] for each in found]
    named = [each for each in found if each['event'] in each['kinds']]
    alone = [each for each in named if each['kinds'] == [each['event']]]
    reasons = Counter(each['held_because'].split(':')[0] for each in changed)
    return {
        'located': sum(each['is_located'] for each in found),
        'median_span_s': float(np.median(spans)) if spans else float('nan'),
        'kind_among_those_named': len(named),
        'kind_named_alone': len(alone),
        'braking_certified_for_both': sum(each['is_certified'] for each in changed),
        'went_on_alone': sum(each['goes_on'] for each in changed),
        'held_because': {reason: count for reason, count in reasons.items() if reason},
        'fastest_joint_at_rest_rad_s': max((each['speed'] for each in changed), default=np.nan),
    }


def _ratios(rows: Rows) -> dict[str, object]:
    """Return times of whole cycles, in those of the same with a known payload."""
    ratios = np.array([each['cycle'] / each['known'] for each in rows], dtype=float)
    ratios = ratios[np.isfinite(ratios)]
    if not len(ratios):
        return {'cycles': 0}
    return {
        'cycles': len(ratios),
        'median': float(np.median(ratios)),
        'quantile_90': float(np.quantile(ratios, 0.9)),
        'largest': float(ratios.max()),
        'of_all_together': float(
            np.nansum([each['cycle'] for each in rows if np.isfinite(each['known'])])
            / np.nansum([each['known'] for each in rows if np.isfinite(each['cycle'])])
        ),
    }


def _alarms(done: Rows, silent: Rows) -> dict[str, object]:
    """Return alarms where nothing had changed, and what they say of their rate (Poisson)."""
    count = sum(each['alarms'] for each in silent)
    hours = sum(each['seconds'] for each in silent) / 3600.0
    tests = ChangeSettings()
    return {
        'in_motions': count,
        'motions_h': hours,
        'at_most_per_h_95': float(chi2.ppf(0.95, 2 * count + 2) / 2.0 / hours),
        'stated_per_h': tests.false_alarms,
        'largest_statistic': max(each['statistic'] for each in silent),
        'threshold': tests.threshold(SAMPLES * PERIOD),
        'called_not_rigid': sum(each['called_not_rigid'] for each in silent),
        'in_cycles': sum(each['false_alarms'] for each in done),
    }
