"""Campaign: many trials on Dask, each carried out once, whatever is killed on the way.

The client is the only one that writes. It keeps a few trials under way for each worker and stores
every row as it comes. Trials of a worker that ends run again on another one; one that ends workers
when it is alone, too, is a row with that reason. At the end all planned keys have to be there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
import hashlib
from importlib.util import find_spec
from itertools import islice
import logging
import time
from typing import Any

from safe_sysid.errors import ConfigError
from safe_sysid.experiment.store import CampaignError, Store
from safe_sysid.experiment.trial import (
    LONGEST,
    Row,
    Trial,
    TrialFunction,
    killed_row,
    package_version,
    row_of,
)
from safe_sysid.interruption import Interruption
from safe_sysid.versions import cpu_count

AHEAD = 4  # trials under way per worker
WORKERS_LOST = 1  # by one trial and those beside it, then it is tried once more by itself
MEMORY = '3GiB'  # of a worker, which is started anew beyond
LOOK = 0.01  # [s] between two looks at what has ended
SAID = 5.0  # [s] between two sentences about the progress
BAR = 24  # characters of the bar in them
LONGEST_CALL = 30  # [s] until a scheduler has answered
# In workers of our own: Ctrl-C is for the client, which ends them.
UNTOUCHED = 'import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)'
DASHBOARD = '127.0.0.1:0'  # address and port, any that is free
Progress = Callable[[str], None]
Carry = Callable[[Trial], tuple[Row, str]]
Ended = tuple[Trial, tuple[Row, str] | None]
CarriedOut = Callable[[Sequence[Trial], int], Iterator[Ended]]


@dataclass(frozen=True)
class Workers:
    """Where trials run: processes of this machine, or a scheduler that somebody has started."""

    address: str = ''  # of a scheduler, tcp://host:port; empty: a cluster of our own
    count: int = field(default_factory=cpu_count)  # processes of our own
    longest: float = LONGEST  # [s] of processor time of one trial


def carry_out(
    store: Store,
    function: TrialFunction,
    trials: Sequence[Trial],
    workers: Workers,
    progress: Progress,
) -> list[Row]:
    """Carry out all trials that the store does not have yet; its rows of all of them."""
    planned = {trial.key: trial for trial in trials}
    if len(planned) != len(trials):
        raise CampaignError(f'{len(trials)} trials have only {len(planned)} keys')
    left = [trial for key, trial in planned.items() if key not in store]
    alone = [each.key for each in left if each.needs is not None and each.needs.key not in planned]
    if alone:
        raise CampaignError(f'the trial {alone[0]} needs one that is not planned')
    if left:
        said = _Said(len(planned), len(planned) - len(left), progress)
        try:
            with Interruption() as interruption:
                done = _done(function, left, workers, store, progress, interruption)
                with closing(done) as rows:
                    for row, text in rows:
                        store.add(row, text)
                        said.one_more(row)
                interruption.raise_again()
        except KeyboardInterrupt:
            progress(f'stopped; rows so far are safe, --resume {store.folder} goes on')
            raise
    store.close_part()
    missing = [key for key in planned if key not in store]
    if missing:
        raise CampaignError(f'{len(missing)} trials have no row, the first is {missing[0]}')
    of_key = {row['key']: row for row in store.rows}
    return [of_key[key] for key in planned]


def plan_of(name: str, trials: Sequence[Trial]) -> dict[str, Any]:
    """Return what a campaign is known by."""
    keys = '\n'.join(sorted(trial.key for trial in trials))
    return {
        'experiment': name,
        'package': package_version(),
        'trials': len(trials),
        'plan': hashlib.sha256(keys.encode()).hexdigest()[:16],
    }


def _done(
    function: TrialFunction,
    trials: Sequence[Trial],
    workers: Workers,
    store: Store,
    progress: Progress,
    interruption: Interruption,
) -> Generator[tuple[Row, str]]:
    """Yield rows with tracebacks as trials end; the store has each before the next is wanted."""
    with _client(workers, progress) as client:
        interruption.postpone()  # a client that it finds at work says so with a traceback
        _refuse_other_versions(client)
        count = max(1, len(client.scheduler_info(n_workers=-1)['workers']))
        carry = partial(row_of, function, longest=workers.longest)
        given = partial(_carried_out, client, carry, interruption)
        yield from _with_suspects(given, [t for t in trials if t.needs is None], AHEAD * count)
        later = [t.with_row(store[t.needs.key]) for t in trials if t.needs is not None]
        yield from _with_suspects(given, later, AHEAD * count)


def _with_suspects(
    carried_out: CarriedOut, trials: Sequence[Trial], ahead: int
) -> Iterator[tuple[Row, str]]:
    """Yield rows of trials, at the end those that may have ended workers."""
    suspects = []
    for trial, done in carried_out(trials, ahead):
        if done is None:
            suspects.append(trial)
        else:
            yield done
    for suspect in suspects:  # each by itself: what ended a worker may have been its neighbour
        for trial, done in carried_out([suspect], 1):
            yield done or (killed_row(trial), '')


def _carried_out(
    client: Any, carry: Carry, interruption: Interruption, trials: Sequence[Trial], ahead: int
) -> Iterator[Ended]:
    """Yield trials as they end, with row and traceback; without, where their workers ended."""
    from distributed import as_completed
    from distributed.scheduler import KilledWorker

    waiting, of_future = iter(trials), {}

    def submitted(trial: Trial) -> Any:
        future = client.submit(carry, trial, key=f'{trial.key}-{ahead}', pure=False)
        of_future[future.key] = trial
        return future

    running = as_completed([submitted(each) for each in islice(waiting, ahead)])
    for future in _ended(running, interruption):
        trial = of_future.pop(future.key)
        try:
            done = future.result()
        except KilledWorker:
            done = None
        future.release()
        yield trial, done
        running.update([submitted(each) for each in islice(waiting, 1)])


def _ended(running: Any, interruption: Interruption) -> Iterator[Any]:
    """Yield futures as they end, until Ctrl-C."""
    while running.count():
        interruption.raise_again()
        if running.has_ready():
            yield next(running)
        else:
            time.sleep(LOOK)


@contextmanager
def _client(workers: Workers, progress: Progress) -> Iterator[Any]:
    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise ConfigError(
            f"campaigns need Dask ({error}); pip install 'safe_sysid[campaign]'"
        ) from error
    settings = {
        'distributed.scheduler.allowed-failures': WORKERS_LOST,
        'distributed.worker.preload': [UNTOUCHED] if not workers.address else [],
    }
    with dask.config.set(settings):
        if workers.address:
            with _connected(Client, workers.address) as client:
                _say_where(client, progress, shown=True)
                yield client
            return
        cluster = LocalCluster(
            n_workers=workers.count,
            threads_per_worker=1,
            processes=True,
            memory_limit=MEMORY,
            dashboard_address=DASHBOARD,
            silence_logs=logging.ERROR,
        )
        with cluster, Client(cluster) as client:
            _say_where(client, progress, shown=find_spec('bokeh') is not None)
            yield client


def _connected(client: Any, address: str) -> Any:
    """Return a client of a scheduler that somebody has started."""
    try:
        return client(address, timeout=LONGEST_CALL)
    except (OSError, ValueError) as error:
        raise ConfigError(
            f'no scheduler answers at {address} ({error}); --cluster takes the address that '
            '`dask scheduler` prints, tcp://HOST:PORT'
        ) from error


def _say_where(client: Any, progress: Progress, *, shown: bool) -> None:
    """Say where trials run, and where a browser shows them."""
    workers = client.scheduler_info(n_workers=-1)['workers']
    where = f'dashboard: {client.dashboard_link}' if shown else 'no dashboard without bokeh'
    progress(f'{len(workers)} workers at {client.scheduler.address}, {where}')


def _refuse_other_versions(client: Any) -> None:
    """Refuse workers with another version of this package: their rows would get our keys."""
    ours = package_version()
    for address, theirs in client.run(package_version).items():
        if theirs != ours:
            raise CampaignError(
                f'the worker {address} has safe_sysid {theirs}, this process {ours}; '
                'trials have to be carried out by one version'
            )


class _Said:
    """Sentences about the progress, now and then."""

    def __init__(self, planned: int, done: int, progress: Progress) -> None:
        self._planned, self._before, self._progress = planned, done, progress
        self._statuses: Counter[str] = Counter()
        self._begin = self._last = time.monotonic()
        if done:
            progress(f'{done} of {planned} trials were done before')

    def one_more(self, row: Row) -> None:
        self._statuses[str(row['status'])] += 1
        now, new = time.monotonic(), self._statuses.total()
        done = self._before + new
        if now - self._last < SAID and done < self._planned:
            return
        self._last = now
        rate = new / max(now - self._begin, 1e-9)
        left = (self._planned - done) / rate
        counts = ', '.join(f'{count} {status}' for status, count in self._statuses.items())
        full = BAR * done // self._planned
        bar = f'[{"#" * full}{"." * (BAR - full)}]'
        self._progress(f'{bar} {done} of {self._planned} trials ({counts}), {left:.0f} s left')
