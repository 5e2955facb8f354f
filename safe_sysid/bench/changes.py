"""`safe-sysid bench changes`: which changes of a payload are noticed, how soon, and rightly."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.stats import binomtest

from safe_sysid.bench.experiments.changing_payload import (
    PERIOD,
    WINDOW,
    Event,
    Motion,
    begun,
    noticed,
    random_motion,
    windows_of,
)
from safe_sysid.bench.settings import BenchSettings, Progress
from safe_sysid.identify.change.change_test import Change, ChangeSettings

ARMS = ('kinova_gen3', 'lbr_med7', 'fr3', 'iiwa14', 'ur5e')
UNMODELLED = (0.0, 0.3)  # [N m]
LEAST_ASSUMED = 0.02  # [N m] of what no model has, where there is nothing
LEARNT = 5.0  # [s] of motion before an event
AFTER = 1.0  # [s] in which it may be noticed
SOON = 0.3  # [s]
UNDISTURBED = 30.0  # [s] of every motion without an event
EVENTS = (
    *(Event('picked', kg) for kg in (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, -0.3, -0.5)),
    *(Event('slipped', metres) for metres in (0.01, 0.02, 0.05, 0.1)),
    *(Event('touched', newtons) for newtons in (2.0, 5.0, 10.0, 20.0)),
)
QUICK_EVENTS = (Event('picked', 0.1), Event('picked', 0.5), Event('slipped', 0.05))


@dataclass
class Counted:
    """What came of one event in many motions."""

    runs: int = 0
    soon: int = 0  # noticed within `SOON`
    later: int = 0  # within `AFTER`
    located: int = 0  # of these, inside the times that the test says
    named: int = 0  # among the kinds that it says
    first: int = 0  # the first of them
    delays: list[float] = field(default_factory=list)  # [s]
    spans: list[float] = field(default_factory=list)  # [s] between these times

    def add(self, event: Event, at: float, change: Change | None) -> None:
        """Count what was noticed of an event."""
        self.runs += 1
        if change is None:
            return
        delay = change.noticed - at
        kinds = [each.kind.value for each in change.explanations]
        kind = 'dropped' if event.size < 0.0 else event.kind
        self.soon += delay <= SOON + PERIOD
        self.later += 1
        self.located += change.after <= at <= change.before
        self.named += kind in kinds
        self.first += kind == kinds[0]
        self.delays.append(delay)
        self.spans.append(change.before - change.after)

    def row(self) -> dict[str, object]:
        """Return it as figures; shares are of those that were noticed."""
        ends = binomtest(self.soon, self.runs).proportion_ci(method='wilson')
        found = max(self.later, 1)
        nan = float('nan')
        return {
            'runs': self.runs,
            'within_0.3_s': self.soon / self.runs,
            'at_least': float(ends.low),
            'at_most': float(ends.high),
            'within_1_s': self.later / self.runs,
            'median_delay_s': float(np.median(self.delays)) if self.delays else nan,
            'located': self.located / found,
            'median_span_s': float(np.median(self.spans)) if self.spans else nan,
            'kind_named': self.named / found,
            'kind_named_first': self.first / found,
        }


def run(settings: BenchSettings, progress: Progress) -> dict[str, object]:
    """Share of events that are noticed, by kind and size; alarms in motions without any."""
    motions = settings.trials or (2 if settings.quick else 40)
    events = QUICK_EVENTS if settings.quick else EVENTS
    seconds = UNDISTURBED / 3.0 if settings.quick else UNDISTURBED
    curve, undisturbed = [], []
    for unmodelled in UNMODELLED:
        counted = {event: Counted() for event in events}
        alarms, largest = 0, 0.0
        for number in range(motions):
            progress(f'{unmodelled} N m unmodelled: motion {number} of {motions}')
            rng = np.random.default_rng([settings.seed, number])
            robot = ARMS[number % len(ARMS)]
            motion = random_motion(rng, robot, LEARNT + AFTER, unmodelled)
            alarms += _count(motion, unmodelled, counted)
            still = random_motion(rng, robot, seconds, unmodelled)
            found, statistic = _undisturbed(still, unmodelled)
            alarms, largest = alarms + found, max(largest, statistic)
        curve += [
            {'unmodelled_Nm': unmodelled, 'event': event.kind, 'size': event.size, **each.row()}
            for event, each in counted.items()
        ]
        undisturbed.append({
            'unmodelled_Nm': unmodelled,
            'hours': motions * (seconds + LEARNT) / 3600.0,
            'false_alarms': alarms,
            'largest_statistic': largest,
        })  # fmt: skip
    return {
        'motions': motions,
        'arms': list(ARMS[: min(motions, len(ARMS))]),
        'units': {'picked': 'kg', 'slipped': 'm', 'touched': 'N'},
        'stated_false_alarms_per_h': ChangeSettings().false_alarms,
        'threshold': begun(motion, ChangeSettings()).threshold(WINDOW * PERIOD),
        'undisturbed': undisturbed,
        'curve': curve,
    }


def _settings(unmodelled: float) -> ChangeSettings:
    return ChangeSettings(unmodelled_torque=max(unmodelled, LEAST_ASSUMED))


def _count(motion: Motion, unmodelled: float, counted: dict[Event, Counted]) -> int:
    """Let every event happen after the same motion; alarms before."""
    first = round(LEARNT / PERIOD)
    test = begun(motion, _settings(unmodelled))
    for rows, position in windows_of(motion, motion.log(0, last=first + 1)):
        if test.add(rows, position) is not None:
            return 1
    for event, each in counted.items():
        each.add(event, LEARNT, noticed(test, motion, first, event))
    return 0


def _undisturbed(motion: Motion, unmodelled: float) -> tuple[int, float]:
    """Alarms in a motion without an event, and the largest statistic of it."""
    test = begun(motion, _settings(unmodelled))
    alarms, largest = 0, 0.0
    for rows, position in windows_of(motion, motion.log(0)):
        change = test.add(rows, position)
        largest = max(largest, test.statistic)
        if change is not None:
            alarms += 1
            test = begun(motion, _settings(unmodelled))
    return alarms, largest
