"""`safe-sysid excite`: asks for a motion, says what it is worth and what is proven, writes it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
import contextlib
from pathlib import Path
import sys
from typing import TYPE_CHECKING

from safe_sysid.cli.progress import ProgressBar
from safe_sysid.cli.values import count, positive

if TYPE_CHECKING:  # numeric libraries are loaded by the command, not by --help
    from safe_sysid.excite.contact_model import ContactModel
    from safe_sysid.excite.multi_start import Effort, Progress, Watch

HELP = 'design an excitation trajectory: informative, within limits, collision-free'

CRITERIA = ('kappa', 'rho', 'D', 'A', 'E', 'r_c', 'kappa-direct')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which arm holds what, what is asked of the motion, how long to search, where to write."""
    parser.add_argument(
        'robot', metavar='ROBOT',
        help='an arm that comes with the package, its settings (YAML), or a URDF',
    )  # fmt: skip
    parser.add_argument('--config', metavar='YAML', type=Path, help='settings beside a URDF')
    parser.add_argument(
        '--payload', metavar='NAME|YAML', help='what it holds, such as rod_tool; default: nothing'
    )
    parser.add_argument(
        '--criterion', choices=CRITERIA, default='kappa',
        help='kappa: condition number (default); rho: its smooth bound; D, A, E: volume, sum and '
        'largest axis of the confidence ellipsoid; r_c, kappa-direct: for comparison',
    )  # fmt: skip
    parser.add_argument(
        '--payload-only', action='store_true',
        help='judge by the ten parameters of the last body alone',
    )  # fmt: skip
    parser.add_argument(
        '--settings', metavar='YAML', type=Path,
        help='duration, harmonics, floor, clearance and so on; default: config/excitation.yaml',
    )  # fmt: skip
    parser.add_argument(
        '--seconds', metavar='S', type=positive, default=20.0, help='of search; default: 20'
    )
    parser.add_argument(
        '--starts', metavar='N', type=count,
        help='end after so many starts; the result is then the same on every machine, if the '
        'seconds suffice',
    )  # fmt: skip
    parser.add_argument('--processes', metavar='N', type=count, help='default: one for each core')
    parser.add_argument('--seed', metavar='S', type=int, default=1, help='default: 1')
    parser.add_argument(
        '--out', metavar='DIR', type=Path,
        help='write excitation.csv, excitation.yaml (JointTrajectory) and excitation.svg there',
    )  # fmt: skip
    parser.add_argument(
        '--unproven-contact', action='store_true',
        help='write these files also when nothing proves that the arm touches neither itself nor '
        'the floor; they begin with that warning',
    )  # fmt: skip
    parser.add_argument(
        '--package-path', metavar='DIR', type=Path, action='append', default=[],
        help='a folder with the ROS packages that meshes of the URDF are in; repeatable. Then '
        'AMENT_PREFIX_PATH, ROS_PACKAGE_PATH and the folders above the URDF are searched',
    )  # fmt: skip
    parser.add_argument('--json', action='store_true', help='one JSON object instead of a table')


def command(options: argparse.Namespace) -> int:
    """Carry out `safe-sysid excite`; the exit status is 1 when the excitation is poor."""
    from safe_sysid.cli.output import print_to_error
    from safe_sysid.errors import BoundError
    from safe_sysid.excite.excitation_trajectory import ExcitationAim, design_trajectory
    from safe_sysid.excite.multi_start import Effort
    from safe_sysid.excite.settings import read_settings
    from safe_sysid.export.motion import MotionSamples, refuse_unproven, write_motion
    from safe_sysid.model.arm import arm_of
    from safe_sysid.model.payload import read_payload
    from safe_sysid.report.figures_text import as_json, as_table
    from safe_sysid.versions import cpu_count

    processes = options.processes or cpu_count()
    effort = Effort(options.seconds, options.starts, processes, options.seed)
    settings = read_settings(options.settings)
    arm = arm_of(options.robot, options.config, options.package_path)
    payload = None if options.payload is None else read_payload(options.payload)
    aim = ExcitationAim(options.criterion, options.payload_only)

    def look(contact: ContactModel) -> None:
        if options.out is not None and not options.unproven_contact:
            refuse_unproven(contact.missing)
        for sentence in (*contact.missing, *contact.notes):
            print(f'warning: {sentence}', file=sys.stderr)

    with print_to_error():
        with _searching(effort) as watch:
            found = design_trajectory(arm, payload, aim, effort, settings, watch, look)
        figures, warnings = dict(found.figures), list(found.warnings)
        if options.out is not None:
            motion = MotionSamples(found.joint_names, found.t, found.states, found.contact_doubts)
            allowed = options.unproven_contact
            try:
                paths = write_motion(options.out, motion, found.about, unproven_contact=allowed)
                figures['files'] = [str(path) for path in paths]
            except BoundError as error:
                warnings.append(str(error))
    figures['warnings'] = warnings
    print(as_json(figures) if options.json else as_table(figures))
    for warning in warnings:
        print(f'warning: {warning}', file=sys.stderr)
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
