"""Plots that a member has to show, which are drawn once its figures are told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from safe_sysid.arrays import Array
from safe_sysid.report.figures import Axes, line_plot

PLOTS = 'plots'  # key of these among the figures of a member


@dataclass(frozen=True, eq=False)
class LinePlot:
    """Series over x, and the name of the file that they go into."""

    name: str
    x: Array
    series: Mapping[str, Array]
    axes: Axes

    def draw(self, folder: Path) -> None:
        """Write the file into a folder."""
        line_plot(folder / self.name, self.x, self.series, self.axes)
