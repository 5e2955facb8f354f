"""What a command line says of a parameter is applied or refused; ROS itself loses some of it."""

from dataclasses import dataclass, field
import sys

import pytest
import rclpy
from ros.running_node import running_node
from tiers import slow_after

from safe_sysid.config import Settings
from safe_sysid.errors import ConfigError
from safe_sysid.ros.process.configured_node import ConfiguredNode
from safe_sysid.ros.process.parameters import read_config


@dataclass(frozen=True)
class Inner(Settings):
    """Nested settings."""

    duration: float = 1.0
    count: int = 1


@dataclass(frozen=True)
class Chosen(Settings):
    """Settings of the node under test."""

    robot: str
    goal: tuple[float, ...] = ()
    inner: Inner = field(default_factory=Inner)
    reach: float | None = None


FILE = """
/**:
  ros__parameters: {robot: two_link, goal: [0.5, 1.5]}
/**/under_test:
  ros__parameters: {inner: {duration: 3.0, count: 4}, reach: 2.0}
/**/somebody_else:
  ros__parameters: {inner: {duration: 99.0}}
"""


@pytest.fixture
def settings_of(tmp_path, monkeypatch):
    """Settings of a node whose process was started with these arguments."""
    nodes = []
    first, second = tmp_path / 'settings.yaml', tmp_path / 'choices.yaml'
    first.write_text(FILE)

    def read(*arguments, choices=None):
        files = ['--params-file', str(first)]
        if choices is not None:
            second.write_text(choices)
            files += ['--params-file', str(second)]
        line = ['node', '--ros-args', *files, *arguments]
        monkeypatch.setattr(sys, 'argv', line)
        rclpy.init(args=line)
        nodes.append(ConfiguredNode('under_test'))
        return nodes[-1], read_config(nodes[-1], Chosen)

    yield read
    for node in nodes:
        node.destroy_node()
    rclpy.try_shutdown()


def chosen(text):
    return f'/**/under_test: {{ros__parameters: {{{text}}}}}'


@pytest.mark.parametrize(
    ('choices', 'name', 'value'),
    [
        ('inner.duration: 2', 'inner.duration', 2.0),  # whole, for a number with a point
        ('inner.duration: 2.5', 'inner.duration', 2.5),
        ('goal: [1, 2]', 'goal', (1.0, 2.0)),
        ('goal: []', 'goal', ()),
        ('reach: null', 'reach', None),
    ],
)
def test_the_later_file_counts_whatever_type_the_earlier_one_had(
    settings_of, choices, name, value
):
    node, config = settings_of(choices=chosen(choices))
    for part in name.split('.'):
        config = getattr(config, part)
    assert config == value
    assert type(config) is type(value)
    shown = node.get_parameter(name).value
    assert (tuple(shown) if isinstance(value, tuple) else shown) == value


def test_files_are_found_beside_the_file_that_names_them(settings_of, tmp_path, monkeypatch):
    """And only where it has none of that name, from where the process stands."""
    elsewhere = tmp_path / 'elsewhere'
    elsewhere.mkdir()
    for folder in (tmp_path, elsewhere):
        (folder / 'arm.yaml').write_text('')
    (elsewhere / 'only_here.yaml').write_text('')
    monkeypatch.chdir(elsewhere)
    assert settings_of(choices=chosen('robot: arm.yaml'))[1].robot == str(tmp_path / 'arm.yaml')
    rclpy.try_shutdown()
    for name in ('only_here.yaml', 'two_link', 'nowhere.yaml'):
        assert settings_of(choices=chosen(f'robot: {name}'))[1].robot == name
        rclpy.try_shutdown()


@pytest.mark.parametrize(
    ('choices', 'complaint'),
    [
        ('inner.duration: abc', "inner: duration: 'abc' is a str, expected float"),
        ('inner.duration: [1, 2]', r'inner: duration: \[1, 2\] is a list, expected float'),
        ('inner.duration: true', 'inner: duration: True is a bool, expected float'),
        ('inner.duration: null', 'inner: duration: None is a NoneType, expected float'),
        ('inner.count: 4.5', 'inner: count: 4.5 is a float, expected int'),
        ('inner: 5', "parameter 'inner': 5 is not a mapping"),
        ('robot: 5', 'robot: 5 is a int, expected str'),
        ('goal: 5', 'goal: 5 is not a list'),
        ('inner.duratoin: 2.0', "unknown key 'duratoin', did you mean 'duration'"),
    ],
)
def test_a_value_of_another_type_is_refused(settings_of, choices, complaint):
    with pytest.raises(ConfigError, match=complaint):
        settings_of(choices=chosen(choices))
    rclpy.try_shutdown()


def test_an_option_counts_more_than_the_file_before_it(settings_of):
    """ROS ranks what is said of all nodes below what a file says of one."""
    _, config = settings_of('-p', 'inner.duration:=2', '--param', 'under_test:reach:=1e-3')
    assert (config.inner.duration, config.reach) == (2.0, 0.001)


def test_a_list_without_entries_is_one(settings_of):
    node, config = settings_of('-p', 'goal:=[]')
    assert config.goal == ()
    assert list(node.get_parameter('goal').value) == []


def test_the_last_of_two_options_counts(settings_of):
    _, config = settings_of('-p', 'robot:=a', '-p', 'robot:=2026-01-02')
    assert config.robot == '2026-01-02'


@pytest.mark.parametrize(
    ('option', 'complaint'),
    [
        ('inner.duration:=abc', "inner: duration: 'abc' is a str, expected float"),
        ('under_tset:reach:=1.0', "'under_tset:reach:=1.0' is for a node 'under_tset'"),
        ('raech:=1.0', "unknown key 'raech', did you mean 'reach'"),
    ],
)
def test_an_option_that_means_nothing_is_refused(settings_of, option, complaint):
    with pytest.raises(ConfigError, match=complaint):
        settings_of('-p', option)
    rclpy.try_shutdown()


def test_arguments_beyond_those_of_ros_are_not_parameters(settings_of):
    _, config = settings_of('--', '-p', 'robot:=elsewhere')
    assert config.robot == 'two_link'


@pytest.mark.parametrize(
    ('option', 'complaint'),
    slow_after(
        1,
        [
            ('planner.duration:=abc', "duration: 'abc' is a str, expected float"),
            ('goal:=[1, 2.5]', 'goal:=[1, 2.5]'),  # which ROS itself does not take
        ],
    ),
)
def test_a_node_ends_with_the_status_of_refused_settings(option, complaint):
    file = ('--params-file', 'config/loop/two_link.yaml')
    with running_node('planner_node', *file, '-p', option) as process:
        _, said = process.communicate(timeout=60.0)
    assert process.returncode == 2
    assert complaint in said
    assert 'Traceback' not in said
