"""The plots of a page as PNG and SVG, for papers and slides."""

from __future__ import annotations

from pathlib import Path
import re

from safe_sysid.output_file import filled_folder
from safe_sysid.report.figures import panels
from safe_sysid.report.html_page import Page

FORMATS = ('png', 'svg')


def write_figures(folder: Path, page: Page) -> list[Path]:
    """One figure per section that has plots, in every format; all of them or none."""
    written: list[Path] = []
    with filled_folder(folder):
        for section in page.sections:
            if not section.plots:
                continue
            name = re.sub(r'[^a-z0-9]+', '_', section.heading.lower()).strip('_')
            paths = [folder / f'{name}.{ending}' for ending in FORMATS]
            panels(paths, section.plots)
            written += paths
    return written
