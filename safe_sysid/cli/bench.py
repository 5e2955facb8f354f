"""Command line of `safe-sysid bench`."""

import argparse
from pathlib import Path
import sys

from safe_sysid.bench.members import FORMER, MEMBERS
from safe_sysid.cli.values import count

HELP = 'measure one part: speed, scaling, tightness; a seed makes figures reproducible'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which part, how many trials, and how to answer."""
    parser.add_argument(
        'name', choices=[*MEMBERS, *FORMER], metavar='NAME', help=', '.join(MEMBERS)
    )
    parser.add_argument('--trials', metavar='N', type=count, help='random trials')
    parser.add_argument('--seed', metavar='S', type=int, default=1, help='default: 1')
    parser.add_argument('--quick', action='store_true', help='less of everything, under 40 s')
    parser.add_argument(
        '--table4', action='store_true', help='identify: only the condition numbers of Table IV'
    )
    parser.add_argument('--plots', metavar='DIR', type=Path, help='draw the plots into DIR')
    parser.add_argument('--json', action='store_true', help='one JSON object instead of a table')


def command(options: argparse.Namespace) -> int:
    """Carry out `safe-sysid bench`."""
    from safe_sysid.bench.runner import BenchSettings, run
    from safe_sysid.cli.output import print_to_error
    from safe_sysid.report.figures_text import as_json, as_table

    settings = BenchSettings(
        options.trials, options.seed, options.quick, options.plots, options.table4
    )
    with print_to_error():
        figures = run(options.name, settings, _to_standard_error)
    print(as_json(figures) if options.json else as_table(figures))
    return 0


def _to_standard_error(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)
