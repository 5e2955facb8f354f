"""`safe-sysid bench handling`: simulated arms that pick things up and drop them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.stats import binomtest

from safe_sysid.bench.experiments.handling import MASSES, PERIOD, HandlingArm, handling_arm, thing
from safe_sysid.bench.settings import BenchSettings, Progress
from safe_sysid.closed_loop import LoopFault
from safe_sysid.identify.change.response import ChangeOutcome, Source

ARMS = ('two_link', 'kinova_gen3', 'fr3')
SOON = 0.3  # [s]
LEARNT = 2.2  # [s] of the loop before anything is picked
PATIENCE = 4.0  # [s] until a change has to be noticed
LONGEST = 60.0  # [s] of a cycle
LOOK = 0.1  # [s] between two looks


@dataclass
class Counted:
    """What came of the changes of one kind."""

    changes: int = 0
    noticed: int = 0
    soon: int = 0
    went_on: int = 0
    inside: int = 0  # of those after which it went on: truth inside the bounds until the next
    delays: list[float] = field(default_factory=list)  # [s]

    def row(self) -> dict[str, object]:
        """Return it as figures."""
        ends = binomtest(self.soon, max(self.changes, 1)).proportion_ci(method='wilson')
        return {
            'changes': self.changes,
            'noticed': self.noticed,
            'within_0.3_s': self.soon,
            'share_at_least': float(ends.low),
            'share_at_most': float(ends.high),
            'median_delay_s': float(np.median(self.delays)) if self.delays else float('nan'),
            'went_on_alone': self.went_on,
            'truth_inside': self.inside,
        }


def run(settings: BenchSettings, progress: Progress) -> dict[str, object]:
    """Run cycles of pick and drop: what is noticed, what is safe, and how long it takes."""
    trials = settings.trials or (1 if settings.quick else 20)
    arms = ARMS[:1] if settings.quick else ARMS
    found: dict[str, object] = {'trials': trials, 'period_s': PERIOD}
    for name in arms:
        counted = {'picked': Counted(), 'dropped': Counted()}
        broken: list[str] = []
        ratios = []
        for trial in range(trials):
            progress(f'{name}: cycle {trial} of {trials}')
            seed = settings.seed * 1000 + trial
            broken += _untold(name, seed, counted)
            told, broken_then = _announced(name, seed)
            broken += broken_then
            known, broken_then = _known(name, seed)
            broken += broken_then
            ratios.append(told / known)
        found[name] = {
            'violations': len(broken),
            'which': broken[:5],
            'unannounced': {kind: each.row() for kind, each in counted.items()},
            'announced_cycle_over_known': {
                'median': float(np.median(ratios)),
                'largest': float(np.max(ratios)),
            },
        }
    return found


def _untold(name: str, seed: int, counted: dict[str, Counted]) -> list[str]:
    """Pick something in motion, go on, drop it in motion."""
    rng = np.random.default_rng(seed)
    arm = handling_arm(name, seed, exciting=6)
    low, high = MASSES[name]
    payload = thing(float(rng.uniform(low, high)))
    arm.run(LEARNT)
    for kind, each in counted.items():
        if not _moves(arm):
            break
        at = arm.stamp
        if kind == 'picked':
            arm.pick(payload)
        else:
            arm.drop()
        outcome = _answer(arm)
        each.changes += 1
        if outcome is None or outcome.change.source is not Source.NOTICED:
            break
        delay = (outcome.change.noticed_at - at) * 1e-9
        each.noticed += 1
        each.soon += 0.0 <= delay <= SOON
        each.delays.append(delay)
        if not outcome.goes_on:
            break
        each.went_on += 1
        arm.run(1.0)
        each.inside += arm.is_inside
    return arm.broken


def _announced(name: str, seed: int) -> tuple[float, list[str]]:
    """Take something that was announced to the goal; seconds of it."""
    arm = handling_arm(name, seed)
    arm.run(LOOK)
    if not arm.loop.announce().is_granted:
        return float('nan'), [*arm.broken, 'refused']
    at = arm.stamp
    arm.pick(thing(MASSES[name][-1]))
    arm.run(LOOK)
    arm.loop.changed(at, at)
    return _cycle(arm)


def _known(name: str, seed: int) -> tuple[float, list[str]]:
    """Take the same from the beginning, without a change."""
    arm = handling_arm(name, seed)
    arm.pick(thing(MASSES[name][-1]))
    arm.run(2.0 * LOOK)
    return _cycle(arm)


def _cycle(arm: HandlingArm) -> tuple[float, list[str]]:
    """Go on until nothing is left to do; seconds since the beginning."""
    while arm.stamp * 1e-9 < LONGEST:
        arm.run(LOOK)
        last = arm.loop.last
        if last is not None and last.result.outcome.name == 'NOTHING_DUE':
            break
    wrong = [] if arm.is_inside else ['truth outside the bounds']
    return arm.stamp * 1e-9, [*arm.broken, *wrong]


def _moves(arm: HandlingArm) -> bool:
    """Whether the arm moves within some seconds."""
    for _ in range(round(PATIENCE / LOOK)):
        if arm.moves:
            return True
        arm.run(LOOK)
    return False


def _answer(arm: HandlingArm) -> ChangeOutcome | None:
    """Return what came of the change, once it is noticed."""
    before = len(arm.loop.outcomes)
    for _ in range(round(PATIENCE / LOOK)):
        try:
            arm.run(LOOK)
        except LoopFault:
            return None
        if len(arm.loop.outcomes) > before:
            return arm.loop.outcomes[-1]
    return None
