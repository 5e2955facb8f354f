"""What the doctor looks at in the figures of an arm: torque at rest, placeholders, plans."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from safe_sysid.api.loop_file import Load, read_loop
from safe_sysid.api.new_arm import standing_share
from safe_sysid.cli.doctor.findings import DoctorFinding, passed, warning
from safe_sysid.errors import SafeSysidError
from safe_sysid.model.arm import Arm
from safe_sysid.model.description.described_arm import static_torques_at
from safe_sysid.model.description.doubtful_figures import friction_doubts, joint_figures
from safe_sysid.model.description.refined_covers import random_poses
from safe_sysid.model.payload import read_payload
from safe_sysid.model.urdf_tree import parse_urdf
from safe_sysid.share import share_directory

POSES, TRIED = 1000, 20


def strength_findings(arm: Arm, settings: Path, payload: str | None) -> Iterator[DoctorFinding]:
    """Everything there is to say about torques, rotors and what can be certified."""
    yield from _static(arm, settings, payload)
    yield from _placeholders(arm, settings)
    yield from _standing(arm, settings, payload)


def _static(arm: Arm, settings: Path, payload: str | None) -> Iterator[DoctorFinding]:
    """Share of poses that the joints cannot hold."""
    item = 'torque at rest'
    model = arm.model if payload is None else arm.model.with_payload(read_payload(payload))
    holding = 'with nothing' if payload is None else f'with {payload}'
    poses = random_poses(model.limits, POSES, np.random.default_rng(4))
    torques = np.abs(static_torques_at(model, poses))
    over = torques > model.limits.torque
    names = np.array(model.layout.joint_names)[over.any(axis=0)]
    largest = ', '.join(f'{x:.3g}' for x in torques.max(axis=0))
    if over.any():
        yield warning(
            item,
            f'{holding} above the limit at {over.any(axis=1).mean():.0%} of poses, on '
            f'{", ".join(names)}; at most {largest} N m',
            f'is torque_limit in {settings} right? Plans avoid these poses',
        )
    else:
        yield passed(item, f'{holding} at most {largest} N m, within the limits')


def _placeholders(arm: Arm, settings: Path) -> Iterator[DoctorFinding]:
    """Friction of the URDF that nobody measured, where the settings repeat it."""
    figures = joint_figures(parse_urdf(arm.urdf), arm.model.layout.joint_names)
    joints = arm.facts.joints
    said = [
        str(doubt)
        for doubt in friction_doubts(figures)
        if joints[doubt.name].coulomb or joints[doubt.name].viscous
    ]
    if said:
        yield warning(
            'placeholders',
            '; '.join(said),
            f'measure friction (`safe-sysid calibrate`), or write 0 for unknown into {settings}',
        )


def _standing(arm: Arm, settings: Path, payload: str | None) -> Iterator[DoctorFinding]:
    """Share of poses at which standing still is certified, where there is a loop file.

    Empty, and with a payload, or whatever the loop expects the arm to hold.
    """
    item = 'plans'
    folder = share_directory() / 'config' / 'loop'
    beside = settings.with_name(f'{settings.stem}_loop.yaml')
    loop = beside if beside.is_file() else folder / f'{arm.model.name}.yaml'
    if not loop.is_file():
        return
    held = 'with all that the loop expects' if payload is None else f'with {payload}'
    for holding, load in (('empty', Load.NOTHING), (held, payload)):
        try:
            found = standing_share(read_loop(arm, loop, load), TRIED)
        except SafeSysidError as error:
            yield warning(item, f'{loop}, {holding}: {error}', f'mend {loop}')
            continue
        if found.certified:
            yield passed(item, f'{holding}: {found}')
        else:
            remedy = f'put what a calibration finds into {settings}'
            yield warning(item, f'{holding}: {found}', remedy)
