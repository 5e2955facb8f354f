"""The falsification campaign: searches in every cell for a promise that is not kept."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from safe_sysid.experiment.falsify.cell import EXACT, Cell, cells
from safe_sysid.experiment.falsify.loops import PROMISES, look
from safe_sysid.experiment.result_table import ResultTable
from safe_sysid.experiment.settings import ExperimentSettings
from safe_sysid.experiment.trial import Row, Trial, seed_of

NAME = 'falsify'
LOOPS, QUICK_LOOPS = 50, 10  # of a search
TRIALS = 6  # searches in a cell: more than 10 000 loops in all


def trials(settings: ExperimentSettings) -> list[Trial]:
    """Return some searches in every cell; the quick form has one short one in every third."""
    count = settings.trials or (1 if settings.quick else TRIALS)
    every = cells()[::3] if settings.quick else cells()
    return [
        Trial(
            NAME,
            {
                'arm': cell.arm,
                'load': cell.load,
                'world': cell.world,
                'simulator': cell.simulator,
                'readings': cell.readings,
                'number': number,
                'loops': QUICK_LOOPS if settings.quick else LOOPS,
            },
            seed_of(settings.seed, (NAME, cell.name), number),
        )
        for number in range(count)
        for cell in every
    ]


def cell_of(row: Row) -> Cell:
    """Cell of a trial or of its row."""
    return Cell(*(str(row[x]) for x in ('arm', 'load', 'world', 'simulator', 'readings')))


def trial(spec: Trial) -> Row:
    """Search in one cell."""
    cell, loops = cell_of(dict(spec.settings)), int(str(spec.settings['loops']))
    found = look(cell, np.random.default_rng(spec.seed), loops)
    row: Row = {
        'refused': found.refused.total(),
        'refusal': found.refused.most_common(1)[0][0] if found.refused else '',
        'violations': found.violations,
        'violation': found.violations > 0,
    }
    for promise, (left, draw) in found.least.items():
        row |= {f'least_{promise}': left, f'draw_{promise}': draw.as_text()}
    return row


def tables(rows: Sequence[Row]) -> list[ResultTable]:
    """Return what was left of each promise where the search found least of it."""
    return [_counts(rows), _least(rows)]


def answer(rows: Sequence[Row]) -> tuple[str, str]:
    """Say whether a promise was broken."""
    loops = sum(_whole(row, 'loops') - _whole(row, 'refused') for row in rows)
    broken = sum(_whole(row, 'violations') for row in rows)
    return f'{broken} of {loops} closed loops broke a promise.', 'What is not found is no proof.'


def _whole(row: Row, column: str) -> int:
    return int(str(row[column]))


def _grouped(rows: Sequence[Row]) -> dict[tuple[str, ...], list[Row]]:
    """Rows by arm, simulator and readings."""
    found: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        key = tuple(str(row[name]) for name in ('arm', 'simulator', 'readings'))
        found.setdefault(key, []).append(row)
    return found


def _counts(rows: Sequence[Row]) -> ResultTable:
    lines = []
    for name, some in [*_grouped(rows).items(), (('all', '', ''), list(rows))]:
        loops, refused = (sum(_whole(r, x) for r in some) for x in ('loops', 'refused'))
        cpu = sum(float(str(row['cpu_s'])) for row in some)
        broken = sum(_whole(row, 'violations') for row in some)
        lines.append((*name, str(loops), str(loops - refused), str(broken), f'{cpu / loops:.2f}'))
    return ResultTable(
        'Loops, and promises they broke',
        ('arm', 'simulator', 'readings', 'drawn', 'promised', 'broken', 'CPU s each'),
        tuple(lines),
        (
            'promised: loops whose plan was certified. Each begins with V and the tracking error '
            'as large as they may be, the arm at ends of its bounds, drives as wrong as allowed.',
        ),
    )


def _least(rows: Sequence[Row]) -> ResultTable:
    known = [p for p in PROMISES if any(row.get(f'least_{p}') is not None for row in rows)]
    lines = []
    for name, some in _grouped(rows).items():
        left = ([r[f'least_{p}'] for r in some if r.get(f'least_{p}') is not None] for p in known)
        shown = (f'{min(float(str(x)) for x in found):.4f}' if found else '–' for found in left)
        lines.append((*name, *shown))
    return ResultTable(
        'Smallest margins found',
        ('arm', 'simulator', 'readings', *known),
        tuple(lines),
        (
            'V, r, e, de (its rate) and rows (the true parameters in the rows of an observation) '
            'as shares of their bounds, 0 is at the bound. torque, position, velocity, self and '
            f'obstacle of {EXACT} readings: by how much more is left than the certificate says, '
            'as a share of the limit, in rad, as a share of the limit, in 0.1 m; of late ones as '
            'a share of the bound, self in 0.1 m. answer: 1, the controller gave a torque always.',
        ),
    )
