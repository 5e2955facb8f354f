"""Files of an arm that was made of a description: settings, URDF, loop, payload, world, report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
import json
import math
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from safe_sysid.errors import ConfigError
from safe_sysid.export.new_arm_loop import (
    IDEAL,
    PAYLOAD,
    about_box,
    about_tool,
    as_key,
    as_list,
    at_tip,
    beside_links,
    beyond_tip,
    beyond_tool,
    excitation_text,
    heaviest_box,
    loop_text,
    payload_text,
    prior_beyond,
    world_of,
    world_text,
)
from safe_sysid.model.arm import STOPS_WITHIN
from safe_sysid.model.description.described_arm import COMMAND, TORQUE, DescribedArm
from safe_sysid.model.description.first_pose import first_pose
from safe_sysid.model.friction import units
from safe_sysid.model.payload import Payload
from safe_sysid.output_file import filled_folder, write_text
from safe_sysid.report.html_page import html_of
from safe_sysid.report.new_arm_page import new_arm_page

IN_CONTACT = (
    'no pose was found at which the arm with what it holds touches neither itself nor the floor: '
    '`start` of the loop is in contact, and no plan begins there; put another pose, payload or '
    'world in its place'
)
WHERE = {
    'torque-sensor': 'the data sheet ("torque accuracy"); offsets: hold it still at known poses',
    'current': 'torque constant times gear ratio; `safe-sysid calibrate-gains` with a known mass',
    'direct': 'the data sheet of the servos',
}


def write_new_arm(
    folder: Path, arm: DescribedArm, tool: Payload | None, is_forced: bool
) -> tuple[DescribedArm, dict[str, Path]]:
    """Write all files; existing ones are only replaced where that is asked for.

    The arm comes back with what there is to remark about its first pose.
    """
    files = {
        'urdf': folder / f'{arm.name}.urdf',
        'settings': folder / f'{arm.name}.yaml',
        'loop': folder / f'{arm.name}_loop.yaml',
        'payload': folder / f'{arm.name}_payload.yaml',
        'world': folder / f'{arm.name}_world.yaml',
        'excitation': folder / f'{arm.name}_excitation.yaml',
        'report': folder / f'{arm.name}_report.json',
        'page': folder / f'{arm.name}.html',
    }
    there = [str(path) for path in files.values() if path.exists()]
    if there and not is_forced:
        raise ConfigError(f'{", ".join(there)}: exist already; --force replaces them')
    if tool is None:
        center = beyond_tip(arm)
        held = heaviest_box(arm, center)
        mass, about = held.mass, about_box(arm, held)
    else:
        arm = replace(arm, remarks=(*arm.remarks, *beside_links(arm)))
        center, held = beyond_tool(arm, tool), at_tip(arm, tool)
        mass, about = PAYLOAD + tool.mass, about_tool(arm, tool)
    start = first_pose(arm.model.with_payload(held), world_of(arm))
    if start.clearance <= 0.0:
        arm = replace(arm, remarks=(*arm.remarks, IN_CONTACT))
    texts = {
        'urdf': ElementTree.tostring(arm.root, encoding='unicode') + '\n',
        'settings': settings_text(arm),
        'loop': loop_text(arm, files, prior_beyond(arm, center, mass), mass, start),
        'payload': payload_text(arm, held, about),
        'world': world_text(arm),
        'excitation': excitation_text(arm, None if tool is None else files['payload']),
        'report': json.dumps(as_mapping(arm), indent=2, ensure_ascii=False) + '\n',
        'page': html_of(new_arm_page(arm)),
    }
    with filled_folder(folder):
        for key, text in texts.items():
            write_text(files[key], text)
    return arm, files


def settings_text(arm: DescribedArm) -> str:
    """Return the settings of the arm with the source of every figure beside it."""
    facts = arm.facts
    lines = [
        f'# {arm.name}, made of {arm.source.name} by `safe-sysid new-arm --kind {arm.kind}`.',
        '#',
        '# docs/robots.md explains every key. A 0 of friction or armature means unknown: wide',
        '# bounds are taken instead. What the description says of figures that are not here:',
        *(f'#   {doubt}' for doubt in arm.doubts),
        *(f'# {remark}' for remark in arm.remarks),
        f'urdf: {facts.urdf}',
        f'gravity: {as_list(facts.gravity)} # [m/s^2] in the base frame, assumed: stands upright',
        f'tip: {as_key(facts.tip)}',
        'effort:',
        f'  kind: {facts.effort.kind} # assumed (kind: {arm.kind})',
        '  gravity_included: true # assumed',
        'joints:',
    ]
    doubted = {doubt.name: doubt for doubt in arm.doubts if doubt.rule.startswith('friction')}
    for figures, slides in zip(arm.figures, arm.model.tree.is_prismatic, strict=True):
        doubt = doubted.get(figures.name)
        friction = f'placeholder in URDF ({doubt.value}): unknown' if doubt else 'URDF; 0: unknown'
        lines += _joint_lines(arm, figures.name, friction, units(bool(slides)))
    lines += [*_signal_lines(arm), *_held_lines(facts.held), *_collision_lines(arm)]
    return '\n'.join(lines) + '\n'


def _joint_lines(arm: DescribedArm, name: str, friction: str, units: tuple[str, ...]) -> list[str]:
    """Return the figures of a joint; `units` are those of its friction."""
    joint, (torque, viscous, armature, _) = arm.facts.joints[name], units
    position = 'rad' if torque == 'N m' else 'm'
    step = joint.encoder_resolution
    return [
        f'  {as_key(name)}:',
        f'    coulomb: {joint.coulomb!r} # [{torque}] {friction}',
        f'    viscous: {joint.viscous!r} # [{viscous}] likewise',
        f'    armature: 0.0 # [{armature}] unknown, no URDF has it; a calibration finds it',
        f'    offset: 0.0 # [{torque}] unknown',
        f'    torque_limit: {joint.torque_limit!r} # [{torque}] effort of the URDF, or given',
        f'    acceleration_limit: {round(joint.acceleration_limit, 6)!r} # [{position}/s^2] '
        f'assumed: full speed within {STOPS_WITHIN} s',
        f'    encoder_resolution: {step!r} # [{position}] '
        + ('assumed: 12 bits' if step else 'unknown'),
        '    effort_sign: 1 # assumed: check it on the arm',
        f'    effort_scale: 1.0 # [{torque} per unit] '
        + ('unknown: currents' if arm.kind == 'current' else 'assumed'),
    ]


def _signal_lines(arm: DescribedArm) -> list[str]:
    facts = arm.facts
    lines = [f'# Where the true errors of torques are: {WHERE[arm.kind]}.']
    torque = facts.sensing.torque
    if arm.kind in TORQUE and torque.ratio and torque.absolute:
        lines += [
            'sensing:',
            '  torque:',
            f'    ratio: {as_list(torque.ratio)} # assumed (kind: {arm.kind})',
            f'    absolute: {as_list(torque.absolute)} # [N m or N] assumed (kind: {arm.kind})',
            f'  assumed: [{", ".join(facts.sensing.assumed)}] # take out what you have put right',
        ]
    if arm.kind in COMMAND and facts.actuation is not None:
        lines.append(f'actuation: # assumed (kind: {arm.kind})')
        lines += [
            f'  {as_key(name)}: {{ratio: {each.ratio!r}, absolute: {each.absolute!r}, '
            'assumed: true}'
            for name, each in facts.actuation.items()
        ]
    return lines


def _held_lines(held: Mapping[str, float]) -> list[str]:
    if not held:
        return ['held: {}']
    return [
        'held: # [rad or m]',
        *(f'  {as_key(name)}: {value!r}' for name, value in held.items()),
    ]


NO_SHAPES = ('collision:', '  shapes: {}')


def _collision_lines(arm: DescribedArm) -> list[str]:
    if not arm.facts.collision.shapes:
        return ['# No link of the description has a shape: no contact is looked at.', *NO_SHAPES]
    lines = [
        '# Capsules [m], each in the frame of its link; each contains all vertices of its piece',
        '# of the surface, as written here. How far they reach beyond the hull of the body, and',
        '# how many times as large they are:',
    ]
    for cover in arm.found.covers:
        gap, several = cover.gap, len(cover.surface.links) > 1
        links = f' (with {", ".join(cover.surface.links)})' if several else ''
        lines.append(
            f'#   {cover.surface.link}{links}: {1e3 * gap.largest:.0f} mm, {gap.ratio:.2f} times'
        )
    lines += ['collision:', '  shapes:']
    for name, shape in arm.facts.collision.shapes.items():
        lines += [
            f'    {as_key(name)}:',
            f'      {{link: {as_key(shape.link)}, a: {as_list(shape.a)}, b: {as_list(shape.b)}, '
            f'radius: {shape.radius!r}}}',
        ]
    if arm.found.left_out:
        lines.append('  housings_apart:')
        lines += [
            f'    - [{as_key(i)}, {as_key(j)}] # {why}'
            for (i, j), why in arm.found.left_out.items()
        ]
    return lines


def as_mapping(arm: DescribedArm) -> dict[str, Any]:
    """Return what was found, in the types of JSON."""
    capsules = arm.model.capsules
    return {
        'arm': arm.name,
        'joints': list(arm.chain.joints),
        'tip': arm.chain.tip,
        'held': dict(arm.chain.held),
        'bodies': [
            {
                'link': cover.surface.link,
                'links': list(cover.surface.links),
                'vertices': 3 * len(cover.surface.triangles),
                'outside': cover.outside,
                'capsules': len(cover.pieces),
                'gap [m]': round(cover.gap.largest, 4),
                'gap at [m]': np.round(cover.gap.place, 4).tolist(),
                'volume ratio': round(cover.gap.ratio, 3)
                if math.isfinite(cover.gap.ratio)
                else None,
            }
            for cover in arm.found.covers
        ],
        'pairs looked at': [list(pair) for pair in capsules.named(capsules.pairs)],
        'pairs proven apart': [list(pair) for pair in capsules.named(capsules.apart)],
        'pairs left out': [[*pair, why] for pair, why in arm.found.left_out.items()],
        'doubts': [
            {'rule': doubt.rule, 'name': doubt.name, 'value': doubt.value} for doubt in arm.doubts
        ],
        'remarks': list(arm.remarks),
        'loop': [IDEAL],
    }
