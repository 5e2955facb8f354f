"""Command line of `safe-sysid calibrate-gains`."""

import argparse
from pathlib import Path

from safe_sysid.cli.calibrate import add_arm
from safe_sysid.cli.recording import add_recording
from safe_sysid.cli.values import positive

HELP = 'N m per unit of effort, and its sign, from recordings without and with a known payload'
CARRIED_OUT_BY = 'safe_sysid.report.calibrate_gains'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Two recordings, the arm, and what it held in the second."""
    parser.add_argument('without', metavar='BAG', type=Path, help='recording without the payload')
    parser.add_argument('loaded', metavar='BAG', type=Path, help='recording with the payload')
    add_arm(parser)
    parser.add_argument(
        '--payload', required=True, metavar='NAME|YAML',
        help='the known body: one that comes with the package, or a file like those',
    )  # fmt: skip
    parser.add_argument(
        '--cutoff', metavar='HZ', type=positive, default=10.0, help='low-pass; default: 10'
    )
    parser.add_argument('--json', action='store_true', help='one JSON object instead of a table')
    add_recording(parser.add_argument_group('the recordings'))
