"""RobotFacts: what an arm is beyond its URDF, read from config/robots/<arm>.yaml."""

from __future__ import annotations

from dataclasses import dataclass, field
import math
from pathlib import Path
from typing import Annotated

from safe_sysid.config import (
    Finite,
    OneOf,
    Positive,
    Range,
    Settings,
    from_mapping,
    read_yaml,
)
from safe_sysid.errors import ConfigError
from safe_sysid.input_file import is_there
from safe_sysid.model.signal_facts import (
    ActuationFacts,
    CommandFacts,
    DryFrictionFacts,
    EffortSignal,
    SensingFacts,
)
from safe_sysid.model.uncertainty import Uncertainty
from safe_sysid.share import no_such_robot, robot_names, share_directory

Vector3 = tuple[Finite, Finite, Finite]
LARGEST = 1e9  # in SI units; no figure of a joint is larger, and squares of it are numbers still
Size = Annotated[float, Range(at_least=0.0, at_most=LARGEST)]
AboveZero = Annotated[float, Range(above=0.0, at_most=LARGEST)]
Either = Annotated[float, Range(at_least=-LARGEST, at_most=LARGEST)]
Gravity = Annotated[float, Range(at_least=-1000.0, at_most=1000.0)]
Tilt = Annotated[float, Range(at_least=0.0, less_than=math.pi)]
Sign = Annotated[int, OneOf((-1, 1))]
LoopKind = Annotated[str, OneOf(('point', 'planar'))]


@dataclass(frozen=True)
class JointFacts(Settings):
    """Facts about one joint; for a prismatic joint read N for N m and m for rad."""

    coulomb: Size  # [N m]
    viscous: Size  # [N m s/rad]
    armature: Size  # [kg m^2], inertia of rotor and gear seen at the joint
    offset: Either  # [N m]
    torque_limit: Size  # [N m], 0 for a passive joint of a closed chain
    acceleration_limit: AboveZero  # [rad/s^2]
    encoder_resolution: Size  # [rad], 0 if nobody knows
    effort_sign: Sign  # +1, or -1 where the driver counts against the joint axis
    effort_scale: AboveZero  # [N m per unit of the driver's effort]

    # Of the desired motion, where the drive refuses more; name the source beside the figures.
    reference_acceleration: Positive | None = None  # [rad/s^2]
    reference_jerk: Positive | None = None  # [rad/s^3]


@dataclass(frozen=True)
class CapsuleFacts(Settings):
    """All points within `radius` of the segment from a to b, in the frame of a link [m]."""

    link: str
    a: Vector3
    b: Vector3
    radius: Positive


@dataclass(frozen=True)
class CollisionFacts:
    """Capsules that contain the arm; pairs that may touch follow from them and the joints."""

    shapes: dict[str, CapsuleFacts]
    housings_apart: tuple[tuple[str, str], ...] = ()  # whose capsules overlap, what is in them not

    def __post_init__(self) -> None:
        for pair in self.housings_apart:
            for name in pair:
                if name not in self.shapes:
                    raise ConfigError(
                        f"pair {list(pair)}: no shape '{name}', shapes are {list(self.shapes)}"
                    )


@dataclass(frozen=True)
class LoopFacts(Settings):
    """A point of one link stays where a point of another one is [m in the frames of the links]."""

    kind: LoopKind  # point: in all three directions; planar: in the plane normal to `normal`
    link_a: str
    point_a: Vector3
    link_b: str
    point_b: Vector3
    normal: Vector3 | None = None  # base frame, joints at home

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.kind == 'planar') != (self.normal is not None):
            raise ConfigError('a planar loop needs `normal`, another kind has none')
        if self.normal is not None and not any(self.normal):
            raise ConfigError('normal is zero, it has to be a direction')


@dataclass(frozen=True)
class ClosedChainFacts(Settings):
    """Which loops the bodies of a robot form, and which joints follow from the others."""

    passive: tuple[str, ...]
    loops: dict[str, LoopFacts]
    massless: tuple[str, ...] = ()  # joints whose body only splits a joint of several axes
    home: dict[str, Finite] = field(default_factory=dict)  # [rad or m] near a closed configuration


@dataclass(frozen=True)
class RobotFacts(Settings):
    """Everything config/robots/<arm>.yaml says."""

    urdf: str  # file name in urdf/, or a path
    gravity: tuple[Gravity, Gravity, Gravity]  # [m/s^2] in the base frame
    tip: str  # link whose body is the end effector
    effort: EffortSignal
    joints: dict[str, JointFacts]
    held: dict[str, Finite]  # joints that do not move, and where they are [rad or m]
    collision: CollisionFacts
    closed_chain: ClosedChainFacts | None = None
    uncertainty: Uncertainty = field(default_factory=Uncertainty)  # of parameters; joints in order
    actuation: dict[str, ActuationFacts] | None = None  # by joint; None: unknown, taken as wide
    command: CommandFacts = field(default_factory=CommandFacts)
    sensing: SensingFacts = field(default_factory=SensingFacts)
    friction: DryFrictionFacts = field(default_factory=DryFrictionFacts)
    gravity_tilt: Tilt | None = None  # [rad] by which `gravity` may be off; None: not known
    gripper_in_tip: bool = False  # whether `tip` contains what was on it at calibration

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.joints:
            raise ConfigError('joints is empty, name the joints of the moving chain')
        if self.actuation is not None and self.actuation.keys() != self.joints.keys():
            raise ConfigError(
                f'actuation names {list(self.actuation)}; the joints are {list(self.joints)}'
            )
        self._check_motors()
        for name in self.joints.keys() & self.held.keys():
            raise ConfigError(f"joint '{name}' is in joints and in held, it can only be in one")

    def _check_motors(self) -> None:
        chain = self.closed_chain
        passive = () if chain is None else chain.passive
        named = () if chain is None else (*passive, *chain.massless, *chain.home)
        for name in named:
            if name not in self.joints:
                raise ConfigError(
                    f"closed_chain: no joint '{name}', the joints are {list(self.joints)}"
                )
        lists = {} if chain is None else {'passive': passive, 'massless': chain.massless}
        for key, names in lists.items():
            for name in {name for name in names if names.count(name) > 1}:
                raise ConfigError(f"closed_chain: {key} names '{name}' more than once")
        for name, joint in self.joints.items():
            if (joint.torque_limit == 0.0) != (name in passive):
                raise ConfigError(
                    f'torque_limit of {name} is {joint.torque_limit}; it has to be more than 0, '
                    'and 0 for the joints that closed_chain lists as passive'
                )


def read_facts(path: Path) -> RobotFacts:
    """Facts of one arm from its YAML file."""
    return from_mapping(RobotFacts, read_yaml(path), str(path))


def facts_path(robot: str) -> Path:
    """File of an arm that comes with the package."""
    if robot not in robot_names():
        raise ConfigError(no_such_robot(robot))
    return share_directory() / 'config' / 'robots' / f'{robot}.yaml'


def is_settings(path: Path) -> bool:
    """Whether a file is one of settings, by its name."""
    return path.suffix in ('.yaml', '.yml')


def settings_of_robot(robot: str) -> Path:
    """File of settings that is named itself, or by the arm of the package it is about."""
    return Path(robot) if is_settings(Path(robot)) else facts_path(robot)


def urdf_path(config: Path, facts: RobotFacts) -> Path:
    """URDF that a settings file names: beside it, or in the package's urdf/."""
    beside = config.parent / facts.urdf
    return beside if is_there(beside) else share_directory() / 'urdf' / facts.urdf
