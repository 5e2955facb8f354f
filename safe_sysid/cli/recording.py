"""Options of every command that reads a recording."""

import argparse

from safe_sysid.cli.values import column, positive, signs


def add_recording(group: argparse._ArgumentGroup) -> None:
    """How joints, columns and signs are called in a recording."""
    group.add_argument('--topic', help='of the bag, where several topics report the joints')
    group.add_argument(
        '--joint-names', metavar='PATTERN', default='{joint}',
        help="joints in the recording, such as 'fer_joint{n}': {joint} is the name in the URDF, "
        '{i} counts from 0, {n} from 1',
    )  # fmt: skip
    group.add_argument(
        '--columns', metavar='WHAT=PATTERN', type=column, nargs='+',
        help='columns of a table: time=NAME, and position=, velocity=, effort= with a PATTERN '
        'as above, where the usual names do not fit',
    )  # fmt: skip
    group.add_argument('--rate', metavar='HZ', type=positive, help='of a table without times')
    group.add_argument(
        '--torque-sign', metavar='±1', type=signs,
        help='-1 where the driver counts torque against the joint axes; one for all joints or '
        'one each, as in --torque-sign=-1,1,1 (instead of what the settings say)',
    )  # fmt: skip
