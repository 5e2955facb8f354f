"""From a URDF to the settings of an arm: its joints, its capsules, and what nobody knows of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
import math
from pathlib import Path
import tempfile
from typing import Annotated
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
from scipy.spatial import ConvexHull, QhullError

from safe_sysid.arrays import Array
from safe_sysid.config import Count, Finite, OneOf, Settings
from safe_sysid.errors import ConfigError, ModelError
from safe_sysid.model.arm import GRAVITY, STOPS_WITHIN
from safe_sysid.model.collision.mesh_files import mesh_file
from safe_sysid.model.description.chain import (
    ChosenChain,
    chosen_chain,
    described_joints,
    with_soft_limits,
)
from safe_sysid.model.description.disabled_pairs import disabled_pairs
from safe_sysid.model.description.doubtful_figures import (
    BARRING,
    NOTHING,
    RULES,
    FigureDoubt,
    JointFigures,
    LinkShape,
    friction_doubts,
    inertia_doubts,
    joint_figures,
    limit_doubts,
    position_doubts,
)
from safe_sysid.model.description.refined_covers import (
    RefinedCovers,
    random_poses,
    refined_covers,
)
from safe_sysid.model.description.surfaces import BodySurface, SurfaceChoice, body_surfaces
from safe_sysid.model.description.xacro_file import expanded_xacro
from safe_sysid.model.facts import CollisionFacts, JointFacts, RobotFacts
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.signal_facts import (
    ActuationFacts,
    EffortSignal,
    SensingFacts,
    TorqueReadingFacts,
)
from safe_sysid.model.urdf_tree import parse_urdf, read_urdf

Kind = Annotated[str, OneOf(('torque-sensor', 'current', 'direct'))]
TAGS = {'both': ('visual', 'collision'), 'visual': ('visual',), 'collision': ('collision',)}
POSES = 2000  # at which static torques are looked at
MAGNET_ENCODER = 0.00153  # [rad], 12 bits
# What a measured torque may be off where nobody says more: ratio, and share of the torque limit.
TORQUE = {'torque-sensor': (0.10, 0.02), 'direct': (0.10, 0.05)}
COMMAND = {'direct': (0.10, 0.05)}


@dataclass(frozen=True)
class NewArmSettings(Settings):
    """What is to be made of a description, beside what it says."""

    kind: Kind  # how torques are measured: at the joint, as motor current, or by direct drives
    tip: str | None = None  # last link of the arm; none: the only end
    base: str | None = None  # link that the arm begins at; what is below is held; none: the root
    hold: dict[str, Finite] = field(default_factory=dict)  # [rad or m] where other joints are
    package_paths: tuple[Path, ...] = ()  # folders with the packages of meshes
    shapes: Annotated[str, OneOf(('both', 'visual', 'collision'))] = 'both'  # that are covered
    capsules: Count | None = None  # per body; none: as many as it takes
    grip: Annotated[str, OneOf(('both', 'held'))] = 'both'  # fingers in the cover: open and closed
    limits: Annotated[str, OneOf(('soft', 'hard'))] = 'soft'  # positions that count
    effort: dict[str, Finite] = field(default_factory=dict)  # [N m] instead of the URDF's
    velocity: dict[str, Finite] = field(default_factory=dict)  # [rad/s] instead of the URDF's
    trust: tuple[str, ...] = ()  # rules whose doubts do not count
    srdf: Path | None = None  # whose disabled pairs are compared; none: <name>.srdf beside
    xacro_arguments: dict[str, str] = field(default_factory=dict)
    tool: str | None = None  # gripper at the tip, a name or a YAML file; none: the bare tip

    def __post_init__(self) -> None:
        super().__post_init__()
        for rule in self.trust:
            if rule not in RULES:
                raise ConfigError(f"there is no rule '{rule}' to trust; there are {list(RULES)}")


@dataclass(frozen=True, eq=False)
class DescribedArm:
    """An arm that was made of a description."""

    name: str
    source: Path
    root: ElementTree.Element  # of the URDF as it counts: limits, absolute names of meshes
    kind: str
    chain: ChosenChain
    figures: tuple[JointFigures, ...]
    doubts: tuple[FigureDoubt, ...]  # that nobody trusts
    found: RefinedCovers
    remarks: tuple[str, ...]

    @property
    def facts(self) -> RobotFacts:
        """Settings of the arm."""
        return self.found.facts

    @property
    def model(self) -> RobotModel:
        """The arm."""
        return self.found.model


def described_arm(source: Path, settings: NewArmSettings) -> DescribedArm:
    """Read a URDF or xacro, cover its bodies, decide its pairs, and doubt its figures."""
    with tempfile.TemporaryDirectory() as folder:
        urdf = Path(folder) / f'{source.name.partition(".")[0]}.urdf'
        root = _root(source, settings)
        remarks = with_soft_limits(root, source) if settings.limits == 'soft' else []
        _set_velocities(root, settings.velocity)
        remarks += _with_files(root, source, settings)
        urdf.write_bytes(ElementTree.tostring(root))
        try:
            read_urdf(urdf)
            return _described(root, urdf, source, settings, remarks)
        except ModelError as error:  # of a file that nobody will find any more
            raise ModelError(str(error).replace(str(urdf), str(source))) from error


def _root(source: Path, settings: NewArmSettings) -> ElementTree.Element:
    if source.suffix != '.xacro':
        if settings.xacro_arguments:
            raise ConfigError(
                f'{source}: is no xacro, so it has no arguments; {list(settings.xacro_arguments)} '
                'are given (--xacro-arg)'
            )
        return parse_urdf(source)
    text = expanded_xacro(source, settings.xacro_arguments, settings.package_paths)
    return ElementTree.fromstring(text)


def _set_velocities(root: ElementTree.Element, given: Mapping[str, float]) -> None:
    for joint in root.findall('joint'):
        if (name := str(joint.get('name'))) in given:
            limit = joint.find('limit')
            if limit is None:
                limit = ElementTree.SubElement(joint, 'limit')
            limit.set('velocity', repr(given[name]))


def _fill_limits(root: ElementTree.Element, given: Mapping[str, float]) -> None:
    """Write what a <limit> leaves out: the effort that is given, else 0, which means nothing."""
    for joint in root.findall('joint'):
        limit = joint.find('limit')
        if limit is None:
            continue
        values = {'effort': given.get(str(joint.get('name')), 0.0), 'velocity': 0.0}
        for key, value in values.items():
            if limit.get(key) is None:
                limit.set(key, repr(value))


def _with_files(root: ElementTree.Element, source: Path, settings: NewArmSettings) -> list[str]:
    """Give meshes their absolute names, where they are found; `surfaces` says what is missing."""
    for mesh in root.iter('mesh'):
        try:
            path = mesh_file(mesh.get('filename', ''), source, settings.package_paths)
        except ModelError:
            continue
        mesh.set('filename', str(path))
    return []


def _described(
    root: ElementTree.Element,
    urdf: Path,
    source: Path,
    settings: NewArmSettings,
    remarks: list[str],
) -> DescribedArm:
    name = urdf.stem
    chain = chosen_chain(root, source, settings.tip, settings.base, settings.hold)
    _refuse_other_joints(chain, settings, source)
    figures = [_with_given(each, settings) for each in joint_figures(root, chain.joints)]
    _fill_limits(root, settings.effort)  # once it was read what is missing
    urdf.write_bytes(ElementTree.tostring(root))
    _refuse_negative_friction(figures, source)
    _refuse_degrees([x for x in position_doubts(figures) if not _is_trusted(x, settings)], source)
    bare = RobotModel.from_files(urdf, _facts(chain, figures, (), settings, name), name)
    doubts = [*friction_doubts(figures), *limit_doubts(figures, static_torques(bare))]
    doubts = [
        doubt
        for doubt in doubts
        if not (_is_trusted(doubt, settings) or _is_given(doubt, settings))
    ]
    _refuse_unknown_limits(doubts, source)
    choice = SurfaceChoice(
        TAGS[settings.shapes], settings.package_paths, settings.grip == 'both', source
    )
    surfaces, seen = body_surfaces(root, urdf, chain, described_joints(root, source), choice)
    facts = _facts(
        chain, figures, [d.name for d in doubts if 'friction' in d.rule], settings, name
    )
    found = refined_covers(surfaces, settings.capsules, urdf, facts, name)
    shapes = {s.link: _shape(s.triangles) for s in surfaces if s.links == (s.link,)}
    links = {link for link, frame in bare.frames.items() if frame.joint >= 0}
    doubts += [x for x in inertia_doubts(root, links, shapes) if x.rule not in settings.trust]
    srdf = settings.srdf or source.with_suffix('.srdf')
    said = disabled_pairs(srdf, found, root, settings.srdf is not None)
    return DescribedArm(
        name,
        source,
        root,
        settings.kind,
        chain,
        tuple(figures),
        tuple(doubts),
        found,
        (*remarks, *chain.remarks, *seen, *_base_remarks(surfaces), *found.remarks, *said),
    )


def _base_remarks(surfaces: Sequence[BodySurface]) -> tuple[str, ...]:
    """Say what is assumed of a base, or of a whole arm, without a shape."""
    if not surfaces:
        return ('no link has a shape: no plan and no excitation keeps the arm away from anything',)
    if any(surface.joint < 0 for surface in surfaces):
        return ()
    return (
        'the base has no shape: nothing keeps the arm away from it, and a floor is assumed 1 cm '
        'below z = 0',
    )


def static_torques(model: RobotModel) -> Array:
    """Largest torque of every joint at rest (n,) [N m], at many poses."""
    poses = random_poses(model.limits, POSES, np.random.default_rng(0))
    return np.asarray(np.abs(static_torques_at(model, poses)).max(axis=0))


def static_torques_at(model: RobotModel, poses: Array) -> Array:
    """Torques that hold an arm still at poses (N, n) [N m]."""
    arm = model.pinocchio()
    data = arm.createData()
    return np.array([pin.computeGeneralizedGravity(arm, data, q) for q in poses])


def _with_given(figures: JointFigures, settings: NewArmSettings) -> JointFigures:
    name = figures.name
    return figures._replace(
        effort=settings.effort.get(name, figures.effort),
        velocity=settings.velocity.get(name, figures.velocity),
    )


def _is_trusted(doubt: FigureDoubt, settings: NewArmSettings) -> bool:
    """Believe a rule, but no limit of nothing: it says nothing."""
    return doubt.rule in settings.trust and doubt.rule not in NOTHING


def _is_given(doubt: FigureDoubt, settings: NewArmSettings) -> bool:
    given = {'effort': settings.effort, 'velocity': settings.velocity}
    return doubt.name in given.get(doubt.rule.partition('-')[0], {})


def _refuse_other_joints(chain: ChosenChain, settings: NewArmSettings, source: Path) -> None:
    """Refuse limits of what is no joint of the arm: that of the joint meant would stay."""
    for option, given in (('--effort', settings.effort), ('--velocity', settings.velocity)):
        for name in given:
            if name not in chain.joints:
                raise ModelError(
                    f"{source}: '{name}' ({option}) is no joint of the arm; those are "
                    f'{list(chain.joints)}'
                )


def _refuse_negative_friction(figures: Sequence[JointFigures], source: Path) -> None:
    for joint in figures:
        for key, value in (('damping', joint.damping), ('friction', joint.friction)):
            if value < 0.0:
                raise ModelError(
                    f"{source}: joint '{joint.name}': {key} of <dynamics> is {value:g}, it has to "
                    'be 0 or more'
                )


def _refuse_degrees(doubts: list[FigureDoubt], source: Path) -> None:
    """Refuse limits that let the arm turn as far as nobody meant, before torques follow of it."""
    if doubts:
        lines = ''.join(f'\n      {doubt.name}: {doubt.value}' for doubt in doubts)
        raise ConfigError(
            f'{source}: position limits look like degrees, and a URDF has them in rad:{lines}\n'
            '      write them in rad (180 degrees are 3.1416), or take those of the URDF with '
            f'--trust {doubts[0].rule}'
        )


def _refuse_unknown_limits(doubts: list[FigureDoubt], source: Path) -> None:
    """Refuse figures a guess at which would be a claim about safety."""
    missing = [doubt for doubt in doubts if doubt.rule in BARRING]
    if missing:
        lines = ''.join(f'\n      {doubt}' for doubt in missing)
        stated = dict.fromkeys(d.rule for d in missing if d.rule not in NOTHING)
        rules = ' '.join(f'--trust {rule}' for rule in stated)
        trusting = f', or take those of the URDF with {rules}' if rules else ''
        raise ConfigError(
            f'{source}: limits of joints look like placeholders, and nothing safe follows from '
            f'these:{lines}\n      give the figures of the data sheet, as in --effort '
            f'{missing[0].name}=VALUE or --velocity {missing[0].name}=VALUE{trusting}'
        )


def _facts(
    chain: ChosenChain,
    figures: list[JointFigures],
    unknown: tuple[str, ...] | list[str],
    settings: NewArmSettings,
    name: str,
) -> RobotFacts:
    """Return settings without shapes; friction that nobody measured is 0, which means unknown."""
    joints = {
        each.name: JointFacts(
            coulomb=0.0 if each.name in unknown else _or_zero(each.friction),
            viscous=0.0 if each.name in unknown else _or_zero(each.damping),
            armature=0.0,
            offset=0.0,
            torque_limit=each.effort if each.effort > 0.0 else 1.0,
            acceleration_limit=(each.velocity if each.velocity > 0.0 else 1.0) / STOPS_WITHIN,
            encoder_resolution=MAGNET_ENCODER if settings.kind == 'direct' else 0.0,
            effort_sign=1,
            effort_scale=1.0,
        )
        for each in figures
    }
    return RobotFacts(
        urdf=f'{name}.urdf',
        gravity=GRAVITY,
        tip=chain.tip,
        effort=EffortSignal('current' if settings.kind == 'current' else 'torque', True),
        joints=joints,
        held=dict(chain.held),
        collision=CollisionFacts({}),
        actuation=_actuation(joints, settings.kind),
        sensing=_sensing(joints, settings.kind),
    )


def _sensing(joints: Mapping[str, JointFacts], kind: str) -> SensingFacts:
    if kind not in TORQUE:
        return SensingFacts()
    ratio, share = TORQUE[kind]
    absolute = tuple(round(share * joint.torque_limit, 6) for joint in joints.values())
    assumed = ('torque', 'encoder_resolution') if kind == 'direct' else ('torque',)
    torque = TorqueReadingFacts(ratio=(ratio,), absolute=absolute)
    return SensingFacts(torque=torque, assumed=assumed)


def _actuation(joints: Mapping[str, JointFacts], kind: str) -> dict[str, ActuationFacts] | None:
    if kind not in COMMAND:
        return None
    ratio, share = COMMAND[kind]
    return {
        name: ActuationFacts(ratio, round(share * joint.torque_limit, 6), assumed=True)
        for name, joint in joints.items()
    }


def _or_zero(value: float) -> float:
    return 0.0 if math.isnan(value) else value


def _shape(triangles: Array) -> LinkShape:
    points = triangles.reshape(-1, 3)
    length = float(np.ptp(points, axis=0).max())
    try:
        hull = ConvexHull(points)
    except QhullError:  # they lie in a plane
        return LinkShape(length)
    return LinkShape(length, float(hull.volume), hull.equations)
