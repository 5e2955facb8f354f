"""The loop on Gazebo through ros2_control; the simulated arm runs an effort controller."""

from pathlib import Path

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription, OpaqueFunction
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from safe_sysid.model.urdf_tree import urdf_text


def publish(context):
    """Start who publishes the URDF, which the plugin of Gazebo asks for, if one is named."""
    description = LaunchConfiguration('description').perform(context)
    if not description:
        return []
    text = urdf_text(Path(description))
    return [
        Node(
            package='robot_state_publisher',
            executable='robot_state_publisher',
            parameters=[{'robot_description': text, 'use_sim_time': True}],
        )
    ]


def generate_launch_description():
    """Describe the loop with all its arguments, and what it runs on."""
    loop = PythonLaunchDescriptionSource(str(Path(__file__).with_name('loop.launch.py')))
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                'description',
                default_value='',
                description='URDF of `safe-sysid export-gazebo`, for robot_state_publisher; none: '
                'somebody else publishes it',
            ),
            OpaqueFunction(function=publish),
            IncludeLaunchDescription(loop, launch_arguments={'way': 'gazebo_sim'}.items()),
        ]
    )
