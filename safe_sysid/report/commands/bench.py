"""Command line of `safe-sysid bench`."""

import argparse
from pathlib import Path

from safe_sysid.report.bench_members import MEMBERS
from safe_sysid.report.commands.values import count

HELP = 'figures of one part: speed, scaling, tightness, with the seed that reproduces them'
CARRIED_OUT_BY = 'safe_sysid.report.bench'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which part, how many trials, and how to answer."""
    parser.add_argument('name', choices=list(MEMBERS), metavar='NAME', help=', '.join(MEMBERS))
    parser.add_argument('--trials', metavar='N', type=count, help='random trials')
    parser.add_argument('--seed', metavar='S', type=int, default=1, help='default: 1')
    parser.add_argument('--quick', action='store_true', help='less of everything, under 40 s')
    parser.add_argument(
        '--table4', action='store_true', help='identify: only the condition numbers of Table IV'
    )
    parser.add_argument('--plots', metavar='DIR', type=Path, help='draw the plots into DIR')
    parser.add_argument('--json', action='store_true', help='one JSON object instead of a table')
