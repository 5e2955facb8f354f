"""What the calibration of a robot with loops found, as Markdown and as a mapping."""

from __future__ import annotations

from dataclasses import asdict

from safe_sysid.calibrate.closed_chain_calibration import ClosedChainCalibration
from safe_sysid.calibrate.closed_chain_fit import ClosedChainFit
from safe_sysid.model.closed_chain.chain import ClosedChain
from safe_sysid.report.html_page import Page
from safe_sysid.report.markdown_page import explained, page_of_markdown


def as_mapping(chain: ClosedChain, judged: ClosedChainCalibration) -> dict[str, object]:
    """Everything a program may want; figures of what is not known by itself are null."""
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
        'silent': list(fit.separability.silent),
        'cautions': list(fit.drives.cautions()),
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


def as_page(chain: ClosedChain, judged: ClosedChainCalibration) -> str:
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
        *(f'- CAUTION: {sentence}.' for sentence in fit.drives.cautions()),
        *(f'- {sentence}.' for sentence in fit.separability.sentences()),
        '- Configurations in which the loops close in a second way were looked for and not found; '
        'that is no proof.',
        *(f'- {remark}' for remark in judged.remarks),
        '',
    ]
    return '\n'.join(lines)


def html_page(report: str, judged: ClosedChainCalibration) -> Page:
    """Return the report as a page."""
    return page_of_markdown(report, explained(judged.identified.relative), {})


def _figures(fit: ClosedChainFit) -> list[tuple[float, bool]]:
    """Every parameter, and whether its figure means anything by itself."""
    return list(zip(fit.x.tolist(), fit.known.tolist(), strict=True))


def _motors(chain: ClosedChain) -> tuple[str, ...]:
    return tuple(chain.model.layout.joint_names[i] for i in chain.actuated)
