"""Tables and figures of bodies identified near a wrong description."""

from __future__ import annotations

from collections.abc import Sequence
import json

import numpy as np

from safe_sysid.experiment.neighbourhoods import RADII
from safe_sysid.experiment.result_table import ResultTable
from safe_sysid.experiment.trial import Row
from safe_sysid.report.html_page import Line, Plot, Section

SHOWN = (0, 1, 2, 5, 10, 20, 50)  # iterations


def tables(rows: Sequence[Row]) -> list[ResultTable]:
    """Loss and errors of every radius, then the loss on the way, of every arm."""
    robots = dict.fromkeys(str(row['robot']) for row in rows)
    of_robot = {robot: [row for row in rows if row['robot'] == robot] for robot in robots}
    return [
        table
        for robot, some in of_robot.items()
        for table in (_radii(robot, some), _on_the_way(robot, some))
    ]


def _radii(robot: str, rows: Sequence[Row]) -> ResultTable:
    lines = [
        ('as described', *_losses(rows, 'described'), _median(rows, 'mass_error described', 1e2)),
        *((f'within {name}', *_of_radius(rows, name)) for name in RADII if name != 'none'),
        ('no neighbourhood', *_of_radius(rows, 'none')),
        ('true parameters', *_losses(rows, 'true'), '0'),
    ]
    columns = (
        *('bodies', 'loss, train', 'loss, validation', 'mass error [%]'),
        *('bodies that cannot exist', 'holds the truth', 'iterations', 'converged'),
    )
    empty = ('–',) * 4
    return ResultTable(
        f'Bodies of {robot}',
        columns,
        tuple((*line, *empty)[: len(columns)] for line in lines),
        (
            f'Median over {len(rows)} truths, whose description is wrong in the mass of every '
            'body by up to 30 %; mass error: rms over bodies. Loss: mean squared torque error '
            'behind the filter, in variances of the noise before it. The same share bounds mass, '
            'centre, u and d. One that is too tight keeps out the truth and costs torque; a wide '
            'one leaves masses open that no torque shows. Nothing here keeps bodies possible: '
            'see the semidefinite program of `experiment excitation`.',
        ),
    )


def _of_radius(rows: Sequence[Row], name: str) -> tuple[str, ...]:
    n = len(rows)
    impossible = sum(float(str(row[f'cannot_exist {name}'])) for row in rows)
    return (
        _median(rows, f'train {name}'),
        _median(rows, f'validation {name}'),
        _median(rows, f'mass_error {name}', 1e2),
        f'{impossible:.0f} of {7 * n}',
        f'{sum(bool(row[f"holds_truth {name}"]) for row in rows)}/{n}',
        _median(rows, f'iterations {name}'),
        f'{sum(bool(row[f"solved {name}"]) for row in rows)}/{n}',
    )


def _losses(rows: Sequence[Row], who: str) -> tuple[str, str]:
    return _median(rows, f'train_{who}'), _median(rows, f'validation_{who}')


def _median(rows: Sequence[Row], column: str, scale: float = 1.0) -> str:
    return f'{scale * np.median([float(str(row[column])) for row in rows]):.3g}'


def _on_the_way(robot: str, rows: Sequence[Row]) -> ResultTable:
    """Loss over iterations, on the motion that is fitted and on the other one."""
    lines = []
    for at in SHOWN:
        cells = []
        for name in RADII:
            paths = np.array([_at(str(row[f'path {name}']), at) for row in rows])
            train, validation = np.median(paths, axis=0)
            cells.append(f'{train:.3g} / {validation:.3g}')
        lines.append((str(at), *cells))
    columns = ('iterations', *(f'within {x}' if x != 'none' else 'none' for x in RADII))
    return ResultTable(
        f'Loss of {robot} over iterations, train / validation',
        columns,
        tuple(lines),
        ('Median over truths; a fit that has ended stays where it is.',),
    )


def sections(rows: Sequence[Row]) -> list[Section]:
    """Return the loss over iterations of the first truth, arm by arm."""
    plots = tuple(
        _plot(row, place, which)
        for row in rows
        if row['number'] == 0
        for place, which in enumerate(('motion that is fitted', 'another motion'))
    )
    lead = 'Of the first truth; in variances of the noise.'
    return [Section('Loss over iterations', lead, plots)] if plots else []


def _plot(row: Row, place: int, which: str) -> Plot:
    lines = []
    for color, name in enumerate(RADII):
        y = np.array(json.loads(str(row[f'path {name}']))[place])
        label = name if name == 'none' else f'within {name}'
        lines.append(Line(label, np.arange(len(y), dtype=float), y, color))
    title = f'{row["robot"]}: {which}'
    return Plot(title, 'loss', tuple(lines), x_label='iteration', y_scale='log')


def _at(path: str, iteration: int) -> tuple[float, float]:
    train, validation = json.loads(path)
    last = min(iteration, len(train) - 1)
    return train[last], validation[last]
