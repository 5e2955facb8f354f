"""The page of parameters, to which docs/ros.md sends its reader, has each one of every node."""

import importlib.util
from pathlib import Path

import pytest

from safe_sysid.loop_settings import LoopPriorSettings
from safe_sysid.ros.bridges.builtin_sim_bridge import BuiltinSimSettings
from safe_sysid.ros.nodes.controller_node import ControllerNodeSettings
from safe_sysid.ros.nodes.identifier_node import IdentifierNodeSettings
from safe_sysid.ros.nodes.supervisor_node import SupervisorNodeSettings
from safe_sysid.ros.process.parameters import leaves
from safe_sysid.ros.process.planner_settings import PlannerNodeSettings

ROOT = Path(__file__).resolve().parents[3]
KNOWN = {'lower': (0.0,) * 10, 'nominal': (0.0,) * 10, 'upper': (0.0,) * 10}
NODES = {
    'identifier': IdentifierNodeSettings,
    'planner': PlannerNodeSettings,
    'controller': ControllerNodeSettings,
    'supervisor': SupervisorNodeSettings,
    'builtin_sim_bridge': BuiltinSimSettings,
}


@pytest.fixture(scope='module')
def sections():
    """Text below each heading."""
    pytest.importorskip('mkdocs')
    place = ROOT / 'tools' / 'parameters_page.py'
    spec = importlib.util.spec_from_file_location('parameters_page', place)
    page = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(page)
    parts = page.parameters_page().split('\n## ')
    return {part.partition('\n')[0]: part for part in parts[1:]}


@pytest.mark.parametrize('node', list(NODES))
def test_the_page_has_every_parameter_of_a_node(node, sections):
    settings = NODES[node](robot='two_link', prior=LoopPriorSettings(**KNOWN))
    shown = sections[node] + sections['All nodes']
    missing = [leaf.name for leaf in leaves(settings) if f'| `{leaf.name}` |' not in shown]
    assert missing == []
