"""Table III for programs: every cell with its successes, errors and what was broken."""

from __future__ import annotations

from collections.abc import Sequence

from safe_sysid.experiment.stacking.methods import EVERY
from safe_sysid.experiment.stacking.table3 import count_of, of_tasks
from safe_sysid.experiment.stacking.table3_compared import DECIDING
from safe_sysid.experiment.trial import OK, Row


def counts(rows: Sequence[Row]) -> dict[str, object]:
    """Cells are a method at a task on a plant, all loads together; of trials with a result."""
    tasks = of_tasks(rows)
    done = [row for row in tasks if row['status'] == OK]
    cells = dict.fromkeys((str(r['plant']), str(r['task']), str(r['method'])) for r in done)
    return {
        'methods': list(dict.fromkeys(str(row['method']) for row in tasks)),
        'tasks': list(dict.fromkeys(str(row['task']) for row in tasks)),
        'trials': len(rows),
        'cells': [_cell(done, *cell) for cell in cells],
        'violations_of_certified': sum(
            bool(row.get('violation')) for row in done if EVERY[str(row['method'])].is_certified
        ),
    }


def _cell(rows: Sequence[Row], plant: str, task: str, method: str) -> dict[str, object]:
    """Violations are of promises; of methods that promise nothing, contacts and broken limits."""
    cell = {'plant': plant, 'task': task, 'method': method}
    some = [row for row in rows if all(row[name] == x for name, x in cell.items())]
    touched, broken = (count_of(some, name) for name in ('touched', 'limit_broken'))
    either = sum(bool(row['touched'] or row['limit_broken']) for row in some)
    promises = EVERY[method].is_certified
    return {
        **cell,
        'successes': count_of(some, DECIDING),
        'trials': len(some),
        'largest_error_mrad': 1e3 * max(float(str(row['largest_error_rad'])) for row in some),
        'contacts': touched,
        'limits_broken': broken,
        'violations': count_of(some, 'violation') if promises else either,
    }
