"""What the doctor looks at in the shapes of an arm: capsules against meshes, pairs at poses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from safe_sysid.cli.doctor.findings import DoctorFinding, failed, passed, warning
from safe_sysid.errors import ModelError
from safe_sysid.model.arm import Arm
from safe_sysid.model.collision.capsule_fit import Capsule
from safe_sysid.model.description.chain import ChosenChain, described_joints
from safe_sysid.model.description.refined_covers import contacts_called_apart, random_poses
from safe_sysid.model.description.surfaces import BodySurface, SurfaceChoice, body_surfaces
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.urdf_tree import parse_urdf

POSES = 10_000  # at which hulls are looked at
THIN = 0.005  # [m] radius of a capsule below which it is no link
LARGE = 1.5  # radius of a capsule in lengths of its body
INSIDE = 1e-6  # [m] by which a vertex may stick out, of rounding
NAME = 'capsules against meshes'


def shape_findings(arm: Arm, settings: Path) -> Iterator[DoctorFinding]:
    """Everything there is to say about the shapes of an arm."""
    model = arm.model
    root = parse_urdf(arm.urdf)
    names, tip = model.layout.joint_names, arm.facts.tip
    chain = ChosenChain(names, dict(arm.facts.held), tip, tip, ())
    joints = described_joints(root, arm.urdf)
    choice = SurfaceChoice(package_paths=arm.package_paths, is_swept=False)
    try:
        surfaces, remarks = body_surfaces(root, arm.urdf, chain, joints, choice)
    except ModelError as error:
        yield warning(NAME, f'not looked at: {error}', 'name the folder with --package-path')
        return
    for remark in remarks:
        yield warning(NAME, remark, f'mend the file, or {arm.urdf}')
    yield from _containment(model, surfaces, settings)
    yield _sizes(model, surfaces, settings)
    yield from _pairs(model, surfaces, settings)


def _containment(
    model: RobotModel, surfaces: Sequence[BodySurface], settings: Path
) -> Iterator[DoctorFinding]:
    """Whether every vertex is in a capsule of its body."""
    count, outside = 0, []
    for surface in surfaces:
        points = surface.triangles.reshape(-1, 3)
        count += len(points)
        beyond = np.full(len(points), np.inf)
        for capsule in _capsules_of(model, surface.joint):
            beyond = np.minimum(beyond, capsule.distances(points) - capsule.radius)
        worst = int(np.argmax(beyond))
        if beyond[worst] > INSIDE:
            place = ', '.join(f'{x:.4f}' for x in points[worst])
            how_far = 'no capsule' if np.isinf(beyond[worst]) else f'{1e3 * beyond[worst]:.2f} mm'
            outside.append(
                f'{int((beyond > INSIDE).sum())} of {len(points)} vertices of '
                f'{", ".join(surface.links)}, by {how_far} at ({place}) m of {surface.link}'
            )
    if outside:
        yield failed(
            NAME,
            f'stick out: {"; ".join(outside)}',
            f'enlarge collision.shapes in {settings}, or make it anew with `safe-sysid new-arm`',
        )
    elif count:
        yield passed(NAME, f'all {count} vertices of {len(surfaces)} bodies are inside')


def _sizes(model: RobotModel, surfaces: Sequence[BodySurface], settings: Path) -> DoctorFinding:
    """Capsules whose size is not that of a link."""
    item, capsules = 'sizes of capsules', model.capsules
    if not capsules.names:
        return warning(
            item,
            'no capsules',
            f'describe them in {settings}: collision.shapes, or make the arm anew with '
            '`safe-sysid new-arm`',
        )
    lengths = {s.joint: float(np.ptp(s.triangles.reshape(-1, 3), axis=0).max()) for s in surfaces}
    odd = [
        f'{name} has a radius of {1e3 * radius:.0f} mm'
        for name, joint, radius in zip(
            capsules.names, capsules.joint.tolist(), capsules.radius.tolist(), strict=True
        )
        if radius < THIN or radius > LARGE * lengths.get(joint, np.inf)
    ]
    if odd:
        return warning(item, '; '.join(odd), f'is the unit right? {settings}: collision.shapes')
    return passed(item, f'radii of {1e3 * capsules.radius.min():.0f} to '
                  f'{1e3 * capsules.radius.max():.0f} mm')  # fmt: skip


def _pairs(
    model: RobotModel, surfaces: Sequence[BodySurface], settings: Path
) -> Iterator[DoctorFinding]:
    """Whether meshes meet at random poses although their pair is not looked at."""
    item = 'pairs that are not looked at'
    poses = random_poses(model.limits, POSES, np.random.default_rng(3))
    wrong = contacts_called_apart(model, {s.joint: s.triangles for s in surfaces}, poses)
    left_out = {_bodies(model, pair) for pair in model.capsules.left_out.tolist()}
    names = {surface.joint: surface.link for surface in surfaces}
    apart = {bodies: n for bodies, n in wrong.items() if bodies not in left_out}
    said = {bodies: n for bodies, n in wrong.items() if bodies in left_out}
    if apart:
        yield failed(
            item,
            f'meshes meet although proven apart: {_listed(apart, names)} of {POSES} poses',
            f'the capsules do not contain the bodies: make them anew, {settings}',
        )
    if said:
        yield warning(
            item,
            'meshes meet of housings that are said to stay apart: '
            f'{_listed(said, names)} of {POSES} poses',
            f'make sure of it, or take the pair out of collision.housings_apart in {settings}',
        )
    if not wrong:
        yield passed(item, f'no two meshes meet at {POSES} poses')


def _listed(found: Mapping[tuple[int, int], int], names: Mapping[int, str]) -> str:
    return ', '.join(f'{names[i]} and {names[j]} at {count}' for (i, j), count in found.items())


def _bodies(model: RobotModel, pair: Sequence[int]) -> tuple[int, int]:
    return int(model.capsules.joint[pair[0]]), int(model.capsules.joint[pair[1]])


def _capsules_of(model: RobotModel, joint: int) -> list[Capsule]:
    capsules = model.capsules
    rows = np.flatnonzero(capsules.joint == joint)
    return [Capsule(capsules.a[i], capsules.b[i], float(capsules.radius[i])) for i in rows]
