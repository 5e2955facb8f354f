"""The only file that knows matplotlib."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure

from safe_sysid.arrays import Array


@dataclass(frozen=True)
class Axes:
    """What the two axes show, and whether they are linear or log."""

    x: str
    y: str
    x_scale: str = 'linear'
    y_scale: str = 'linear'


def line_plot(path: Path, x: Array, series: Mapping[str, Array], axes: Axes) -> None:
    """Draw each series over x; the ending of the path chooses the format."""
    figure = Figure(figsize=(6.4, 4.0), layout='constrained')  # no pyplot: needs no display
    plot = figure.add_subplot()
    for name, y in series.items():
        plot.plot(x, y, marker='o', markersize=3, label=name)
    plot.set(xlabel=axes.x, ylabel=axes.y, xscale=axes.x_scale, yscale=axes.y_scale)
    plot.grid(visible=True, which='both', alpha=0.3)
    if len(series) > 1:
        plot.legend()
    figure.savefig(path, dpi=150)
