"""Parameters of a node are its settings: unknown keys stop it, all of them can be described."""

from dataclasses import dataclass, field, replace
import importlib
import math
import pkgutil
import sys
from typing import Annotated, ClassVar

import pytest
import rclpy
from rclpy.node import Node
from rclpy.parameter import Parameter

from safe_sysid import ros
from safe_sysid.config import OneOf, Positive, Range, Settings
from safe_sysid.errors import ConfigError
from safe_sysid.loop_settings import LoopSettings
from safe_sysid.ros.process.parameters import leaves, read_config, serve_changes


@dataclass(frozen=True)
class Inner(Settings):
    """Nested settings."""

    window: Annotated[int, Range(at_least=2)] = 3  # measurements per update
    errors: tuple[Positive, ...] = (0.5,)  # [N m]


@dataclass(frozen=True)
class Asked(Settings):
    """Nested settings that may change."""

    MAY_CHANGE: ClassVar = ('lower', 'upper')

    lower: Positive = 1.0  # [m]
    upper: Positive = 2.0  # [m]
    fixed: Positive = 3.0  # [m]

    def __post_init__(self):
        super().__post_init__()
        if self.lower > self.upper:
            raise ConfigError(f'lower is {self.lower}, upper is {self.upper}')


@dataclass(frozen=True)
class Changing(Settings):
    """Settings of a node, some of which may change."""

    asked: Asked = field(default_factory=Asked)


@dataclass(frozen=True)
class Chosen(Settings):
    """Settings of the node under test."""

    robot: str  # name of an arm
    speed: float = 1.0  # [rad/s] at most
    reach: float | None = None  # [m]
    inner: Inner = field(default_factory=Inner)


@pytest.fixture
def node_with():
    rclpy.init()
    nodes = []

    def make(**given):
        overrides = [Parameter(name.replace('__', '.'), value=x) for name, x in given.items()]
        nodes.append(
            Node(
                'under_test',
                automatically_declare_parameters_from_overrides=True,
                parameter_overrides=overrides,
            )
        )
        return nodes[-1]

    yield make
    for node in nodes:
        node.destroy_node()
    rclpy.try_shutdown()


def test_given_values_and_defaults_become_the_dataclass(node_with):
    node = node_with(robot='two_link', speed=2, inner__errors=[1.0, 2.0])
    config = read_config(node, Chosen)
    assert config == Chosen('two_link', 2.0, None, Inner(3, (1.0, 2.0)))


def test_every_parameter_is_described_and_fixed(node_with):
    node = node_with(robot='two_link', inner__window=4)
    read_config(node, Chosen)
    names = ['robot', 'speed', 'reach', 'inner.window', 'inner.errors']
    described = node.describe_parameters(names)
    assert [d.description for d in described] == [
        'name of an arm',
        '[rad/s] at most',
        '[m]',
        'measurements per update',
        '[N m]',
    ]
    assert all(d.read_only for d in described)
    assert list(node.get_parameter('inner.errors').value) == [0.5]
    assert not node.set_parameters([Parameter('speed', value=3.0)])[0].successful


OF_ROS = {
    'use_sim_time': True,
    'start_type_description_service': False,
    'qos_overrides./mode.publisher.depth': 3,
}


@pytest.mark.parametrize('given', [{}, OF_ROS], ids=['left alone', 'given'])
def test_what_ros_declares_itself_counts_at_the_start_and_is_fixed_then(node_with, given):
    node = node_with(robot='two_link', **given)
    read_config(node, Chosen)
    names = given or ['use_sim_time', 'start_type_description_service']
    before = {name: node.get_parameter(name).value for name in names}
    assert before == given or not given
    for name, value in before.items():
        other = not value if isinstance(value, bool) else value + 1
        (answer,) = node.set_parameters([Parameter(name, value=other)])
        assert not answer.successful
        assert answer.reason == f'Trying to set a read-only parameter: {name}.'
    assert {name: node.get_parameter(name).value for name in names} == before
    assert node.get_clock().ros_time_is_active == before['use_sim_time']


@pytest.mark.parametrize(
    ('given', 'complaint'),
    [
        ({'sped': 1.0}, "node 'under_test': unknown key 'sped', did you mean 'speed'?"),
        ({'inner__windw': 1}, "inner: unknown key 'windw', did you mean 'window'?"),
        (
            {'inner__window': 1},
            'inner: window is 1, it has to be at least 2 (measurements per update)',
        ),
        ({'speed': 'fast'}, "speed: 'fast' is a str, expected float"),
        ({'inner': 1.0}, 'inner: 1.0 is not a mapping'),
    ],
)
def test_what_is_not_allowed_stops_the_node(node_with, given, complaint):
    with pytest.raises(ConfigError) as caught:
        read_config(node_with(robot='two_link', **given), Chosen)
    assert complaint in str(caught.value)


def test_what_may_change_does_all_at_once_or_not_at_all(node_with):
    node, used = node_with(), []
    serve_changes(node, read_config(node, Changing), used.append)

    def change(**values):
        return node.set_parameters_atomically(
            [Parameter(f'asked.{name}', value=value) for name, value in values.items()]
        )

    assert change(lower=5.0, upper=6.0).successful
    assert (used[-1].asked.lower, used[-1].asked.upper) == (5.0, 6.0)
    refused = change(lower=5.5, upper=4.0)
    assert not refused.successful
    assert 'lower is 5.5, upper is 4.0; nothing was changed' in refused.reason
    fixed = change(lower=1.0, fixed=4.0)
    assert (fixed.successful, 'read-only' in fixed.reason) == (False, True)
    assert not change(lower='wide').successful
    assert len(used) == 1
    assert node.get_parameter('asked.lower').value == 5.0
    assert node.describe_parameter('asked.fixed').read_only
    assert 'may change while the node runs' in (
        node.describe_parameter('asked.lower').additional_constraints
    )


def test_what_is_refused_where_it_would_be_used_is_not_kept(node_with):
    node, used = node_with(), []

    def use(config):
        if config.asked.lower > 1.5:
            raise ConfigError('nobody is as tall')
        used.append(config.asked)

    serve_changes(node, read_config(node, Changing), use)
    (refused,) = node.set_parameters([Parameter('asked.lower', value=1.6)])
    assert (refused.successful, refused.reason) == (
        False,
        'nobody is as tall; nothing was changed',
    )
    assert node.set_parameters([Parameter('asked.upper', value=4.0)])[0].successful
    assert used == [Asked(lower=1.0, upper=4.0)]


def test_each_entry_of_a_list_has_an_answer_of_its_own_or_the_list_is_all_or_nothing(node_with):
    node, used = node_with(), []
    serve_changes(node, read_config(node, Changing), used.append)
    told = [Parameter('asked.lower', value=1.5), Parameter('asked.fixed', value=4.0)]
    assert not node.set_parameters_atomically(told).successful
    assert (used, node.get_parameter('asked.lower').value) == ([], 1.0)
    assert [each.successful for each in node.set_parameters(told)] == [True, False]
    assert node.get_parameter('asked.lower').value == 1.5


def test_a_parameter_without_a_name_is_refused(node_with):
    node = node_with(robot='two_link')
    read_config(node, Chosen)
    answer = node.set_parameters_atomically([Parameter('', value=1.0)])
    assert (answer.successful, 'has no name' in answer.reason) == (False, True)
    assert not node.has_parameter('')


def settings_of_nodes():
    """Every settings class of every node there is."""
    for module in pkgutil.walk_packages(ros.__path__, f'{ros.__name__}.'):
        importlib.import_module(module.name)
    found = []
    waiting = [LoopSettings]
    while waiting:
        found.append(waiting.pop())
        waiting += found[-1].__subclasses__()
    return found


GIVEN = {
    'robot': 'two_link',
    'prior__lower': [-1.0] * 10,
    'prior__nominal': [0.0] * 10,
    'prior__upper': [1.0] * 10,
}
NODES = pytest.mark.parametrize('cls', settings_of_nodes(), ids=lambda cls: cls.__name__)


def configured(node_with, cls):
    """A node whose parameters are such settings, and the settings."""
    given = {**GIVEN, **({'bag': 'somewhere'} if 'bag' in cls.__annotations__ else {})}
    node = node_with(**given)
    return node, read_config(node, cls)


@NODES
def test_every_parameter_of_every_node_is_described_with_its_range(node_with, cls):
    """Inherited ones too: what all nodes share is described in each of them."""
    node, config = configured(node_with, cls)
    shown = {leaf.name: leaf for leaf in leaves(config)}
    assert {'robot', 'prior.ratio', 'gains.V_M'} <= shown.keys()
    for described in node.describe_parameters(list(shown)):
        leaf = shown[described.name]
        assert described.description or leaf.name.endswith('seed'), leaf.name
        assert '\n' not in described.description and '#' not in described.description
        assert described.additional_constraints.startswith(
            ('fixed while', 'may change while')
            if leaf.allowed is None
            else ('every entry ', str(leaf.allowed))
        )
        ends = [*described.floating_point_range, *described.integer_range]
        assert len(ends) == (isinstance(leaf.allowed, Range) and not isinstance(leaf.value, tuple))
        for end in ends:
            assert leaf.value is None or end.from_value <= leaf.value <= end.to_value


@NODES
def test_what_is_just_outside_a_described_range_is_refused(node_with, cls):
    node, config = configured(node_with, cls)
    for leaf in leaves(config):
        if leaf.allowed is None:
            continue
        described = node.describe_parameter(leaf.name)
        for wrong in outside(described, leaf):
            last = leaf.name.rpartition('.')[2]
            with pytest.raises(ConfigError, match=rf'^{last} is .*, it has to be {leaf.allowed}'):
                changed(config, leaf.name, wrong)


def outside(described, leaf):
    """The nearest values beyond either end that the description shows; for lists what is said."""
    if isinstance(leaf.allowed, OneOf):
        nothing = 'nothing of these' if isinstance(leaf.allowed.values[0], str) else 0
        yield (nothing,) if isinstance(leaf.value, tuple) else nothing
        return
    if described.integer_range:
        (shown,) = described.integer_range
        ends = (shown.from_value - 1, shown.to_value + 1)
        yield from (end for end in ends if -(2**63) < end < 2**63)  # as far as ROS counts
        return
    if described.floating_point_range:
        (shown,) = described.floating_point_range
        lower, upper, each = shown.from_value, shown.to_value, lambda x: x
    else:
        lower = max(leaf.allowed.lower, -sys.float_info.max)
        upper = min(leaf.allowed.upper, sys.float_info.max)
        each = lambda x: (*leaf.value, x)  # noqa: E731 - the last entry of a list
    yield each(math.nan)
    yield each(math.nextafter(lower, -math.inf))
    yield each(math.nextafter(upper, math.inf))
    if 'above' in described.additional_constraints:
        yield each(lower)
    if 'less than' in described.additional_constraints:
        yield each(upper)


def changed(config, name, value):
    """The same settings with another value of a setting inside."""
    first, _, rest = name.partition('.')
    value = changed(getattr(config, first), rest, value) if rest else value
    return replace(config, **{first: value})


def numbers_without_a_range(config):
    """Names of settings that are numbers, or lists of them, of which any is allowed."""
    return {
        leaf.name
        for leaf in leaves(config)
        if leaf.allowed is None
        and any(
            isinstance(x, (int, float)) and not isinstance(x, bool)
            for x in (leaf.value if isinstance(leaf.value, tuple) else (leaf.value,))
        )
    }


@NODES
def test_numbers_have_a_range(node_with, cls):
    _, config = configured(node_with, cls)
    assert not numbers_without_a_range(config)
