"""What a calibration found, as Markdown for a person and as a mapping for a program."""

from __future__ import annotations

from collections.abc import Iterator
import dataclasses

import numpy as np

from safe_sysid.arrays import AnyArray
from safe_sysid.calibrate.calibration import Calibration
from safe_sysid.calibrate.drive_knowledge import DRIVES
from safe_sysid.calibrate.effort_check import EffortCheck, EffortError
from safe_sysid.calibrate.torque_rows import KEPT
from safe_sysid.measure.filters import ORDER
from safe_sysid.model import friction
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.report.html_page import Page, Plot
from safe_sysid.report.markdown_page import explained, page_of_markdown

HELD_OUT = 'Torque on what was held out'  # heading
WORST = 3  # combinations of parameters that are named
NOT_SHOWN, COMBINED = 'not shown', 'in a combination'
BEHIND_GEARS = (
    'Torque is measured behind the gears, which does not feel the drives: the fit tells nothing '
    'of friction and armature, and the files keep those of the settings.'
)
PARTS = 4  # parameters named of each
LIKELY = 0.01  # residuals that noise produces less often are not noise


def as_mapping(model: RobotModel, found: Calibration) -> dict[str, object]:
    """Everything a program may want; figures of drives that nothing measured are null."""
    validation, unmeasured = found.validation, _unmeasured(found)
    hidden = unmeasured[found.base.columns]
    return {
        'robot': model.name,
        'refused': found.refused,
        'cautions': list(found.cautions()),
        'effort': _effort_mapping(found.effort),
        'settings': dataclasses.asdict(found.settings),
        'base_parameters': found.base.count,
        'rows': int(found.fit.kept.size),
        'outliers': found.fit.outliers,
        'excitation': {
            'torque_uncertainty': found.quality.relative,
            'torque_uncertainty_nm': found.quality.deviation.tolist(),
            'condition_unit_columns': found.quality.condition,
            'unseen': found.quality.unseen,
            'independence': found.quality.alone,
        },
        'validation': {
            'filter_hz': found.settings.cutoff,
            'relative_error_filtered': validation.relative,
            'relative_error_recorded': validation.relative_recorded,
            'rms_filtered_nm': validation.rms.tolist(),
            'rms_recorded_nm': validation.rms_recorded.tolist(),
            'largest_filtered_nm': validation.largest.tolist(),
            'explained_nm': found.expected.tolist(),
            'likeliness_of_noise': found.likeliness_of_noise.tolist(),
            'relative_error_base_parameters': found.validation_base.relative,
            'relative_error_nominal': found.validation_nominal.relative,
        },
        'labels': list(found.columns.labels),
        'x': np.where(unmeasured, np.nan, found.x).tolist(),
        'base_labels': [found.columns.labels[i] for i in found.base.columns],
        'base_values': np.where(hidden, np.nan, found.fit.x[found.base.columns]).tolist(),
        'base_deviation': np.where(hidden, np.nan, found.uncertainty.deviation()).tolist(),
        'worst_combinations': [
            {'relative_deviation': size, 'parameters': parts}
            for size, parts in worst_combinations(found)
        ],
        'sdp': {
            'status': found.consistent.status,
            'iterations': found.consistent.iterations,
            'seconds': found.consistent.seconds,
            'smallest_eigenvalue': found.consistent.smallest_eigenvalue,
        },
        'stribeck_velocity': found.columns.stribeck_velocity,
    }


def refusal_mapping(model: RobotModel, error: EffortError) -> dict[str, object]:
    """Return the same for torques that nothing was fitted to."""
    return {
        'robot': model.name,
        'refused': str(error),
        'cautions': list(error.check.cautions()),
        'effort': _effort_mapping(error.check),
    }


def _effort_mapping(check: EffortCheck) -> dict[str, object]:
    return {
        'gain': check.gain.tolist(),
        'correlation': check.correlation.tolist(),
        'friction': check.friction.tolist(),
        'sign': check.sign.tolist(),
    }


def worst_combinations(found: Calibration) -> list[tuple[float, dict[str, float]]]:
    """Return the least known combinations, scaled by the torque they cause.

    Weights say how much of each parameter is in a combination, the largest first.
    """
    R = found.fit.data.R[:, found.base.columns]
    norms = np.linalg.norm(R, axis=0)
    size = float(np.sqrt(found.fit.data.z @ found.fit.data.z))
    scale = size / np.where(norms > 0.0, norms, 1.0)  # of columns that rows show
    labels = [found.columns.labels[i] for i in found.base.columns]
    named = []
    for relative, direction in found.uncertainty.worst_combinations(scale, WORST):
        order = np.argsort(-np.abs(direction))[:PARTS]
        named.append((relative, {labels[i]: float(direction[i]) for i in order}))
    return named


def as_page(model: RobotModel, found: Calibration, remarks: tuple[str, ...]) -> str:
    """Report in Markdown."""
    lines = [f'# Calibration of {model.name}', '']
    if found.refused is not None:
        lines += [f'**Refused.** {found.refused}', '']
    for caution in found.cautions():
        lines += [f'**Caution.** {caution}.', '']
    lines += [*_held_out(model, found), '', *_how(found), '']
    lines += [*_friction(model, found), '', *_masses(model, found), '', *_unknown(found), '']
    return '\n'.join([*lines, *_recordings(remarks)])


def late_torque(seconds: float, deviation: float, stated: float) -> str:
    """Caution in Markdown that torques come later than positions, and than the fit was told."""
    told = f'The fit was told {1e3 * stated:g} ms' if stated else 'The fit was told nothing of it'
    return (
        f'**Caution.** Torques come {1e3 * seconds:.1f} +- {1e3 * deviation:.1f} ms after the '
        'positions, beyond doubt. What stands beside the arm for payloads (the promise) corrects '
        f'that. {told}, so inertias, armature and friction in these files are not corrected: '
        'armature above all may be off by far more than its deviation says. Calibrate again with '
        f'`--torque-delay={seconds:.4f}`, which takes it out of the torques of the fit.'
    )


def html_page(report: str, found: Calibration, plots: tuple[Plot, ...]) -> Page:
    """Return the report as a page with the torques that judge the fit."""
    return page_of_markdown(report, explained(found.validation.relative), {HELD_OUT: plots})


def refusal_page(model: RobotModel, error: EffortError) -> str:
    """Report in Markdown on torques that nothing was fitted to."""
    lines = [f'# Calibration of {model.name}', '', f'**Refused.** {error}.', '']
    return '\n'.join([*lines, *_recordings(error.remarks)])


def _recordings(remarks: tuple[str, ...]) -> list[str]:
    return ['## Recordings', '', *(f'- {remark}' for remark in remarks), '']


def _held_out(model: RobotModel, found: Calibration) -> Iterator[str]:
    held = found.validation
    cutoff = found.settings.cutoff
    yield f'## {HELD_OUT}'
    yield ''
    yield (
        f'Relative error {100 * held.relative:.2f} % of the torque filtered at {cutoff:g} Hz, '
        f'{100 * held.relative_recorded:.2f} % of the torque as recorded. For comparison, '
        f'filtered: base parameters without physical limits '
        f'{100 * found.validation_base.relative:.2f} %, the description as it came '
        f'{100 * found.validation_nominal.relative:.2f} %.'
    )
    yield ''
    yield '| joint | rms, filtered | rms, recorded | largest, filtered | of torque | white? |'
    yield '|---|---|---|---|---|---|'
    sliding = model.tree.is_prismatic
    for i, name in enumerate(model.layout.joint_names):
        noise, unit = found.likeliness_of_noise[i], friction.units(bool(sliding[i]))[0]
        verdict = 'yes' if noise > LIKELY else 'no'
        yield (
            f'| {name} | {held.rms[i]:.3g} {unit} | {held.rms_recorded[i]:.3g} {unit} '
            f'| {held.largest[i]:.3g} {unit} | {100 * held.relative_by_joint[i]:.1f} % '
            f'| {verdict} (p = {noise:.2g}) |'
        )
    yield ''
    yield (
        'The last column asks whether white noise behind the same filter could be as correlated '
        'as the residuals are; no: the model leaves something out.'
    )


def _how(found: Calibration) -> Iterator[str]:
    settings, quality = found.settings, found.quality
    yield '## How it was found'
    yield ''
    yield (
        f'- Positions behind a zero-phase Butterworth filter (order {ORDER}, forwards and '
        f'backwards) at {2 * settings.cutoff:g} Hz, regressor and torque at {settings.cutoff:g} '
        f'Hz, one row per {1 / (KEPT * settings.cutoff):.3g} s or a little less.'
    )
    if settings.torque_delay:
        yield (
            f'- Torques were taken to come {1e3 * settings.torque_delay:g} ms after their '
            'positions, as was stated.'
        )
    yield (
        f'- {found.base.count} base parameters; {found.fit.kept.size} rows, of which '
        f'{found.fit.outliers} beyond {settings.outlier:g} standard deviations were left out.'
    )
    yield (
        f'- Bodies that can exist by a semidefinite program ({found.consistent.status} after '
        f'{found.consistent.iterations} iterations), prior weight {settings.prior_weight:g}.'
    )
    yield (
        f'- Excitation: torques of other motions in the recorded range are uncertain by '
        f'{100 * quality.relative:.2f} % of the recorded torque; condition number '
        f'{quality.condition:.1f} of the weighted rows, columns by pivoted QR and of length 1'
        f'{_unseen(quality.unseen)}.'
    )
    if found.columns.stribeck_velocity is not None:
        velocity = found.columns.stribeck_velocity
        yield f'- Stribeck velocity {velocity:g} rad/s, the best of those tried.'


def _unseen(count: int) -> str:
    return f', without {count} base parameters that no row shows' if count else ''


def _friction(model: RobotModel, found: Calibration) -> Iterator[str]:
    columns, unmeasured = found.columns, _unmeasured(found)
    deviation = _deviations(found)
    yield '## Friction, rotor inertia, offset'
    yield ''
    if found.drives.behind_gear:
        yield from (BEHIND_GEARS, '')
    yield '| parameter | value | standard deviation | unit |'
    yield '|---|---|---|---|'
    n = model.n
    for i in range(10 * n, columns.size):
        if found.drives.behind_gear and unmeasured[i]:
            continue
        kind = (i - 10 * n) // n
        sliding = bool(model.tree.is_prismatic[(i - 10 * n) % n])
        unit = friction.units(sliding)[kind] if i < 14 * n else _extra_unit(columns.labels[i])
        value = 'unknown' if unmeasured[i] else f'{found.x[i]:.4g}'
        yield f'| {columns.labels[i]} | {value} | {deviation.get(i, COMBINED)} | {unit} |'


def _deviations(found: Calibration) -> dict[int, str]:
    """Return standard deviations in words, without columns that show in a combination."""
    uncertainty = found.uncertainty
    unseen = uncertainty.base.columns[~uncertainty.seen]
    return {
        **{i: f'{spread:.2g}' for i, spread in uncertainty.deviation_alone().items()},
        **{int(i): NOT_SHOWN for i in (*unseen, *np.flatnonzero(_unmeasured(found)))},
    }


def _unmeasured(found: Calibration) -> AnyArray:
    """Columns (p,) of drives that nothing measured, those of joints that share one included."""
    layout, drives = found.columns.layout, found.drives
    unmeasured = np.zeros(found.columns.size, dtype=bool)
    unmeasured[10 * layout.n : (10 + DRIVES) * layout.n] = drives.unmeasured.ravel()
    unmeasured[layout.size :] = drives.behind_gear
    return unmeasured


def _extra_unit(label: str) -> str:
    kind = label.rpartition('.')[2].removeprefix('coupled_')
    return dict(zip((*friction.LABELS, 'Fs'), (*friction.UNITS, 'N m'), strict=True))[kind]


def _masses(model: RobotModel, found: Calibration) -> Iterator[str]:
    yield '## Masses'
    yield ''
    yield '| moved by | before | now |'
    yield '|---|---|---|'
    for i, name in enumerate(model.layout.joint_names):
        place = model.layout.inertial(i).start
        yield f'| {name} | {model.theta[place]:.3f} kg | {found.x[place]:.3f} kg |'
    yield ''
    yield (
        'Torques show combinations only: single masses are as the prior leaves them, and other '
        'masses can give the same torques.'
    )


def _unknown(found: Calibration) -> Iterator[str]:
    yield '## Least known combinations'
    yield ''
    yield (
        'Standard deviation in units of a change that alone would make a torque as large as the '
        'recorded one, and what the combination is made of:'
    )
    yield ''
    for size, parts in worst_combinations(found):
        words = ', '.join(f'{weight:+.2f} {label}' for label, weight in parts.items())
        known = f'{100 * size:.1f} %' if size < 1.0 else 'not known at all'
        yield f'- {known}: {words}'
