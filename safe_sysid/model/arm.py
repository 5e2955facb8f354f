"""The arm a command is about: its name, its settings, a URDF with settings, or a URDF alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from xml.etree import ElementTree

from safe_sysid.errors import ConfigError, ModelError
from safe_sysid.input_file import is_there
from safe_sysid.model.facts import (
    CollisionFacts,
    JointFacts,
    RobotFacts,
    facts_path,
    is_settings,
    read_facts,
    urdf_path,
)
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.sensing import reading_errors, torque_errors
from safe_sysid.model.signal_facts import EffortSignal
from safe_sysid.model.urdf_tree import moving_joints, read_urdf
from safe_sysid.share import robot_names

GRAVITY = (0.0, 0.0, -9.81)
STOPS_WITHIN = 0.2  # [s] from full speed, where nobody says how fast joints accelerate


@dataclass(frozen=True, eq=False)
class Arm:
    """An arm, its URDF, and whether anybody says what its friction and its effort signal are."""

    model: RobotModel
    facts: RobotFacts
    urdf: Path
    is_described: bool  # by settings; a URDF alone says nothing about friction and the signal
    package_paths: tuple[Path, ...] = ()  # folders with the packages of its meshes

    def assumed(self, period: float = 0.001) -> tuple[str, ...]:
        """Sentences on what is assumed of readings, a period apart [s], and of commands."""
        model = self.model
        readings = reading_errors(model, period).sentences
        return (*readings, *torque_errors(model).sentences, *model.actuation.assumed)


def check_open(arm: Arm, command: str) -> None:
    """Refuse a robot with closed loops where every joint is taken to have a motor and a sensor."""
    if arm.facts.closed_chain is not None:
        raise ConfigError(
            f'{arm.model.name} has closed loops {list(arm.facts.closed_chain.loops)}: {command} '
            'is for open chains; what its motors tell of the bodies, loops closed, says '
            '`calibrate --loops`'
        )


def arm_of(robot: str, config: Path | None, package_paths: Sequence[Path] = ()) -> Arm:
    """Load the arm that `--robot`, `--config` and `--package-path` name."""
    return replace(_arm_of(robot, config), package_paths=tuple(package_paths))


def _arm_of(robot: str, config: Path | None) -> Arm:
    if config is None and is_settings(Path(robot)):
        return _described(Path(robot), None)
    if config is None and robot not in robot_names() and is_there(Path(robot)):
        return _undescribed(Path(robot))
    if config is None:
        return _described(facts_path(robot), None)
    return _described(config, None if robot in robot_names() else Path(robot))


def _described(config: Path, urdf: Path | None) -> Arm:
    facts = read_facts(config)
    urdf = urdf or urdf_path(config, facts)
    model = RobotModel.from_files(urdf, facts, config.stem, config)
    return Arm(model, facts, urdf, is_described=True)


def _undescribed(urdf: Path) -> Arm:
    facts = facts_of_urdf(urdf)
    return Arm(RobotModel.from_files(urdf, facts, urdf.stem), facts, urdf, is_described=False)


def facts_of_urdf(urdf: Path) -> RobotFacts:
    """Read what a URDF says alone; effort counts as a torque [N m] about the axes."""
    root = read_urdf(urdf)
    moving = moving_joints(root)
    if not moving:
        raise ModelError(f'{urdf}: no joint moves')
    joints = {
        str(joint.get('name')): _joint_facts(urdf, joint)
        for joint in root.findall('joint')
        if joint.get('name') in moving
    }
    return RobotFacts(
        urdf=str(urdf),
        gravity=GRAVITY,
        tip=_last_link(root, moving),
        effort=EffortSignal('torque', gravity_included=True),
        joints=joints,
        held={},
        collision=CollisionFacts({}, ()),
    )


def _joint_facts(urdf: Path, joint: ElementTree.Element) -> JointFacts:
    limit, dynamics = joint.find('limit'), joint.find('dynamics')
    effort, velocity, friction, damping = (
        _number(urdf, joint, element, key)
        for element, key in (
            (limit, 'effort'), (limit, 'velocity'), (dynamics, 'friction'), (dynamics, 'damping'),
        )
    )  # fmt: skip
    if not (effort > 0.0 and velocity > 0.0):
        raise ConfigError(
            f"{urdf}: joint '{joint.get('name')}' has effort {effort:g} and velocity "
            f'{velocity:g} as limits, which have to be above 0; mend them, or give --config YAML'
        )
    return JointFacts(
        coulomb=friction,
        viscous=damping,
        armature=0.0,
        offset=0.0,
        torque_limit=effort,
        acceleration_limit=velocity / STOPS_WITHIN,
        encoder_resolution=0.0,
        effort_sign=1,
        effort_scale=1.0,
    )


def _number(
    urdf: Path, joint: ElementTree.Element, element: ElementTree.Element | None, key: str
) -> float:
    text = '0' if element is None else element.get(key, '0')
    try:
        return float(text)
    except ValueError as error:
        raise ModelError(
            f"{urdf}: {key} of joint '{joint.get('name')}' is '{text}', which is no number"
        ) from error


def _last_link(root: ElementTree.Element, moving: dict[str, str]) -> str:
    """Return the link behind the most moving joints."""
    child, above = {}, {}
    for joint in root.findall('joint'):
        ends = [end.get('link') for name in ('parent', 'child') for end in joint.findall(name)]
        above[str(ends[-1])] = (str(ends[0]), joint.get('name') in moving)
        if joint.get('name') in moving:
            child[str(joint.get('name'))] = str(ends[-1])

    def depth(link: str) -> int:
        count = 0
        while link in above:
            link, moves = above[link]
            count += moves
        return count

    return max(child.values(), key=depth)
