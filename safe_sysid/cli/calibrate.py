"""`safe-sysid calibrate`: recordings in, settings, URDF, MJCF and a report on their worth out."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from safe_sysid.cli.output import print_to_error
from safe_sysid.cli.progress import ProgressBar
from safe_sysid.cli.recording import add_recording, arm_of_options, recording_choice
from safe_sysid.cli.values import positive
from safe_sysid.errors import ConfigError

if TYPE_CHECKING:
    from safe_sysid.calibrate.recorded_motion import Recorded
    from safe_sysid.model.arm import Arm

HELP = 'identify a whole arm from recordings: inertias, friction, rotor inertia, torque offsets'
REFUSED = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which recordings of which arm, with which choices, and where the results go."""
    parser.add_argument(
        'recordings', metavar='BAG', type=Path, nargs='+',
        help='folder of a bag, a .db3 or .mcap file, or a .csv with named columns',
    )  # fmt: skip
    add_arm(parser)
    parser.add_argument(
        '--validate', metavar='BAG', type=Path, nargs='+', default=[],
        help='recordings that judge the fit; default: the end of each recording',
    )  # fmt: skip
    parser.add_argument(
        '--settings', metavar='YAML', type=Path,
        help='choices of the fit instead of config/calibration.yaml',
    )  # fmt: skip
    parser.add_argument(
        '--cutoff', metavar='HZ', type=positive, help='low-pass, over the settings'
    )
    parser.add_argument(
        '--loops', metavar='WHAT', nargs='?', const='motors',
        choices=('motors', 'joints', 'everything'),
        help='of a robot with closed loops: identify friction and rotor inertia of the motors '
        '(default), of all joints, or motors and bodies (everything)',
    )  # fmt: skip
    parser.add_argument(
        '--out', metavar='DIR', type=Path,
        help='write settings (YAML), URDF, MJCF, report and plot into DIR',
    )  # fmt: skip
    parser.add_argument('--json', action='store_true', help='one JSON object instead of a report')
    add_recording(parser.add_argument_group('the recordings'))


def add_arm(parser: argparse.ArgumentParser) -> None:
    """Which arm."""
    parser.add_argument(
        '--robot', required=True, metavar='NAME|YAML|URDF',
        help='an arm that comes with the package, its settings, or just a URDF',
    )  # fmt: skip
    parser.add_argument('--config', metavar='YAML', type=Path, help='settings beside a URDF')


def command(options: argparse.Namespace) -> int:
    """Carry out `safe-sysid calibrate`; the exit status is 1 after a refusal."""
    from safe_sysid.report.figures_text import as_json

    with print_to_error():
        arm = arm_of_options(options)
        if arm.facts.closed_chain is not None:
            status, page, figures = _closed_chain(options, arm)
        elif options.loops is not None:
            raise ConfigError(
                f'--loops {options.loops}: {arm.model.name} has no loops; its settings would say '
                'so under closed_chain'
            )
        else:
            status, page, figures = _calibrated(options, arm)
    print(as_json(figures) if options.json else page)
    return status


def recorded_of(options: argparse.Namespace, paths: Sequence[Path], arm: Arm) -> Recorded:
    """Return recordings of an arm, read as the command line says."""
    from safe_sysid.calibrate.recorded_motion import recorded

    return recorded([recording_choice(options, path) for path in paths], arm)


def _calibrated(options: argparse.Namespace, arm: Arm) -> tuple[int, str, dict[str, object]]:
    """Exit status, report, and the same for programs; files of the arm are written."""
    from safe_sysid.calibrate.calibration import calibrate, calibration_settings
    from safe_sysid.calibrate.effort_check import EffortError
    from safe_sysid.export.calibrated_arm import write_calibrated_arm
    from safe_sysid.report.calibrate_page import (
        as_mapping,
        as_page,
        refusal_mapping,
        refusal_page,
    )
    from safe_sysid.report.torque_plots import draw_torques

    bar = ProgressBar('calibrating')
    settings = calibration_settings(options.settings, options.cutoff)
    bar.show(0.1, 'reading')
    fitted = recorded_of(options, options.recordings, arm)
    judged = recorded_of(options, options.validate, arm)
    remarks = fitted.remarks + judged.remarks
    bar.show(0.3, f'{fitted.seconds:.0f} s')
    try:
        found = calibrate(arm.model, fitted.logs, judged.logs, settings)
    except EffortError as error:
        page = refusal_page(arm.model, error, remarks)
        _write_report(options.out, page)
        return REFUSED, page, refusal_mapping(arm.model, error)
    finally:
        bar.end()
    page = as_page(arm.model, found, remarks)
    _write_report(options.out, page)
    if options.out is not None:
        write_calibrated_arm(options.out, arm, found)
        draw_torques(options.out, arm.model, found, (judged.logs or fitted.logs)[-1])
    status = 0 if found.refused is None else REFUSED
    return status, page, as_mapping(arm.model, found)


def _closed_chain(options: argparse.Namespace, arm: Arm) -> tuple[int, str, dict[str, object]]:
    """Return the same for a robot with loops."""
    from safe_sysid.calibrate.closed_chain_calibration import calibrate_closed_chain
    from safe_sysid.calibrate.closed_chain_fit import ClosedChainSettings
    from safe_sysid.export.calibrated_arm import write_closed_chain_arm
    from safe_sysid.model.closed_chain.chain import ClosedChain
    from safe_sysid.report.closed_chain_page import as_mapping, as_page

    assert arm.facts.closed_chain is not None
    chain = ClosedChain(arm.model, arm.facts.closed_chain)
    given = {'cutoff': options.cutoff} if options.cutoff else {}
    settings = ClosedChainSettings(identified=options.loops or 'motors', **given)
    bar = ProgressBar('calibrating')
    bar.show(0.1, 'reading')
    fitted, others = (
        recorded_of(options, paths, arm) for paths in (options.recordings, options.validate)
    )
    bar.show(0.3, f'{fitted.seconds:.0f} s')
    judged = calibrate_closed_chain(chain, fitted, others, settings)
    bar.end()
    page = as_page(chain, judged)
    _write_report(options.out, page)
    if options.out is not None:
        write_closed_chain_arm(options.out, arm, judged.fit)
    return 0, page, as_mapping(chain, judged)


def _write_report(folder: Path | None, page: str) -> None:
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / 'report.md').write_text(page, encoding='utf-8')
