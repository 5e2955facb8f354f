"""Command line of `safe-sysid identify`."""

import argparse
from pathlib import Path

from safe_sysid.cli.recording import add_recording
from safe_sysid.cli.values import (
    export,
    known_friction,
    known_links,
    numbers,
    positive,
    share,
    shares,
)
from safe_sysid.export.formats import FORMATS

HELP = 'bounds on what an arm holds, from a recording: rosbag2 (sqlite3, mcap) or CSV'
CARRIED_OUT_BY = 'safe_sysid.report.identify_bag'


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
        help='seconds into the recording from which on the payload is held',
    )  # fmt: skip
    group.add_argument('--to', metavar='S', type=float, help='and until when')


def _add_known(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        '--known-links', metavar='SHARE[,M]', type=known_links, default=(0.05, 0.0),
        help='how well links are known: 5%% of every parameter, which is the default; 5%%,0.01 '
        'also lets every centre of mass be 0.01 m off',
    )  # fmt: skip
    group.add_argument(
        '--known-friction', metavar='SHARE|unknown', type=known_friction,
        help='the same for friction, rotor inertia and offset; default: as links, or unknown '
        'where a URDF stands alone',
    )  # fmt: skip
    group.add_argument(
        '--payload-mass', metavar='KG', type=positive, default=10.0,
        help='most that the last joint may move; default: 10',
    )  # fmt: skip
    group.add_argument(
        '--payload-reach', metavar='M', type=positive, default=0.5,
        help='farthest that any of it is from the origin of that joint; default: 0.5',
    )  # fmt: skip
    for name, unit, kind, default, text in (
        ('--torque-ratio', 'SHARE', shares, (0.025,), 'error of a torque, as a share of it'),
        ('--torque-noise', 'N·m', numbers, (0.0,), 'on top of that'),
        ('--position-error', 'RAD', numbers, None, 'default: half a step of the encoder'),
        ('--velocity-error', 'RAD/S', numbers, None, 'default: 0, or what differences show'),
    ):
        shown = '' if default is None else f'; default: {default[0]:g}'
        group.add_argument(
            name, metavar=unit, type=kind, default=default,
            help=f'{text}{shown}; one for all joints or one each',
        )  # fmt: skip
    group.add_argument(
        '--torque-signal', choices=('sampled', 'held', 'held_until'), default='sampled',
        help='sampled: measured; held: a command, constant from its stamp on, or until it',
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
        '--filter', metavar='HZ', type=positive,
        help='low-pass of that comparison; default: 10, or a fifth of the sample rate',
    )  # fmt: skip
    group.add_argument(
        '--export', metavar='FORMAT=FILE', type=export, action='append',
        help='; '.join(f'{name}: {what}' for name, what in FORMATS.items())
        + '. Bounds are comments. Not written after a refusal; may be given several times',
    )  # fmt: skip
    group.add_argument('--html', metavar='FILE', type=Path, help='a page to look at and hand on')
    group.add_argument(
        '--plots', metavar='DIR', type=Path, help='the plots of that page as PNG and SVG'
    )
    form = group.add_mutually_exclusive_group()
    form.add_argument('--json', action='store_true', help='one JSON object instead of a table')
    form.add_argument('--yaml', action='store_true', help='the same as YAML')
