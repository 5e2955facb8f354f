"""Trial: a pure function of settings and a seed, and the key by which it is known.

A key is made of everything a result may depend on, the versions of rows and package too: a trial
that is planned again has the same key, and one of another version another. Times, hosts and
process numbers are in columns that no key and no comparison looks at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
import hashlib
import json
import math
import os
from pathlib import Path
import socket
import time
import traceback
import zlib

import numpy as np

from safe_sysid.errors import SafeSysidError
from safe_sysid.experiment.longest import TookTooLong, ended_after
from safe_sysid.versions import version

Scalar = str | int | float | bool | None
Row = dict[str, Scalar]

SCHEMA = 1  # of rows: another one means other keys
OK, REFUSED, ERROR, TIMEOUT, KILLED = 'ok', 'refused', 'error', 'timeout', 'killed'
LONGEST = 3600.0  # [s] of processor time, after which a trial is ended; it then is a row, too
LONGEST_REASON = 300  # characters
WHEREABOUTS = ('host', 'pid', 'memory_mb')
# Columns of every row that are not settings of its trial.
NOT_SETTINGS = frozenset(
    {'key', 'experiment', 'package', 'schema', 'seed', 'status', 'reason', 'traceback'}
    | {'wall_s', 'cpu_s', *WHEREABOUTS}
)


class NeededTrialError(SafeSysidError):
    """A trial starts from the row of another one, which has none."""


@dataclass(frozen=True, eq=False)
class Trial:
    """Settings and seed of one trial of an experiment, and the trial whose row it starts from."""

    experiment: str
    settings: Mapping[str, Scalar]
    seed: int
    needs: Trial | None = None  # carried out before
    given: Row | None = None  # row of that one, once there is one

    @property
    def key(self) -> str:
        """First 16 hexadecimal digits of the hash of all that the result may depend on."""
        content = {
            'experiment': self.experiment,
            'package': package_version(),
            'schema': SCHEMA,
            'seed': self.seed,
            'settings': dict(self.settings),
        }
        if self.needs is not None:
            content['needs'] = self.needs.key
        return hashlib.sha256(_canonical(content).encode()).hexdigest()[:16]

    @property
    def columns(self) -> Row:
        """What a row says of the trial, whatever becomes of it."""
        return {
            'key': self.key,
            'experiment': self.experiment,
            'package': package_version(),
            'schema': SCHEMA,
            'seed': self.seed,
            **self.settings,
        }

    def with_row(self, row: Row) -> Trial:
        """Return the same with the row of the trial it needs."""
        return replace(self, given=row)


TrialFunction = Callable[[Trial], Row]


@cache
def package_version() -> str:
    """Version of this package; of a folder that is not installed there is none."""
    return version('safe_sysid') or 'folder'


def seed_of(root: int, cell: Sequence[Scalar], number: int) -> int:
    """Seed of a trial in a cell; methods that are compared leave themselves out of the cell."""
    place = zlib.crc32(_canonical(list(cell)).encode())
    sequence = np.random.SeedSequence(root, spawn_key=(place, number))
    return int(sequence.generate_state(1, np.uint32)[0])


def row_of(function: TrialFunction, trial: Trial, longest: float = LONGEST) -> tuple[Row, str]:
    """Carry out a trial: its row, and the traceback where it failed."""
    begin, cpu = time.monotonic(), time.process_time()
    text = ''
    try:
        with ended_after(longest):
            result: Row = {'status': OK, 'reason': '', **_carried_out(function, trial)}
    except TookTooLong as error:
        result, text = failure(TIMEOUT, error), traceback.format_exc()
    except SafeSysidError as error:
        result, text = failure(REFUSED, error), traceback.format_exc()
    except Exception as error:  # noqa: BLE001 - whatever fails is a row with its reason
        result, text = failure(ERROR, error), traceback.format_exc()
    spent: Row = {
        'wall_s': time.monotonic() - begin,
        'cpu_s': time.process_time() - cpu,
        'host': socket.gethostname(),
        'pid': os.getpid(),
        'memory_mb': _resident(),
    }
    if text:
        spent['traceback'] = traceback_name(text)
    return {**trial.columns, **result, **spent}, text


def _carried_out(function: TrialFunction, trial: Trial) -> Row:
    """Return what a trial came to, if all of its figures are numbers."""
    if trial.given is not None and trial.given['status'] != OK:
        raise NeededTrialError(
            f'the trial {trial.given["key"]} that it starts from has no result: '
            f'{trial.given["reason"]}'
        )
    found = function(trial)
    wrong = [name for name, x in found.items() if isinstance(x, float) and math.isnan(x)]
    if wrong:
        raise ValueError(f'{wrong[0]} is not a number, and {len(wrong) - 1} other figures')
    return found


def _resident() -> float | None:
    """Memory of this process [MiB], where the system tells it."""
    told = Path('/proc/self/statm')
    if not told.exists():
        return None
    return int(told.read_text(encoding='ascii').split()[1]) * os.sysconf('SC_PAGE_SIZE') / 2**20


def killed_row(trial: Trial) -> Row:
    """Row of a trial whose workers ended while they were at it alone."""
    reason = 'every worker that carried it out ended: out of memory, or killed'
    return {**trial.columns, 'status': KILLED, 'reason': reason}


def failure(status: str, error: BaseException) -> Row:
    """Return the columns of a trial that came to nothing."""
    sentence = f'{type(error).__name__}: {error}'
    return {'status': status, 'reason': sentence[:LONGEST_REASON]}


def traceback_name(text: str) -> str:
    """Name under which a traceback is kept once."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def result_of(row: Row) -> str:
    """All of a row that has to be the same when its trial is carried out again."""
    lasting = {
        name: value
        for name, value in row.items()
        if not name.endswith('_s') and name not in (*WHEREABOUTS, 'traceback')
    }
    return _canonical(lasting)


def _canonical(content: object) -> str:
    return json.dumps(content, sort_keys=True, separators=(',', ':'))
