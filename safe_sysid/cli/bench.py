"""Command line of `safe-sysid bench`."""

import argparse
import sys

from safe_sysid.cli.inputs import existing, new_folder
from safe_sysid.cli.output import print_figures

HELP = 'measure one part: speed, scaling, tightness; a seed makes figures reproducible'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which part, how many trials, and how to answer."""
    from safe_sysid.bench.settings import FORMER, MEMBERS, BenchSettings
    from safe_sysid.cli.setting_options import add_setting

    parser.add_argument(
        'name', choices=[*MEMBERS, *FORMER], metavar='NAME', help=', '.join(MEMBERS)
    )
    add_setting(parser, BenchSettings, 'trials', '--trials', metavar='N')
    add_setting(parser, BenchSettings, 'seed', '--seed', metavar='S')
    add_setting(parser, BenchSettings, 'quick', '--quick')
    add_setting(parser, BenchSettings, 'parts', '--parts', metavar='DIR', type=new_folder)
    add_setting(parser, BenchSettings, 'table4', '--table4')
    add_setting(parser, BenchSettings, 'arms', '--arms')
    add_setting(parser, BenchSettings, 'data', '--data', metavar='DIR', type=existing)
    add_setting(parser, BenchSettings, 'plots', '--plots', metavar='DIR', type=new_folder)
    parser.add_argument('--json', action='store_true', help='one JSON object instead of a table')


def command(options: argparse.Namespace) -> int:
    """Carry out `safe-sysid bench`."""
    from safe_sysid.bench.runner import measured
    from safe_sysid.bench.settings import BenchSettings
    from safe_sysid.cli.output import print_to_error
    from safe_sysid.cli.setting_options import chosen

    settings = BenchSettings(**chosen(options, BenchSettings))
    with print_to_error():
        found = measured(options.name, settings, _to_standard_error)
    print_figures(found.figures, for_programs=options.json)
    found.draw(settings.plots)
    return 0


def _to_standard_error(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)
