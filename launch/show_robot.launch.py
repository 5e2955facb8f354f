"""Look at an arm: its URDF in RViz, with a slider for every joint."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from safe_sysid.model.shown_arm import shown_arm


def show(context):
    """Start the nodes once the name of the arm is known."""
    arm = shown_arm(LaunchConfiguration('robot').perform(context))
    return [
        Node(
            package='robot_state_publisher',
            executable='robot_state_publisher',
            parameters=[{'robot_description': arm.urdf}],
        ),
        Node(package='joint_state_publisher_gui', executable='joint_state_publisher_gui'),
        Node(package='rviz2', executable='rviz2', arguments=['-f', arm.base]),
    ]


def generate_launch_description():
    """Launch description with the argument `robot`."""
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                'robot',
                default_value='kinova_gen3',
                description='an arm of config/robots, or the YAML file of one',
            ),
            OpaqueFunction(function=show),
        ]
    )
