"""What each motion taught: how wide bounds were before and after it, read from the bag."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.audit.loop_of_bag import TASK, RecordedLoop
from safe_sysid.model.inertia import LABELS
from safe_sysid.report.html_page import Section, Table

TITLE = 'What each motion taught'
NAMED = 4  # parameters, those that were narrowed most
LEAST = 0.01  # share by which bounds have to narrow to be named
MOVES = 0.01  # [rad] of some joint; less is standing still
INSTANT = 1e-9  # [s]: an estimate of when a motion begins was learnt before


@dataclass(frozen=True, eq=False)
class Lesson:
    """One motion, from its start to that of the next."""

    begin: float  # [s]
    end: float
    kind: str  # stand | learn | task
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


def lessons(loop: RecordedLoop) -> list[Lesson]:
    """One for each plan that was followed, in their order."""
    record = loop.record
    series = record.estimates
    widths = 2.0 * series.half_width
    ends = [*record.plan_start[1:], record.time[-1]]
    task = next((at for at, mode in loop.modes if mode == TASK), np.inf)
    found = []
    for number, (begin, end) in enumerate(zip(record.plan_start, ends, strict=True)):
        known = np.searchsorted(series.time, np.array([begin, end]) + INSTANT, side='right') - 1
        way = np.ptp(record.q_d[record.plan == number], axis=0)
        kind = 'stand' if way.max() < MOVES else 'learn' if begin < task else TASK
        before, after = widths[np.maximum(known, 0)]
        found.append(Lesson(float(begin), float(end), kind, before, after))
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
        'Each motion is chosen for what it teaches as long as there is something to learn; '
        'standing still and the task itself teach, too.'
    )
    return Section(TITLE, lead, tables=(Table(columns, rows),))
