"""What a new arm does and what is around it: loop, payload or tool, world, motions."""

from __future__ import annotations

from collections.abc import Mapping
import json
import math
from pathlib import Path
import re
from typing import Any

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.model.description.described_arm import DescribedArm
from safe_sysid.model.payload import Payload
from safe_sysid.share import share_directory

PAYLOAD = 2.0  # [kg] that the loop is prepared for
HALF_BOX = 0.05  # [m] of the payload
ABOUT = 0.1  # [m] by which its centre of mass may be elsewhere
NO_WORDS = ('y', 'n', 'yes', 'no', 'on', 'off', 'true', 'false', 'null')  # to YAML
NEAR_FLOOR = 0.05  # [m] above z = 0 of the lowest vertex, below which the arm stands on a floor


def beyond_tip(arm: DescribedArm) -> Array:
    """Middle of a box that touches the last body where that reaches farthest from its joint."""
    last = next((c for c in arm.found.covers if c.surface.link == arm.chain.tip), None)
    if last is None:
        return np.array([0.0, 0.0, HALF_BOX])
    far = last.hull[np.argmax(np.linalg.norm(last.hull, axis=1))]
    axis = int(np.argmax(np.abs(last.hull.mean(axis=0))))
    center = np.zeros(3)
    center[axis] = far[axis] + math.copysign(HALF_BOX, far[axis])
    return np.round(center, 4)


def beyond_tool(tool: Payload) -> Array:
    """Middle of a box that touches a tool where that reaches farthest along its z."""
    far = max(max(s.a[2], s.b[2]) + s.radius for s in tool.shapes.values())
    return np.round([0.0, 0.0, far + HALF_BOX], 4)


def tool_text(arm: DescribedArm, tool: Payload) -> str:
    """Return the payload file of a gripper at the tip."""
    zero = [0.0, 0.0, 0.0]
    keys = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
    entries = zip(keys, tool.inertia[np.triu_indices(3)].tolist(), strict=True)
    inertia = ', '.join(f'{key}: {value!r}' for key, value in entries)
    return '\n'.join(
        [
            f'# {tool.name} at the tip of {arm.name}, its frame that of {arm.chain.tip}, assumed:',
            '# put xyz and rpy right. docs/robots.md explains the keys.',
            f'mass: {float(tool.mass)!r} # [kg]',
            f'com: {as_list(tool.com)} # [m] in the frame of the tool',
            f'inertia_about_com: {{{inertia}}} # [kg m^2]',
            'placement:',
            f'  {as_key(arm.name)}: {{link: {as_key(arm.chain.tip)}, xyz: {as_list(zero)}, '
            f'rpy: {as_list(zero)}}}',
            'shapes:',
            *(
                f'  {as_key(name)}: {{a: {as_list(s.a)}, b: {as_list(s.b)}, radius: {s.radius!r}}}'
                for name, s in tool.shapes.items()
            ),
            '',
        ]
    )


def payload_text(arm: DescribedArm, center: Array) -> str:
    """Return a box at the end of the arm as a payload file."""
    moment = round(PAYLOAD * 2.0 * (2.0 * HALF_BOX) ** 2 / 12.0, 6)
    radius = round(math.sqrt(3.0) * HALF_BOX + 5e-5, 4)
    zero = [0.0, 0.0, 0.0]
    return '\n'.join(
        [
            f'# A box of {PAYLOAD:g} kg at the end of {arm.name}, assumed: put in its place what',
            '# the arm is to hold. docs/robots.md explains the keys.',
            f'mass: {PAYLOAD!r} # [kg]',
            f'com: {as_list(zero)} # [m] in the payload frame',
            'inertia_about_com: # [kg m^2]',
            f'  {{ixx: {moment}, ixy: 0.0, ixz: 0.0, iyy: {moment}, iyz: 0.0, izz: {moment}}}',
            'placement:',
            f'  {as_key(arm.name)}: {{link: {as_key(arm.chain.tip)}, xyz: {as_list(center)}, '
            f'rpy: {as_list(zero)}}}',
            'shapes:',
            f'  box: {{a: {as_list(zero)}, b: {as_list(zero)}, radius: {radius}}}',
            '',
        ]
    )


def world_text(arm: DescribedArm) -> str:
    """Return the floor that the arm stands on, if it stands on one."""
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


def excitation_text(arm: DescribedArm) -> str:
    """Choices of the package for motions, over the floor that this arm stands on."""
    floor = _floor(arm)
    text = (share_directory() / 'config' / 'excitation.yaml').read_text(encoding='utf-8')
    if floor is None:
        return text
    line = f'floor: {floor!r} # [m] in the base frame, 1 cm below the base of {arm.name}'
    return re.sub('^floor:.*$', lambda _: line, text, flags=re.MULTILINE)


def loop_text(
    arm: DescribedArm,
    files: Mapping[str, Path],
    prior: tuple[Array, Array, Array],
    mass: float,
) -> str:
    """Return the choices of a loop with this arm."""
    lower, nominal, upper = prior
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
      # end effector with all it may hold: the bare one, and up to {mass:g} kg beyond it
      lower: {as_list(lower)}
      nominal: {as_list(nominal)}
      upper: {as_list(upper)}
    gains:
      K_r: [10.0] # [1/s] rate at which a position error decays
      V_M: 0.02 # [J] energy of the tracking error that is never exceeded
      alpha: 25.0 # [1/s] how early the robust input sets in below V_M

/**/builtin_sim_bridge:
  ros__parameters:
    start: {as_list(np.round(start, 4))} # [rad]
    sensors:
      torque_ratio: [0.02] # errors of torques in simulation
"""


def _start(lower: Array, upper: Array) -> Array:
    """0 where that is inside the limits, else their middle."""
    inside = (lower < 0.0) & (upper > 0.0)
    middle = 0.5 * (np.where(inside, 0.0, lower) + np.where(inside, 0.0, upper))
    return np.asarray(middle + 0.0)


def prior_beyond(arm: DescribedArm, center: Array, mass: float) -> tuple[Array, Array, Array]:
    """Bounds on the end effector: the bare one to 5 %, and up to a mass [kg] beyond it."""
    bare = arm.model.theta[arm.model.layout.end_effector]
    size = np.abs(bare) * 0.05
    reach = np.abs(center) + HALF_BOX + ABOUT
    x, y, z = reach
    squares = np.array([y * y + z * z, x * y, x * x + z * z, x * z, y * z, x * x + y * y])
    low = np.concatenate([[0.0], np.minimum(0.0, center - ABOUT), -squares * [0, 1, 0, 1, 1, 0]])
    high = np.concatenate([[1.0], np.maximum(0.0, center + ABOUT), squares])
    lower, upper = bare - size + mass * low, bare + size + mass * high
    lower, upper = np.floor(lower * 1e6) / 1e6, np.ceil(upper * 1e6) / 1e6
    positive = [0, 4, 6, 9]
    lower[positive] = np.maximum(lower[positive], np.minimum(1e-6, bare[positive]))
    return lower, np.clip(bare, lower, upper), upper


def as_list(values: Any) -> str:
    """Return numbers as YAML has a list."""
    return '[' + ', '.join(repr(float(value) + 0.0) for value in values) + ']'


def as_key(name: str) -> str:
    """Name as YAML reads it back."""
    plain = name.replace('_', 'a').replace('.', 'a').replace('-', 'a').isalnum()
    is_word = plain and name[0].isalpha() and name.lower() not in NO_WORDS
    return name if is_word else json.dumps(name, ensure_ascii=False)
