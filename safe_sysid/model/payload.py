"""Payload: a rigid body an arm can hold, and where it holds it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.config import Angle, Finite, Mass, Positive, Settings, from_mapping, read_yaml
from safe_sysid.errors import ConfigError
from safe_sysid.model.rotation import rotation_from_rpy
from safe_sysid.share import no_such, payload_names, share_directory

Vector3 = tuple[Finite, Finite, Finite]
Angles = tuple[Angle, Angle, Angle]
ROUNDING = 1e-9  # share by which figures may touch what they have to be within
AS_GAZEBO_HAS_IT = '.gazebo'  # end of the name of an arm that `export-gazebo` wrote


@dataclass(frozen=True)
class Placement(Settings):
    """Payload frame in the frame of a link, written as in a URDF."""

    link: str
    xyz: Vector3  # [m]
    rpy: Angles  # [rad], no degrees, about the fixed axes x, y, z in this order

    def rotation(self) -> Array:
        """Axes of the payload frame as columns, in the frame of the link (3, 3)."""
        return rotation_from_rpy(np.array(self.rpy))


@dataclass(frozen=True)
class PayloadCapsule(Settings):
    """All points within `radius` of the segment from a to b, in the payload frame [m]."""

    a: Vector3
    b: Vector3
    radius: Positive


@dataclass(frozen=True)
class InertiaEntries:
    """Inertia about the centre of mass, axes of the payload frame [kg m^2]."""

    ixx: float
    ixy: float
    ixz: float
    iyy: float
    iyz: float
    izz: float

    def matrix(self) -> Array:
        """Return the same as a symmetric 3x3 matrix."""
        return np.array(
            [
                [self.ixx, self.ixy, self.ixz],
                [self.ixy, self.iyy, self.iyz],
                [self.ixz, self.iyz, self.izz],
            ]
        )


@dataclass(frozen=True)
class PayloadFile:
    """What config/payloads/<name>.yaml says, key by key."""

    mass: Mass  # [kg]
    com: Vector3  # [m]
    inertia_about_com: InertiaEntries
    placement: dict[str, Placement]  # robot -> where it holds the payload
    shapes: dict[str, PayloadCapsule]  # together they contain the body


@dataclass(frozen=True, eq=False)
class Payload(Settings):
    """A rigid body, described in its own frame."""

    name: str
    mass: Mass  # [kg]
    com: Array  # (3,) [m]
    inertia: Array  # (3, 3) about the centre of mass, axes of the payload frame [kg m^2]
    placements: dict[str, Placement]
    shapes: dict[str, PayloadCapsule]

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.com.shape != (3,) or not np.isfinite(self.com).all():
            raise ConfigError(f'com is {self.com.tolist()}, it has to be three finite numbers [m]')
        _check_inertia(self.inertia)
        if not self.shapes:
            raise ConfigError('shapes is empty, list capsules that contain the whole body')
        _check_contained(self.com, self.inertia, self.mass, tuple(self.shapes.values()))

    def placed_on(self, robot: str) -> tuple[str, Array, Array]:
        """Link that holds it, rotation and origin of the payload frame in the link's frame.

        An arm of Gazebo holds it as the real one does, unless it has a placement of its own.
        """
        if robot not in self.placements:
            robot = robot.removesuffix(AS_GAZEBO_HAS_IT)
        if robot not in self.placements:
            raise ConfigError(
                f"payload '{self.name}' does not say how '{robot}' holds it, it does for "
                f'{sorted(self.placements)}; add {robot} under placement'
            )
        placement = self.placements[robot]
        return placement.link, placement.rotation(), np.array(placement.xyz)


def read_payload(path_or_name: str | Path) -> Payload:
    """Payload from a YAML file, or by name one that comes with the package."""
    path = Path(path_or_name)
    if path.suffix not in ('.yaml', '.yml'):
        path = _shipped(str(path_or_name))
    values = from_mapping(PayloadFile, read_yaml(path), str(path))
    try:
        return Payload(
            path.stem,
            values.mass,
            np.array(values.com),
            values.inertia_about_com.matrix(),
            values.placement,
            values.shapes,
        )
    except ConfigError as error:
        raise ConfigError(f'{path}: {error}') from error


def read_tool(path_or_name: str) -> Payload:
    """Gripper or tool from a YAML file, or by name one that comes with the package."""
    if Path(path_or_name).suffix in ('.yaml', '.yml'):
        return read_payload(path_or_name)
    tools = {path.stem: path for path in (share_directory() / 'config' / 'tools').glob('*.yaml')}
    if path_or_name not in tools:
        raise ConfigError(
            f"no tool '{path_or_name}', the package has {sorted(tools)}; "
            'the path of a file has to end in .yaml'
        )
    return read_payload(tools[path_or_name])


def _folder() -> Path:
    return share_directory() / 'config' / 'payloads'


def _shipped(name: str) -> Path:
    if name not in payload_names():
        raise ConfigError(no_such('payload', name, payload_names()))
    return _folder() / f'{name}.yaml'


def _check_contained(
    com: Array, inertia: Array, mass: float, shapes: tuple[PayloadCapsule, ...]
) -> None:
    """Refuse figures that no body inside the shapes has.

    Its centre of mass is within every box that contains the shapes. About an axis through it the
    moment is the integral of the squared distance to the axis over the mass, at most m R^2 where
    no point of the shapes, which is an end of a capsule and its radius, is farther than R.
    """
    ends = np.array([end for shape in shapes for end in (shape.a, shape.b)])
    radius = np.repeat([shape.radius for shape in shapes], 2)
    lower, upper = (ends - radius[:, None]).min(axis=0), (ends + radius[:, None]).max(axis=0)
    room = ROUNDING * (upper - lower)
    if not np.all((lower - room <= com) & (com <= upper + room)):
        raise ConfigError(
            f'com is {com.tolist()} [m], outside the shapes, which have to contain the body: they '
            f'reach from {_shown(lower)} to {_shown(upper)} m'
        )
    reach = float((np.linalg.norm(ends - com, axis=1) + radius).max())
    most, largest = mass * reach**2, float(np.linalg.eigvalsh(inertia)[2])
    if largest > (1.0 + ROUNDING) * most:
        raise ConfigError(
            f'inertia has a principal moment of {largest:.6g} kg m^2 about com; {mass:g} kg whose '
            f'shapes reach {reach:.4g} m from there have {most:.4g} at most'
        )


def _shown(point: Array) -> str:
    return f'[{", ".join(f"{x:.6g}" for x in point)}]'


def _check_inertia(inertia: Array) -> None:
    """Refuse moments that are not positive, or not less than the sum of the other two."""
    if inertia.shape != (3, 3) or not np.isfinite(inertia).all():
        raise ConfigError(f'inertia is {inertia.tolist()}, it has to be 3x3 finite numbers')
    if not np.array_equal(inertia, inertia.T):
        raise ConfigError(f'inertia is {inertia.tolist()}, it has to be symmetric')
    moments = np.linalg.eigvalsh(inertia)
    words = ', '.join(f'{moment:.6g}' for moment in moments)
    if not moments[0] > 0.0:
        raise ConfigError(f'inertia has principal moments {words} kg m^2, all have to exceed 0')
    if not moments[2] < moments[0] + moments[1]:
        raise ConfigError(
            f'inertia has principal moments {words} kg m^2; no body has one that is not less than '
            'the sum of the other two'
        )
