"""Files of an arm that was made of a description: settings, URDF, loop, payload, world, report."""

from __future__ import annotations

from collections.abc import Mapping
import json
import math
from pathlib import Path
import re
from typing import Any
from xml.etree import ElementTree

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import ConfigError
from safe_sysid.model.arm import STOPS_WITHIN
from safe_sysid.model.description.described_arm import COMMAND, TORQUE, DescribedArm
from safe_sysid.report.html_page import html_of
from safe_sysid.report.new_arm_page import new_arm_page
from safe_sysid.share import share_directory

PAYLOAD = 2.0  # [kg] that the loop is prepared for
HALF_BOX = 0.05  # [m] of the payload
ABOUT = 0.1  # [m] by which its centre of mass may be elsewhere
NO_WORDS = ('y', 'n', 'yes', 'no', 'on', 'off', 'true', 'false', 'null')  # to YAML
NEAR_FLOOR = 0.05  # [m] above z = 0 of the lowest vertex, below which the arm stands on a floor
WHERE = {
    'torque-sensor': 'the data sheet ("torque accuracy"); offsets: hold it still at known poses',
    'current': 'torque constant times gear ratio; `safe-sysid calibrate-gains` with a known mass',
    'direct': 'the data sheet of the servos',
}


def write_new_arm(folder: Path, arm: DescribedArm, is_forced: bool) -> dict[str, Path]:
    """Write all files; existing ones are only replaced where that is asked for."""
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
    folder.mkdir(parents=True, exist_ok=True)
    center = _beyond_tip(arm)
    texts = {
        'urdf': ElementTree.tostring(arm.root, encoding='unicode') + '\n',
        'settings': settings_text(arm),
        'loop': _loop_text(arm, files, center),
        'payload': _payload_text(arm, center),
        'world': _world_text(arm),
        'excitation': _excitation_text(arm),
        'report': json.dumps(as_mapping(arm), indent=2, ensure_ascii=False) + '\n',
        'page': html_of(new_arm_page(arm)),
    }
    for key, text in texts.items():
        files[key].write_text(text, encoding='utf-8')
    return files


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
        f'gravity: {_list(facts.gravity)} # [m/s^2] in the base frame, assumed: stands upright',
        f'tip: {_key(facts.tip)}',
        'effort:',
        f'  kind: {facts.effort.kind} # assumed (kind: {arm.kind})',
        '  gravity_included: true # assumed',
        'joints:',
    ]
    doubted = {doubt.name: doubt for doubt in arm.doubts if doubt.rule.startswith('friction')}
    for figures in arm.figures:
        joint = facts.joints[figures.name]
        doubt = doubted.get(figures.name)
        friction = f'placeholder in URDF ({doubt.value}): unknown' if doubt else 'URDF; 0: unknown'
        lines += [
            f'  {_key(figures.name)}:',
            f'    coulomb: {joint.coulomb!r} # [N m] {friction}',
            f'    viscous: {joint.viscous!r} # [N m s/rad] likewise',
            '    armature: 0.0 # [kg m^2] unknown, no URDF has it; a calibration finds it',
            '    offset: 0.0 # [N m] unknown',
            f'    torque_limit: {joint.torque_limit!r} # [N m] effort of the URDF, or given',
            f'    acceleration_limit: {round(joint.acceleration_limit, 6)!r} # [rad/s^2] assumed: '
            f'full speed within {STOPS_WITHIN} s',
            f'    encoder_resolution: {joint.encoder_resolution!r} # [rad] '
            + ('assumed: 12 bits' if joint.encoder_resolution else 'unknown'),
            '    effort_sign: 1 # assumed: check it on the arm',
            '    effort_scale: 1.0 # [N m per unit] '
            + ('unknown: currents' if arm.kind == 'current' else 'assumed'),
        ]
    lines += [*_signal_lines(arm), *_held_lines(facts.held), *_collision_lines(arm)]
    return '\n'.join(lines) + '\n'


def _signal_lines(arm: DescribedArm) -> list[str]:
    facts = arm.facts
    lines = [f'# Where the true errors of torques are: {WHERE[arm.kind]}.']
    torque = facts.sensing.torque
    if arm.kind in TORQUE and torque.ratio and torque.absolute:
        lines += [
            'sensing:',
            '  torque:',
            f'    ratio: {_list(torque.ratio)} # assumed (kind: {arm.kind})',
            f'    absolute: {_list(torque.absolute)} # [N m] assumed (kind: {arm.kind})',
            f'  assumed: [{", ".join(facts.sensing.assumed)}] # take out what you have put right',
        ]
    if arm.kind in COMMAND and facts.actuation is not None:
        lines.append(f'actuation: # assumed (kind: {arm.kind})')
        lines += [
            f'  {_key(name)}: {{ratio: {each.ratio!r}, absolute: {each.absolute!r}, '
            'assumed: true}'
            for name, each in facts.actuation.items()
        ]
    return lines


def _held_lines(held: Mapping[str, float]) -> list[str]:
    if not held:
        return ['held: {}']
    return ['held: # [rad or m]', *(f'  {_key(name)}: {value!r}' for name, value in held.items())]


def _collision_lines(arm: DescribedArm) -> list[str]:
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
            f'    {_key(name)}:',
            f'      {{link: {_key(shape.link)}, a: {_list(shape.a)}, b: {_list(shape.b)}, '
            f'radius: {shape.radius!r}}}',
        ]
    if arm.found.left_out:
        lines.append('  housings_apart:')
        lines += [
            f'    - [{_key(i)}, {_key(j)}] # {why}' for (i, j), why in arm.found.left_out.items()
        ]
    return lines


def as_mapping(arm: DescribedArm) -> dict[str, Any]:
    """Return what was found, in the types of JSON."""
    capsules = arm.model.capsules
    return {
        'arm': arm.name,
        'joints': list(arm.chain.joints),
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
    }


def _beyond_tip(arm: DescribedArm) -> Array:
    """Middle of a box that touches the last body where that reaches farthest from its joint."""
    last = next((c for c in arm.found.covers if c.surface.link == arm.chain.tip), None)
    if last is None:
        return np.array([0.0, 0.0, HALF_BOX])
    far = last.hull[np.argmax(np.linalg.norm(last.hull, axis=1))]
    axis = int(np.argmax(np.abs(last.hull.mean(axis=0))))
    center = np.zeros(3)
    center[axis] = far[axis] + math.copysign(HALF_BOX, far[axis])
    return np.round(center, 4)


def _payload_text(arm: DescribedArm, center: Array) -> str:
    moment = round(PAYLOAD * 2.0 * (2.0 * HALF_BOX) ** 2 / 12.0, 6)
    radius = round(math.sqrt(3.0) * HALF_BOX + 5e-5, 4)
    zero = [0.0, 0.0, 0.0]
    return '\n'.join(
        [
            f'# A box of {PAYLOAD:g} kg at the end of {arm.name}, assumed: put in its place what',
            '# the arm is to hold. docs/robots.md explains the keys.',
            f'mass: {PAYLOAD!r} # [kg]',
            f'com: {_list(zero)} # [m] in the payload frame',
            'inertia_about_com: # [kg m^2]',
            f'  {{ixx: {moment}, ixy: 0.0, ixz: 0.0, iyy: {moment}, iyz: 0.0, izz: {moment}}}',
            'placement:',
            f'  {_key(arm.name)}: {{link: {_key(arm.chain.tip)}, xyz: {_list(center)}, '
            f'rpy: {_list(zero)}}}',
            'shapes:',
            f'  box: {{a: {_list(zero)}, b: {_list(zero)}, radius: {radius}}}',
            '',
        ]
    )


def _world_text(arm: DescribedArm) -> str:
    floor = _floor(arm)
    if floor is None:
        return '# Nothing is in the way.\nobstacles: {}\n'
    height = round(floor - 0.05, 4)
    return (
        '# The floor that the arm stands on, 1 cm below its base.\nobstacles:\n'
        f'  floor: {{center: [0.0, 0.0, {height!r}], size: [4.0, 4.0, 0.1]}}\n'
    )


def _floor(arm: DescribedArm) -> float | None:
    """Height that the arm stands on [m]; none where its base ends above z = 0, or has no shape."""
    base = next((c for c in arm.found.covers if c.surface.joint < 0), None)
    low = float(base.hull[:, 2].min()) if base is not None else math.inf
    return round(low - 0.01, 4) + 0.0 if low < NEAR_FLOOR else None


def _excitation_text(arm: DescribedArm) -> str:
    """Choices of the package for motions, over the floor that this arm stands on."""
    floor = _floor(arm)
    text = (share_directory() / 'config' / 'excitation.yaml').read_text(encoding='utf-8')
    if floor is None:
        return text
    line = f'floor: {floor!r} # [m] in the base frame, 1 cm below the base of {arm.name}'
    return re.sub('^floor:.*$', lambda _: line, text, flags=re.MULTILINE)


def _loop_text(arm: DescribedArm, files: Mapping[str, Path], center: Array) -> str:
    lower, nominal, upper = _prior(arm, center)
    limits = arm.model.limits
    start = _start(limits.position_lower, limits.position_upper)
    return f"""# Choices of the loop for {arm.name}, by `safe-sysid new-arm`; facts about it are in
# {files['settings'].name}. docs/ros.md explains the parameters; others have defaults.
/**: # all nodes have to agree on these
  ros__parameters:
    robot: {files['settings']}
    period: 0.005 # [s] between two samples, assumed
    payload: {files['payload']} # what the arm may hold at most, for its shape
    prior:
      ratio: 0.05 # every link parameter is within this share of its figure
      # end effector with all it may hold: the bare one, and up to {PAYLOAD:g} kg beyond it
      lower: {_list(lower)}
      nominal: {_list(nominal)}
      upper: {_list(upper)}
    gains:
      K_r: [10.0] # [1/s] rate at which a position error decays
      V_M: 0.02 # [J] energy of the tracking error that is never exceeded
      alpha: 25.0 # [1/s] how early the robust input sets in below V_M

/**/builtin_sim_bridge:
  ros__parameters:
    start: {_list(np.round(start, 4))} # [rad]
    sensors:
      torque_ratio: [0.02] # errors of torques in simulation
"""


def _start(lower: Array, upper: Array) -> Array:
    """0 where that is inside the limits, else their middle."""
    inside = (lower < 0.0) & (upper > 0.0)
    middle = 0.5 * (np.where(inside, 0.0, lower) + np.where(inside, 0.0, upper))
    return np.asarray(middle + 0.0)


def _prior(arm: DescribedArm, center: Array) -> tuple[Array, Array, Array]:
    """Bounds on the end effector: the bare one to 5 %, and a box of up to PAYLOAD beyond it."""
    bare = arm.model.theta[arm.model.layout.end_effector]
    size = np.abs(bare) * 0.05
    reach = np.abs(center) + HALF_BOX + ABOUT
    x, y, z = reach
    squares = np.array([y * y + z * z, x * y, x * x + z * z, x * z, y * z, x * x + y * y])
    low = np.concatenate([[0.0], np.minimum(0.0, center - ABOUT), -squares * [0, 1, 0, 1, 1, 0]])
    high = np.concatenate([[1.0], np.maximum(0.0, center + ABOUT), squares])
    lower, upper = bare - size + PAYLOAD * low, bare + size + PAYLOAD * high
    lower, upper = np.floor(lower * 1e6) / 1e6, np.ceil(upper * 1e6) / 1e6
    positive = [0, 4, 6, 9]
    lower[positive] = np.maximum(lower[positive], np.minimum(1e-6, bare[positive]))
    return lower, np.clip(bare, lower, upper), upper


def _list(values: Any) -> str:
    return '[' + ', '.join(repr(float(value) + 0.0) for value in values) + ']'


def _key(name: str) -> str:
    """Name as YAML reads it back."""
    plain = name.replace('_', 'a').replace('.', 'a').replace('-', 'a').isalnum()
    is_word = plain and name[0].isalpha() and name.lower() not in NO_WORDS
    return name if is_word else json.dumps(name, ensure_ascii=False)
