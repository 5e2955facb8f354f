"""A payload between recordings as text and as JSON, each interval under its own name."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from safe_sysid.identify.difference.answer import (
    METHOD,
    PayloadDifference,
    Statistical,
)
from safe_sysid.identify.difference.beside_statistics import apart
from safe_sysid.identify.difference.from_recordings import IdentifiedDifference
from safe_sysid.identify.payload_in_frame import mounted_beyond
from safe_sysid.model.inertia import LABELS, UNITS
from safe_sysid.sets.interval import Interval


def as_mapping(given: IdentifiedDifference) -> dict[str, Any]:
    """Everything a program may want to know, in the types JSON has."""
    found = given.found
    return {
        'robot': given.robot,
        'source': given.loaded,
        'empty': list(given.empty),
        'joints': list(given.joint_names),
        'recording': list(given.remarks),
        'parameters': list(LABELS),
        'units': list(UNITS),
        'payload': {
            'frame': found.frame,
            'contains': given.contains,
            'mounted': mounted_beyond(given.arm, found.frame).tolist(),  # and is not in it
            'nominal': found.nominal.tolist(),
            'guaranteed': _pair(found.guaranteed_bounds),
            'statistical': _pair(found.statistical_bounds),
            'confidence': found.statistical and found.statistical.confidence,
            'method': found.statistical and METHOD,
            'determined': found.determined.tolist(),
            'distribution_free': found.statistical and asdict(found.statistical.free),
        },
        'statistical': found.statistical and _statistical(found.statistical),
        'limited_by': found.statistical and _shares(found.statistical),
        'record_next': found.next_recording,
        'statistical_withheld': found.withheld,
        'guaranteed': _guaranteed(found),
        'guaranteed_withheld': found.not_guaranteed,
        'friction': {
            'terms': list(found.friction.terms.names),
            'creep_rad_s': found.friction.terms.creep,
            'held_out_error': found.friction.error if np.isfinite(found.friction.error) else None,
            'tried': dict(found.friction.table),
        },
        'delay': {
            'seconds': found.delay.seconds,
            'deviation': found.delay.deviation,
            'by_joint': found.delay.by_joint.tolist(),
            'corrected': found.delay.is_corrected,
            'later_with_payload': found.later and asdict(found.later),
        },
        'cutoff_hz': found.cutoff,
        'residual_of_torque': {'empty': found.error[0], 'loaded': found.error[1]},
        'load_ratio': found.load_ratio.tolist(),
        'assumptions': list(given.assumptions),
        'refused': found.refused,
        'caution': caution(found),
        'seconds': given.seconds,
    }


def _shares(given: Statistical) -> dict[str, list[float]]:
    """Shares of the variance, then half-widths by cause."""
    return {name: np.asarray(x).tolist() for name, x in vars(given.shares).items()}


def _pair(bounds: Interval | None) -> list[list[float]] | None:
    return None if bounds is None else [bounds.lower.tolist(), bounds.upper.tolist()]


def _statistical(given: Statistical) -> dict[str, Any]:
    return {
        'half_width_by_residuals': given.from_residuals.tolist(),
        'half_width_by_gains': given.from_gains.tolist(),
        'kappa': given.kappa.tolist(),
        'kappa_of_data': given.kappa_of_data.tolist(),
        'pieces': given.pieces,
        'piece_s': given.piece_s,
        'correlation_s': given.correlation_s,
        'degrees_of_freedom': given.freedom.tolist(),
        'unit_change_noticed_from': given.unlike_from,
    }


def _guaranteed(found: PayloadDifference) -> dict[str, Any] | None:
    given = found.guaranteed
    if given is None or not np.isfinite(given.factor):
        return None
    return {
        'factor': given.factor,
        'least_factor': given.least if np.isfinite(given.least) else None,
        'blocks': given.promise.blocks,
        'block_s': given.promise.seconds,
        'grown': given.promise.grown,
    }


def caution(found: PayloadDifference) -> str | None:
    """Return what a reader has to know before believing the intervals."""
    given = found.statistical
    said = []
    if found.later is not None and found.refused is None:
        said.append(str(found.later))
    if found.strange_unit is not None:
        said.append(f'a unit of the effort was stated, but {found.strange_unit}')
    if given is not None and given.unlike is not None:
        said.append(given.unlike)
    if given is not None and given.kappa_of_data[0] > 2.0:
        said.append(
            f'estimates of empty pieces are off {given.kappa_of_data[0]:.1f} times what their '
            'residuals say: errors persist longer than a piece; record a longer or another motion'
        )
    if found.guaranteed is not None and found.guaranteed.is_cut_short:
        said.append(
            'some guaranteed bounds are what is assumed of the payload, as the recordings are too '
            'long for the work that is spent on them: shorter ones, or parts of them, tell more'
        )
    if contradiction := apart(found):
        said.append(contradiction)
    return '; '.join(said) or None


def as_table(given: IdentifiedDifference) -> str:
    """For a person at a terminal, the verdict first."""
    found = given.found
    lines = [_verdict(found)]
    doubt = caution(found)
    if doubt is not None:
        lines += ['', f'CAUTION: {doubt}']
    if found.refused is None:
        lines += ['', f'The payload in the frame {found.frame}:', *_rows(found)]
    if found.withheld is not None and found.refused is None:
        lines += ['', f'No statistical interval: {found.withheld}.']
    if found.not_guaranteed is not None and found.refused is None:
        lines += ['', f'No guaranteed interval: {found.not_guaranteed}.']
    if found.statistical is not None:
        residuals, gains = found.statistical.from_residuals[0], found.statistical.from_gains[0]
        lines += ['', f'Of the half-width of the mass, {residuals:.3f} kg are by what the model '
                  f'leaves out, {gains:.3f} kg by the unit of the effort.',
                  _free(found.statistical),
                  f'To halve the interval of the mass: {found.next_recording}.']  # fmt: skip
    empty, loaded = (f'{100 * x:.1f} %' for x in found.error)
    behind = f'behind {found.cutoff:g} Hz' if found.cutoff > 0.0 else 'at rest'
    lines += [
        '',
        f'Left of the torque {behind}: {empty} empty, {loaded} loaded.',
        *([str(found.friction)] if found.friction.table else []),
        f'{str(found.delay)[0].upper()}{str(found.delay)[1:]}.',
        '',
        f'{given.robot}, {given.loaded} against {", ".join(given.empty)}',
        *(f'  {sentence}' for sentence in given.remarks),
        '',
        'These intervals rest on',
        *(f'  - {sentence}' for sentence in given.assumptions),
    ]
    return '\n'.join(lines)


def _limits(found: PayloadDifference, i: int) -> str:
    """Return shares of the variance of a parameter that is by what the model leaves out."""
    if found.statistical is None:
        return ''
    of = found.statistical.shares
    parts = ' / '.join(f'{100 * x[i]:.0f}' for x in (of.noise, of.friction, of.links))
    return f'  {parts} %'


def _free(given: Statistical) -> str:
    """Return the interval without a distribution, or why there is none."""
    free = given.free
    if free.bounds is None:
        return f'No interval without a distribution: {free.missing}.'
    return (
        f'Without a distribution of errors the mass is {free.bounds[0]:.3f} to '
        f'{free.bounds[1]:.3f} kg ({100 * given.confidence:g} %, {free.method}, {free.number}).'
    )


def _verdict(found: PayloadDifference) -> str:
    if found.refused is not None:
        return f'REFUSED: {found.refused}'
    parts = []
    if found.statistical is not None:
        bounds = found.statistical.bounds
        parts.append(
            f'{bounds.lower[0]:.3f} to {bounds.upper[0]:.3f} kg '
            f'({100 * found.statistical.confidence:g} %)'
        )
    if found.guaranteed_bounds is not None:
        bounds = found.guaranteed_bounds
        parts.append(f'{bounds.lower[0]:.3f} to {bounds.upper[0]:.3f} kg (guaranteed)')
    return f'The payload weighs {found.nominal[0]:.3f} kg: {", ".join(parts)}.'


def _rows(found: PayloadDifference) -> list[str]:
    kinds = {
        'statistical': found.statistical_bounds,
        'guaranteed': found.guaranteed_bounds,
    }
    given = {name: bounds for name, bounds in kinds.items() if bounds is not None}
    rows = [f'  {"":4} {"nominal":>9} ' + ' '.join(f'{name:>21}' for name in given)]
    if found.statistical is not None:
        rows[0] += '         limited, but for the unit, by noise / friction / links'
    for i, (name, unit) in enumerate(zip(LABELS, UNITS, strict=True)):
        pairs = [f'{b.lower[i]:10.4f} {b.upper[i]:10.4f}' for b in given.values()]
        doubt = _limits(found, i) + ('' if found.determined[i] else '  NOT DETERMINED')
        rows.append(
            f'  {name:4} {found.nominal[i]:9.4f} ' + ' '.join(pairs) + f'  {unit:6}{doubt}'
        )
    return rows
