"""World: obstacles as boxes, read from config/worlds/<name>.yaml."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from safe_sysid.config import Angle, Finite, Positive, Settings, from_mapping, read_yaml
from safe_sysid.errors import ConfigError
from safe_sysid.sets.box import Box
from safe_sysid.share import no_such, share_directory, world_names

Vector3 = tuple[Finite, Finite, Finite]
Angles = tuple[Angle, Angle, Angle]
EMPTY = 'empty'  # world without obstacles
Edges = tuple[Positive, Positive, Positive]


@dataclass(frozen=True)
class BoxFacts(Settings):
    """One box in the base frame of the arm."""

    center: Vector3  # [m]
    size: Edges  # [m] whole edges, along its own axes
    rpy: Angles = (0.0, 0.0, 0.0)  # [rad], no degrees, about fixed axes x, y, z in this order

    def box(self) -> Box:
        """Return the same as a set of points."""
        (cr, cp, cy), (sr, sp, sy) = np.cos(self.rpy), np.sin(self.rpy)
        about_x = np.array([[1.0, 0.0, 0.0], [0.0, cr, -sr], [0.0, sr, cr]])
        about_y = np.array([[cp, 0.0, sp], [0.0, 1.0, 0.0], [-sp, 0.0, cp]])
        about_z = np.array([[cy, -sy, 0.0], [sy, cy, 0.0], [0.0, 0.0, 1.0]])
        return Box(np.array(self.center), np.array(self.size) / 2.0, about_z @ about_y @ about_x)


@dataclass(frozen=True)
class WorldFile:
    """What config/worlds/<name>.yaml says."""

    obstacles: dict[str, BoxFacts]


def read_world(path_or_name: str) -> dict[str, Box]:
    """Boxes by name, from a YAML file or a world that comes with the package."""
    path = Path(path_or_name)
    if path.suffix not in ('.yaml', '.yml'):
        if path_or_name not in world_names():
            raise ConfigError(no_such('world', path_or_name, world_names()))
        path = _folder() / f'{path_or_name}.yaml'
    world = from_mapping(WorldFile, read_yaml(path), str(path))
    return {name: facts.box() for name, facts in world.obstacles.items()}


def _folder() -> Path:
    return share_directory() / 'config' / 'worlds'
