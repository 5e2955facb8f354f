"""The page about an arm made of a description: its meshes in capsules, its pairs, its joints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.model.collision.obstacles import NO_OBSTACLES
from safe_sysid.model.description.described_arm import DescribedArm
from safe_sysid.model.description.doubtful_figures import RULES
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.report.arm_scene import arm_scene, quaternion
from safe_sysid.report.html_page import Page, Section, Table
from safe_sysid.report.page_scene import (
    LinkMesh,
    PageScene,
    ShownGap,
    ShownJoints,
    ShownPair,
)

MOST_TRIANGLES = 3000  # of a body
FINEST_GRID = 0.002  # [m] to which corners are rounded at least
SECONDS = 4.0  # for each joint, from limit to limit and back
FRAMES = 24  # of each joint


def new_arm_page(arm: DescribedArm) -> Page:
    """Return the page."""
    found, capsules = arm.found, arm.model.capsules
    outside = sum(cover.outside for cover in found.covers)
    gap = max((cover.gap.largest for cover in found.covers), default=0.0)
    return Page(
        f'{arm.name}, made of {arm.source.name}',
        'Meshes, and the capsules that everything is proven with. Turn the joints.',
        is_good=bool(found.covers) and not outside,
        verdict=_verdict(len(found.covers), outside),
        facts=(
            ('joints', str(arm.model.n)),
            ('capsules', str(len(capsules.names))),
            ('largest gap', f'{1e3 * gap:.0f} mm'),
            ('pairs that plans look at', str(len(capsules.pairs))),
            ('proven apart', str(len(capsules.apart))),
            ('left out', str(len(capsules.left_out))),
        ),
        scene=_scene(arm),
        sections=(_bodies(arm), *_said(arm)),
        footer='Made by safe-sysid. This page needs no network; all of its data is inside.',
    )


def _verdict(covers: int, outside: int) -> tuple[str, str]:
    if not covers:
        return 'No shapes:', 'no link of the description has one, so no contact is looked at.'
    if outside:
        return 'Not contained:', f'{outside} vertices are outside of the capsules.'
    return 'Contained.', 'No vertex of the meshes is outside of the capsules.'


def _scene(arm: DescribedArm) -> PageScene:
    model, tip = arm.model, arm.model.layout.tip
    meshes = tuple(
        clustered(cover.surface.triangles, cover.surface.joint, cover.surface.joint == tip)
        for cover in arm.found.covers
    )
    q = every_joint_in_turn(model)
    time: Array = np.arange(len(q), dtype=np.float64) * (SECONDS / FRAMES)
    scene = arm_scene(model, time, q, NO_OBSTACLES, meshes=meshes)
    marks = tuple((SECONDS * j, name) for j, name in enumerate(model.layout.joint_names))
    gaps = tuple(
        ShownGap(cover.surface.joint, cover.gap.place, f'{1e3 * cover.gap.largest:.0f} mm')
        for cover in arm.found.covers
    )
    return replace(scene, marks=marks, joints=shown_joints(model, q, arm.found.left_out, gaps))


def shown_joints(
    model: RobotModel,
    q: Array,
    left_out: Mapping[tuple[str, str], str],
    gaps: tuple[ShownGap, ...],
) -> ShownJoints:
    """Return the joints with all pairs of capsules, and why some are left out."""
    capsules = model.capsules
    lower, upper = drawn_limits(model)
    reasons = {frozenset(pair): why for pair, why in left_out.items()}
    kinds = (
        ('looked at', capsules.pairs),
        ('left out', capsules.left_out),
        ('proven apart', capsules.apart),
    )
    names = capsules.names
    pairs = tuple(
        ShownPair((i, j), verdict, reasons.get(frozenset((names[i], names[j])), ''))
        for verdict, some in kinds
        for i, j in some.tolist()
    )
    return ShownJoints(
        model.layout.joint_names,
        lower,
        upper,
        model.tree.parent,
        np.array([quaternion(R) for R in model.tree.R_parent_joint]),
        model.tree.p_parent_joint,
        tuple(bool(slides) for slides in model.tree.is_prismatic),
        q,
        names,
        pairs,
        gaps,
    )


def every_joint_in_turn(model: RobotModel) -> Array:
    """Positions (F, n) at which one joint after the other goes from limit to limit."""
    lower, upper = drawn_limits(model)
    rest = np.clip(np.zeros(model.n), lower, upper)
    wave = np.sin(2.0 * np.pi * np.arange(FRAMES) / FRAMES)
    frames = []
    for joint in range(model.n):
        q = np.tile(rest, (FRAMES, 1))
        room = np.where(wave > 0.0, upper[joint] - rest[joint], rest[joint] - lower[joint])
        q[:, joint] += wave * room
        frames.append(q)
    return np.concatenate([*frames, rest[None]])


def drawn_limits(model: RobotModel) -> tuple[Array, Array]:
    """Position limits, half a turn either way where there are none."""
    limits = model.limits
    lower = np.where(np.isfinite(limits.position_lower), limits.position_lower, -np.pi)
    upper = np.where(np.isfinite(limits.position_upper), limits.position_upper, np.pi)
    return lower, upper


def clustered(triangles: Array, joint: int, is_tip: bool) -> LinkMesh:
    """Return triangles (T, 3, 3) with corners on a grid, coarse enough for a page."""
    points, grid = triangles.reshape(-1, 3), FINEST_GRID
    while True:
        cells = np.round((points - points.min(axis=0)) / grid).astype(np.int64)
        number = np.ravel_multi_index(tuple(cells.T), tuple(cells.max(axis=0) + 1))
        _, first, which = np.unique(number, return_index=True, return_inverse=True)
        corners = which.reshape(-1, 3)
        a, b, c = corners.T
        kept = corners[(a != b) & (b != c) & (c != a)]
        if len(kept) > MOST_TRIANGLES:  # the same one from many small ones
            kept = kept[np.unique(np.sort(kept, axis=1), axis=0, return_index=True)[1]]
        if len(kept) <= MOST_TRIANGLES:
            return LinkMesh(joint, points[first], kept, is_tip)
        grid *= 1.4


def _bodies(arm: DescribedArm) -> Section:
    rows = tuple(
        (
            cover.surface.link,
            ', '.join(cover.surface.links),
            len(cover.pieces),
            1e3 * cover.gap.largest,
            cover.gap.ratio,
            cover.outside,
        )
        for cover in arm.found.covers
    )
    columns = ('body', 'links', 'capsules', 'gap [mm]', 'volume ratio', 'vertices outside')
    lead = (
        'How far the capsules of a body reach beyond its convex hull, and how many times as large '
        'they are. The pins show where.'
    )
    return Section('Capsules', lead, tables=(Table(columns, rows),))


def _said(arm: DescribedArm) -> Iterator[Section]:
    if arm.doubts:
        rows = tuple((each.name, each.value, RULES[each.rule]) for each in arm.doubts)
        lead = 'These look as if nobody had measured them. Friction among them counts as unknown.'
        table = Table(('of', 'figure', 'why'), rows)
        yield Section('Figures that nobody knows', lead, tables=(table,))
    if arm.remarks:
        yield Section('Remarks', sentences=arm.remarks)
