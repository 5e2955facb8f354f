"""LoopWorld: the obstacles that a loop file names, as the planner of a run avoids them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safe_sysid.config import Settings, from_mapping
from safe_sysid.errors import ConfigError
from safe_sysid.model.collision.world import EMPTY, read_world
from safe_sysid.sets.box import Box


@dataclass(frozen=True)
class LoopWorld(Settings):
    """Name of a world of the package, or a YAML file; empty if the file names none."""

    world: str = EMPTY

    @staticmethod
    def of(planner: Mapping[str, Any], path: Path) -> LoopWorld:
        """Return what the planner of a loop file is told."""
        told = {'world': planner['world']} if 'world' in planner else {}
        return from_mapping(LoopWorld, told, f'{path}, planner')

    def boxes(self, path: Path) -> dict[str, Box]:
        """Return its obstacles by name; what cannot be read is laid to the loop file."""
        try:
            return read_world(self.world)
        except ConfigError as error:
            raise ConfigError(f'{path}, planner: world: {error}') from error
