"""The ROS parameters of a node are the settings dataclass it declares; unknown keys are refused.

`ros2 param describe` shows every parameter, also those left at their default: the comment beside
the field is its description. Settings are fixed once a node runs, so they are read-only; but for
those that their class names in `MAY_CHANGE`, which are about what is asked for next. What rclpy
declares itself is fixed as well: a node whose time came from elsewhere from now on would see its
stamps jump.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
import dataclasses
import sys
from typing import Any, NamedTuple, TypeVar

from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    SetParametersResult,
)
from rclpy.node import Node
from rclpy.parameter import Parameter

from safe_sysid.config import Allowed, Range, allowed_values, from_mapping, meanings, nested
from safe_sysid.errors import ConfigError
from safe_sysid.ros.process.told_parameters import told_parameters

T = TypeVar('T')

# Declared by rclpy itself.
OF_ROS = ('use_sim_time', 'start_type_description_service', 'qos_overrides')
FIXED_OF_ROS = 'fixed while the node runs'
FIXED = (
    'fixed while the node runs; a value that is not allowed stops it at its start, with a '
    'sentence that says what is'
)
CHANGES = (
    'may change while the node runs; what is not allowed is refused, and with it all of the list '
    'that set_parameters_atomically was given'
)
NAMELESS = 'a parameter has no name; ros2 param list shows those that there are'
LARGEST = 2**63 - 1  # integer of ROS


class Leaf(NamedTuple):
    """One setting."""

    name: str
    value: Any
    meaning: str
    allowed: Allowed | None
    may_change: bool  # while the node runs


def read_config(node: Node, cls: type[T]) -> T:
    """Read the settings of a `ConfiguredNode`.

    What the arguments of the process say counts more than what ROS made of it.
    """
    given = {
        name: list(parameter.value) if isinstance(parameter.value, array) else parameter.value
        for name, parameter in node.get_parameters_by_prefix('').items()
    }
    given.update(told_parameters(sys.argv, node.get_fully_qualified_name()))
    ours = {name: x for name, x in given.items() if name.partition('.')[0] not in OF_ROS}
    config = from_mapping(cls, nested(ours), f"parameters of node '{node.get_name()}'")
    for leaf in leaves(config):
        _declare(node, leaf)
    for name in node.get_parameters_by_prefix(''):
        if name.partition('.')[0] in OF_ROS:
            _fix(node, name)
    node.add_on_set_parameters_callback(_refuse_nameless)
    return config


def leaves(config: Any, prefix: str = '') -> Iterator[Leaf]:
    """Every setting, nested ones with dots in their names."""
    cls = type(config)
    allowed, told = allowed_values(cls), meanings(cls)
    changing: tuple[str, ...] = getattr(cls, 'MAY_CHANGE', ())
    for field in dataclasses.fields(config):
        name, value = f'{prefix}{field.name}', getattr(config, field.name)
        if dataclasses.is_dataclass(value):
            yield from leaves(value, f'{name}.')
            continue
        values = {name: value}
        if isinstance(value, dict):
            values = {f'{name}.{key}': x for key, x in value.items()}
        for name, value in values.items():
            meaning, kept = told.get(field.name, ''), allowed.get(field.name)
            yield Leaf(name, value, meaning, kept, field.name in changing)


def serve_changes(node: Node, config: T, use: Callable[[T], None]) -> None:
    """Let `ros2 param set` change what may change, as settings are read.

    What is fixed never comes here: ROS refuses it. What comes here in one list is done as a whole
    or not at all, but of the list of `set_parameters` ROS makes as many lists as it has entries.
    `use` may refuse what cannot be, with a ConfigError.
    """
    source = f"parameters of node '{node.get_name()}'"
    now = {leaf.name: leaf.value for leaf in leaves(config) if leaf.value is not None}

    def change(parameters: list[Parameter[Any]]) -> SetParametersResult:
        ours = {each.name: each.value for each in parameters if each.name in now}
        try:
            if ours:
                use(from_mapping(type(config), nested(now | ours), source))
        except ConfigError as error:
            return SetParametersResult(successful=False, reason=f'{error}; nothing was changed')
        now.update(ours)
        return SetParametersResult(successful=True)

    node.add_on_set_parameters_callback(change)


def _refuse_nameless(parameters: list[Parameter[Any]]) -> SetParametersResult:
    """Refuse a parameter called '', which rclpy takes though nobody has declared it."""
    if all(each.name for each in parameters):
        return SetParametersResult(successful=True)
    return SetParametersResult(successful=False, reason=NAMELESS)


def _declare(node: Node, leaf: Leaf) -> None:
    """Declare a setting with its description, in place of what ROS made of it."""
    if node.has_parameter(leaf.name):
        node.undeclare_parameter(leaf.name)
    plain = list(leaf.value) if isinstance(leaf.value, tuple) else leaf.value
    node.declare_parameter(leaf.name, plain, _descriptor(leaf), ignore_override=True)


def _fix(node: Node, name: str) -> None:
    """Make what rclpy has declared read-only, which some of it is already."""
    now = node.describe_parameter(name)
    if not now.read_only:
        fixed = ParameterDescriptor(
            type=node.get_parameter(name).type_.value,
            description=now.description,
            additional_constraints=FIXED_OF_ROS,
            read_only=True,
        )
        node.set_descriptor(name, fixed)


def _descriptor(leaf: Leaf) -> ParameterDescriptor:
    """Return what `ros2 param describe` shows of a setting."""
    constancy = CHANGES if leaf.may_change else FIXED
    descriptor = ParameterDescriptor(
        description=leaf.meaning,
        additional_constraints=constancy,
        read_only=not leaf.may_change,
        dynamic_typing=leaf.value is None,
    )
    if leaf.allowed is not None:
        each = 'every entry ' if isinstance(leaf.value, tuple) else ''
        descriptor.additional_constraints = f'{each}{leaf.allowed}; {constancy}'
    if isinstance(leaf.allowed, Range):
        _show_ends(descriptor, leaf.value, leaf.allowed)
    return descriptor


def _show_ends(descriptor: ParameterDescriptor, value: Any, allowed: Range) -> None:
    """Both ends, in which ROS counts them; it has no such thing for lists."""
    if isinstance(value, int):
        first, last = int(max(-LARGEST, allowed.lower)), int(min(LARGEST, allowed.upper))
        descriptor.integer_range = [IntegerRange(from_value=first, to_value=last)]
    elif not isinstance(value, tuple):
        largest = sys.float_info.max
        lower, upper = max(-largest, allowed.lower), min(largest, allowed.upper)
        descriptor.floating_point_range = [FloatingPointRange(from_value=lower, to_value=upper)]
