"""`safe-sysid calibrate` for robots with closed loops: motors, all joints, or bodies too."""

from __future__ import annotations

import argparse
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.calibrate.closed_chain_fit import (
    ClosedChainFit,
    ClosedChainSettings,
    closed_chain_fit,
)
from safe_sysid.calibrate.closed_chain_rows import closed_chain_rows
from safe_sysid.calibrate.fit_columns import FitColumns
from safe_sysid.calibrate.torque_rows import joined
from safe_sysid.calibrate.validation import TorqueError, torque_error
from safe_sysid.cli.progress import ProgressBar
from safe_sysid.export.arm_settings import write_settings
from safe_sysid.export.arm_urdf import write_dynamics
from safe_sysid.model.arm import Arm
from safe_sysid.model.closed_chain.chain import ClosedChain
from safe_sysid.report.calibrate_input import recorded
from safe_sysid.report.figures_text import as_json

HELD_OUT = 0.4  # share of a recording that judges the fit, when no other one is named


@dataclass(frozen=True, eq=False)
class Judged:
    """A fit, and the torque errors of its parameters and of the description."""

    fit: ClosedChainFit
    identified: TorqueError
    nominal: TorqueError
    settings: ClosedChainSettings
    remarks: tuple[str, ...]


def calibrate_loops(options: argparse.Namespace, arm: Arm) -> str:
    """Fit and judge; the answer to print."""
    assert arm.facts.closed_chain is not None
    chain = ClosedChain(arm.model, arm.facts.closed_chain)
    judged = _judged(options, arm, chain)
    page = as_page(chain, judged)
    if options.out is not None:
        _write(options.out, arm, judged, page)
    return as_json(as_mapping(chain, judged)) if options.json else page


def _judged(options: argparse.Namespace, arm: Arm, chain: ClosedChain) -> Judged:
    given = {'cutoff': options.cutoff} if options.cutoff else {}
    settings = ClosedChainSettings(identified=options.loops or 'motors', **given)
    bar = ProgressBar('calibrating')
    bar.show(0.1, 'reading')
    fitted, others = (
        recorded(options, paths, arm) for paths in (options.recordings, options.validate)
    )
    training, held = fitted.logs, others.logs
    if not held:
        held = [log.part(1.0 - HELD_OUT, 1.0) for log in training]
        training = [log.part(0.0, 1.0 - HELD_OUT) for log in training]
    bar.show(0.3, f'{fitted.seconds:.0f} s')
    fit = closed_chain_fit(chain, training, settings)
    bar.show(0.8, 'judging')
    columns = FitColumns(chain.model.layout, settings.creep)
    rows = joined(
        [closed_chain_rows(chain, columns, fit.selection, log, settings.cutoff) for log in held]
    )
    bar.end()
    nominal = chain.model.theta[fit.selection.entries]
    remarks = (*fitted.remarks, *others.remarks)
    return Judged(fit, torque_error(rows, fit.x), torque_error(rows, nominal), settings, remarks)


def as_mapping(chain: ClosedChain, judged: Judged) -> dict[str, object]:
    """Everything a program may want; figures of what can not be separated are null."""
    fit = judged.fit
    return {
        'robot': chain.model.name,
        'settings': asdict(judged.settings),
        'base_parameters': fit.uncertainty.base.count,
        'rows': int(fit.reweighted.kept.size),
        'outliers': fit.reweighted.outliers,
        'condition_unit_columns': fit.separability.condition,
        'labels': list(fit.labels),
        'x': [float(x) if alone else None for x, alone in _figures(fit)],
        'deviation': fit.deviation.tolist(),
        'inseparable': [list(group) for group in fit.separability.groups],
        'smallest_eigenvalue': fit.consistent.smallest_eigenvalue,
        'fit_seconds': fit.consistent.seconds,
        'validation': {
            'filter_hz': judged.settings.cutoff,
            'joints': list(_motors(chain)),
            'relative_error_filtered': judged.identified.relative,
            'relative_error_recorded': judged.identified.relative_recorded,
            'rms_filtered_nm': judged.identified.rms.tolist(),
            'rms_recorded_nm': judged.identified.rms_recorded.tolist(),
            'relative_error_nominal': judged.nominal.relative,
            'rms_nominal_nm': judged.nominal.rms.tolist(),
        },
    }


def as_page(chain: ClosedChain, judged: Judged) -> str:
    """Report in Markdown."""
    fit, hertz = judged.fit, judged.settings.cutoff
    held = judged.identified
    lines = [
        f'# Calibration of {chain.model.name}, a robot with loops ({", ".join(chain.loop_names)})',
        '',
        '## Torque on what was held out',
        '',
        f'Relative error {100 * held.relative:.2f} % of the torque filtered at {hertz:g} Hz, '
        f'{100 * held.relative_recorded:.2f} % of the torque as recorded; with the description as '
        f'it came {100 * judged.nominal.relative:.2f} %, filtered. Torque that the description '
        'explains and the fit leaves alone is not in these figures.',
        '',
        '| motor | rms identified [N m] | rms as it came [N m] |',
        '|---|---|---|',
        *(
            f'| {name} | {ours:.4f} | {before:.4f} |'
            for name, ours, before in zip(
                _motors(chain), held.rms, judged.nominal.rms, strict=True
            )
        ),
        '',
        '## What was identified',
        '',
        f'{fit.uncertainty.base.count} combinations of {len(fit.x)} parameters show in '
        f'{fit.reweighted.kept.size} rows, of which {fit.reweighted.outliers} were left out as '
        f'outliers. Condition number with columns of length 1: {fit.separability.condition:.3g}.',
        '',
        '| parameter | value | standard deviation |',
        '|---|---|---|',
        *(
            f'| {label} | {value:.5g} | {deviation:.2g} |'
            for label, value, deviation, (_, alone) in zip(
                fit.labels, fit.x, fit.deviation, _figures(fit), strict=True
            )
            if alone
        ),
        '',
        *(f'- {sentence}.' for sentence in fit.separability.sentences()),
        '- Configurations in which the loops close in a second way were looked for and not found; '
        'that is no proof.',
        *(f'- {remark}' for remark in judged.remarks),
        '',
    ]
    return '\n'.join(lines)


def _figures(fit: ClosedChainFit) -> list[tuple[float, bool]]:
    """Every parameter, and whether its figure means anything by itself."""
    return list(zip(fit.x.tolist(), fit.separability.alone.tolist(), strict=True))


def _motors(chain: ClosedChain) -> tuple[str, ...]:
    return tuple(chain.model.layout.joint_names[i] for i in chain.actuated)


def _write(folder: Path, arm: Arm, judged: Judged, page: str) -> None:
    """Report, settings, and the URDF with its bodies."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / 'report.md').write_text(page, encoding='utf-8')
    theta: Array = judged.fit.theta(arm.model.theta)
    model = arm.model.with_parameters(np.where(np.abs(theta) < 1e-12, 0.0, theta))
    name = arm.model.name
    write_dynamics(model, arm.urdf, folder / f'{name}.urdf')
    remarks = tuple(judged.fit.separability.sentences())
    write_settings(model, arm.facts, f'{name}.urdf', folder / f'{name}.yaml', remarks)
