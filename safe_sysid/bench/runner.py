"""Runs one member of `safe-sysid bench`, with what is needed to judge and repeat its figures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import importlib
from pathlib import Path

from safe_sysid.bench.members import FORMER, MEMBERS
from safe_sysid.errors import ConfigError
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
    name = FORMER.get(name, name)
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
