"""An arm as SVG: its links between its joints, and a ring per link with a sector per parameter."""

from __future__ import annotations

from html import escape
import math

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.identifiability.exact_geometry import rotation
from safe_sysid.identifiability.kinematic_tree import FREE, WORLD, Joint, KinematicTree
from safe_sysid.identifiability.links import Identifiability, LinkParameters
from safe_sysid.identifiability.parameter_classes import MEANINGS, ParameterClass

COLOURS = {
    ParameterClass.ALONE: '#1b7837',
    ParameterClass.COMBINED: '#2166ac',
    ParameterClass.NOT_SELECTED: '#f4a53c',
    ParameterClass.NONE: '#b4b4b4',
    ParameterClass.KNOWN: '#7b5aa6',
}
INK = {  # on these colours
    kind: '#222' if kind in (ParameterClass.NOT_SELECTED, ParameterClass.NONE) else '#fff'
    for kind in ParameterClass
}
WIDTH, HEIGHT, MARGIN = 640.0, 520.0, 70.0  # [px]
RING, BAND = 13.0, 9.0  # inner radius of the first ring and width of each [px]
BEND = 1.1  # [rad], at most, of each joint that turns in the picture
POSES = 80  # that are tried, to see as much of the arm as possible
AZIMUTH, ELEVATION = 0.6, 0.35  # [rad] of the eye


def drawing(answer: Identifiability) -> str:
    """Return the picture as one SVG element."""
    points = _clearest(answer.tree)
    count = len(answer.links)
    base, joints, tips = points[0], points[1 : count + 1], points[count + 1 :]
    parts = [] if answer.tree.joints[0].screws == FREE else [_ground(base)]
    for i, joint in enumerate(answer.tree.joints):
        if joint.parent == WORLD:
            parts.append(_line(base, joints[i], '#444', 3.0))
    for i, link in enumerate(answer.links):
        children = answer.tree.children[i]
        for target in [joints[c] for c in children] or [tips[i]]:
            parts += _shares(link, joints[i], target)
    parts += _rings(answer, joints)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:.0f} {HEIGHT:.0f}" '
        f'role="img" aria-label="Links of the arm, coloured by what can be known of them">'
        f'{"".join(parts)}</svg>'
    )


def _clearest(tree: KinematicTree) -> Array:
    """Return base, joints and ends of links on the paper, in the pose with the widest gaps."""
    rng = np.random.default_rng(1)
    count = len(tree.joints)
    papers: list[tuple[float, int, Array]] = []
    for _ in range(1 + POSES // count):
        points = _on_paper(_points(tree, rng.uniform(-BEND, BEND, size=count)))
        papers.append((_gap(points[: count + 1]), len(papers), points))
    return max(papers)[2]


def _gap(points: Array) -> float:
    """How far points are apart on the paper, those counted most that are near; 0 apart is one."""
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    apart = apart[apart > 1.0]
    return -float(np.sum(1.0 / apart**2))


def _points(tree: KinematicTree, bend: Array) -> Array:
    """Return points [m] of the base, of every joint's origin, and on every link."""
    R: list[Array] = []
    p: list[Array] = []
    for i, joint in enumerate(tree.joints):
        up_R = np.eye(3) if joint.parent == WORLD else R[joint.parent]
        up_p = np.zeros(3) if joint.parent == WORLD else p[joint.parent]
        position = np.array(joint.placement.position, dtype=float)
        at_rest = up_R @ rotation(joint.placement.turns)
        turn, shift = _bent(joint, float(bend[i]), float(tree.length))
        R.append(at_rest @ turn)
        p.append(up_p + up_R @ position + at_rest @ shift)
    ends = [x + 0.4 * float(tree.length) * Ri[:, 2] for x, Ri in zip(p, R, strict=True)]
    return np.vstack([np.zeros((1, 3)), p, ends])


def _bent(joint: Joint, angle: float, length: float) -> tuple[Array, Array]:
    """Motion of a joint of one freedom in the picture: rotation and displacement."""
    if len(joint.screws) != 1:
        return np.eye(3), np.zeros(3)
    axis = rotation(joint.screws[0].direction)[:, 2]
    if joint.slides:
        return np.eye(3), 0.4 * length * axis
    S = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.eye(3) + math.sin(angle) * S + (1 - math.cos(angle)) * S @ S, np.zeros(3)


def _on_paper(points: Array) -> Array:
    """Points of space on the paper [px], as large as fits; up is up."""
    ca, sa, ce, se = (f(x) for x in (AZIMUTH, ELEVATION) for f in (math.cos, math.sin))
    x = -sa * points[:, 0] + ca * points[:, 1]
    y = ce * points[:, 2] - se * (ca * points[:, 0] + sa * points[:, 1])
    flat = np.stack([x, -y], axis=1)
    low, size = flat.min(axis=0), np.maximum(np.ptp(flat, axis=0), 1e-9)
    room = np.array([WIDTH, HEIGHT]) - 2 * MARGIN
    scale = float((room / size).min())
    corner: Array = MARGIN + (room - scale * size) / 2
    placed: Array = corner + scale * (flat - low)
    return placed


def _rings(answer: Identifiability, joints: Array) -> list[str]:
    """Return a ring at every joint; where several joints meet, rings around each other."""
    parts: list[str] = []
    for at, members in _places(joints):
        for k, i in enumerate(members):
            parts += _ring(answer.links[i], at, RING + (BAND + 2) * k)
        parts.append(_numbers([answer.links[i].number for i in members], at))
    return parts


def _places(joints: Array) -> list[tuple[Array, list[int]]]:
    """Points on the paper, each with the joints that are there, from the base outward."""
    places: list[tuple[Array, list[int]]] = []
    for i, at in enumerate(joints):
        near = [members for other, members in places if math.dist(at, other) < 2 * RING]
        if near:
            near[0].append(i)
        else:
            places.append((at, [i]))
    return places


def _ring(link: LinkParameters, at: Array, inner: float) -> list[str]:
    count = len(link.classes)
    return [
        _sector(at, inner, (k / count, (k + 1) / count), kind, _title(link, label, kind))
        for k, (label, kind) in enumerate(zip(link.labels, link.classes, strict=True))
    ]


def _numbers(numbers: list[int], at: Array) -> str:
    """Draw the number of a link inside its ring, of several above them."""
    x, y = at
    inside = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{RING}" fill="#fff"/>'
    above = RING + (BAND + 2) * len(numbers) + 3
    line = y + 5 if len(numbers) == 1 else y - above
    place = f'x="{x:.1f}" y="{line:.1f}" text-anchor="middle" font-size="15"'
    return f'{inside}<text {place}>{", ".join(map(str, numbers))}</text>'


def _title(link: LinkParameters, label: str, kind: ParameterClass) -> str:
    return escape(f'{label} of link {link.number}, {link.link}: {MEANINGS[kind]}')


def _sector(
    at: Array, inner: float, share: tuple[float, float], kind: ParameterClass, title: str
) -> str:
    """Part of a ring, from one share of the circle to another."""
    angles = [2 * math.pi * s - math.pi / 2 for s in share]
    (ax, ay), (bx, by) = ((math.cos(a), math.sin(a)) for a in angles)
    outer = inner + BAND
    x, y = at
    path = (
        f'M{x + outer * ax:.2f} {y + outer * ay:.2f}'
        f'A{outer:.2f} {outer:.2f} 0 0 1 {x + outer * bx:.2f} {y + outer * by:.2f}'
        f'L{x + inner * bx:.2f} {y + inner * by:.2f}'
        f'A{inner:.2f} {inner:.2f} 0 0 0 {x + inner * ax:.2f} {y + inner * ay:.2f}Z'
    )
    return (
        f'<path d="{path}" fill="{COLOURS[kind]}" stroke="#fff" stroke-width="0.8">'
        f'<title>{title}</title></path>'
    )


def _shares(link: LinkParameters, start: Array, end: Array) -> list[str]:
    """Return a link as a thick line, of each colour as much as it has parameters of that class."""
    parts, done = [], 0.0
    for kind in ParameterClass:
        share = sum(c is kind for c in link.classes) / len(link.classes)
        if share:
            a, b = (start + (end - start) * s for s in (done, done + share))
            parts.append(_line(a, b, COLOURS[kind], 9.0))
        done += share
    return parts


def _line(a: Array, b: Array, colour: str, width: float) -> str:
    return (
        f'<line x1="{a[0]:.1f}" y1="{a[1]:.1f}" x2="{b[0]:.1f}" y2="{b[1]:.1f}" '
        f'stroke="{colour}" stroke-width="{width:.0f}"/>'
    )


def _ground(at: Array) -> str:
    x, y = at
    return f'<path d="M{x - 55:.1f} {y:.1f}h110" stroke="#444" stroke-width="4"/>'
