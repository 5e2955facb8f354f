"""What the doctor looks at for one arm: whether its URDF and its settings tell one story."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.cli.doctor.description_checks import description_findings
from safe_sysid.cli.doctor.findings import DoctorFinding, failed, passed, warning
from safe_sysid.cli.doctor.shape_checks import shape_findings
from safe_sysid.cli.doctor.strength_checks import strength_findings
from safe_sysid.errors import ConfigError, ModelError
from safe_sysid.model import inertia
from safe_sysid.model.arm import Arm
from safe_sysid.model.arm_knowledge import DRY_SHARE
from safe_sysid.model.description.doubtful_figures import weightless
from safe_sysid.model.facts import RobotFacts, facts_path, read_facts, urdf_path
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.sensing import reading_errors, torque_errors
from safe_sysid.model.urdf_tree import read_urdf
from safe_sysid.share import robot_names

PERIOD = 0.001  # [s] of a loop, for which figures that depend on it are shown


def findings(
    robot: str,
    config: Path | None,
    payload: str | None = None,
    package_paths: Sequence[Path] = (),
) -> Iterator[DoctorFinding]:
    """Everything there is to say about an arm: by its name, its URDF, its settings or both."""
    if config is None and robot not in robot_names() and Path(robot).suffix == '.urdf':
        yield from description_findings(Path(robot), package_paths)
        return
    urdf, settings = _files(robot, config)
    try:
        facts = read_facts(settings)
        urdf = urdf or urdf_path(settings, facts)
        model = RobotModel.from_files(urdf, facts, settings.stem, settings)
    except (ConfigError, ModelError) as error:
        yield failed('URDF and settings', str(error), f'mend the file that is named: {settings}')
        return
    yield passed('URDF and settings', f'{urdf} and {settings}: joints {", ".join(facts.joints)}')
    yield from _torque_limits(read_urdf(urdf), facts, settings)
    yield _velocity_limits(model, urdf)
    yield _friction(facts, settings)
    yield _bodies(model, urdf)
    yield _collision(model, settings)
    yield _effort(facts)
    yield from _commands(model, settings)
    yield from _readings(model, settings)
    arm = Arm(model, facts, urdf, is_described=True, package_paths=tuple(package_paths))
    yield from shape_findings(arm, settings)
    yield from strength_findings(arm, settings, payload)


def _files(robot: str, config: Path | None) -> tuple[Path | None, Path]:
    """URDF, if it was given as a path, and the settings."""
    if config is None:
        if Path(robot).suffix in ('.yaml', '.yml'):
            return None, Path(robot)
        return None, facts_path(robot)
    if robot in robot_names():
        return None, config
    return Path(robot), config


def _torque_limits(
    root: ElementTree.Element, facts: RobotFacts, settings: Path
) -> Iterator[DoctorFinding]:
    item = 'torque limits'
    efforts = {
        str(joint.get('name')): float(limit.get('effort', 'nan'))
        for joint in root.findall('joint')
        if (limit := joint.find('limit')) is not None
    }
    unknown = [name for name in facts.joints if not efforts.get(name, 0.0) > 0.0]
    too_high = [
        f'{name} {facts.joints[name].torque_limit:g} of {efforts[name]:g} N m'
        for name in facts.joints
        if name not in unknown and facts.joints[name].torque_limit > efforts[name]
    ]
    if too_high:
        yield warning(
            item,
            f'above the effort of the URDF: {", ".join(too_high)}',
            'fine where that effort is a rating for hours and torque_limit one for seconds; '
            f'otherwise lower torque_limit in {settings}',
        )
    if unknown:
        yield warning(
            item,
            f'the URDF gives no effort for {", ".join(unknown)}',
            'add <limit effort="..."> to these joints, so that torque_limit can be compared',
        )
    if not too_high and not unknown:
        limits = ', '.join(f'{joint.torque_limit:g}' for joint in facts.joints.values())
        yield passed(item, f'{limits} N m, none above the effort of the URDF')


def _velocity_limits(model: RobotModel, urdf: Path) -> DoctorFinding:
    names = np.array(model.layout.joint_names)
    missing = names[~(model.limits.velocity > 0.0)]
    if missing.size:
        return failed(
            'velocity limits',
            f'none for {", ".join(missing)}',
            f'add <limit velocity="..."> to these joints in {urdf}',
        )
    return passed('velocity limits', ', '.join(f'{v:g}' for v in model.limits.velocity) + ' rad/s')


def _friction(facts: RobotFacts, settings: Path) -> DoctorFinding:
    item = 'friction and armature'
    unknown = {
        kind: [name for name, joint in facts.joints.items() if not any(values(joint))]
        for kind, values in (
            ('friction', lambda joint: (joint.coulomb, joint.viscous)),
            ('armature', lambda joint: (joint.armature,)),
        )
    }
    zero = [f'{kind} of {", ".join(names)}' for kind, names in unknown.items() if names]
    if zero:
        return warning(
            item,
            f'0, which is no figure: {"; ".join(zero)}',
            f'without a width of it (uncertainty), bounds on a payload leave anything up to '
            f'{100 * DRY_SHARE:g} % of the torque limit; put measured values into {settings}',
        )
    return passed(item, 'known for every joint')


def _bodies(model: RobotModel, urdf: Path) -> DoctorFinding:
    bodies = np.array([model.theta[model.layout.inertial(i)] for i in range(model.n)])
    impossible = np.logical_not(inertia.is_consistent(bodies))
    if impossible.any():
        names = ', '.join(np.array(model.layout.joint_names)[impossible])
        return failed(
            'masses and inertias',
            f'no rigid body can have the inertia of what {names} moves',
            f'correct <inertial> in {urdf}: a positive definite inertia about the centre of mass '
            'whose largest principal moment is less than the sum of the other two',
        )
    moved = {name for name, frame in model.frames.items() if frame.joint >= 0}
    if none := weightless(read_urdf(urdf), moved):
        return warning(
            'masses and inertias',
            f'no <inertial> of {", ".join(none)}, which have a shape: they count as weightless',
            f'add <inertial> in {urdf}, or calibrate the arm',
        )
    return passed('masses and inertias', f'{bodies[:, 0].sum():.3f} kg move, every body can exist')


def _collision(model: RobotModel, settings: Path) -> DoctorFinding:
    covered = set(model.capsules.joint.tolist())
    bare = [name for i, name in enumerate(model.layout.joint_names) if i not in covered]
    if bare:
        return warning(
            'collision shapes',
            f'none on what {", ".join(bare)} moves',
            f'add capsules under collision.shapes in {settings}, or the arm is taken to end there',
        )
    capsules = model.capsules
    return passed(
        'collision shapes',
        f'{len(capsules.names)} capsules; of their pairs {len(capsules.pairs)} may touch, '
        f'{len(capsules.apart)} are proven apart, {len(capsules.left_out)} are left out',
    )


def _effort(facts: RobotFacts) -> DoctorFinding:
    effort = facts.effort
    gravity = 'with' if effort.gravity_included else 'without'
    signs = ' '.join(f'{joint.effort_sign:+d}' for joint in facts.joints.values())
    detail = f'{effort.kind} {gravity} what holds the arm against gravity, signs {signs}'
    return passed('effort signal', detail)


def _commands(model: RobotModel, settings: Path) -> Iterator[DoctorFinding]:
    actuation = model.actuation
    if actuation.is_stated:
        yield passed('commanded torque', str(actuation))
    else:
        advice = f'state ratio and absolute of every joint under actuation in {settings}'
        yield warning('commanded torque', str(actuation), advice)
    yield _stated_or_assumed(
        'when commands act', actuation.timing(PERIOD), actuation.sentences, settings
    )


def _readings(model: RobotModel, settings: Path) -> Iterator[DoctorFinding]:
    read, torque = reading_errors(model, PERIOD), torque_errors(model)
    yield _stated_or_assumed(
        'readings',
        f'positions within {_ends(read.position)} rad and zeros within {_ends(read.zero)} rad, '
        f'velocities within {_ends(read.velocity)} rad/s, {1e3 * PERIOD:g} ms apart',
        read.sentences,
        settings,
    )
    behind = 'contain' if torque.has_rotors else 'do not contain'
    least, largest = (1e3 * x for x in torque.filter)
    yield _stated_or_assumed(
        'measured torque',
        f'within {_ends(100.0 * torque.ratio)} % and {_ends(torque.absolute)} N m; low-pass of '
        f'{least:g} to {largest:g} ms; readings {behind} friction and rotors; gravity within '
        f'{torque.tilt:g} rad',
        torque.sentences,
        settings,
    )


def _stated_or_assumed(
    item: str, detail: str, assumed: tuple[str, ...], settings: Path
) -> DoctorFinding:
    """Warn where a figure rests on what nobody stated."""
    if not assumed:
        return passed(item, detail)
    lines = ''.join(f'\n      {sentence}' for sentence in assumed)
    return warning(item, detail + lines, f'state what you know of it in {settings}')


def _ends(values: Array) -> str:
    low, high = values.min(), values.max()
    return f'{low:.3g}' if low == high else f'{low:.3g} to {high:.3g}'
