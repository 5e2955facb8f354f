"""load_arm: an arm by name, by settings, by URDF, or by a URDF with settings."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from safe_sysid.api.arguments import path_from
from safe_sysid.errors import ConfigError
from safe_sysid.model.arm import Arm, arm_of

ArmLike = Arm | str | PathLike[str]


def load_arm(
    robot: ArmLike,
    config: str | PathLike[str] | None = None,
    package_paths: Sequence[str | PathLike[str]] = (),
) -> Arm:
    """Load an arm.

    Args:
        robot: name of an arm that comes with the package (`kinova_gen3`), path of its settings
            (YAML), or path of a URDF.
        config: settings (YAML) beside a URDF. A URDF alone says nothing about friction, rotor
            inertia and sensors: they count as unknown then.
        package_paths: folders with the ROS packages that meshes of the URDF are in, before
            those of AMENT_PREFIX_PATH, ROS_PACKAGE_PATH and above the URDF.

    Returns:
        The arm: `arm.model` has its joints, limits and parameters, `arm.facts` its settings.

    Raises:
        ConfigError, ModelError: the files are missing or contradict themselves.

    """
    if isinstance(robot, Arm):
        if config is not None:
            raise ConfigError('config is for an arm of a URDF; this one was loaded with its own')
        return robot
    paths = [Path(folder) for folder in package_paths]
    return arm_of(str(robot), None if config is None else path_from(config), paths)
