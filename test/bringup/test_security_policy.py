"""Policies of SROS 2: of the form of their schema, an enclave for each process, no more rights."""

from pathlib import Path
import re
from xml.etree import ElementTree

import pytest

from safe_sysid.bringup.processes import BACKENDS, Choices, nodes, processes_of, write_choices
from safe_sysid.bringup.ros_graph import ACTIONS, EVERYTHING, TRIGGERS, graph_of
from safe_sysid.bringup.run import command_line
from safe_sysid.cli.main import main

DOCS = Path(__file__).resolve().parents[2] / 'docs'
# policy.xsd of sros2 0.2.0: children of each element, and its attributes
CHILDREN = {
    'policy': {'contexts'},
    'contexts': {'context'},
    'context': {'profiles'},
    'profiles': {'profile'},
    'profile': {'topics', 'services', 'actions'},
    'topics': {'topic'},
    'services': {'service'},
    'actions': {'action'},
}
ATTRIBUTES = {
    'policy': [{'version'}],
    'context': [{'path'}],
    'profiles': [{'type'}],
    'profile': [{'ns', 'node'}],
    'topics': [{'publish'}, {'subscribe'}],
    'services': [{'reply'}, {'request'}],
    'actions': [{'call'}, {'execute'}],
}
NAME = re.compile(r'(/|~/)?[a-z*][a-z0-9_*]*(/[a-z*_][a-z0-9_*]*)*')


def printed(capsys, *words):
    assert main(['security-policy', *words]) == 0
    return ElementTree.fromstring(capsys.readouterr().out)


@pytest.mark.parametrize('way', list(BACKENDS))
def test_a_policy_is_one_of_the_schema_with_an_enclave_for_each_process(way, capsys):
    policy = printed(capsys, way, '--namespace', 'left')
    for element in policy.iter():
        assert {child.tag for child in element} <= CHILDREN.get(element.tag, set())
        assert set(element.attrib) in ATTRIBUTES.get(element.tag, [set()])
        assert element.tag not in CHILDREN or len(element)
        if not len(element):
            assert NAME.fullmatch(element.text), element.text
    paths = {context.get('path') for context in policy.iter('context')}
    processes = processes_of(
        way, Choices(namespace='left', record='bag', bag='bag' if way == 'replay' else '')
    )
    assert {process.enclave for process in processes} <= paths
    assert len(paths) == len(list(policy.iter('context')))


def test_only_the_supervisor_names_the_mode_and_only_a_bridge_is_the_arm(capsys):
    """And who may command a torque is the controller alone, also among operators."""
    policy = printed(capsys, 'builtin_sim')
    saying = {}
    for context in policy.iter('context'):
        for topics in context.iter('topics'):
            for topic in topics if topics.get('publish') == 'ALLOW' else ():
                saying.setdefault(topic.text, set()).add(context.get('path'))
    assert saying['mode'] == {'/supervisor'}
    assert saying['torque_command'] == saying['plan_in_force'] == {'/controller'}
    assert saying['joint_states'] == {'/builtin_sim_bridge'}
    assert saying['plan'] == {'/planner'}
    assert EVERYTHING not in saying


def test_processes_are_told_their_enclave_where_security_is_asked_for(monkeypatch, tmp_path):
    (process, *_) = processes_of('builtin_sim', Choices(namespace='left'))
    chosen = write_choices([process], tmp_path / 'choices.yaml')
    monkeypatch.delenv('ROS_SECURITY_ENABLE', raising=False)
    assert '--enclave' not in command_line(process, chosen)
    monkeypatch.setenv('ROS_SECURITY_ENABLE', 'true')
    assert command_line(process, chosen)[-2:] == ['--enclave', '/left/identifier']


def test_the_page_has_every_topic_service_and_action():
    """In the tables of docs/ros.md, as code."""
    page = (DOCS / 'ros.md').read_text()
    rows = ' '.join(line for line in page.splitlines() if line.startswith('|'))
    for node in nodes():
        graph = graph_of(node)
        for name in (*graph.says, *graph.hears):
            driver = node in ('ros2_control_bridge', 'lbr_fri_bridge') and name.startswith('/')
            if '*' not in name and not driver:
                assert f'`{name}`' in rows, f'{name} of {node}'
    for name in (*TRIGGERS, *ACTIONS):
        assert f'`supervisor/{name}`' in rows, name
