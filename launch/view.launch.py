"""RViz beside a loop that runs: the arm, its plan, what it may reach, obstacles."""

from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node


def show(context):
    """Start the nodes once the name of the arm is known."""
    robot = LaunchConfiguration('robot').perform(context)
    share = Path(get_package_share_directory('safe_sysid'))
    urdf = share / 'urdf' / f'{robot}.urdf'
    description = {'robot_description': urdf.read_text(encoding='utf-8')}
    return [
        Node(
            package='robot_state_publisher',
            executable='robot_state_publisher',
            parameters=[description],
        ),
        Node(
            package='rviz2', executable='rviz2', arguments=['-d', str(share / 'config/loop.rviz')]
        ),
    ]


def generate_launch_description():
    """Launch description with the argument `robot`."""
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                'robot',
                default_value='kinova_gen3',
                description='an arm of urdf/: kinova_gen3, lbr_med7 or two_link',
            ),
            OpaqueFunction(function=show),
        ]
    )
