"""Figures 3 to 5 of a constrained robot: its left leg, joint by joint."""

from __future__ import annotations

from collections.abc import Sequence
import json

import numpy as np

from safe_sysid.experiment.digit import MODELS
from safe_sysid.experiment.published import published
from safe_sysid.experiment.trial import Row
from safe_sysid.report.html_page import Line, Plot, Section

PAPER = 'constrained_robots'
FIGURES = (
    ('Figure 3: torque residual', 'N m', 'residual', MODELS),
    ('Figure 4: free motion', 'rad', 'free', (*MODELS, 'was')),
    ('Figure 5: tracking error at 5 rad/s', 'deg', 'error', MODELS),
)
LEAD = 'Left leg, first truth, of motions that were not used to identify it.'


def sections(rows: Sequence[Row]) -> list[Section]:
    """Return a section for each figure, a plot for each joint."""
    found = []
    for heading, unit, kind, models in FIGURES:
        cells = {
            model: str(row[f'{kind}_{model}_history'])
            for row in rows
            for model in models
            if row.get(f'{kind}_{model}_history') is not None
        }
        if set(cells) == set(models):
            found.append(Section(heading, LEAD, _plots(unit, cells)))
    return found


def _plots(unit: str, cells: dict[str, str]) -> tuple[Plot, ...]:
    drawn = {model: json.loads(text) for model, text in cells.items()}
    return tuple(
        Plot(
            joint,
            unit,
            tuple(
                Line(
                    'as it was' if model == 'was' else model,
                    step * np.arange(len(values[i]), dtype=float),
                    np.array(values[i]),
                    color,
                )
                for color, (model, (step, values)) in enumerate(drawn.items())
            ),
        )
        for i, joint in enumerate(published(PAPER)['joints'])
    )
