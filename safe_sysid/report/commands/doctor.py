"""Command line of `safe-sysid doctor`."""

import argparse
from pathlib import Path

HELP = 'is this machine ready? libraries, Ipopt solvers, ROS 2, and the files of an arm'
CARRIED_OUT_BY = 'safe_sysid.report.doctor'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which arm to check, and how to answer."""
    parser.add_argument(
        '--robot',
        metavar='NAME|URDF',
        help='also check an arm: a name such as kinova_gen3, or a URDF',
    )
    parser.add_argument(
        '--config', metavar='YAML', type=Path, help='the facts of the arm, when --robot is a URDF'
    )
    parser.add_argument('--json', action='store_true', help='one JSON object instead of a list')
