"""`safe-sysid excite`: asks for a motion, says what it is worth and what is proven, writes it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
import contextlib
import sys
from typing import TYPE_CHECKING

from safe_sysid.cli.inputs import (
    add_config,
    add_package_path,
    new_file,
    new_folder,
    payload,
    robot,
    settings_file,
)
from safe_sysid.cli.output import print_figures
from safe_sysid.cli.progress import ProgressBar

if TYPE_CHECKING:  # numeric libraries are loaded by the command, not by --help
    from safe_sysid.excite.contact_model import ContactModel
    from safe_sysid.excite.multi_start import Progress, Watch
    from safe_sysid.excite.settings import Effort

HELP = 'design an excitation trajectory: informative, within limits, collision-free'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which arm holds what, what is asked of the motion, how long to search, where to write."""
    from safe_sysid.cli.setting_options import add_setting
    from safe_sysid.excite.settings import Effort, ExcitationAim

    parser.add_argument(
        'robot', metavar='ROBOT', type=robot,
        help='an arm that comes with the package, its settings (YAML), or a URDF',
    )  # fmt: skip
    add_config(parser)
    parser.add_argument(
        '--payload',
        metavar='NAME|YAML',
        type=payload,
        help='what it holds, such as rod_tool; default: what the settings say, else nothing',
    )
    add_setting(parser, ExcitationAim, 'criterion', '--criterion')
    add_setting(parser, ExcitationAim, 'payload_only', '--payload-only')
    parser.add_argument(
        '--settings', metavar='YAML', type=settings_file,
        help='duration, harmonics, floor, clearance and so on; default: ROBOT_excitation.yaml '
        'beside the URDF (new-arm writes it), else config/excitation.yaml',
    )  # fmt: skip
    add_setting(parser, Effort, 'seconds', '--seconds')
    add_setting(parser, Effort, 'starts', '--starts', metavar='N')
    add_setting(parser, Effort, 'processes', '--processes', metavar='N')
    add_setting(parser, Effort, 'seed', '--seed', metavar='S')
    parser.add_argument(
        '--out', metavar='DIR', type=new_folder,
        help='write excitation.csv, excitation.yaml (JointTrajectory) and excitation.svg there',
    )  # fmt: skip
    parser.add_argument(
        '--html',
        metavar='FILE',
        type=new_file,
        help='write a page with the moving arm and its limits',
    )
    parser.add_argument(
        '--unproven-contact', action='store_true',
        help='write these files also when nothing proves that the arm touches neither itself nor '
        'the floor; they begin with that warning',
    )  # fmt: skip
    add_package_path(parser)
    parser.add_argument('--json', action='store_true', help='one JSON object instead of a table')


def command(options: argparse.Namespace) -> int:
    """Carry out `safe-sysid excite`; the exit status is 1 when the excitation is poor."""
    from safe_sysid.api.arms import load_arm
    from safe_sysid.api.excitation import design_excitation
    from safe_sysid.cli.output import print_to_error
    from safe_sysid.cli.setting_options import chosen
    from safe_sysid.errors import BoundError
    from safe_sysid.excite.contact_model import ContactModel
    from safe_sysid.excite.settings import Effort, ExcitationAim, read_settings, settings_of
    from safe_sysid.export.motion import motion_files, refuse_unproven

    effort = Effort(**chosen(options, Effort))
    arm = load_arm(options.robot, options.config, options.package_path)
    aim = ExcitationAim(**chosen(options, ExcitationAim))
    settings = settings_of(arm) if options.settings is None else read_settings(options.settings)
    allowed = options.unproven_contact

    with print_to_error(), _searching(effort) as show:

        def watch(seen: Progress | ContactModel) -> None:
            if isinstance(seen, ContactModel):
                if options.out is not None and not allowed:
                    refuse_unproven(seen.missing)
                for sentence in (*seen.missing, *seen.notes):
                    print(f'warning: {sentence}', file=sys.stderr)
            else:
                show(seen)

        found = design_excitation(
            arm, options.payload, aim=aim, settings=settings, effort=effort, watch=watch
        )
    figures, warnings = found.as_dict(), list(found.warnings)
    if options.out is not None:
        try:
            refuse_unproven(() if allowed else found.motion.contact_doubts)
            figures['files'] = [str(path) for path in motion_files(options.out)]
        except BoundError as error:
            warnings.append(str(error))
    figures['warnings'] = warnings
    print_figures(figures, for_programs=options.json)
    for warning in warnings:
        print(f'warning: {warning}', file=sys.stderr)
    if options.html is not None:
        found.report(options.html)
    if 'files' in figures:
        found.export_unproven(options.out)
    return 1 if warnings else 0


@contextlib.contextmanager
def _searching(effort: Effort) -> Iterator[Watch]:
    """Yield what shows how far a search is, as a bar on standard error."""
    bar = ProgressBar('searching')

    def watch(progress: Progress) -> None:
        share = progress.elapsed / effort.seconds
        if effort.starts is not None:
            share = max(share, progress.finished / effort.starts)
        best = progress.best
        so_far = 'nothing yet' if best is None else f'condition {best.condition:.1f}'
        bar.show(share, f'{so_far}, {progress.finished} starts done')

    try:
        yield watch
    finally:
        bar.end()
