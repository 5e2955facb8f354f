"""Parameter files of ROS: whom a block means, and what the blocks of a file say of a node.

`planner` and `/planner` are the node of this name without a namespace; * stands for any name, **
for any number of them, none included. Of several blocks that mean a node the last word counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
import re
from typing import Any

from safe_sysid.errors import ConfigError

PARAMETERS = 'ros__parameters'


def parameters_of(values: Any, node: str) -> dict[str, Any]:
    """Return what a parameter file says of the node with this full name; names have dots."""
    found: dict[str, Any] = {}
    for block, held in blocks_of(values):
        if matches(block, node):
            found |= by_full_name(held)
    return found


def blocks_of(values: Any, folder: str = '') -> Iterator[tuple[str, Mapping[Any, Any]]]:
    """Yield blocks by their names, as they are written; those in others have a slash between."""
    if not isinstance(values, Mapping):
        where = f"'{folder}' is {values!r}" if folder else f'it is {values!r}'
        raise ConfigError(f'{where}; a block of parameters is a mapping with {PARAMETERS}')
    for key, inner in values.items():
        if key == PARAMETERS:
            if not isinstance(inner, Mapping | None):
                raise ConfigError(f"{PARAMETERS} of '{folder}' is {inner!r}, not a mapping")
            yield folder, inner or {}
        else:
            yield from blocks_of(inner, f'{folder.rstrip("/")}/{key}' if folder else str(key))


def meant(block: str) -> str:
    """Return the full name, or the pattern of full names, that a block means."""
    return '/' + '/'.join(part for part in block.split('/') if part)


def matches(block: str, node: str) -> bool:
    """Whether a block means the node with this full name."""
    regex = re.escape(meant(block)).replace(r'/\*\*', r'(/\w+)*').replace(r'/\*', r'/\w+')
    return re.fullmatch(regex, node) is not None


def by_full_name(values: Mapping[Any, Any], prefix: str = '') -> dict[str, Any]:
    """Return mappings in mappings as names with dots, as ROS calls parameters."""
    found: dict[str, Any] = {}
    for key, value in values.items():
        name = f'{prefix}{key}'
        found |= by_full_name(value, f'{name}.') if isinstance(value, Mapping) else {name: value}
    return found
