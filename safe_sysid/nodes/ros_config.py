"""The ROS parameters of a node are the settings dataclass it declares; unknown keys are refused.

`ros2 param describe` shows every parameter, also those left at their default: the comment beside
the field is its description. All are read-only, because settings are fixed once a node runs.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
import dataclasses
import inspect
import re
from typing import Any, TypeVar

from rcl_interfaces.msg import ParameterDescriptor
from rclpy.node import Node

from safe_sysid.config import from_mapping
from safe_sysid.errors import ConfigError

T = TypeVar('T')

# Declared by rclpy itself.
OF_ROS = ('use_sim_time', 'start_type_description_service', 'qos_overrides')
COMMENT = re.compile(r'^    (\w+): [^#\n]*#\s*(.*)$', re.MULTILINE)


def read_config(node: Node, cls: type[T]) -> T:
    """Settings of a node that was made with automatically_declare_parameters_from_overrides."""
    given = {
        name: list(parameter.value) if isinstance(parameter.value, array) else parameter.value
        for name, parameter in node.get_parameters_by_prefix('').items()
        if name.partition('.')[0] not in OF_ROS
    }
    config = from_mapping(cls, _nested(given), f"parameters of node '{node.get_name()}'")
    for name, value, description in leaves(config):
        _declare(node, name, value, description)
    return config


def leaves(config: Any, prefix: str = '') -> Iterator[tuple[str, Any, str]]:
    """Name, value and description of every setting, nested ones with dots."""
    comments = _comments(type(config))
    for field in dataclasses.fields(config):
        name, value = f'{prefix}{field.name}', getattr(config, field.name)
        if dataclasses.is_dataclass(value):
            yield from leaves(value, f'{name}.')
        elif isinstance(value, dict):
            yield from (
                (f'{name}.{key}', x, comments.get(field.name, '')) for key, x in value.items()
            )
        else:
            yield name, value, comments.get(field.name, '')


def _declare(node: Node, name: str, value: Any, description: str) -> None:
    """Declare a default, or describe what was given."""
    descriptor = ParameterDescriptor(
        description=description,
        additional_constraints='fixed while the node runs; a value that is not allowed stops it '
        'at its start, with a sentence that says what is',
        read_only=True,
        dynamic_typing=value is None,
    )
    if node.has_parameter(name):
        descriptor.type = node.get_parameter(name).type_.value
        node.set_descriptor(name, descriptor)
    else:
        plain = list(value) if isinstance(value, tuple) else value
        node.declare_parameter(name, plain, descriptor)


def _comments(cls: type) -> dict[str, str]:
    """Comment beside every field of a dataclass, inherited ones included."""
    comments: dict[str, str] = {}
    for ancestor in reversed([c for c in cls.__mro__ if dataclasses.is_dataclass(c)]):
        try:
            comments |= dict(COMMENT.findall(inspect.getsource(ancestor)))
        except (OSError, TypeError):  # an interpreter that was given no sources
            continue
    return comments


def _nested(given: dict[str, Any]) -> dict[str, Any]:
    """Names with dots as mappings in mappings."""
    nested: dict[str, Any] = {}
    for name, value in given.items():
        *folders, last = name.split('.')
        place = nested
        for folder in folders:
            place = place.setdefault(folder, {})
            if not isinstance(place, dict):
                raise ConfigError(f"parameter '{name}': '{folder}' is a value already")
        place[last] = value
    return nested
