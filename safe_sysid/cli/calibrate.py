"""Command line of `safe-sysid calibrate`."""

import argparse
from pathlib import Path

from safe_sysid.cli.recording import add_recording
from safe_sysid.cli.values import positive

HELP = 'dynamics of a whole arm from recordings: inertias, friction, rotor inertia, offsets'
CARRIED_OUT_BY = 'safe_sysid.report.calibrate'


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
