"""Command line of `safe-sysid replay`."""

import argparse

from safe_sysid.cli.inputs import bag, robot, settings_name
from safe_sysid.cli.run import add_parameter

HELP = 'play a recorded bag through the identifier node, at its own pace or as fast as possible'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which bag, of which arm, and how fast."""
    from safe_sysid.bringup.processes import Choices
    from safe_sysid.cli.setting_options import add_setting

    parser.add_argument('bag', metavar='BAG', type=bag, help='folder or file of the recording')
    add_setting(parser, Choices, 'robot', '--robot', metavar='NAME', type=robot)
    add_setting(parser, Choices, 'config', '--config', metavar='YAML', type=settings_name)
    pace = parser.add_mutually_exclusive_group()
    add_setting(pace, Choices, 'speed', '--speed', metavar='X')
    add_setting(pace, Choices, 'lockstep', '--lockstep')
    add_parameter(
        parser,
        'another parameter of a node, for a bag of 500 Hz say '
        'identifier:identifier.observation.longest_step:=0.003',
    )


def command(options: argparse.Namespace) -> int:
    """Carry out `safe-sysid replay`: `safe-sysid run replay` with a bag, until its end."""
    from safe_sysid.bringup.processes import Choices
    from safe_sysid.bringup.run import run
    from safe_sysid.cli.setting_options import chosen

    said = chosen(options, Choices)
    choices = Choices(**said, bag=str(options.bag), once=True, extra=tuple(options.extra))
    return run('replay', choices)
