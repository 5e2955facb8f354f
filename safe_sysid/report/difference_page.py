"""The page about a payload between recordings: verdict, intervals, what limits them, residuals."""

from __future__ import annotations

import numpy as np

from safe_sysid.identify.difference.answer import PayloadDifference
from safe_sysid.identify.difference.answer_text import caution
from safe_sysid.identify.difference.from_recordings import IdentifiedDifference
from safe_sysid.model.inertia import LABELS, UNITS
from safe_sysid.report.html_page import Line, Page, Plot, Section, Table
from safe_sysid.report.page_parts import circumstances

SHOWN = 2000  # points of a plot

Row = tuple[str | float | None, ...]


def difference_page(given: IdentifiedDifference) -> Page:
    """Return the page."""
    found = given.found
    refused = found.refused
    doubt = caution(found)
    held = 'Each interval holds if what it rests on does.'
    summary = held if doubt is None else f'{held} Caution: {doubt}.'
    return Page(
        f'What {given.robot} holds',
        f'{given.loaded} against {", ".join(given.empty)}',
        is_good=refused is None,
        verdict=('Refused.', refused) if refused else ('Intervals were found.', summary),
        facts=_facts(found),
        scene=None,
        sections=(
            _intervals(found),
            _limits(found),
            _residuals(given),
            Section('The intervals rest on', sentences=given.assumptions),
            Section('The recordings', sentences=given.remarks),
            circumstances({'seconds that this took': f'{given.seconds:.1f}'}),
        ),
        footer='Made by safe-sysid. This page needs no network; all of its data is inside.',
    )


def _facts(found: PayloadDifference) -> tuple[tuple[str, str], ...]:
    facts = [('nominal mass', f'{found.nominal[0]:.3f} kg')]
    if found.statistical is not None:
        bounds = found.statistical.bounds
        share = f'{100 * found.statistical.confidence:g} %'
        facts.append(
            (f'statistical, {share}', f'{bounds.lower[0]:.3f} – {bounds.upper[0]:.3f} kg')
        )
    if found.guaranteed_bounds is not None:
        bounds = found.guaranteed_bounds
        facts.append(('guaranteed', f'{bounds.lower[0]:.3f} – {bounds.upper[0]:.3f} kg'))
    return (*facts, ('left of the torque, loaded', f'{100 * found.error[1]:.1f} %'))


def _intervals(found: PayloadDifference) -> Section:
    kinds = {'statistical': found.statistical_bounds, 'guaranteed': found.guaranteed_bounds}
    given = {name: bounds for name, bounds in kinds.items() if bounds is not None}
    columns = ['parameter', 'unit', 'nominal']
    columns += [f'{name}, {end}' for name in given for end in ('lower', 'upper')]
    rows: list[Row] = []
    for i, (label, unit) in enumerate(zip(LABELS, UNITS, strict=True)):
        ends = [float(x[i]) for b in given.values() for x in (b.lower, b.upper)]
        mark = '' if found.determined[i] else 'not determined by the motion'
        rows.append((label, unit, float(found.nominal[i]), *ends, mark))
    missing = dict.fromkeys(x for x in (found.withheld, found.not_guaranteed) if x is not None)
    return Section(
        'The payload', f'About the origin of the frame {found.frame}.',
        tables=(Table((*columns, ''), tuple(rows)),), sentences=tuple(missing),
    )  # fmt: skip


def _limits(found: PayloadDifference) -> Section:
    given = found.statistical
    if given is None:
        return Section('What limits the intervals', 'There is no statistical interval.')
    of = given.shares
    columns = (
        'parameter', 'unit', 'noise [%]', 'friction [%]', 'links [%]',
        '± by residuals', '± by the prior', '± by the delay', '± by the unit',
    )  # fmt: skip
    rows: tuple[Row, ...] = tuple(
        (
            label, unit,
            *(round(100.0 * float(x[i]), 1) for x in (of.noise, of.friction, of.links)),
            *(float(x[i]) for x in (of.residuals, of.before, of.delay, of.unit)),
        )
        for i, (label, unit) in enumerate(zip(LABELS, UNITS, strict=True))
    )  # fmt: skip
    return Section(
        'What limits the intervals',
        'Shares of the variance by residuals, then half-widths by cause.',
        tables=(Table(columns, rows),),
        sentences=(f'To halve the interval of the mass: {found.next_recording}.',),
    )


def _residuals(given: IdentifiedDifference) -> Section:
    left = given.found.residuals
    plots = []
    for j, name in enumerate(given.joint_names):
        lines = []
        for color, (kind, chosen) in enumerate(
            {'empty': ~left.loaded, 'loaded': left.loaded}.items()
        ):
            places = np.flatnonzero(chosen)
            places = places[:: max(len(places) // SHOWN, 1)]
            places = places[np.argsort(left.velocity[places, j])]
            at, torque = left.velocity[places, j], left.torque[places, j]
            lines.append(Line(kind, at, torque, color=color, style='points'))
        plots.append(Plot(name, 'left of torque [N m]', tuple(lines), x_label='velocity [rad/s]'))
    return Section(
        'What is left of the torque',
        'Against velocity: a shape that both recordings have is friction that the columns lack, '
        'one that only the loaded has grows with the load.',
        tuple(plots),
    )
