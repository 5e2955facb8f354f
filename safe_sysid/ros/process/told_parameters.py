"""What the arguments of a process say of the parameters of its node; the last word counts.

ROS merges parameter files and options by type: where two of them give values of different types,
it drops one without a word, and an option for all nodes yields to a file that names the node.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from safe_sysid.config import yaml_value
from safe_sysid.errors import ConfigError
from safe_sysid.input_file import with_files_beside
from safe_sysid.parameter_files import by_full_name, parameters_of

BEGIN, END = '--ros-args', '--'
OPTIONS, FILES = ('-p', '--param'), ('--params-file',)


def told_parameters(arguments: Sequence[str], node: str) -> dict[str, Any]:
    """Values by name, dots in it, of the node with this full name."""
    told: dict[str, Any] = {}
    for kind, text in _statements(arguments):
        told |= _of_file(Path(text), node) if kind in FILES else _option(text, node)
    return told


def _statements(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Options of ROS that are about parameters, each with its text, in their order."""
    is_ros = False
    for word, following in zip(arguments, [*arguments[1:], ''], strict=True):
        if word in (BEGIN, END):
            is_ros = word == BEGIN
        elif is_ros and word in (*OPTIONS, *FILES):
            yield word, following


def _option(text: str, node: str) -> dict[str, Any]:
    """NAME:=VALUE or NODE:NAME:=VALUE."""
    left, _, value = text.partition(':=')
    whom, _, name = left.rpartition(':')
    if whom and whom.strip('/') != node.rpartition('/')[2]:
        raise ConfigError(f"parameter '{text}' is for a node '{whom}', this process is '{node}'")
    return by_full_name({name: yaml_value(value, f"parameter '{text}'")})


def _of_file(path: Path, node: str) -> dict[str, Any]:
    """Return what a parameter file says of the node, files beside it by their whole paths."""
    values = yaml_value(path.read_text(encoding='utf-8'), str(path))
    try:
        return with_files_beside(parameters_of(values, node), path)
    except ConfigError as error:
        raise ConfigError(f'{path}: {error}') from error
