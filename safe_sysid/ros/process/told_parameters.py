"""What the arguments of a process say of the parameters of its node; the last word counts.

ROS merges parameter files and options by type: where two of them give values of different types,
it drops one without a word, and an option for all nodes yields to a file that names the node.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
import re
from typing import Any

from safe_sysid.config import yaml_value
from safe_sysid.errors import ConfigError
from safe_sysid.input_file import with_files_beside

BEGIN, END = '--ros-args', '--'
OPTIONS, FILES = ('-p', '--param'), ('--params-file',)
PARAMETERS = 'ros__parameters'


def told_parameters(arguments: Sequence[str], node: str) -> dict[str, Any]:
    """Values by name, dots in it, of the node with this full name."""
    told: dict[str, Any] = {}
    for kind, text in _statements(arguments):
        blocks = _blocks_of_file(Path(text)) if kind in FILES else [_option(text, node)]
        for pattern, values in blocks:
            if matches(pattern, node):
                told.update(_flat(values))
    return told


def matches(pattern: str, node: str) -> bool:
    """Whether a name of a parameter file means a node: * is any name, ** any names."""
    regex = re.escape(pattern).replace(r'/\*\*', r'(/\w+)*').replace(r'/\*', r'/\w+')
    return re.fullmatch(regex, node) is not None


def _statements(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Options of ROS that are about parameters, each with its text, in their order."""
    is_ros = False
    for word, following in zip(arguments, [*arguments[1:], ''], strict=True):
        if word in (BEGIN, END):
            is_ros = word == BEGIN
        elif is_ros and word in (*OPTIONS, *FILES):
            yield word, following


def _option(text: str, node: str) -> tuple[str, Mapping[str, Any]]:
    """NAME:=VALUE or NODE:NAME:=VALUE."""
    left, _, value = text.partition(':=')
    whom, _, name = left.rpartition(':')
    if whom and whom.strip('/') != node.rpartition('/')[2]:
        raise ConfigError(f"parameter '{text}' is for a node '{whom}', this process is '{node}'")
    return node, {name: yaml_value(value, f"parameter '{text}'")}


def _blocks_of_file(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Patterns of node names with what a parameter file says of them, files beside it found."""
    for name, values in _blocks(yaml_value(path.read_text(encoding='utf-8'), str(path)), ''):
        yield name, with_files_beside(values, path) if isinstance(values, Mapping) else values


def _blocks(values: Any, name: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if not isinstance(values, Mapping):
        return
    for key, inner in values.items():
        if key == PARAMETERS:
            yield name, inner or {}
        else:
            yield from _blocks(inner, f'{name}/{str(key).strip("/")}')


def _flat(values: Mapping[str, Any], prefix: str = '') -> dict[str, Any]:
    """Return mappings in mappings as names with dots."""
    flat: dict[str, Any] = {}
    for key, value in values.items():
        name = f'{prefix}{key}'
        flat.update(_flat(value, f'{name}.') if isinstance(value, Mapping) else {name: value})
    return flat
