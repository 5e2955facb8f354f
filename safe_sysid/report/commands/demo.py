"""Command line of `safe-sysid demo`."""

import argparse
from pathlib import Path

from safe_sysid.cli.values import count

HELP = 'the whole mission in about a minute: learn what an arm holds, then do a task with it'
CARRIED_OUT_BY = 'safe_sysid.report.demo'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the arm holds, how long it learns, and where the results go."""
    parser.add_argument(
        '--payload',
        metavar='NAME|YAML',
        default='dumbbell_8lb',
        help='what the arm holds, which nobody tells it; default: %(default)s',
    )
    parser.add_argument(
        '--plans',
        metavar='N',
        type=count,
        default=4,
        help='motions that teach, before the task; default: %(default)s',
    )
    parser.add_argument('--drake', action='store_true', help='simulate with Drake, if installed')
    parser.add_argument(
        '--folder',
        metavar='DIR',
        type=Path,
        help='for report, figures and bags, a new one; default: demo_<date>_<time>',
    )
    parser.add_argument('--json', action='store_true', help='print the result as JSON')
