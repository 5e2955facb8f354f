"""`safe-sysid identify`: a recording in, bounds on the payload or the reason for none out."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
import sys
from typing import TYPE_CHECKING

from safe_sysid.cli.output import print_to_error
from safe_sysid.cli.progress import ProgressBar
from safe_sysid.cli.recording import add_recording, arm_of_options, recording_choice
from safe_sysid.cli.values import (
    export,
    known_friction,
    known_kind,
    known_links,
    numbers,
    positive,
    share,
    shares,
)
from safe_sysid.export.formats import FORMATS
from safe_sysid.model.parameter_kinds import KINDS

if TYPE_CHECKING:
    from safe_sysid.identify.from_recording import IdentifiedRecording, RecordingSettings

HELP = 'guaranteed bounds on a payload from a recording: rosbag2 (sqlite3, mcap) or CSV'
REFUSED = 1
FORMER = {'--torque-error': ('--torque-noise',)}  # names that are accepted until 0.2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which recording of which arm, what is known before, and how to answer."""
    parser.add_argument(
        'recording', metavar='RECORDING', type=Path,
        help='folder of a bag, a .db3 or .mcap file, or a .csv with named columns',
    )  # fmt: skip
    parser.add_argument(
        '--robot', required=True, metavar='NAME|YAML|URDF',
        help='an arm that comes with the package, its settings, or just a URDF',
    )  # fmt: skip
    parser.add_argument('--config', metavar='YAML', type=Path, help='settings beside a URDF')
    recording = parser.add_argument_group('the recording')
    add_recording(recording)
    _add_part(recording)
    _add_known(parser.add_argument_group('what is known before'))
    _add_answer(parser.add_argument_group('the answer'))


def _add_part(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        '--payload-from', metavar='S', type=float, default=0.0,
        help='time in the recording from which on the payload is held [s]',
    )  # fmt: skip
    group.add_argument(
        '--to', metavar='S', type=float, help='end of that part of the recording [s]'
    )


def _add_known(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        '--known-links', metavar='SHARE[,M]', type=known_links,
        help='how well links are known: 5%% of the size of every parameter, which is the default; '
        '5%%,0.01 also lets every centre of mass be 0.01 m off',
    )  # fmt: skip
    group.add_argument(
        '--known-friction', metavar='SHARE|unknown', type=known_friction,
        help='the same for friction and rotor inertia where their figure is not 0; default: as '
        'links, or unknown where a URDF stands alone. What is 0 in a file is unknown, and an '
        'offset is without --known offset=WIDTH',
    )  # fmt: skip
    group.add_argument(
        '--known', metavar='KIND=WIDTH', type=known_kind, action='append', default=[],
        help='how well one kind of parameter is known: 5%%, 0.5 in its SI unit, or both as in '
        f'5%%+0.5; one for all joints or one each, after commas. Kinds: {", ".join(KINDS)}. '
        'Instead of what the settings of the arm state',
    )  # fmt: skip
    group.add_argument(
        '--payload-mass', metavar='KG', type=positive,
        help='most that the last joint may move; default: 10',
    )  # fmt: skip
    group.add_argument(
        '--payload-reach', metavar='M', type=positive,
        help='farthest that any of it is from the origin of that joint; default: 0.5',
    )  # fmt: skip
    for name, unit, kind, text in (
        ('--torque-ratio', 'SHARE', shares, 'error of a torque, as a share of it'),
        ('--torque-error', 'N·m', numbers, 'on top of that; 0 where only the share is given'),
        ('--position-error', 'RAD', numbers, 'of all causes'),
        ('--velocity-error', 'RAD/S', numbers, 'of all causes'),
    ):
        where_none = (
            'what shows' if name == '--velocity-error' else 'wide figures, which it prints'
        )
        group.add_argument(
            name, *FORMER.get(name, ()), metavar=unit, type=kind,
            help=f'{text}; default: what sensing: of the arm states, else {where_none}. One for '
            'all joints or one each',
        )  # fmt: skip
    group.add_argument(
        '--torque-signal', choices=('sampled', 'held', 'held_until'),
        help='sampled: measured, the default; held: a command, constant from its stamp on, or '
        'until it',
    )  # fmt: skip
    group.add_argument(
        '--window', metavar='S', type=positive,
        help='measurements that become one row per joint; default: 0.1, or 0.5 where the '
        'recording has no velocity',
    )  # fmt: skip


def _add_answer(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        '--flange', metavar='LINK', help="frame of the payload; default: the arm's `tip`"
    )
    group.add_argument(
        '--hold-out', metavar='SHARE', type=share, default=0.4,
        help='of the recording, whose torque is predicted from what came before; default: 40%%. '
        'Bounds are from all of it',
    )  # fmt: skip
    group.add_argument(
        '--cutoff', '--filter', metavar='HZ', type=positive,
        help='low-pass of that comparison; default: 10, or a fifth of the sample rate',
    )  # fmt: skip
    group.add_argument(
        '--export', metavar='FORMAT=FILE', type=export, action='append',
        help='; '.join(f'{name}: {what}' for name, what in FORMATS.items())
        + '. Bounds are comments. Not written after a refusal; may be given several times',
    )  # fmt: skip
    group.add_argument(
        '--export-undetermined', action='store_true',
        help='export although the motion has not determined every row; those are marked',
    )  # fmt: skip
    group.add_argument('--html', metavar='FILE', type=Path, help='a page to look at and hand on')
    group.add_argument(
        '--plots', metavar='DIR', type=Path, help='the plots of that page as PNG and SVG'
    )
    form = group.add_mutually_exclusive_group()
    form.add_argument('--json', action='store_true', help='one JSON object instead of a table')
    form.add_argument('--yaml', action='store_true', help='the same as YAML')


def command(options: argparse.Namespace) -> int:
    """Carry out `safe-sysid identify`; the exit status is 1 after a refusal, of an export too."""
    from safe_sysid.config import yaml_text
    from safe_sysid.identify.from_recording import identify_recording
    from safe_sysid.identify.identification import as_mapping, as_table

    with print_to_error():
        arm = arm_of_options(options)
        choice = recording_choice(options, options.recording)
        bar = ProgressBar('identifying')
        result = identify_recording(arm, choice, settings_of(options), bar.show)
        bar.end()
        complete = _write_exports(options.export, result, undetermined=options.export_undetermined)
        _write_pictures(options.html, options.plots, result)
    found = result.found
    if options.json:
        print(json.dumps(as_mapping(found), allow_nan=False))
    elif options.yaml:
        print(yaml_text(as_mapping(found)), end='')
    else:
        print(as_table(found))
    return 0 if found.refused is None and complete else REFUSED


def settings_of(options: argparse.Namespace) -> RecordingSettings:
    """Return what the command line says of the part, of what is known, and of the answer."""
    from safe_sysid.identify.from_recording import RecordingSettings
    from safe_sysid.model.uncertainty import Uncertainty, Width

    said = {
        'known_links': options.known_links,
        'known_friction': options.known_friction,
        'payload_mass': options.payload_mass,
        'payload_reach': options.payload_reach,
        'torque_ratio': options.torque_ratio,
        'torque_error': options.torque_error,
        'position_error': options.position_error,
        'velocity_error': options.velocity_error,
        'torque_signal': options.torque_signal,
    }
    said = {name: value for name, value in said.items() if value is not None}
    return RecordingSettings(
        begin=options.payload_from,
        end=options.to,
        known=Uncertainty(**{kind: Width(*widths) for kind, *widths in options.known}),
        window=options.window,
        flange=options.flange,
        hold_out=options.hold_out,
        filter_hz=options.cutoff,
        stated=tuple(said),
        **said,
    )


def _write_exports(
    wanted: list[tuple[str, Path]] | None, result: IdentifiedRecording, *, undetermined: bool
) -> bool:
    """Write the exports that were asked for; whether all were."""
    from safe_sysid.export import payload

    if wanted and result.found.refused is not None:
        print('refused, so nothing is exported', file=sys.stderr)
        return False
    complete = True
    for form, path in wanted or ():
        guesses = payload.undetermined(form, result.found)
        if guesses and not undetermined:
            complete = False
            print(
                f'{path} is not written: the motion has not determined {", ".join(guesses)}. Move '
                'joints that show them, or give --export-undetermined, which writes a compact '
                'body in their place and marks them',
                file=sys.stderr,
            )
            continue
        payload.write_export(form, path, result.found, result.problem.arm)
    return complete


def _write_pictures(html: Path | None, plots: Path | None, result: IdentifiedRecording) -> None:
    """Write the page and the figures that were asked for."""
    if html is None and plots is None:
        return
    from safe_sysid.report.html_page import write_page
    from safe_sysid.report.identification_page import evidence_of, identification_page
    from safe_sysid.report.page_figures import write_figures

    page = identification_page(result.found, evidence_of(result))
    if html is not None:
        write_page(html, page)
    if plots is not None:
        write_figures(plots, page)
