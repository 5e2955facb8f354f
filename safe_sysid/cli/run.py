"""Command line of `safe-sysid run`."""

import argparse

HELP = 'run the loop as ROS 2 nodes, on a simulator, a robot or a bag; what `ros2 launch` starts'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which way, which arm, and what differs from its settings file."""
    from safe_sysid.bringup.processes import BACKENDS, ROBOT

    ways = '; '.join(f'{name}: {way.summary}' for name, way in BACKENDS.items())
    parser.add_argument('name', choices=list(BACKENDS), metavar='NAME', help=ways)
    parser.add_argument('--robot', metavar='NAME', default='', help=f'default: {ROBOT}')
    parser.add_argument(
        '--config', metavar='YAML', default='', help='settings of the nodes, not config/loop/ROBOT'
    )
    parser.add_argument('--world', metavar='NAME|YAML', default='', help='obstacles')
    parser.add_argument('--payload', metavar='NAME|YAML', default='', help='what the arm may hold')
    parser.add_argument('--record', metavar='DIR', default='', help='record a bag into DIR')
    parser.add_argument('--bag', metavar='DIR', default='', help='replay: the bag to play')
    parser.add_argument(
        '--lockstep',
        action='store_true',
        help='simulators and replay: time waits for every answer, so that results do not depend '
        'on the speed of the machine',
    )
    parser.add_argument(
        '--once',
        action='store_true',
        help='end when the task is done, or with status 1 at a fault',
    )
    add_parameter(parser, 'another parameter of one node; without NODE of all of them')


def add_parameter(parser: argparse.ArgumentParser, meaning: str) -> None:
    """Parameters of nodes, one per option."""
    parser.add_argument(
        '-p', dest='extra', metavar='NODE:NAME:=VALUE', action='append', default=[], help=meaning
    )


def command(options: argparse.Namespace) -> int:
    """Carry out `safe-sysid run`."""
    from safe_sysid.bringup.processes import Choices
    from safe_sysid.bringup.run import run

    choices = Choices(
        options.robot,
        options.config,
        options.world,
        options.payload,
        options.record,
        options.bag,
        options.lockstep,
        options.once,
        tuple(options.extra),
    )
    return run(options.name, choices)
