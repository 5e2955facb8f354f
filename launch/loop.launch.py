"""The online loop; the other launch files include this one, and say on what it runs."""

import os
from pathlib import Path
from tempfile import mkdtemp

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction, Shutdown
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from safe_sysid.bringup.isolation import is_secured
from safe_sysid.bringup.processes import (
    BACKENDS,
    BRIDGES,
    OBSERVERS,
    Choices,
    processes_of,
    started_alone,
    write_choices,
)
from safe_sysid.config import meanings

SAID = meanings(Choices)
ARGUMENTS = {
    'way': ('loop', f'on what the loop runs: {", ".join(BACKENDS)}'),
    **{
        name: ('', SAID[name])
        for name in ('robot', 'config', 'world', 'payload', 'record', 'bag', 'namespace')
    },
    'one_process': ('false', f'{SAID["one_process"]}; true or false'),
}
ENDS_ALL = (0, 2, 3)  # done, settings refused, done with a fault; other processes crashed
CRASHES = 9  # of one process that are put up with
ASKED_AGAIN = '60'  # [s] after the first request to end
LEFT_ALONE = '86400'  # [s], for who holds an arm until something else does
KILLED = '5'  # [s] after the second request


def end_all(event, _):
    """End all when a process came to its end; one that crashed is started again."""
    return [Shutdown()] if event.returncode in ENDS_ALL else []


def go_on(*_):
    """Without one that only looks on."""
    return []


def start(context):
    """Start the nodes, once the arguments are known."""
    chosen = {name: LaunchConfiguration(name).perform(context) for name in ARGUMENTS}
    way = chosen.pop('way')
    is_said = chosen.pop('one_process')
    if is_said not in ('true', 'false'):
        raise ValueError(f"one_process is '{is_said}', it has to be true or false")
    processes = processes_of(way, Choices(**chosen, one_process=is_said == 'true'))
    choices = write_choices(processes, Path(mkdtemp(prefix='safe_sysid_')) / 'choices.yaml')
    return [
        Node(
            package='safe_sysid',
            executable=process.executable,
            namespace=process.namespace or None,
            remappings=[('/clock', process.clock)] if process.clock != '/clock' else [],
            parameters=[str(process.settings), str(choices)],
            ros_arguments=['--enclave', process.enclave] if is_secured(os.environ) else [],
            output='screen',
            respawn=True,
            respawn_delay=1.0,
            respawn_max_retries=CRASHES,
            sigterm_timeout=ASKED_AGAIN,
            sigkill_timeout=LEFT_ALONE if process.node in BRIDGES else KILLED,
            on_exit=go_on if process.node in OBSERVERS else end_all,
        )
        for process in started_alone(processes)
    ]


def generate_launch_description():
    """Arguments, and the nodes that follow from them."""
    declared = [
        DeclareLaunchArgument(name, default_value=default, description=description)
        for name, (default, description) in ARGUMENTS.items()
    ]
    return LaunchDescription([*declared, OpaqueFunction(function=start)])
