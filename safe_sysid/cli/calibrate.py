"""`safe-sysid calibrate`: recordings in, settings, URDF, MJCF and a report on their worth out."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from safe_sysid.cli.inputs import add_config, bag_or_table, new_folder, robot, settings_file
from safe_sysid.cli.output import print_to_error, print_wrapped
from safe_sysid.cli.progress import ProgressBar
from safe_sysid.cli.recording import add_recording, arm_of_options, recording_choice
from safe_sysid.errors import ConfigError
from safe_sysid.output_file import filled_folder, write_text

if TYPE_CHECKING:
    from safe_sysid.api.calibration import CalibrationResult
    from safe_sysid.api.closed_chain import ClosedChainResult
    from safe_sysid.calibrate.recorded_motion import Recorded
    from safe_sysid.model.arm import Arm

HELP = 'identify a whole arm from recordings: inertias, friction, rotor inertia, torque offsets'
REFUSED = 1
# exit status, report, the same for programs; what writes files, and returns the rest to say
Answer = tuple[int, str, dict[str, object], Callable[[Path], str]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which recordings of which arm, with which choices, and where the results go."""
    from safe_sysid.calibrate.settings import CalibrationSettings, ClosedChainSettings
    from safe_sysid.cli.setting_options import add_setting

    parser.add_argument(
        'recordings', metavar='BAG', type=bag_or_table, nargs='+',
        help='folder of a bag, a .db3 or .mcap file, or a .csv with named columns',
    )  # fmt: skip
    add_arm(parser)
    parser.add_argument(
        '--validate', metavar='BAG', type=bag_or_table, nargs='+', default=[],
        help='recordings that judge the fit; default: the end of each recording',
    )  # fmt: skip
    parser.add_argument(
        '--settings', metavar='YAML', type=settings_file,
        help='choices of the fit instead of config/calibration.yaml',
    )  # fmt: skip
    parser.add_argument(
        '--gains', metavar='YAML', type=settings_file,
        help='file of calibrate-gains: torque per unit of effort, in place of sign and scale of '
        'the settings; kept with its deviations for payloads',
    )  # fmt: skip
    add_setting(
        parser, CalibrationSettings, 'cutoff', '--cutoff',
        help='low-pass on both sides of the fit [Hz], over the settings',
    )  # fmt: skip
    add_setting(
        parser, CalibrationSettings, 'torque_delay', '--torque-delay',
        help='by which torques come after their positions [s], over the settings; the report says '
        'if they seem to',
    )  # fmt: skip
    add_setting(parser, ClosedChainSettings, 'identified', '--loops', nargs='?', const='motors')
    parser.add_argument(
        '--out', metavar='DIR', type=new_folder,
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
    add_config(parser)


def settings_option(options: argparse.Namespace, arm: Arm) -> str:
    """Return the option that names the settings of an arm beside another URDF, if it has any."""
    from safe_sysid.model.facts import settings_of_robot

    if not arm.is_described:
        return ''
    return f' --config {quote(str(options.config or settings_of_robot(options.robot)))}'


def command(options: argparse.Namespace) -> int:
    """Carry out `safe-sysid calibrate`; the exit status is 1 after a refusal."""
    from safe_sysid.calibrate.settings import ClosedChainSettings
    from safe_sysid.cli.setting_options import chosen
    from safe_sysid.export.replaced_urdf import check_calibration_may_replace
    from safe_sysid.report.figures_text import as_json

    with print_to_error():
        arm = arm_of_options(options)
        if options.out is not None:
            check_calibration_may_replace(options.out, arm, settings_option(options, arm))
        if arm.facts.closed_chain is not None:
            status, page, figures, write = _closed_chain(options, arm)
        elif chosen(options, ClosedChainSettings):
            raise ConfigError(
                f'--loops is for robots with closed loops: {arm.model.name} has no loops; its '
                'settings would say so under closed_chain'
            )
        else:
            status, page, figures, write = _calibrated(options, arm)
    if options.json:
        print(as_json(figures), flush=True)
    else:
        print_wrapped(page.rstrip('\n'))
    if options.out is not None:
        with print_to_error(), filled_folder(options.out):
            evidence = write(options.out)
        if evidence and not options.json:
            print_wrapped(evidence.rstrip('\n'))
    return status


def recorded_of(options: argparse.Namespace, paths: Sequence[Path], arm: Arm) -> Recorded:
    """Return recordings of an arm, read as the command line says."""
    from safe_sysid.calibrate.recorded_motion import recorded

    return recorded([recording_choice(options, path) for path in paths], arm)


def _calibrated(options: argparse.Namespace, arm: Arm) -> Answer:
    """Exit status, report, the same for programs, and what writes the files of the arm."""
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
        return REFUSED, page, refusal_mapping(arm.model, error), partial(_write_report, page)
    finally:
        bar.end()
    status = 0 if found.refused is None else REFUSED
    return status, str(found), found.as_dict(), partial(_write_calibrated, found)


def _closed_chain(options: argparse.Namespace, arm: Arm) -> Answer:
    """Return the same for a robot with loops."""
    from safe_sysid.api.closed_chain import calibrate_closed_chain
    from safe_sysid.calibrate.settings import CalibrationSettings, ClosedChainSettings
    from safe_sysid.cli.setting_options import chosen

    if options.gains is not None:
        raise ConfigError(f'--gains is for arms without loops, which {arm.model.name} has')
    given = chosen(options, CalibrationSettings) | chosen(options, ClosedChainSettings)
    if 'torque_delay' in given:
        raise ConfigError(f'--torque-delay is for arms without loops, which {arm.model.name} has')
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
    return 0, str(found), found.as_dict(), partial(_write_closed_chain, found)


def _write_report(page: str, folder: Path) -> str:
    write_text(folder / 'report.md', page)
    return ''


def _write_calibrated(found: CalibrationResult, folder: Path) -> str:
    """Return what `calibrate` has to say only once it has left a promise beside the arm."""
    return found.report(folder, found.export(folder)).removeprefix(str(found))


def _write_closed_chain(found: ClosedChainResult, folder: Path) -> str:
    found.report(folder)
    found.export(folder)
    return ''
