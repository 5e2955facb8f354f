"""Trials that are kept in a folder, so that what was run once is not run again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import as_completed
from dataclasses import asdict, fields
import json
from pathlib import Path
from typing import Any, get_type_hints

from safe_sysid.bench.processes import trial_processes
from safe_sysid.bench.settings import Progress
from safe_sysid.errors import ConfigError
from safe_sysid.output_file import write_text


def trials_done(
    run: Callable[[int, int], Any],
    seed: int,
    numbers: Sequence[int],
    folder: Path | None,
    progress: Progress,
) -> list[dict[str, Any]]:
    """Return what trials gave, by number; those in the folder are read, others are put there.

    A trial is what `run(seed, number)` gives, a dataclass of plain values.
    """
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    names = {each.name for each in fields(get_type_hints(run)['return'])}
    done = {n: _read(_place(folder, run, seed, n), names) for n in numbers}
    left = [n for n in numbers if done[n] is None]
    if len(left) < len(numbers):
        progress(f'{len(numbers) - len(left)} of {len(numbers)} trials were there')
    with trial_processes() as pool:
        futures = {pool.submit(run, seed, n): n for n in left}
        for count, future in enumerate(as_completed(futures), start=1):
            number = futures[future]
            done[number] = asdict(future.result())
            if (place := _place(folder, run, seed, number)) is not None:
                write_text(place, json.dumps(done[number]))
            progress(f'trial {number}: {count} of {len(left)} done')
    return [found for n in numbers if (found := done[n]) is not None]


def _place(
    folder: Path | None, run: Callable[[int, int], Any], seed: int, number: int
) -> Path | None:
    return None if folder is None else folder / f'{run.__name__}_{seed}_{number:05d}.json'


def _read(path: Path | None, names: set[str]) -> dict[str, Any] | None:
    """Return a trial; None where there is none, or one that tells something else."""
    if path is None or not path.exists():
        return None
    try:
        found = dict(json.loads(path.read_text(encoding='utf-8')))
    except ValueError as error:
        raise ConfigError(f'{path} is no trial ({error}); remove it') from error
    return found if found.keys() == names else None
