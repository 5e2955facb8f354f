"""Command line of `safe-sysid excite`."""

import argparse
from pathlib import Path

from safe_sysid.cli.values import count, positive

HELP = 'a motion worth recording: informative, inside every limit, without contact'
CARRIED_OUT_BY = 'safe_sysid.report.excite'

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
    parser.add_argument('--json', action='store_true', help='one JSON object instead of a table')
