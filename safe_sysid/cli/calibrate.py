"""`safe-sysid calibrate`: recordings in, settings, URDF, MJCF and a report on their worth out."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
import sys
from typing import TYPE_CHECKING

from safe_sysid.cli.inputs import existing, robot
from safe_sysid.cli.output import print_to_error
from safe_sysid.cli.progress import ProgressBar
from safe_sysid.cli.recording import add_recording, arm_of_options, recording_choice
from safe_sysid.errors import ConfigError

if TYPE_CHECKING:
    from safe_sysid.calibrate.recorded_motion import Recorded
    from safe_sysid.model.arm import Arm

HELP = 'identify a whole arm from recordings: inertias, friction, rotor inertia, torque offsets'
REFUSED = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which recordings of which arm, with which choices, and where the results go."""
    from safe_sysid.calibrate.settings import CalibrationSettings, ClosedChainSettings
    from safe_sysid.cli.setting_options import add_setting

    parser.add_argument(
        'recordings', metavar='BAG', type=existing, nargs='+',
        help='folder of a bag, a .db3 or .mcap file, or a .csv with named columns',
    )  # fmt: skip
    add_arm(parser)
    parser.add_argument(
        '--validate', metavar='BAG', type=existing, nargs='+', default=[],
        help='recordings that judge the fit; default: the end of each recording',
    )  # fmt: skip
    parser.add_argument(
        '--settings', metavar='YAML', type=existing,
        help='choices of the fit instead of config/calibration.yaml',
    )  # fmt: skip
    parser.add_argument(
        '--gains', metavar='YAML', type=existing,
        help='file of calibrate-gains: torque per unit of effort, in place of sign and scale of '
        'the settings; kept with its deviations for payloads',
    )  # fmt: skip
    add_setting(
        parser, CalibrationSettings, 'cutoff', '--cutoff',
        help='low-pass on both sides of the fit [Hz], over the settings',
    )  # fmt: skip
    add_setting(parser, ClosedChainSettings, 'identified', '--loops', nargs='?', const='motors')
    parser.add_argument(
        '--out', metavar='DIR', type=Path,
        help='write settings (YAML), URDF, MJCF, report and plot into DIR',
    )  # fmt: skip
    parser.add_argument('--json', action='store_true', help='one JSON object instead of a report')
    add_recording(parser.add_argument_group('the recordings'))


def add_arm(parser: argparse.ArgumentParser) -> None:
    """Which arm."""
    parser.add_argument(
        '--robot', required=True, metavar='NAME|YAML|URDF', type=robot,
        help='an arm that comes with the package, its settings, or just a URDF',
    )  # fmt: skip
    parser.add_argument('--config', metavar='YAML', type=existing, help='settings beside a URDF')


def command(options: argparse.Namespace) -> int:
    """Carry out `safe-sysid calibrate`; the exit status is 1 after a refusal."""
    from safe_sysid.calibrate.settings import ClosedChainSettings
    from safe_sysid.cli.setting_options import chosen
    from safe_sysid.report.figures_text import as_json

    with print_to_error():
        arm = arm_of_options(options)
        if arm.facts.closed_chain is not None:
            status, page, figures = _closed_chain(options, arm)
        elif chosen(options, ClosedChainSettings):
            raise ConfigError(
                f'--loops is for robots with closed loops: {arm.model.name} has no loops; its '
                'settings would say so under closed_chain'
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
    from dataclasses import replace

    from safe_sysid.api.calibration import calibrate_arm
    from safe_sysid.calibrate.effort_check import EffortError
    from safe_sysid.calibrate.settings import CalibrationSettings, calibration_settings
    from safe_sysid.cli.setting_options import chosen
    from safe_sysid.report.calibrate_page import refusal_mapping, refusal_page

    bar = ProgressBar('calibrating')
    settings = calibration_settings(options.settings)
    settings = replace(settings, **chosen(options, CalibrationSettings))
    fitted, judged = (
        [recording_choice(options, path) for path in paths]
        for paths in (options.recordings, options.validate)
    )
    try:
        found = calibrate_arm(fitted, arm, judged, settings, bar.show, options.gains)
    except EffortError as error:
        page = refusal_page(arm.model, error)
        _write_report(options.out, page)
        return REFUSED, page, refusal_mapping(arm.model, error)
    finally:
        bar.end()
    page = str(found)
    if options.out is not None:
        said = found.export(options.out)
        page = found.report(options.out, said)
        if said is not None:
            print(said, file=sys.stderr)
    return 0 if found.refused is None else REFUSED, page, found.as_dict()


def _closed_chain(options: argparse.Namespace, arm: Arm) -> tuple[int, str, dict[str, object]]:
    """Return the same for a robot with loops."""
    from safe_sysid.api.closed_chain import calibrate_closed_chain
    from safe_sysid.calibrate.settings import CalibrationSettings, ClosedChainSettings
    from safe_sysid.cli.setting_options import chosen

    if options.gains is not None:
        raise ConfigError(f'--gains is for arms without loops, which {arm.model.name} has')
    given = chosen(options, CalibrationSettings) | chosen(options, ClosedChainSettings)
    settings = ClosedChainSettings(**given)
    bar = ProgressBar('calibrating')
    fitted, judged = (
        [recording_choice(options, path) for path in paths]
        for paths in (options.recordings, options.validate)
    )
    try:
        found = calibrate_closed_chain(fitted, arm, judged, settings, bar.show)
    finally:
        bar.end()
    if options.out is not None:
        found.report(options.out)
        found.export(options.out)
    return 0, str(found), found.as_dict()


def _write_report(folder: Path | None, page: str) -> None:
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / 'report.md').write_text(page, encoding='utf-8')
