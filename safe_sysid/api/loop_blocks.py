"""Blocks of a loop file: which nodes there are, which settings each has, and what a file says.

The API runs no nodes, and reads their file as they do: a block that no node would read, or a key
that a node does not have, is refused and not taken for a default.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
import difflib
from pathlib import Path
from typing import Any

from safe_sysid.config import read_yaml
from safe_sysid.errors import ConfigError
from safe_sysid.input_file import with_files_beside
from safe_sysid.loop_settings import LoopSettings, ManagedSettings

PARAMETERS = 'ros__parameters'
OF_ROS = ('use_sim_time', 'start_type_description_service', 'qos_overrides')  # of every node
ANY, SEVERAL = '*', '**'  # names: any one, any number of them
EVERYBODY = tuple(field.name for field in fields(LoopSettings))
MANAGED = tuple(x.name for x in fields(ManagedSettings) if x.name not in EVERYBODY)

BRIDGE = (*MANAGED, 'has_controller', 'guard', 'hand_over', 'real_time')
SIMULATOR = (
    *(*BRIDGE, 'start', 'seed', 'recorded', 'seconds', 'holds', 'unknown_links', 'sensors'),
    *('actuators', 'readings'),
)
NODES: Mapping[str, tuple[str, ...]] = {  # with their settings, beside those of everybody
    'identifier': (*MANAGED, 'identifier', 'change_test', 'hold', 'waits_for_mode'),
    'planner': (
        *(*MANAGED, 'planner', 'mission', 'goal', 'world', 'scene', 'lift', 'retreat', 'stop'),
        *('pose', 'failures', 'awaits_errand'),
    ),
    'controller': (*MANAGED, 'succession', 'cycle', 'real_time', 'silence', 'energy_share'),
    'supervisor': (
        *('stale', 'rest_speed', 'settling', 'silence', 'autostart', 'goes_on', 'gripper'),
        *('placed', 'errand', 'task_follows'),
    ),
    'builtin_sim_bridge': SIMULATOR,
    'drake_bridge': SIMULATOR,
    'mujoco_bridge': SIMULATOR,
    'ros2_control_bridge': (
        *(*BRIDGE, 'states', 'commands', 'hold_controller', 'controller_manager'),
        *('controller_joints', 'patience', 'command', 'probe'),
    ),
    'lbr_fri_bridge': (*BRIDGE, 'states', 'commands', 'patience', 'command'),
    'franka_bridge': (*BRIDGE, 'address', 'patience', 'command'),
    'replay_bridge': ('bag', 'topic', 'is_torque', 'recorded', 'speed'),
    'recorder': (
        *('folder', 'topics', 'storage', 'file_size', 'commit_interval', 'required', 'started'),
    ),
    'monitor': ('once', 'form', 'silence'),
}


@dataclass(frozen=True)
class LoopBlocks:
    """What a loop file says to all nodes, and to each alone."""

    everybody: dict[str, Any]
    nodes: dict[str, dict[str, Any]]  # by name; of one that is not mentioned nothing


def read_blocks(path: Path) -> LoopBlocks:
    """Read the blocks of a loop file."""
    everybody: dict[str, Any] = {}
    nodes: dict[str, dict[str, Any]] = {name: {} for name in NODES}
    for block, held in read_yaml(path).items():
        whom = _whom(str(block), path)
        values = with_files_beside(_parameters(f"{path}: '{block}'", held), path)
        known = EVERYBODY if whom in (ANY, SEVERAL) else (*EVERYBODY, *NODES[whom])
        for name in dict.fromkeys(str(key).partition('.')[0] for key in values):
            if name not in (*known, *OF_ROS):
                raise ConfigError(f"{path}, '{block}': unknown key '{name}'{_near(name, known)}")
        _take(values, everybody if whom in (ANY, SEVERAL) else nodes[whom])
    for told in (everybody, *nodes.values()):
        for name in OF_ROS:
            told.pop(name, None)
    return LoopBlocks(everybody, nodes)


def _whom(block: str, path: Path) -> str:
    """Return which node a block is about, one of NODES, or all."""
    *namespaces, whom = block.strip('/').split('/')
    if whom not in (ANY, SEVERAL, *NODES):
        raise ConfigError(f"{path}: '{block}' means no node{_near(whom, tuple(NODES))}")
    if any(name != SEVERAL for name in namespaces):
        raise ConfigError(
            f"{path}: '{block}' means nodes in a namespace, and a loop without one is asked for; "
            f"write '/**/{whom}' for any"
        )
    return whom


def _parameters(source: str, held: Any) -> Mapping[Any, Any]:
    if held is None:
        return {}
    if not isinstance(held, Mapping):
        raise ConfigError(f'{source} is {held!r}, it has to hold {PARAMETERS}')
    for key in held:
        if key != PARAMETERS:
            raise ConfigError(f"{source} holds '{key}', it has to hold {PARAMETERS} and no more")
    values = held.get(PARAMETERS)
    if values is None:
        return {}
    if not isinstance(values, Mapping):
        raise ConfigError(f'{source}: {PARAMETERS} is {values!r}, not a mapping')
    return values


def _take(values: Mapping[Any, Any], told: dict[str, Any]) -> None:
    """Add what a block says; of two blocks the later one counts, key by key."""
    for names, value in _named(values):
        place = told
        for name in names[:-1]:
            inner = place.get(name)
            place[name] = inner if isinstance(inner, dict) else {}
            place = place[name]
        place[names[-1]] = value


def _named(values: Mapping[Any, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Names of every value that is no mapping, or an empty one, with it."""
    for key, value in values.items():
        names = (*above, *str(key).split('.'))
        if isinstance(value, Mapping) and value:
            yield from _named(value, names)
        else:
            yield names, value


def _near(name: str, known: tuple[str, ...]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean '{close[0]}'?" if close else f', there are {list(known)}'
