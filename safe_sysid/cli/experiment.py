"""Command line of `safe-sysid experiment`."""

import argparse
from pathlib import Path
import sys

from safe_sysid.cli.inputs import new_file, new_folder
from safe_sysid.output_file import write_text

HELP = "repeat a table of a paper as a campaign of trials, ours beside the paper's figures"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which table, how many trials, where they run and where rows are kept."""
    from safe_sysid.cli.setting_options import add_setting
    from safe_sysid.experiment.settings import NAMES, ExperimentSettings

    listed = '; '.join(f'{name}: {title}' for name, title in NAMES.items())
    parser.add_argument('name', choices=tuple(NAMES), metavar='NAME', help=listed)
    add_setting(parser, ExperimentSettings, 'quick', '--quick')
    add_setting(parser, ExperimentSettings, 'trials', '--trials', metavar='N')
    add_setting(parser, ExperimentSettings, 'seed', '--seed', metavar='S')
    add_setting(parser, ExperimentSettings, 'workers', '--workers', metavar='N')
    add_setting(parser, ExperimentSettings, 'cluster', '--cluster', metavar='ADDRESS')
    add_setting(parser, ExperimentSettings, 'resume', '--resume', metavar='DIR', type=Path)
    add_setting(parser, ExperimentSettings, 'out', '--out', metavar='DIR', type=new_folder)
    parser.add_argument('--report', type=new_file, metavar='FILE', help='write a page (HTML)')
    parser.add_argument('--markdown', type=new_file, metavar='FILE', help='write the tables there')
    parser.add_argument('--json', action='store_true', help='rows and tables as one JSON object')


def command(options: argparse.Namespace) -> int:
    """Carry out `safe-sysid experiment`; 1 where a promise was broken or a trial has no result."""
    from safe_sysid.api.experiment import figures, run_experiment
    from safe_sysid.cli.output import print_to_error, print_wrapped
    from safe_sysid.cli.setting_options import chosen
    from safe_sysid.experiment.settings import ExperimentSettings
    from safe_sysid.report.figures_text import as_json
    from safe_sysid.report.terminal_lines import terminal_width

    with print_to_error():
        settings = ExperimentSettings(**chosen(options, ExperimentSettings))
        result = run_experiment(options.name, settings, _to_standard_error)
    if options.json:
        print(as_json(figures(result)), flush=True)
    else:
        print_wrapped(result.result.as_text(terminal_width()))
    if options.report is not None:
        result.report(options.report)
    if options.markdown is not None:
        write_text(options.markdown, result.as_markdown())
    return 1 if result.violations or result.failures else 0


def _to_standard_error(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)
