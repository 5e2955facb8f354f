"""new_arm: from a URDF to the settings of an arm that can be used."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
import tempfile
from typing import Literal

import numpy as np

from safe_sysid.api.arguments import of_kind, path_from
from safe_sysid.api.arms import load_arm
from safe_sysid.api.loop_file import LoopFile, read_loop
from safe_sysid.api.motion import resting_problem
from safe_sysid.api.robot_description import described_on, is_topic
from safe_sysid.api.shown_as_text import ShownAsText
from safe_sysid.errors import BoundError, ConfigError, ModelError
from safe_sysid.export.new_arm_files import write_new_arm
from safe_sysid.export.new_arm_loop import IDEAL
from safe_sysid.model.arm import Arm
from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.model.description.described_arm import (
    DescribedArm,
    NewArmSettings,
    described_arm,
)
from safe_sysid.model.description.doubtful_figures import IMPOSSIBLE, RULES
from safe_sysid.model.description.refined_covers import overlaps_by_body, random_poses
from safe_sysid.model.payload import read_tool
from safe_sysid.reach.reachable_set import ReachableSet

__all__ = ['Existing', 'NewArm', 'NewArmSettings', 'StandingShare', 'new_arm', 'standing_share']

Existing = Literal['kept', 'replaced']
POSES = 1000  # at which contact is looked at
LIKELY = 0.2  # share of poses that a cover may cost before more capsules are advised
PARTS = 4  # time steps of a plan that stands; longer ones enclose more, here next to nothing


@dataclass(frozen=True)
class StandingShare:
    """At how many poses standing still is certified, and what stands in the way."""

    tried: int
    certified: int
    reason: str  # most frequent one; empty where all are

    def __str__(self) -> str:
        if self.certified:
            return (
                f'planning: standing still is certified at {self.certified} of {self.tried} poses'
            )
        return f'planning: not yet, at none of {self.tried} poses; {self.reason}'


@dataclass(frozen=True, eq=False)
class NewArm(ShownAsText):
    """An arm made of a description, its files, and what it can be used for."""

    described: DescribedArm
    files: dict[str, Path]
    standing: StandingShare | None  # not tried

    def load(self) -> Arm:
        """Return the arm as `load_arm` reads it from its files."""
        return load_arm(self.files['settings'])

    def __str__(self) -> str:
        arm, found = self.described, self.described.found
        capsules = arm.model.capsules
        lines = [f'{arm.name}: {arm.model.n} joints ({", ".join(arm.chain.joints)})']
        end = '' if arm.chain.tip == arm.chain.body else f', fixed to {arm.chain.body}'
        lines.append(f'tip: {arm.chain.tip}{end}; a payload is what is beyond it')
        if arm.chain.held:
            held = ', '.join(f'{name} at {value:g}' for name, value in arm.chain.held.items())
            lines.append(f'held: {held}')
        lines.append('body                       capsules  gap [mm]  volume ratio  outside')
        for cover in found.covers:
            lines.append(
                f'{cover.surface.link:26} {len(cover.pieces):8} {1e3 * cover.gap.largest:9.0f} '
                f'{cover.gap.ratio:13.2f} {cover.outside:8}'
            )
        lines.append(
            f'pairs: {len(capsules.pairs)} looked at, {len(capsules.apart)} proven apart, '
            f'{len(capsules.left_out)} left out'
        )
        lines += [f'  {i}, {j}: {why}' for (i, j), why in found.left_out.items()]
        lines += [*self._contact_lines(), *self._doubt_lines()]
        lines += [*arm.remarks, *(f'{key}: {path}' for key, path in self.files.items())]
        lines.append(IDEAL)
        bar = _impossible(arm)
        lines.append(
            f'identification: no, as long as this is so: {bar}'
            if bar
            else 'identification: yes, with the errors that `doctor` prints as assumed'
        )
        return '\n'.join([*lines, *([str(self.standing)] if self.standing else [])])

    def _doubt_lines(self) -> list[str]:
        """Doubts with the joints or links they are about, a line for each figure."""
        about: dict[tuple[str, str], list[str]] = {}
        for doubt in self.described.doubts:
            about.setdefault((doubt.rule, doubt.value), []).append(doubt.name)
        return [
            f'doubtful: {value} of {", ".join(names)} ({rule}: {RULES[rule]})'
            for (rule, value), names in about.items()
        ]

    def _contact_lines(self) -> list[str]:
        """Say how many poses the cover costs, and because of which pair."""
        found = self.described.found
        poses = random_poses(found.model.limits, POSES, np.random.default_rng(1))
        shares = overlaps_by_body(found, poses)
        if not shares:
            return []
        capsules = float(np.any([each.poses for each in shares.values()], axis=0).mean())
        hulls = float(np.any([each.in_contact for each in shares.values()], axis=0).mean())
        line = f'poses in contact: {capsules:.2f} as capsules, {hulls:.2f} as convex hulls'
        if capsules - hulls <= LIKELY:
            return [line]
        worst = max(shares, key=lambda bodies: shares[bodies].capsules - shares[bodies].hulls)
        links = {cover.surface.joint: cover.surface.link for cover in found.covers}
        first, second = (links[joint] for joint in worst)
        return [f'{line}; {first} with {second} costs most, --capsules 3 may help']


def new_arm(
    description: str | PathLike[str],
    settings: NewArmSettings,
    out: str | PathLike[str] = '.',
    existing: Existing = 'kept',
    poses: int = 20,
) -> NewArm:
    """Make the settings of an arm from its URDF.

    Args:
        description: a URDF, a xacro file, or the topic of a running robot (`/robot_description`).
        settings: which joints move, where meshes are, how torques are measured.
        out: folder for the arm's settings, URDF, loop, payload, world and report.
        existing: files that are there are an error (`kept`), or `replaced`.
        poses: at which standing still is tried to be certified; 0: none.

    Returns:
        The arm with its files; print it for covers, pairs, unknown figures and what it is for.

    Raises:
        ModelError: the description, or a mesh, cannot be used.
        ConfigError: a limit is missing or a placeholder, or files are there already.

    """
    of_kind('settings', settings, NewArmSettings, 'NewArmSettings')
    tool = None if settings.tool is None else read_tool(settings.tool)
    with tempfile.TemporaryDirectory() as folder:
        topic = str(description)
        source = described_on(topic, path_from(folder)) if is_topic(topic) else Path(description)
        arm = described_arm(source, settings)
    arm, files = write_new_arm(path_from(out), arm, tool, existing == 'replaced')
    made = NewArm(arm, files, None)
    if not poses:
        return made
    return replace(made, standing=standing_share(_loop_of(made), poses))


def _loop_of(made: NewArm) -> LoopFile:
    """Read the loop that was written; a body that cannot be is named by its link."""
    try:
        return read_loop(made.load(), made.files['loop'])
    except ConfigError as error:
        described = made.described
        impossible = _impossible(described)
        if not impossible:
            raise
        raise ModelError(
            f'{described.source}: {impossible}. The files are written, but no loop can begin with '
            f'them ({error})'
        ) from error


def _impossible(arm: DescribedArm) -> str:
    """Name the links whose inertia no body has; empty if there are none."""
    said = [str(doubt) for doubt in arm.doubts if doubt.rule == IMPOSSIBLE]
    return f'{"; ".join(said)}; correct the <inertia> of the link' if said else ''


def standing_share(loop: LoopFile, poses: int) -> StandingShare:
    """Try to certify standing still at random poses."""
    drawn = random_poses(loop.model.limits, poses, np.random.default_rng(2))
    reasons: Counter[str] = Counter()
    for pose in drawn:
        try:
            problem = resting_problem(loop, pose, Obstacles.of({}))
            horizon = replace(problem.horizon, intervals=PARTS)
            certificate = ReachableSet.certify_center(replace(problem, horizon=horizon))
        except BoundError as error:
            reasons[str(error)] += 1
            continue
        if not certificate.holds:
            reasons[str(certificate.smallest)] += 1
    certified = poses - sum(reasons.values())
    reason = reasons.most_common(1)[0][0] if reasons else ''
    return StandingShare(poses, certified, reason)
