"""What each motion taught: how wide bounds were before and after it, read from the bag."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.audit.loop_of_bag import RecordedLoop
from safe_sysid.cli.demo.carrying import Carrying
from safe_sysid.identify.estimate_series import INSTANT
from safe_sysid.model.inertia import LABELS
from safe_sysid.report.html_page import Section, Table

TITLE = 'What each motion taught'
NAMED = 4  # parameters, those that were narrowed most
LEAST = 0.01  # share by which bounds have to narrow to be named
MOVED = ('lift', 'carry')  # tasks with what is held, in their order
MOVES = 0.01  # [rad] of some joint; less is standing still


@dataclass(frozen=True, eq=False)
class Lesson:
    """One motion, from its start to that of the next."""

    begin: float  # [s]
    end: float
    kind: str  # stand | lift | carry
    before: Array  # (10,) widths of [theta_e]
    after: Array

    @property
    def narrowed(self) -> Array:
        """Share by which each width is less afterwards, (10,)."""
        return np.asarray(1.0 - self.after / np.maximum(self.before, 1e-300))

    @property
    def most(self) -> list[tuple[str, float]]:
        """Parameters beside the mass of which most was learnt, and by which share."""
        narrowed = self.narrowed[1:]
        order = np.argsort(-narrowed, kind='stable')[:NAMED]
        return [(LABELS[i + 1], float(narrowed[i])) for i in order if narrowed[i] >= LEAST]

    @property
    def words(self) -> str:
        """The same as a text."""
        named = ', '.join(f'{label} {100.0 * share:.0f} %' for label, share in self.most)
        return named or 'nothing by 1 %'


def lessons(loop: RecordedLoop, carrying: Carrying) -> list[Lesson]:
    """One for each plan that was followed while something was held, in their order."""
    record, series = loop.record, carrying.known(loop)
    widths = 2.0 * series.half_width
    ends = [*record.plan_start[1:], record.time[-1]]
    found = []
    for number, (begin, after) in enumerate(zip(record.plan_start, ends, strict=True)):
        if not carrying.holds(begin):
            continue
        end = min(after, carrying.end)
        known = np.searchsorted(series.time, np.array([begin, end]) + INSTANT, side='right') - 1
        way = np.ptp(record.q_d[record.plan == number], axis=0)
        step = sum(t <= begin + INSTANT for t in carrying.moves)
        kind = 'stand' if way.max() < MOVES else MOVED[min(max(step, 1), len(MOVED)) - 1]
        wide, narrow = widths[np.maximum(known, 0)]
        found.append(Lesson(float(begin), float(end), kind, wide, narrow))
    return found


def taught_text(found: list[Lesson]) -> str:
    """Return a line for each motion."""
    lines = [f'\n{TITLE}: how wide bounds on the mass were, and which others narrowed most\n']
    lines += [
        f'  {x.begin:5.1f} to {x.end:4.1f} s  {x.kind:5}  mass {x.before[0]:.2f} → '
        f'{x.after[0]:.2f} kg   {x.words}'
        for x in found
    ]
    return '\n'.join(lines)


def taught_section(found: list[Lesson]) -> Section:
    """Part of the page."""
    rows = tuple(
        (f'{x.begin:.1f} to {x.end:.1f} s', x.kind, float(x.before[0]), float(x.after[0]), x.words)
        for x in found
    )
    columns = ('motion', 'for', 'mass before [kg wide]', 'after', 'narrowed most')
    lead = (
        'Each motion leads on, and is chosen for what it teaches as well, as long as the rest of '
        'the way asks for that; standing still teaches, too.'
    )
    return Section(TITLE, lead, tables=(Table(columns, rows),))
