"""The page about a recording: what it says about the payload, and how far to believe it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.identify.from_recording import IdentifiedRecording
from safe_sysid.identify.held_out import TorquePrediction, Validation, thinned
from safe_sysid.identify.identification import (
    PREDICTIONS,
    Identification,
    caution,
    object_sentence,
    sentence_of_defaults,
)
from safe_sysid.measure.smooth_log import SmoothLog
from safe_sysid.model.collision.obstacles import NO_OBSTACLES
from safe_sysid.model.dynamics.felt_regressor import felt_regressor
from safe_sysid.model.inertia import LABELS, UNITS
from safe_sysid.report.arm_scene import arm_scene
from safe_sysid.report.html_page import Bars, Line, Page, Plot, Section, Table
from safe_sysid.report.link_meshes import link_meshes
from safe_sysid.report.page_parts import circumstances, mass_words, parameter_table, widths_section
from safe_sysid.report.page_scene import PageScene
from safe_sysid.report.palette import MEASURED


@dataclass(frozen=True, eq=False)
class Evidence:
    """What the plots show beside the outcome."""

    smoothed: SmoothLog
    predicted: Array  # (N, n) [N m] with what was identified before the held-out part
    fitted: Array  # (N, n) [N m] with all parameters fitted to that part
    scene: PageScene | None


def evidence_of(result: IdentifiedRecording) -> Evidence:
    """Return what pictures show of a recording."""
    problem, validation = result.problem, result.found.validation
    model, part = problem.sensed, thinned(problem.smoothed)
    W = felt_regressor(model, part.q, part.qd, part.qdd)
    fitted = model.theta if validation is None else validation.fitted
    meshes = link_meshes(problem.arm)
    scene = arm_scene(model, part.seconds, part.q, NO_OBSTACLES, meshes=meshes)
    return Evidence(part, W @ result.replay.at_split.theta, W @ fitted, scene)


def identification_page(found: Identification, evidence: Evidence) -> Page:
    """Return the page."""
    begin, end = found.part
    refused = found.refused
    return Page(
        f'What {found.robot} holds',
        f'{found.source}, {begin:.2f} to {end:.2f} s',
        is_good=refused is None,
        verdict=('Refused.', refused) if refused else ('Bounds were found.', _summary(found)),
        facts=_facts(found),
        scene=evidence.scene,
        sections=(
            _result(found),
            Section(
                'The bounds rest on', sentence_of_defaults(found), sentences=found.assumptions
            ),
            *_validation(found, evidence),
            *(() if refused else (widths_section(found.series, end - begin),)),
            Section('The recording', sentences=found.recording),
            circumstances({'seconds that this took': f'{found.seconds:.1f}'}),
        ),
        footer='Made by safe-sysid. This page needs no network; all of its data is inside.',
        answer=_answer(found),
    )


def _answer(found: Identification) -> tuple[str, str] | None:
    if found.refused is not None:
        return None
    low, high = float(found.bounds.lower[0]), float(found.bounds.upper[0])
    how = 'For certain, if what the bounds rest on is true.'
    if found.payload is None:
        return f'Its last joint moves {mass_words(low, high)}.', how
    alone = found.payload.bounds
    held = mass_words(float(alone.lower[0]), float(alone.upper[0]))
    all_of_it = f"The last joint moves {mass_words(low, high)}, the arm's own link included."
    return f'It holds {held}.', f'{how} {all_of_it}'


def _summary(found: Identification) -> str:
    doubt = caution(found)
    held = 'They hold if the assumptions listed below do.'
    return held if doubt is None else f'{held} Caution: {doubt}.'


def _facts(found: Identification) -> tuple[tuple[str, str], ...]:
    facts = []
    if found.refused is None:
        low, high = found.bounds.lower[0], found.bounds.upper[0]
        name = found.joint_names[-1]
        sure = ', certainly' if not found.unstated else ', if the defaults below are true'
        facts.append((f'everything that {name} moves{sure}', f'{low:.2f} – {high:.2f} kg'))
        facts.append(('nominal', f'{found.nominal[0]:.3f} kg'))
    if found.payload is not None:
        facts.append(("payload, without the arm's last link", f'{found.payload.mass:.3f} kg'))
    sentence = object_sentence(found)
    if sentence is not None:
        facts.append(('the object alone', sentence))
    if found.held is not None and found.held.rigidity is not None and found.refused is None:
        facts.append(('rigid or not', str(found.held.rigidity)))
    if found.validation is not None:
        errors = {n: getattr(found.validation, n).filtered for n in PREDICTIONS}
        facts.append(
            ('error of predicted torque, as described', f'{100 * errors["as_described"]:.1f} %')
        )
        facts.append(('with what was identified', f'{100 * errors["identified"]:.1f} %'))
        facts.append(('all fitted, within what is known', f'{100 * errors["within"]:.1f} %'))
        facts.append(('all parameters fitted', f'{100 * errors["best_fit"]:.1f} %'))
    return tuple(facts)


def _result(found: Identification) -> Section:
    if found.refused is not None:
        return Section('Inertial parameters', 'Nothing was learned; there are no bounds.')
    tables = [parameter_table(found.nominal, found.bounds, None)]
    lead = f'Everything that {found.joint_names[-1]} moves, about the origin of its frame.'
    if found.payload is not None:
        tables.append(parameter_table(found.payload.nominal, found.payload.bounds, None))
        lead += f" Below: without the arm's own last link, in the frame {found.payload.frame}."
    series = found.series
    bars = Bars(LABELS, UNITS, series.time, series.lower, series.nominal, series.upper)
    return Section('Inertial parameters', lead, tables=tuple(tables), bars=bars)


def _validation(found: Identification, evidence: Evidence) -> tuple[Section, ...]:
    if found.validation is None:
        return ()
    validation: Validation = found.validation
    time, part = evidence.smoothed.seconds, evidence.smoothed
    plots = tuple(
        Plot(
            name,
            'torque [N m]',
            (
                Line('measured, filtered', time, part.torque[:, j], color=MEASURED),
                Line('identified', time, evidence.predicted[:, j], color=0),
                Line('all fitted', time, evidence.fitted[:, j], color=1),
            ),
        )
        for j, name in enumerate(found.joint_names)
    )
    begin, end = validation.held_out
    rows = []
    for name, words in PREDICTIONS.items():
        shown: TorquePrediction = getattr(validation, name)
        each = tuple(f'{100 * share:.1f} %' for share in np.asarray(shown.by_joint))
        rows.append(
            (words, f'{100 * shown.filtered:.2f} %', f'{100 * shown.recorded:.2f} %', *each)
        )
    table = Table(('prediction', 'filtered', 'recorded', *found.joint_names), tuple(rows))
    return (
        Section(
            'Torque that was not looked at before',
            f'From {begin:.2f} to {end:.2f} s, predicted by parameters from before '
            f'{validation.fitted_until:.2f} s; low-pass {validation.filter_hz:g} Hz '
            f'({validation.filter}). Errors are shares of the torque.',
            plots,
            (table,),
        ),
    )
