"""RViz beside a loop that runs: the arm, its plan, what it may reach, what it holds, obstacles."""

from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from safe_sysid.model.shown_arm import shown_arm


def show(context):
    """Start the nodes once the name of the arm is known."""
    arm = shown_arm(LaunchConfiguration('robot').perform(context))
    namespace = LaunchConfiguration('namespace').perform(context)
    # two arms may have links of the same names: each namespace has a tree of frames of its own
    frames = [('/tf', 'tf'), ('/tf_static', 'tf_static')] if namespace else []
    config = Path(get_package_share_directory('safe_sysid')) / 'config' / 'loop.rviz'
    return [
        Node(
            package='robot_state_publisher',
            executable='robot_state_publisher',
            namespace=namespace or None,
            remappings=frames,
            parameters=[{'robot_description': arm.urdf}],
        ),
        Node(
            package='rviz2',
            executable='rviz2',
            namespace=namespace or None,
            remappings=frames,
            arguments=['-d', str(config), '-f', arm.base],
        ),
    ]


def generate_launch_description():
    """Launch description with the arguments `robot` and `namespace`."""
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                'robot',
                default_value='kinova_gen3',
                description='an arm of config/robots, or the YAML file of one',
            ),
            DeclareLaunchArgument(
                'namespace', default_value='', description='of the loop that is looked at'
            ),
            OpaqueFunction(function=show),
        ]
    )
