"""SettingsFile: which one a run has, whom its blocks mean, and what they say of a node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safe_sysid.config import read_yaml
from safe_sysid.errors import ConfigError
from safe_sysid.input_file import is_file, is_folder, with_files_beside
from safe_sysid.parameter_files import blocks_of, matches, meant, parameters_of
from safe_sysid.share import share_directory


@dataclass(frozen=True)
class SettingsFile:
    """A parameter file of ROS whose blocks all mean nodes that there can be."""

    path: Path
    values: Mapping[str, Any]

    @classmethod
    def read(cls, path: Path, known: Sequence[str]) -> SettingsFile:
        """Read a file, unless one of its blocks means none of these full names."""
        values = read_yaml(path)
        try:
            blocks = dict(blocks_of(values))
        except ConfigError as error:
            raise ConfigError(f'{path}: {error}') from error
        for block in blocks:
            if not any(matches(block, node) for node in known):
                raise ConfigError(f'{path}: {_means_nobody(block, known)}')
        return cls(path, values)

    def of(self, node: str) -> dict[str, Any]:
        """Return what it says of the node with this full name, by parameter; paths are whole."""
        return with_files_beside(parameters_of(self.values, node), self.path)


def settings_path(config: str, robot: str) -> Path:
    """Return the file that was chosen, or that of the package for an arm."""
    if config:
        path = Path(config)
        if is_folder(path):
            raise ConfigError(f'{path}: is a folder, and has to be a settings file')
        if not is_file(path):
            raise ConfigError(f'{path}: there is no such settings file')
        return path
    folder = share_directory() / 'config' / 'loop'
    name = Path(robot).stem
    path = folder / f'{name}.yaml'
    if not is_file(path):
        known = sorted(file.stem for file in folder.glob('*.yaml'))
        raise ConfigError(
            f"no settings of the loop for '{name}', the package has {known}; name a file with "
            'config'
        )
    return path


def _means_nobody(block: str, known: Sequence[str]) -> str:
    """Say that a block means no node, and what to write for the one it may have been for."""
    by_name = {node.rpartition('/')[2]: node for node in known}
    name = meant(block).rpartition('/')[2]
    if name in ('*', '**'):
        return f"'{block}' means {meant(block)}, and this run has {known[0]}: write '/**'"
    if name in by_name:
        whom = by_name[name]
        return f"'{block}' means {meant(block)}, and this run has {whom}: write '/**/{name}'"
    return f"'{block}' means no node, there are {list(by_name)}"
