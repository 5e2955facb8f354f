"""The only file that knows matplotlib."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from safe_sysid.arrays import Array
from safe_sysid.output_file import new_file
from safe_sysid.report.html_page import Plot
from safe_sysid.report.palette import LIGHT

COARSE, FINE = 150, 120  # [1/inch] of one plot, and of pages with many


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
    _save(figure, path)


def stacked_plot(
    path: Path, x: Array, panels: Mapping[str, Mapping[str, Array]], x_label: str
) -> None:
    """Draw groups of series below each other over one x; the key of a group is its y label."""
    figure = Figure(figsize=(7.2, 2.2 * len(panels) + 0.4), layout='constrained')
    plots = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for plot, (label, series) in zip(plots, panels.items(), strict=True):
        for name, y in series.items():
            plot.plot(x, y, linewidth=1.0, label=name)
        plot.set_ylabel(label)
        plot.grid(visible=True, alpha=0.3)
    plots[-1].set_xlabel(x_label)
    plots[0].legend(ncols=4, fontsize='small')
    _save(figure, path)


def panels(paths: Sequence[Path], plots: Sequence[Plot]) -> None:
    """Draw the plots of a page side by side, in the format of each path's ending."""
    columns = min(3, len(plots))
    rows = -(-len(plots) // columns)
    layout = ConstrainedLayoutEngine()
    figure = Figure(figsize=(5.0 * columns, 3.2 * rows), layout=layout)
    for i, plot in enumerate(plots):
        axes = figure.add_subplot(rows, columns, i + 1)
        for band in plot.bands:
            color = LIGHT[band.color]
            axes.fill_between(
                band.x, band.lower, band.upper, color=color, alpha=0.2, label=band.name
            )
        for line in plot.lines:
            style = {'limit': '--', 'points': 'o', 'truth': ':'}.get(line.style, '-')
            drawstyle = 'steps-post' if line.style == 'step' else 'default'
            axes.plot(
                line.x, line.y, style, drawstyle=drawstyle, color=LIGHT[line.color], lw=1.2, ms=4,
                label=line.name,
            )  # fmt: skip
        axes.set(title=plot.title, xlabel=plot.x_label, ylabel=plot.y_label, yscale=plot.y_scale)
        axes.grid(visible=True, alpha=0.3)
        if len(plot.lines) + len(plot.bands) > 1:
            _legend_below(axes)
    layout.execute(figure)  # once, and not for every format
    figure.set_layout_engine('none')
    for path in paths:
        _save(figure, path, FINE)


def _save(figure: Figure, path: Path, dpi: int = COARSE) -> None:
    with new_file(path) as part:
        figure.savefig(part, dpi=dpi)


def _legend_below(axes: Any) -> None:
    """Name each curve once, where no data is."""
    handles, labels = axes.get_legend_handles_labels()
    by_name = dict(zip(labels, handles, strict=True))
    axes.legend(
        by_name.values(), by_name.keys(), fontsize='small', frameon=False, ncols=2,
        loc='upper center', bbox_to_anchor=(0.5, -0.2),
    )  # fmt: skip
