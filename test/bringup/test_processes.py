"""Launch files and `safe-sysid run` start the same processes, with settings that they accept."""

import ast
import dataclasses
import importlib
import json
from pathlib import Path
import re
import sys

import pytest
import yaml

from safe_sysid.api.loop_blocks import NODES
from safe_sysid.bringup.processes import (
    BACKENDS,
    BRIDGES,
    MANAGED,
    Choices,
    nodes,
    processes_of,
    started_alone,
    write_choices,
)
from safe_sysid.bringup.run import command_line
from safe_sysid.config import from_mapping
from safe_sysid.errors import ConfigError
from safe_sysid.loop_settings import LoopSettings

ROOT = Path(__file__).resolve().parents[2]
LAUNCH = ROOT / 'launch'
TWO_LINK = str(ROOT / 'config' / 'loop' / 'two_link.yaml')


BAG = {'replay': {'bag': 'bag'}}  # what a way cannot do without
DRIVERS = ('gazebo_sim', 'kinova', 'lbr_fri', 'franka')


def test_there_is_a_launch_file_for_every_way_of_running():
    files = {path.name.removesuffix('.launch.py') for path in LAUNCH.glob('*.launch.py')}
    assert files - {'show_robot', 'view'} == set(BACKENDS)


@pytest.mark.parametrize('way', [way for way in BACKENDS if way != 'loop'])
def test_a_launch_file_includes_the_loop_with_its_own_way(way):
    tree = ast.parse((LAUNCH / f'{way}.launch.py').read_text())
    described = [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Dict)]
    assert [text for text in described if "'way'" in text] == [repr({'way': way})]


def test_every_node_is_a_module_with_a_main_and_an_executable():
    for way in BACKENDS:
        for process in processes_of(way, Choices(record='bag', **BAG.get(way, {}))):
            path = ROOT / f'{process.module.replace(".", "/")}.py'
            assert 'def main() -> int:' in path.read_text(), process.node
    assert len(set(nodes())) == len(nodes())


@pytest.mark.parametrize('way', list(BACKENDS))
def test_a_command_line_has_the_settings_and_what_was_chosen(way, tmp_path):
    chosen = Choices(
        robot='two_link',
        world='' if way == 'replay' else 'shelf',
        payload='p.yaml',
        lockstep=way not in DRIVERS,
        **BAG.get(way, {}),
    )
    processes = processes_of(way, chosen)
    path = write_choices(processes, tmp_path / 'choices.yaml')
    blocks = yaml.safe_load(path.read_text())
    for process in processes:
        line = command_line(process, path)
        assert line[:3] == [sys.executable, '-m', process.module]
        assert line[4:8] == ['--params-file', str(process.settings), '--params-file', str(path)]
        own = blocks[f'/**/{process.node}']['ros__parameters']
        assert own['robot'] == 'two_link'
        assert own.get('timing') == ('lockstep' if chosen.lockstep else None)
        assert own.get('world') == ('shelf' if process.node == 'planner' else None)
    assert {process.node for process in processes} >= set(BACKENDS[way].nodes)


def test_a_parameter_can_be_given_to_one_node_or_to_all():
    extra = ('planner:planner.budget:=0.5', 'gains.V_M:=0.01', 'planner:goal:=[0.5, 1.0]')
    by_node = {p.node: p.parameters for p in processes_of('loop', Choices(extra=extra))}
    managed = {'waits_to_be_activated': True}
    planner = {'planner.budget': 0.5, 'gains.V_M': 0.01, 'goal': [0.5, 1.0]}
    assert by_node['planner'] == {**planner, **managed}
    assert by_node['controller'] == {'gains.V_M': 0.01, **managed}
    assert by_node['supervisor'] == {'gains.V_M': 0.01}


UNHURRIED = {
    ('planner', 'planner.pace'),
    ('planner', 'planner.search.ipopt_seconds'),
    ('planner', 'mission.route_seconds'),
    ('identifier', 'identifier.solve.seconds'),
    ('identifier', 'identifier.solve.fit_seconds'),
}


def budgets_of(choices, way='builtin_sim'):
    """Budgets of real time by node and name, where anything is said of them."""
    started = {each.node: each.parameters for each in processes_of(way, choices)}
    said = {(node, name): value for node, own in started.items() for name, value in own.items()}
    return {key: value for key, value in said.items() if key in UNHURRIED}


@pytest.mark.parametrize(
    'choices', [Choices(lockstep=True), Choices(extra=('timing:=lockstep',))], ids=['option', 'p']
)
def test_where_time_waits_no_work_is_ended_by_a_clock(choices):
    found = budgets_of(choices)
    assert set(found) == UNHURRIED
    assert min(found.values()) >= 1000.0  # [s], far above what any of it takes
    assert not budgets_of(Choices())


def test_a_settings_file_may_ask_for_lockstep_and_for_budgets_of_its_own(tmp_path):
    own = {'planner': {'search': {'ipopt_seconds': 0.3}}, 'mission.route_seconds': 7.0}
    shared = yaml.safe_load((ROOT / 'config/loop/two_link.yaml').read_text())['/**']
    shared['ros__parameters']['timing'] = 'lockstep'
    blocks = {'/**': shared, '/**/planner': {'ros__parameters': own}}
    path = tmp_path / 'loop.yaml'
    path.write_text(yaml.safe_dump(blocks))
    extra = ('identifier:identifier.solve.seconds:=5.0',)
    found = budgets_of(Choices(config=str(path), extra=extra))
    assert set(found) == UNHURRIED - {
        ('planner', 'planner.search.ipopt_seconds'),
        ('planner', 'mission.route_seconds'),
    }
    assert found['identifier', 'identifier.solve.seconds'] == 5.0
    assert not budgets_of(Choices(config=str(path), extra=('timing:=real_time',)))


@pytest.mark.parametrize('way', [way for way in BACKENDS if way not in ('loop', 'replay')])
def test_the_controller_may_live_in_the_process_of_a_bridge(way):
    apart, together = (processes_of(way, Choices(one_process=x)) for x in (False, True))
    bridge = next(each for each in together if each.node in BRIDGES)
    controller = next(each for each in together if each.node == 'controller')
    assert controller.host == bridge.node and bridge.parameters['has_controller'] is True
    assert not any(each.host or 'has_controller' in each.parameters for each in apart)
    assert [each.node for each in started_alone(apart)] == [each.node for each in together]
    assert controller not in started_alone(together)


@pytest.mark.parametrize('way', ['loop', 'replay'])
def test_without_a_bridge_there_is_no_process_for_two(way):
    with pytest.raises(ConfigError, match=f"'{way}' starts no bridge .*builtin_sim"):
        processes_of(way, Choices(one_process=True, **BAG.get(way, {})))


def test_keys_are_for_one_process_each(monkeypatch):
    monkeypatch.setenv('ROS_SECURITY_ENABLE', 'true')
    with pytest.raises(ConfigError, match='with SROS 2 every node has keys of its own'):
        processes_of('builtin_sim', Choices(one_process=True))


def test_a_node_waits_for_the_supervisor_only_where_there_is_one():
    for way in BACKENDS:
        has_one = 'supervisor' in BACKENDS[way].nodes
        for process in processes_of(way, Choices(**BAG.get(way, {}))):
            waits = process.parameters.get('waits_to_be_activated', False)
            assert waits == (has_one and process.node in (*MANAGED, *BRIDGES)), process.node


@pytest.mark.parametrize(
    ('choices', 'complaint'),
    [
        (Choices(robot='r2d2'), "no settings of the loop for 'r2d2', the package has"),
        (Choices(config='nowhere.yaml'), 'nowhere.yaml: there is no such settings file'),
        (Choices(config='/dev'), '/dev: is a folder, and has to be a settings file'),
        (Choices(extra=('a=1',)), "parameter 'a=1' is not NAME:=VALUE"),
        (
            Choices(extra=('planner:goal:=[1,2',)),
            r"goal:=\[1,2': \[1,2 is no list or mapping in JSON \(Expecting ',' delimiter\)",
        ),
        (Choices(extra=('library:=[dumbbell_8lb]',)), 'each text in one has double quotes'),
        (Choices(extra=('gains.K_r:=[NaN]',)), r'gains: K_r is \(nan,\), it has to be above 0'),
        (Choices(extra=('planner:gains.V_m:=0.1',)), "unknown key 'V_m', did you mean 'V_M'"),
        (Choices(extra=('plan:a:=1',)), "no node 'plan', there are"),
        (
            Choices(robot='two_link', extra=('robot:=mine.yaml',)),
            "'robot' of node 'identifier' is 'two_link' by an option of its own and 'mine.yaml' "
            'by -p; give one of them',
        ),
        (
            Choices(world='shelf', extra=('planner:world:=empty',)),
            "'world' of node 'planner' is 'shelf' by an option of its own and 'empty' by -p",
        ),
    ],
)
def test_what_cannot_be_started_is_refused(choices, complaint):
    with pytest.raises(ConfigError, match=complaint):
        processes_of('loop', choices)


COMMON = {  # what all nodes have to agree on, each in JSON and not as the two-link loop has it
    'robot': '"kinova_gen3"',
    'prior.ratio': '0.3',
    'prior.lower': str([0.8, 0.2, -0.05, -0.05, 0.0, -0.02, 0.06, -0.02, -0.02, 0.06]),
    'prior.uncertainty.coulomb.ratio': '[0.5]',
    'period': '0.002',
    'gains.K_r': '[9.0]',
    'gains.V_M': '0.0001',
    'gains.sign_speed': '0.1',
    'payload': '"dumbbell_8lb"',
    'library': '["dumbbell_8lb"]',
    'grasp.displaced': '0.5',
    'timing': '"lockstep"',
    'sampling': '"described"',
    'promise': '"none"',
    'simulated': 'false',
    'assumed.uncertainty.mass.ratio': '[0.2]',
}


def test_every_setting_that_nodes_share_is_among_those():
    names = {field.name for field in dataclasses.fields(LoopSettings)}
    assert {name.partition('.')[0] for name in COMMON} == names


@pytest.mark.parametrize('node', ['planner', 'builtin_sim_bridge', 'monitor'])
@pytest.mark.parametrize('name', COMMON)
def test_nodes_that_would_not_agree_are_not_started(name, node):
    chosen = Choices(config=TWO_LINK, extra=(f'{node}:{name}:={COMMON[name]}',))
    complaint = f'{name} is .* for the {node} and .* for the identifier, and all nodes have to'
    with pytest.raises(ConfigError, match=complaint):
        processes_of('builtin_sim', chosen)


@pytest.mark.parametrize('name', sorted(COMMON.keys() - {'simulated'}))
def test_what_is_said_to_all_nodes_is_agreed_on(name):
    chosen = Choices(config=TWO_LINK, extra=(f'{name}:={COMMON[name]}',))
    assert all(name in p.parameters for p in processes_of('builtin_sim', chosen))


def test_blocks_of_a_settings_file_that_would_not_agree_are_refused(tmp_path):
    block = '/**/controller:\n  ros__parameters:\n'
    path = settings_with(tmp_path, block, f'{block}    gains: {{V_M: 0.0001}}\n')
    complaint = r'gains.V_M is 0.0001 for the controller and 0.002 for the .*: -p gains.V_M:=VALUE'
    with pytest.raises(ConfigError, match=complaint):
        processes_of('builtin_sim', Choices(config=path))


def test_a_node_that_is_told_the_same_in_other_words_agrees():
    same = ('planner:gains.V_M:=2e-3', 'recorder:sampling:=ideal', 'controller:gains.K_r:=[10]')
    assert processes_of('builtin_sim', Choices(config=TWO_LINK, record='bag', extra=same))


@pytest.mark.parametrize(
    ('way', 'choices', 'complaint'),
    [
        (
            'builtin_sim',
            {'extra': ('drake_bridge:start:=[1,1]',)},
            r"parameter 'drake_bridge:start:=\[1,1\]': 'builtin_sim' starts \['identifier', "
            r".*'monitor'\], and no 'drake_bridge'$",
        ),
        (
            'builtin_sim',
            {'extra': ('recorder:required:=true',)},
            "and no 'recorder'; record starts it$",
        ),
        ('replay', {'bag': 'bag', 'extra': ('planner:goal:=[1.0]',)}, "and no 'planner'$"),
        (
            'replay',
            {'bag': 'bag', 'world': 'shelf'},
            r"world: is for the node planner, and 'replay' starts \['identifier', 'replay_bridge'",
        ),
        ('builtin_sim', {'bag': 'bag'}, "bag: is for the node replay_bridge, and 'builtin_sim'"),
        ('loop', {'speed': 2.0}, "speed: is for the node replay_bridge, and 'loop' starts"),
        ('replay', {}, 'bag: is not given, it has to be the folder or file of a recording'),
    ],
)
def test_what_no_node_of_a_run_would_use_is_refused(way, choices, complaint):
    with pytest.raises(ConfigError, match=complaint):
        processes_of(way, Choices(**choices))


def test_a_recorder_that_is_started_has_parameters_and_a_bag_may_be_one():
    recorded = Choices(record='bag', extra=('recorder:required:=true',))
    assert 'recorder' in {each.node for each in processes_of('builtin_sim', recorded)}
    assert processes_of('replay', Choices(extra=('replay_bridge:bag:=bag',)))


@pytest.mark.parametrize('way', DRIVERS)
@pytest.mark.parametrize('choices', [{'lockstep': True}, {'extra': ('timing:=lockstep',)}])
def test_a_driver_is_not_run_in_lockstep(way, choices):
    complaint = f"timing is lockstep, and '{way}' has a driver behind its .*, whose time waits"
    with pytest.raises(ConfigError, match=complaint):
        processes_of(way, Choices(**choices))


def test_the_same_said_twice_is_accepted():
    chosen = Choices(robot='two_link', extra=('robot:=two_link',))
    assert {p.parameters['robot'] for p in processes_of('loop', chosen)} == {'two_link'}


def settings_with(folder, old, new):
    """Settings of the two-link loop in which a text stands in place of another."""
    path = folder / 'loop.yaml'
    text = (ROOT / 'config' / 'loop' / 'two_link.yaml').read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    return str(path)


def test_a_block_of_a_settings_file_that_means_no_node_is_refused(tmp_path):
    path = settings_with(tmp_path, '/**/planner:', '/**/plannner:')
    with pytest.raises(ConfigError, match=r"'/\*\*/plannner' means no node, there are"):
        processes_of('loop', Choices(config=path))


@pytest.mark.parametrize(
    ('block', 'way', 'namespace', 'complaint'),
    [
        (
            'planner',
            'kinova',
            '',
            "'planner' means /planner, and this run has /safe_sysid/planner: write '/**/planner'",
        ),
        (
            '/left/planner',
            'loop',
            '',
            "'/left/planner' means /left/planner, and this run has /planner: write '/**/planner'",
        ),
        (
            '/*/planner',
            'loop',
            '',
            "'/*/planner' means /*/planner, and this run has /planner: write '/**/planner'",
        ),
        ('*', 'loop', 'left', "'*' means /*, and this run has /left/identifier: write '/**'"),
        ('/left/**', 'loop', 'right', 'means /left/**, and this run has /right/identifier'),
    ],
)
def test_a_block_for_another_namespace_is_refused(tmp_path, block, way, namespace, complaint):
    path = settings_with(tmp_path, '/**/planner:', f"'{block}':")
    with pytest.raises(ConfigError, match=re.escape(complaint)):
        processes_of(way, Choices(config=path, namespace=namespace))


@pytest.mark.parametrize(
    ('block', 'way', 'namespace'),
    [
        ('planner', 'loop', ''),
        ('/planner', 'loop', ''),
        ('/safe_sysid/planner', 'builtin_sim', 'safe_sysid'),
        ('/*/planner', 'builtin_sim', 'left'),
        ('left/planner', 'loop', '/left'),
        ('/cell/**/planner', 'loop', 'cell/left'),
    ],
)
def test_a_block_for_the_namespace_of_a_run_is_one_that_its_node_reads(
    tmp_path, block, way, namespace
):
    """In lockstep budgets are widened but for those that the file states, so it was read."""
    named = f"'{block}':\n  ros__parameters:\n    mission.route_seconds: 7.0"
    path = settings_with(tmp_path, '/**/planner:\n  ros__parameters:', named)
    chosen = Choices(config=path, namespace=namespace, extra=('timing:=lockstep',))
    planner = next(p for p in processes_of(way, chosen) if p.node == 'planner')
    assert 'mission.route_seconds' not in planner.parameters
    assert planner.parameters['planner.pace'] >= 1000.0


def test_a_block_without_parameters_is_refused(tmp_path):
    path = tmp_path / 'loop.yaml'
    path.write_text('/**: {ros__parameters: {robot: two_link}}\n/**/planner: {goal: [0.1, 0.2]}\n')
    with pytest.raises(ConfigError, match=r"'/\*\*/planner/goal' is \[0.1, 0.2\]; a block of"):
        processes_of('loop', Choices(config=str(path)))


@pytest.mark.parametrize('where', ['/proc/bag', '/dev/null/bag', '/dev/full'])
def test_a_recording_that_cannot_be_written_is_refused_before_anything_starts(where):
    with pytest.raises(ConfigError, match=f'record: {where} cannot be made, nothing can be'):
        processes_of('builtin_sim', Choices(record=where))


def test_a_way_that_does_not_exist_is_refused():
    with pytest.raises(ConfigError, match=r"no way to run 'moon', there are \['loop', "):
        processes_of('moon', Choices())


SETTINGS = sorted((ROOT / 'config' / 'loop').glob('*.yaml'))


@pytest.mark.parametrize('path', SETTINGS, ids=lambda path: path.stem)
def test_nodes_accept_the_settings_of_the_package(path):
    """Every key is known to its node, every value in range."""
    blocks = yaml.safe_load(path.read_text())
    shared = blocks.pop('/**')['ros__parameters']
    assert shared['robot'] == path.stem
    assert {name.removeprefix('/**/') for name in blocks} <= set(nodes())
    for node in nodes():
        own = blocks.get(f'/**/{node}', {}).get('ros__parameters', {})
        needed = {'bag': 'folder'} if node == 'replay_bridge' else {}
        settings = settings_class(node)
        settings_of_node = from_mapping(settings, {**shared, **own, **needed}, node)
        assert settings_of_node.robot == path.stem


def test_python_knows_the_settings_of_every_node():
    everybody = {field.name for field in dataclasses.fields(LoopSettings)}
    assert list(NODES) == nodes()
    for node, own in NODES.items():
        fields = {field.name for field in dataclasses.fields(settings_class(node))}
        assert set(own) == fields - everybody, node


def settings_class(node):
    """Dataclass whose fields are the parameters of a node."""
    name = f'bridges/{node}' if node.endswith('_bridge') else f'nodes/{node}_node'
    tree = ast.parse((ROOT / 'safe_sysid' / 'ros' / f'{name}.py').read_text())
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call)]
    read = [c.args[1].id for c in calls if getattr(c.func, 'id', '') == 'read_config']
    module = importlib.import_module(f'safe_sysid.ros.{name.replace("/", ".")}')
    classes = [c for c in vars(module).values() if isinstance(c, type)]
    own = [
        c for c in classes if c.__module__ == module.__name__ and c.__name__.endswith('Settings')
    ]
    return getattr(module, read[0]) if read else own[0]


def test_choices_are_json_which_is_yaml(tmp_path):
    path = write_choices(processes_of('loop', Choices(once=True)), tmp_path / 'c.yaml')
    assert json.loads(path.read_text()) == yaml.safe_load(path.read_text())
