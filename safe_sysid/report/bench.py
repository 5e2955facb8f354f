"""`safe-sysid bench`: runs one member and prints its figures as a table or as JSON."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
import importlib
import json
from pathlib import Path
import sys
from typing import Any

import numpy as np

from safe_sysid.errors import ConfigError
from safe_sysid.report.bench_members import MEMBERS
from safe_sysid.report.output import print_to_error
from safe_sysid.versions import cpu_count, versions

Progress = Callable[[str], None]


@dataclass(frozen=True)
class BenchSettings:
    """What a member is asked for; each has its own number of trials when none is given."""

    trials: int | None
    seed: int
    quick: bool  # less of everything, so that it ends within 40 s on two cores
    plots: Path | None  # folder for the plots
    table4: bool = False  # identify: condition numbers instead of everything else

    def __post_init__(self) -> None:
        if self.trials is not None and self.trials < 1:
            raise ConfigError(f'trials is {self.trials}, it has to be 1 or more')
        if self.seed < 0:
            raise ConfigError(f'seed is {self.seed}, it has to be 0 or more')


def run(name: str, settings: BenchSettings, progress: Progress) -> dict[str, object]:
    """Figures of one member, with what is needed to judge and to repeat them."""
    if name not in MEMBERS:
        raise ConfigError(f"no benchmark '{name}', there are {list(MEMBERS)}")
    if settings.plots is not None:
        settings.plots.mkdir(parents=True, exist_ok=True)
    figures = importlib.import_module(MEMBERS[name]).run(settings, progress)
    circumstances = {
        'bench': name,
        'seed': settings.seed,
        'quick': settings.quick,
        'cpu_count': cpu_count(),
        'versions': versions(),
    }
    return {**circumstances, **figures}


def command(options: argparse.Namespace) -> int:
    """Carry out `safe-sysid bench`."""
    settings = BenchSettings(
        options.trials, options.seed, options.quick, options.plots, options.table4
    )
    with print_to_error():
        figures = run(options.name, settings, _to_standard_error)
    print(as_json(figures) if options.json else as_table(figures))
    return 0


def _to_standard_error(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


def as_json(figures: Mapping[str, object]) -> str:
    """One JSON object; a figure that is not finite becomes null, which JSON can say."""
    return json.dumps(_plain(figures), allow_nan=False)


def as_table(figures: Mapping[str, object]) -> str:
    """One row per figure; lists and groups of figures are indented below their name."""
    return '\n'.join(_rows(_plain(figures), ''))


def _plain(value: Any) -> Any:
    """Value as the types JSON knows."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value


def _rows(group: dict[str, Any], indent: str) -> list[str]:
    width = max((len(name) for name in group), default=0)
    rows = []
    for name, value in group.items():
        if isinstance(value, dict):
            rows += [f'{indent}{name}', *_rows(value, indent + '  ')]
        elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
            rows.append(f'{indent}{name}')
            rows += [f'{indent}  {_line(item)}' for item in value]
        else:
            rows.append(f'{indent}{name:<{width}}  {_line(value)}')
    return rows


def _line(value: Any) -> str:
    if isinstance(value, dict):
        return '  '.join(f'{name} {_line(item)}' for name, item in value.items())
    if isinstance(value, list):
        return '  '.join(_line(item) for item in value)
    if isinstance(value, float):
        return f'{value:.4g}'
    return '-' if value is None else str(value)
