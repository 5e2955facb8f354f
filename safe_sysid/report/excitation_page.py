"""The page about an excitation trajectory: what it is worth, what is proven, and the motion."""

from __future__ import annotations

import numpy as np

from safe_sysid.excite.excitation_trajectory import ExcitationTrajectory
from safe_sysid.model.collision.obstacles import NO_OBSTACLES
from safe_sysid.report.arm_scene import arm_scene
from safe_sysid.report.figures_text import as_table
from safe_sysid.report.html_page import Line, Page, Plot, Section, Table
from safe_sysid.report.palette import LIMIT


def excitation_page(motion: ExcitationTrajectory) -> Page:
    """Return the page."""
    figures, doubts = motion.figures, motion.contact_doubts
    verdict = (
        ('With caution.', '; '.join(motion.warnings) + '.')
        if motion.warnings
        else ('Proven.', 'It keeps every limit and touches nothing that was described.')
    )
    return Page(
        f'A motion that excites {motion.model.name}',
        '; '.join(motion.about),
        is_good=not motion.warnings,
        verdict=verdict,
        facts=(('length', f'{motion.t[-1]:.1f} s'), ('samples', str(len(motion.t)))),
        scene=arm_scene(motion.model, motion.t, motion.states[0], NO_OBSTACLES),
        sections=(
            *_states(motion),
            Section('What it is worth', tables=(_figures(figures),)),
            Section('What speaks against a proof', sentences=doubts or ('Nothing.',)),
        ),
        footer='Made by safe-sysid. This page needs no network; all of its data is inside.',
        answer=(
            f'Condition number {float(figures["condition"]):.1f}.',
            'Of the regressor of the parameters that torques can show: the smaller, the better.',
        ),
    )


def _figures(figures: dict[str, object]) -> Table:
    rows = tuple((name, as_table({'': value}).strip()) for name, value in figures.items())
    return Table(('figure', 'value'), rows)


def _states(motion: ExcitationTrajectory) -> tuple[Section, ...]:
    limits = motion.model.limits
    kinds = (
        ('Positions', 'position [rad]', limits.position_lower, limits.position_upper),
        ('Velocities', 'velocity [rad/s]', -limits.velocity, limits.velocity),
        ('Accelerations', 'acceleration [rad/s²]', -limits.acceleration, limits.acceleration),
    )
    ends = motion.t[[0, -1]]
    sections = []
    for (heading, label, *bounds), values in zip(kinds, motion.states, strict=True):
        plots = []
        for j, name in enumerate(motion.joint_names):
            lines = [Line('commanded', motion.t, values[:, j])]
            lines += [
                Line('limit', ends, np.full(2, bound[j]), color=LIMIT, style='limit')
                for bound in bounds
                if np.isfinite(bound[j])
            ]
            plots.append(Plot(name, label, tuple(lines)))
        sections.append(Section(heading, plots=tuple(plots)))
    return tuple(sections)
