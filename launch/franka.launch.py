"""The loop on a Franka robot through libfranka."""

from pathlib import Path

from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource


def generate_launch_description():
    """Describe the loop with all its arguments, and what it runs on."""
    loop = PythonLaunchDescriptionSource(str(Path(__file__).with_name('loop.launch.py')))
    return LaunchDescription(
        [IncludeLaunchDescription(loop, launch_arguments={'way': 'franka'}.items())]
    )
