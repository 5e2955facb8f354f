"""`safe-sysid export-gazebo`: an arm as URDF, controllers and settings for Gazebo."""

import argparse

from safe_sysid.cli.inputs import add_config, new_folder, robot
from safe_sysid.cli.values import period

HELP = 'write an arm for Gazebo: URDF with friction and ros2_control, controllers, settings'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which arm, for which Gazebo, and where to."""
    parser.add_argument(
        'robot', metavar='ROBOT', type=robot,
        help='an arm that comes with the package, its settings (YAML), or a URDF',
    )  # fmt: skip
    add_config(parser)
    parser.add_argument(
        '--distribution', choices=('humble', 'jazzy', 'kilted'), required=True,
        help='of ROS; humble is taken to come with Fortress, the others with Harmonic or Ionic',
    )  # fmt: skip
    parser.add_argument(
        '--period', metavar='SECONDS', type=period, default=0.001, help='of the loop'
    )
    parser.add_argument(
        '--out',
        metavar='DIR',
        type=new_folder,
        required=True,
        help='folder for URDF and controllers',
    )


def command(options: argparse.Namespace) -> int:
    """Carry out `safe-sysid export-gazebo`."""
    from safe_sysid.export.gazebo import write_gazebo
    from safe_sysid.model.arm import arm_of

    arm = arm_of(options.robot, options.config)
    for path in write_gazebo(arm, options.distribution, options.period, options.out):
        print(path)
    return 0
