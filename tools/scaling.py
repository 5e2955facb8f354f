"""Measure how campaigns scale: searches for broken promises by one worker, then by two.

    python tools/scaling.py [SEARCHES]

Prints what a loop costs, what share of the workers' time was not in trials, whether all rows are
the same bits, how memory grew, what a row takes on disk, and from that the cost of 10^6 loops.
"""

from pathlib import Path
import sys
from tempfile import TemporaryDirectory
import time

from safe_sysid.experiment.campaign import Workers, carry_out
from safe_sysid.experiment.falsify.trials import trial, trials
from safe_sysid.experiment.settings import ExperimentSettings
from safe_sysid.experiment.store import Store
from safe_sysid.experiment.trial import result_of

WORKERS = (1, 2)
MILLION, CLUSTER = 1e6, 100  # loops, and cores that share them


def _say(sentence: str) -> None:
    sys.stdout.write(f'{sentence}\n')


def main(searches: int) -> None:
    """Carry out the same searches by every number of workers."""
    some = trials(ExperimentSettings(quick=True))[:searches]
    loops = sum(int(str(t.settings['loops'])) for t in some)
    results = []
    for count in WORKERS:
        with TemporaryDirectory() as folder:
            begin = time.monotonic()
            with Store(Path(folder)) as store:
                rows = carry_out(store, trial, some, Workers(count=count), lambda _: None)
            wall = time.monotonic() - begin
            size = sum(path.stat().st_size for path in Path(folder).glob('part-*.parquet'))
        results.append([result_of(row) for row in rows])
        cpu, busy = (sum(float(str(row[x])) for row in rows) for x in ('cpu_s', 'wall_s'))
        by_worker: dict[object, list[float]] = {}
        for row in rows:
            by_worker.setdefault(row['pid'], []).append(float(str(row['memory_mb'])))
        grown = max(max(each) - min(each) for each in by_worker.values())
        _say(
            f'{count} workers: {loops} loops in {wall:.0f} s, {cpu / loops:.3f} s of processor '
            f"time each, {100 * (1 - busy / (count * wall)):.0f} % of the workers' time not in "
            f'trials (start included); memory {max(map(max, by_worker.values())):.0f} MiB, grown '
            f'by {grown:.0f} MiB over {max(map(len, by_worker.values()))} trials; '
            f'{size / len(rows) / 1e3:.1f} kB a row'
        )
    same = sum(a == b for a, b in zip(*results, strict=True))
    _say(f'{same} of {len(results[0])} rows are the same bits')
    hours = MILLION * cpu / loops / 3600.0
    gigabytes = MILLION * size / loops / 1e9
    _say(
        f'{MILLION:.0e} loops: {hours:.0f} core hours, {hours / CLUSTER:.1f} h on {CLUSTER} '
        f'cores, {gigabytes:.2f} GB of rows'
    )


if __name__ == '__main__':
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 12)
