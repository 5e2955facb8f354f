"""LoopWorld: the obstacles that a loop file names, as the planner of a run avoids them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from safe_sysid.config import Settings, from_mapping
from safe_sysid.errors import ConfigError
from safe_sysid.model.collision.named_boxes import together
from safe_sysid.model.collision.region import RegionSettings
from safe_sysid.model.collision.world import EMPTY, read_world
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.box import Box


@dataclass(frozen=True)
class LoopWorld(Settings):
    """Name of a world of the package, or a YAML file, and the box that no link leaves."""

    world: str = EMPTY
    region: RegionSettings = field(default_factory=RegionSettings)

    @staticmethod
    def of(planner: Mapping[str, Any], path: Path) -> LoopWorld:
        """Return what the planner of a loop file is told."""
        source, scene = f'{path}, planner', planner.get('scene', {})
        if not isinstance(scene, Mapping):
            raise ConfigError(f'{source}: scene is {scene!r}, not a mapping')
        told = {'world': planner['world']} if 'world' in planner else {}
        walls = {'region': scene['region']} if 'region' in scene else {}
        return from_mapping(LoopWorld, {**told, **walls}, source)

    def boxes(self, model: RobotModel, path: Path) -> dict[str, Box]:
        """Return its obstacles by name; what cannot be read is laid to the loop file."""
        try:
            named = read_world(self.world)
        except ConfigError as error:
            raise ConfigError(f'{path}, planner: world: {error}') from error
        return together(self.region.of(model).walls, named)
