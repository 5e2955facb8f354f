"""Command line of `safe-sysid calibrate-drift`."""

import argparse
from pathlib import Path

from safe_sysid.cli.calibrate import add_arm
from safe_sysid.cli.recording import add_recording
from safe_sysid.cli.values import positive

HELP = 'would hand guiding drift? external torque of a recording in which nobody touches the arm'
CARRIED_OUT_BY = 'safe_sysid.report.calibrate_drift'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which recording, which arm, and what to compare it with."""
    parser.add_argument(
        'recordings', metavar='BAG', type=Path, nargs='+',
        help='folder of a bag, a .db3 or .mcap file, or a .csv with named columns',
    )  # fmt: skip
    add_arm(parser)
    parser.add_argument(
        '--against', metavar='NAME|YAML|URDF',
        help='another description of the arm to compare with, such as the one before calibration',
    )  # fmt: skip
    parser.add_argument(
        '--cutoff', metavar='HZ', type=positive, default=10.0, help='low-pass; default: 10'
    )
    parser.add_argument(
        '--dead-zone', metavar='N', type=positive, nargs=6,
        help='three forces [N], three moments [N m]; default: 2 2 2 0.1 0.1 0.1',
    )  # fmt: skip
    parser.add_argument('--json', action='store_true', help='one JSON object instead of a table')
    add_recording(parser.add_argument_group('the recordings'))
