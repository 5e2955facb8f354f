"""The page of ROS parameters, made of the settings that nodes declare, for `mkdocs.yml`."""

from collections.abc import Iterator
import dataclasses
import importlib
import pkgutil
from typing import Any, get_type_hints

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from safe_sysid.config import allowed_values, meanings
from safe_sysid.loop_settings import LoopSettings
from safe_sysid.ros import bridges, nodes

HEAD = """# Parameters of the nodes

Made of the code: what `ros2 param describe` shows. A dot is a level in a settings file:
`gains.V_M` is `gains: {V_M: ...}`. A default of – has to be given. Most are fixed while a node
runs, see [ROS 2](../ros.md).
"""
COLUMNS = '| parameter | default | allowed | meaning |\n|---|---|---|---|'


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the page."""
    files.append(File.generated(config, 'reference/parameters.md', content=parameters_page()))
    return files


def parameters_page() -> str:
    """Return a table for what all nodes share, and one for the own parameters of each."""
    parts = [HEAD, '## All nodes\n', _table(LoopSettings, ())]
    for name, cls in sorted(_settings_of_nodes().items()):
        shared = tuple(field.name for field in dataclasses.fields(LoopSettings))
        parts += [f'## {name}\n', f'{_first_line(cls)}\n', _table(cls, shared)]
    return '\n'.join(parts)


def _settings_of_nodes() -> dict[str, type]:
    """Return the settings class of every node and bridge, by the name of its file."""
    found = {}
    for folder in (nodes, bridges):
        for module in pkgutil.iter_modules(folder.__path__, f'{folder.__name__}.'):
            loaded = importlib.import_module(module.name)
            used = [
                value
                for name, value in vars(loaded).items()
                if name.endswith('Settings')
                and issubclass(value, LoopSettings)
                and value is not LoopSettings
            ]
            if used and hasattr(loaded, 'main'):
                name = module.name.rpartition('.')[2].removesuffix('_node')
                found[name] = max(used, key=lambda cls: len(cls.__mro__))
    return found


def _first_line(cls: type) -> str:
    return (cls.__doc__ or '').partition('\n')[0]


def _table(cls: type, without: tuple[str, ...]) -> str:
    rows = [row for row in _rows(cls, '') if row[0].partition('.')[0] not in without]
    return '\n'.join([COLUMNS, *(f'| `{a}` | {b} | {c} | {d} |' for a, b, c, d in rows), ''])


def _rows(cls: Any, prefix: str) -> Iterator[tuple[str, str, str, str]]:
    """Name, default, what is allowed and the meaning of every setting."""
    allowed, told, kinds = allowed_values(cls), meanings(cls), get_type_hints(cls)
    for field in dataclasses.fields(cls):
        kind, name = kinds[field.name], f'{prefix}{field.name}'
        if dataclasses.is_dataclass(kind):
            yield from _rows(kind, f'{name}.')
            continue
        meaning = told.get(field.name, '').replace('|', 'or').strip()
        yield name, _default(field), str(allowed.get(field.name, '')), meaning


def _default(field: Any) -> str:
    if field.default is dataclasses.MISSING:
        return '–' if field.default_factory is dataclasses.MISSING else 'none'
    if field.default in ('', (), None):
        return 'none'
    value = field.default
    return f'`{list(value) if isinstance(value, tuple) else value}`'
