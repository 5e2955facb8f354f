"""Command line of `safe-sysid run`."""

import argparse

from safe_sysid.cli.inputs import bag_name, payload, robot, settings_name, world

HELP = 'run the loop as ROS 2 nodes, on a simulator, a robot or a bag; what `ros2 launch` starts'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which way, which arm, and what differs from its settings file."""
    from safe_sysid.bringup.processes import BACKENDS, Choices
    from safe_sysid.cli.setting_options import add_setting

    ways = '; '.join(f'{name}: {way.summary}' for name, way in BACKENDS.items())
    parser.add_argument('name', choices=list(BACKENDS), metavar='NAME', help=ways)
    add_setting(parser, Choices, 'robot', '--robot', metavar='NAME', type=robot)
    add_setting(parser, Choices, 'config', '--config', metavar='YAML', type=settings_name)
    add_setting(parser, Choices, 'world', '--world', metavar='NAME|YAML', type=world)
    add_setting(parser, Choices, 'payload', '--payload', metavar='NAME|YAML', type=payload)
    add_setting(parser, Choices, 'record', '--record', metavar='DIR')
    add_setting(parser, Choices, 'bag', '--bag', metavar='DIR', type=bag_name)
    add_setting(parser, Choices, 'namespace', '--namespace', metavar='NAME')
    add_setting(parser, Choices, 'lockstep', '--lockstep')
    add_setting(parser, Choices, 'once', '--once')
    add_setting(parser, Choices, 'one_process', '--one-process')
    add_parameter(parser, 'another parameter of one node; without NODE of all of them')


def add_parameter(parser: argparse.ArgumentParser, meaning: str) -> None:
    """Parameters of nodes, one per option."""
    parser.add_argument(
        '-p', dest='extra', metavar='NODE:NAME:=VALUE', action='append', default=[], help=meaning
    )


def command(options: argparse.Namespace) -> int:
    """Carry out `safe-sysid run`."""
    from safe_sysid.bringup.processes import Choices, processes_of
    from safe_sysid.bringup.run import run
    from safe_sysid.cli.setting_options import chosen
    from safe_sysid.cli.warm_up import warmed_up

    choices = Choices(**chosen(options, Choices), extra=tuple(options.extra))
    processes_of(options.name, choices)  # refuses what is wrong before anything takes long
    warmed_up(terminated=0)  # as when it runs
    return run(options.name, choices)
