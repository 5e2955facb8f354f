"""Runs one member of `safe-sysid bench`, with what is needed to judge and repeat its figures."""

from __future__ import annotations

from collections.abc import Callable

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


def run(name: str, settings: BenchSettings, progress: Progress) -> dict[str, object]:
    """Figures of one member, with what is needed to judge and to repeat them."""
    name = FORMER.get(name, name)
    if name not in RUNS:
        raise ConfigError(f"no benchmark '{name}', there are {list(RUNS)}")
    if settings.plots is not None:
        settings.plots.mkdir(parents=True, exist_ok=True)
    figures = RUNS[name](settings, progress)
    circumstances = {
        'bench': name,
        'seed': settings.seed,
        'quick': settings.quick,
        'cpu_count': cpu_count(),
        'versions': versions(),
    }
    return {**circumstances, **figures}
