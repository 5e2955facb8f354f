"""Launch files under the real `launch` start what `safe-sysid run` starts."""

import importlib.util
from pathlib import Path

import pytest

from safe_sysid.bringup.processes import BACKENDS, Choices, processes_of

NOT_HERE = 'launch_ros is on no package index: make launch-tests'
launch = pytest.importorskip('launch', reason=NOT_HERE)
actions = pytest.importorskip('launch_ros.actions', reason=NOT_HERE)

LAUNCH = Path(__file__).resolve().parent.parent.parent / 'launch'


def started_by(path, **arguments):
    """Executables and namespaces of the nodes that a launch file would start."""
    spec = importlib.util.spec_from_file_location('launch_file', path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    context = launch.LaunchContext()
    context.launch_configurations.update(arguments)
    waiting, found = [module.generate_launch_description()], []
    while waiting:
        entity = waiting.pop(0)
        if isinstance(entity, actions.Node):
            found.append(entity.node_executable)
        else:
            waiting = [*(entity.visit(context) or []), *waiting]
    return found


@pytest.mark.parametrize('way', list(BACKENDS))
def test_a_launch_file_starts_the_processes_of_its_way(way):
    needed = {'bag': 'bag'} if way == 'replay' else {}
    expected = [process.executable for process in processes_of(way, Choices(**needed))]
    assert started_by(LAUNCH / f'{way}.launch.py', **needed) == expected


def test_arguments_reach_the_processes():
    started = started_by(LAUNCH / 'builtin_sim.launch.py', robot='two_link', record='bag')
    assert 'recorder_node' in started
    together = started_by(LAUNCH / 'builtin_sim.launch.py', one_process='true')
    assert 'controller_node' not in together and 'builtin_sim_bridge' in together
