"""Parameters of a node are its settings: unknown keys stop it, all of them can be described."""

from dataclasses import dataclass, field

import pytest
import rclpy
from rclpy.node import Node
from rclpy.parameter import Parameter

from safe_sysid.errors import ConfigError
from safe_sysid.nodes.loop_settings import PriorSettings
from safe_sysid.nodes.recorder_node import RecorderSettings
from safe_sysid.nodes.ros2_control_bridge import Ros2ControlSettings
from safe_sysid.nodes.ros_config import leaves, read_config


@dataclass(frozen=True)
class Inner:
    """Nested settings."""

    window: int = 3  # measurements per update
    errors: tuple[float, ...] = (0.5,)  # [N m]

    def __post_init__(self) -> None:
        if self.window < 2:
            raise ConfigError(f'window is {self.window}, it has to be 2 or more')


@dataclass(frozen=True)
class Settings:
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
    config = read_config(node, Settings)
    assert config == Settings('two_link', 2.0, None, Inner(3, (1.0, 2.0)))


def test_every_parameter_is_described_and_fixed(node_with):
    node = node_with(robot='two_link', inner__window=4)
    read_config(node, Settings)
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


@pytest.mark.parametrize(
    ('given', 'complaint'),
    [
        ({'sped': 1.0}, "node 'under_test': unknown key 'sped', did you mean 'speed'?"),
        ({'inner__windw': 1}, "inner: unknown key 'windw', did you mean 'window'?"),
        ({'inner__window': 1}, 'inner: window is 1, it has to be 2 or more'),
        ({'speed': 'fast'}, "speed: 'fast' is a str, expected float"),
        ({'inner': 1.0}, 'inner: 1.0 is not a mapping'),
    ],
)
def test_what_is_not_allowed_stops_the_node(node_with, given, complaint):
    with pytest.raises(ConfigError) as caught:
        read_config(node_with(robot='two_link', **given), Settings)
    assert complaint in str(caught.value)


def test_every_parameter_of_a_node_has_a_description():
    """Inherited ones too: what all nodes share is described in each of them."""
    for cls in (RecorderSettings, Ros2ControlSettings):
        prior = PriorSettings((0.0,) * 10, (0.0,) * 10, (0.0,) * 10)
        descriptions = {name: text for name, _, text in leaves(cls('two_link', prior))}
        assert {'robot', 'prior.ratio', 'gains.V_M'} <= descriptions.keys()
        assert [name for name, text in descriptions.items() if not text] == []
