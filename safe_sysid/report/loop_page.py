"""The page about a run of the closed loop: what was learned, and what was promised and kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.audit.ledger import Ledger
from safe_sysid.audit.loop_record import LoopRecord
from safe_sysid.model.inertia import LABELS, UNITS
from safe_sysid.report.html_page import Band, Bars, Line, Page, Plot, Section, Table
from safe_sysid.report.page_parts import circumstances, mass_words, parameter_table, widths_section
from safe_sysid.report.page_scene import PageScene
from safe_sysid.report.palette import LIMIT
from safe_sysid.sets.interval import Interval

NOT_NEGATIVE = [0, 4, 6, 9]  # of ten parameters: mass and moments of inertia


@dataclass(frozen=True, eq=False)
class LoopStory:
    """What a page says beyond what was recorded."""

    title: str
    subtitle: str
    record: LoopRecord
    scene: PageScene | None
    condition: tuple[Array, Array] | None = None  # times [s] and condition numbers of Y so far
    truth: Array | None = None  # (10,) theta_e, where it is known
    clearance: float | None = None  # [m] smallest measured distance to anything
    settings: Mapping[str, str] | None = None
    own: Interval | None = None  # (10,) of the arm's last body without what it holds
    ledger: Ledger | None = None
    rests_on: tuple[str, ...] = ()  # what bounds and certificates assume
    beyond: tuple[Section, ...] = ()  # parts that only this run has


def loop_page(story: LoopStory) -> Page:
    """Return the page."""
    record = story.record
    verdict = _verdict(story)
    return Page(
        story.title,
        story.subtitle,
        is_good=verdict[0] == 'Every promise held.',
        verdict=verdict,
        facts=_facts(story),
        scene=story.scene,
        sections=(
            _result(story),
            *_promises(story.ledger),
            *_rests_on(story.rests_on),
            *story.beyond,
            widths_section(record.estimates, float(record.time[-1]), story.truth),
            *_condition(story),
            _torques(record),
            _tracking(record),
            _planning(record),
            circumstances(story.settings or {}),
        ),
        footer='Made by safe-sysid. This page needs no network; all of its data is inside.',
        answer=_answer(story),
    )


def payload_bounds(story: LoopStory) -> Interval | None:
    """Bounds (10,) of what is held alone; none where the arm's own part is not known."""
    last = story.record.estimates
    if story.own is None:
        return None
    alone = Interval(last.lower[-1], last.upper[-1]) - story.own
    lower = alone.lower.copy()
    lower[NOT_NEGATIVE] = np.maximum(lower[NOT_NEGATIVE], 0.0)
    return Interval(lower, alone.upper)


def _answer(story: LoopStory) -> tuple[str, str]:
    last, payload = story.record.estimates, payload_bounds(story)
    low, high = float(last.lower[-1, 0]), float(last.upper[-1, 0])
    both = mass_words(low, high)
    if payload is None or story.own is None:
        return f'Its last joint moves {both}.', 'For certain, if what the bounds rest on is true.'
    own = mass_words(float(story.own.lower[0]), float(story.own.upper[0]))
    held = mass_words(float(payload.lower[0]), float(payload.upper[0]))
    how = (
        f'For certain, if what the bounds rest on is true. The last joint moves {both}, of which '
        f'{own} are its own link and gripper.'
    )
    return f'It holds {held}.', how


def _promises(ledger: Ledger | None) -> tuple[Section, ...]:
    if ledger is None:
        return ()
    rows = tuple((e.promise, e.finding, 'held' if e.is_kept else 'BROKEN') for e in ledger.entries)
    lead = 'Read from the recorded bag; every plan was certified once more, from what is in it.'
    return (Section('What was promised', lead, tables=(Table(('promise', 'finding', ''), rows),)),)


def _rests_on(sentences: tuple[str, ...]) -> tuple[Section, ...]:
    lead = 'Bounds and certificates hold if all of this is true; nobody proves it here.'
    return (Section('What it rests on', lead, sentences=sentences),) if sentences else ()


def _error_share(record: LoopRecord) -> float:
    """Largest tracking error as a share of its bound."""
    with np.errstate(invalid='ignore', divide='ignore'):
        share = np.abs(record.error) / record.error_bound
    return float(np.nanmax(share)) if np.isfinite(share).any() else float('nan')


def _torque_inside(record: LoopRecord) -> bool:
    known = np.isfinite(record.tau_lower)
    low, high = record.tau >= record.tau_lower, record.tau <= record.tau_upper
    return bool((low & high)[known].all())


def _verdict(story: LoopStory) -> tuple[str, str]:
    record, broken = story.record, []
    last = record.estimates
    if (
        story.truth is not None
        and not ((last.lower <= story.truth) & (story.truth <= last.upper)).all()
    ):
        broken.append('a true parameter was outside its bounds')
    if _error_share(record) > 1.0:
        broken.append('a tracking error exceeded its bound')
    if not _torque_inside(record):
        broken.append('a torque left what the certificate allows for')
    if story.clearance is not None and story.clearance <= 0.0:
        broken.append('the arm touched something')
    if record.fault:
        broken.append(f'there was a fault: {record.fault}')
    if story.ledger is not None and not broken:
        entries = story.ledger.entries
        broken += [f'{e.promise}: {e.finding}' for e in entries if not e.is_kept]
    if broken:
        return 'Not every promise held:', '; '.join(broken) + '.'
    kept = 'Bounds, tracking errors and torques stayed inside what was promised'
    return 'Every promise held.', f'{kept} in all {len(record.time)} control periods.'


def _facts(story: LoopStory) -> tuple[tuple[str, str], ...]:
    record, last = story.record, story.record.estimates
    facts = [
        ('nominal mass of what it moves', f'{float(last.nominal[-1, 0]):.3f} kg'),
        ('largest tracking error, share of its bound', f'{100 * _error_share(record):.0f} %'),
        ('torque left to the limits, at least', f'{_torque_margin(record):.1f} N m'),
        ('plans followed', str(len(record.plan_start))),
    ]
    if story.clearance is not None:
        facts.append(('smallest distance to anything', f'{100 * story.clearance:.1f} cm'))
    return tuple(facts)


def _torque_margin(record: LoopRecord) -> float:
    return float((record.torque_limit - np.abs(record.tau)).min())


def _result(story: LoopStory) -> Section:
    last, payload = story.record.estimates, payload_bounds(story)
    bounds = Interval(last.lower[-1], last.upper[-1])
    tables = [parameter_table(last.nominal[-1], bounds, story.truth)]
    lead = (
        'Ten inertial parameters about the origin of the last joint, with guaranteed bounds: what '
        'was possible before, and what is at the moment that the page shows. '
    )
    if payload is not None and story.own is not None:
        nominal = last.nominal[-1] - story.own.center
        tables.append(parameter_table(nominal, payload, None))
        lead += "The second table is what is held alone, the arm's own part subtracted."
    bars = Bars(LABELS, UNITS, last.time, last.lower, last.nominal, last.upper, story.truth)
    return Section('What the last joint moves', lead, tables=tuple(tables), bars=bars)


def _condition(story: LoopStory) -> tuple[Section, ...]:
    if story.condition is None:
        return ()
    time, number = story.condition
    plot = Plot('condition number of Y', 'κ(Y)', (Line('so far', time, number),), y_scale='log')
    return (
        Section(
            'How informative the motion was',
            'Condition number of the momentum regressor of the end effector, all rows so far: '
            'the smaller, the more directions of the parameters show.',
            (plot,),
        ),
    )


def _torques(record: LoopRecord) -> Section:
    plots = []
    for j, name in enumerate(record.joint_names):
        limit = np.full(2, record.torque_limit[j])
        ends = record.time[[0, -1]]
        plots.append(
            Plot(
                name,
                'torque [N m]',
                (
                    Line('applied', record.time, record.tau[:, j]),
                    Line('limit', ends, limit, color=LIMIT, style='limit'),
                    Line('limit', ends, -limit, color=LIMIT, style='limit'),
                ),
                (Band('reachable', record.time, record.tau_lower[:, j], record.tau_upper[:, j]),),
            )
        )
    return Section(
        'Torques',
        'Applied torque inside everything that the plan in force may need, for every parameter '
        'in its bounds and every tracking error.',
        tuple(plots),
    )


def _tracking(record: LoopRecord) -> Section:
    plots = []
    for j, name in enumerate(record.joint_names):
        bound = 1e3 * record.error_bound[:, j]
        error = Line('error', record.time, 1e3 * record.error[:, j], color=2)
        band = Band('bound', record.time, -bound, bound, color=2)
        plots.append(Plot(name, 'error [mrad]', (error,), (band,)))
    lead = 'Desired minus measured position, and the bound that the controller promises.'
    return Section('Tracking errors', lead, tuple(plots))


def _planning(record: LoopRecord) -> Section:
    searched = [entry for entry in record.planning if entry.seconds > 0.0]
    plots: tuple[Plot, ...] = ()
    if searched:
        time = np.array([entry.time for entry in searched])
        seconds = np.array([entry.seconds for entry in searched])
        line = Line('search', time, seconds, style='points')
        plots = (Plot('time per plan', 'search [s]', (line,)),)
    rows = tuple((f'{e.time:.2f} s', e.seconds, e.sentence) for e in record.planning)
    return Section(
        'Planning', plots=plots, tables=(Table(('at', 'searched [s]', 'what came of it'), rows),)
    )
