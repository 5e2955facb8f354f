"""Command line of `safe-sysid replay`."""

import argparse

from safe_sysid.report.commands.values import positive

HELP = 'a recorded bag through the identifier node, at its own pace or as fast as it goes'
CARRIED_OUT_BY = 'safe_sysid.report.replay_nodes'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which bag, of which arm, and how fast."""
    parser.add_argument('bag', metavar='BAG', help='folder or file of the recording')
    parser.add_argument('--robot', metavar='NAME', default='', help='default: kinova_gen3')
    parser.add_argument('--config', metavar='YAML', default='', help='settings of the nodes')
    parser.add_argument(
        '--speed',
        metavar='X',
        type=positive,
        default=1.0,
        help='times as fast as it was recorded; default: 1, 1000 is as fast as it goes',
    )
    parser.add_argument(
        '-p',
        dest='extra',
        metavar='NODE:NAME:=VALUE',
        action='append',
        default=[],
        help='another parameter of a node, for a bag of 500 Hz say '
        'identifier:identifier.observation.longest_step:=0.003',
    )
