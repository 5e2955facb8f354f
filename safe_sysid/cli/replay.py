"""Command line of `safe-sysid replay`."""

import argparse

from safe_sysid.cli.run import add_parameter
from safe_sysid.cli.values import positive

HELP = 'play a recorded bag through the identifier node, at its own pace or as fast as possible'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which bag, of which arm, and how fast."""
    parser.add_argument('bag', metavar='BAG', help='folder or file of the recording')
    parser.add_argument('--robot', metavar='NAME', default='', help='default: kinova_gen3')
    parser.add_argument('--config', metavar='YAML', default='', help='settings of the nodes')
    pace = parser.add_mutually_exclusive_group()
    pace.add_argument(
        '--speed',
        metavar='X',
        type=positive,
        default=1.0,
        help='times as fast as it was recorded; default: 1. The identifier loses samples where '
        'it is not fast enough',
    )
    pace.add_argument(
        '--lockstep',
        action='store_true',
        help='as fast as it goes: samples wait for the identifier, none is lost, and what comes '
        'out does not depend on the speed of the machine',
    )
    add_parameter(
        parser,
        'another parameter of a node, for a bag of 500 Hz say '
        'identifier:identifier.observation.longest_step:=0.003',
    )


def command(options: argparse.Namespace) -> int:
    """Carry out `safe-sysid replay`: `safe-sysid run replay` with a bag, until its end."""
    from safe_sysid.bringup.processes import Choices
    from safe_sysid.bringup.run import run

    choices = Choices(
        robot=options.robot,
        config=options.config,
        bag=options.bag,
        is_lockstep=options.lockstep,
        once=True,
        extra=(f'replay_bridge:speed:={options.speed}', *options.extra),
    )
    return run('replay', choices)
