"""Runs one member of `safe-sysid bench`, with what is needed to judge and repeat its figures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from safe_sysid.bench import (
    arms,
    calibrate,
    changes,
    constrained,
    excite,
    falsify,
    handling,
    identifiability,
    identify,
    learning,
    model,
    plan,
    reach,
    recordings,
    rigidity,
    ros,
    search,
    start,
    track,
)
from safe_sysid.bench.plots import PLOTS, LinePlot
from safe_sysid.bench.settings import FORMER, MEMBERS, BenchSettings, Progress
from safe_sysid.errors import ConfigError
from safe_sysid.versions import cpu_count, versions

FILES = (
    *(model, identify, reach, track, plan, ros, excite, calibrate),
    *(identifiability, falsify, constrained, recordings, arms, changes, learning),
    *(rigidity, handling, search, start),
)
RUNS: dict[str, Callable[[BenchSettings, Progress], dict[str, object]]] = {
    name: file.run for name, file in zip(MEMBERS, FILES, strict=True)
}


@dataclass(frozen=True, eq=False)
class Measured:
    """Figures of one member, and plots that can be drawn of them."""

    figures: dict[str, object]
    plots: list[LinePlot]

    def draw(self, folder: Path | None) -> None:
        """Draw the plots into a folder; None: nobody asks for them."""
        if folder is not None:
            for plot in self.plots:
                plot.draw(folder)


def run(name: str, settings: BenchSettings, progress: Progress) -> dict[str, object]:
    """Figures of one member; its plots are drawn where they are asked for."""
    found = measured(name, settings, progress)
    found.draw(settings.plots)
    return found.figures


def measured(name: str, settings: BenchSettings, progress: Progress) -> Measured:
    """Figures of one member, with what is needed to judge and to repeat them."""
    name = FORMER.get(name, name)
    if name not in RUNS:
        raise ConfigError(f"no benchmark '{name}', there are {list(RUNS)}")
    if settings.plots is not None:
        settings.plots.mkdir(parents=True, exist_ok=True)
    figures = dict(RUNS[name](settings, progress))
    plots = figures.pop(PLOTS, [])
    assert isinstance(plots, list)
    circumstances = {
        'bench': name,
        'seed': settings.seed,
        'quick': settings.quick,
        'cpu_count': cpu_count(),
        'versions': versions(),
    }
    return Measured({**circumstances, **figures}, plots)
