"""`safe-sysid demo`: an arm picks something, learns what it is and places it, as ROS 2 nodes."""

from __future__ import annotations

import argparse
import json
import time

from safe_sysid.cli.inputs import new_folder, payload

HELP = 'watch the whole loop: pick something unknown, learn on the way what it is, place it'
PROMISE_BROKEN = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the arm finds, and where results go."""
    parser.add_argument(
        '--payload',
        metavar='NAME|YAML',
        type=payload,
        default='dumbbell_8lb',
        help='what the arm picks, which nobody tells it; default: %(default)s',
    )
    simulator = parser.add_mutually_exclusive_group()
    for name in ('Drake', 'MuJoCo'):
        simulator.add_argument(
            f'--{name.lower()}',
            dest='way',
            action='store_const',
            const=f'{name.lower()}_sim',
            help=f'simulate with {name}, if installed',
        )
    parser.add_argument(
        '--out',
        '--folder',  # its former name, until 0.2
        dest='folder',
        metavar='DIR',
        type=new_folder,
        help='for report, figures and bags, a new one; default: demo_<date>_<time>',
    )
    parser.add_argument('--json', action='store_true', help='print the result as JSON')


def command(options: argparse.Namespace) -> int:
    """Carry out `safe-sysid demo`; the exit status is 1 when a promise was broken."""
    from safe_sysid.cli.demo.demonstration import choices_of, demonstrate
    from safe_sysid.cli.demo.narrator import STEPS, Narrator, for_person
    from safe_sysid.cli.demo.outcome import figures
    from safe_sysid.cli.demo.report import write_report
    from safe_sysid.cli.demo.tables import tables
    from safe_sysid.cli.warm_up import warmed_up

    way = options.way or 'builtin_sim'
    choices = choices_of(options.payload, way, options.folder)
    try:
        warmed_up()
    except BaseException:
        choices.folder.rmdir()  # in which nothing is yet; else the same command is refused
        raise
    begin = time.monotonic()
    narrator = Narrator(for_person(options.json), STEPS)
    outcome = demonstrate(choices, narrator)
    if options.json:
        whole = figures(outcome, choices, time.monotonic() - begin)
        print(json.dumps(whole, indent=2), flush=True)
    else:
        narrator.say(tables(outcome))
    report = choices.folder / 'report.html'
    narrator.work('drawing the report')
    write_report(outcome, choices, report)
    if not options.json:
        narrator.say(f'\n  report  {report}\n  bag     {choices.bag}')
        verdict = (
            'Every promise held.' if outcome.errand.ledger.is_kept else 'A promise was broken.'
        )
        narrator.say(f'\n{verdict} ({time.monotonic() - begin:.0f} s)')
    return 0 if outcome.errand.ledger.is_kept else PROMISE_BROKEN
