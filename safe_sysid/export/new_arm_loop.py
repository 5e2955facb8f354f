"""What a new arm does and what is around it: loop, payload or tool, world, motions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.model.arm_knowledge import ArmKnowledge
from safe_sysid.model.collision.obstacles import NO_OBSTACLES, Obstacles
from safe_sysid.model.collision.world import BoxFacts
from safe_sysid.model.description.described_arm import DescribedArm, static_torques_at
from safe_sysid.model.description.first_pose import FirstPose
from safe_sysid.model.description.refined_covers import random_poses
from safe_sysid.model.dynamics.forward_kinematics import joint_frames
from safe_sysid.model.payload import Payload, PayloadCapsule, Placement
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.share import share_directory

PAYLOAD = 2.0  # [kg] beyond a gripper that the loop is prepared for
MASSES = (2.0, 1.0, 0.5, 0.2, 0.1)  # [kg] of the box that it is prepared for without one
HELD_AT, ITS_SHARE = 500, 0.25  # poses, and share of a torque limit that its weight may take
HALF_BOX = 0.05  # [m] of the payload
SEEN = 50  # poses at which the side away from the arm is looked for
ABOUT = 0.1  # [m] by which its centre of mass may be elsewhere
LINKS = 0.05  # share of their figures to which parameters of links are known
FLOOR = (4.0, 4.0, 0.1)  # [m]
NO_WORDS = ('y', 'n', 'yes', 'no', 'on', 'off', 'true', 'false', 'null')  # to YAML
PERIOD, ROW = 0.005, 0.1  # [s] between two samples, assumed; of samples in a row
WITHIN_A_SAMPLE = 100.0  # [N m] that a torque may change by
IDEAL = (
    'sampling: the loop is certified as if readings were exact and torques acted at once '
    f'(`sampling: ideal`); its period of {1e3 * PERIOD:g} ms, assumed, is left out, and the '
    'longer it is, the more easily V rises above V_M (fault TRACKING)'
)
ELSEWHERE = 1e-3  # [m] from the last joint, where the frame of a link is another place
AT_SURFACE = 0.01  # [m] below the surface of the last body at which a tip still says a side
NEAR_FLOOR = 0.05  # [m] above z = 0 of the lowest vertex, below which the arm stands on a floor


def beyond_tip(arm: DescribedArm) -> Array:
    """Middle of a box that touches the last body, on the side that is away from the arm.

    In the frame of the last joint, as all places here. A tip at the surface, or farther out, says
    the side, and the box touches it.
    """
    tip = arm.model.frames[arm.chain.tip]
    last = next((c for c in arm.found.covers if c.surface.link == arm.chain.body), None)
    if last is None:
        return np.asarray(np.round(tip.p + tip.R[:, 2] * HALF_BOX, 4))
    sides = _beside(last.hull, tip.p)
    far = max(sides, key=lambda center: _distance_from_arm(arm.model, center))
    return np.asarray(np.round(far, 4))


def _beside(hull: Array, tip: Array) -> list[Array]:
    """Middles of boxes beside a hull and a tip, where the tip is, or on both sides of the hull."""
    faces = np.array([hull.min(axis=0), hull.max(axis=0)])
    out = np.array([faces[0] - tip, tip - faces[1]])  # how far the tip is beyond each face
    at = np.isclose(out, out.max(), atol=1e-3)
    if out.max() < -AT_SURFACE or np.linalg.norm(tip) < AT_SURFACE:  # it says no side
        at = np.zeros((2, 3), dtype=bool)
        at[:, np.argmax(np.abs(hull.mean(axis=0)))] = True
    else:
        faces = np.array([np.minimum(faces[0], tip), np.maximum(faces[1], tip)])
    beside = faces + HALF_BOX * np.array([[-1.0], [1.0]])
    return [np.where(np.arange(3) == axis, beside[end], tip) for end, axis in np.argwhere(at)]


def _distance_from_arm(model: RobotModel, center: Array) -> float:
    """Mean distance of a point of the last body from the capsules' ends of the others [m]."""
    ends = np.array([model.capsules.a, model.capsules.b])
    joint, tip = model.capsules.joint, model.layout.tip
    least = []
    for pose in random_poses(model.limits, SEEN, np.random.default_rng(0)):
        R, p = joint_frames(model, pose)
        point = R[tip] @ center + p[tip]
        others = [
            R[j] @ end + p[j] if j >= 0 else end
            for i, j in enumerate(joint)
            if j != tip
            for end in ends[:, i]
        ]
        least.append(min((float(np.linalg.norm(point - end)) for end in others), default=0.0))
    return float(np.mean(least))


def beyond_tool(arm: DescribedArm, tool: Payload) -> Array:
    """Middle of a box that touches a tool at the tip where that reaches farthest along its z."""
    far = max(max(s.a[2], s.b[2]) + s.radius for s in tool.shapes.values())
    tip = arm.model.frames[arm.chain.tip]
    return np.asarray(np.round(tip.p + tip.R[:, 2] * (far + HALF_BOX), 4))


def heaviest_box(arm: DescribedArm, center: Array) -> Payload:
    """Box at the tip, the heaviest that takes little of the joints' torque, or the lightest."""
    poses = random_poses(arm.model.limits, HELD_AT, np.random.default_rng(0))
    bare = static_torques_at(arm.model, poses)
    for mass in MASSES:
        held = _box(arm, center, mass)
        weight = np.abs(static_torques_at(arm.model.with_payload(held), poses) - bare)
        if (weight <= ITS_SHARE * arm.model.limits.torque).all():
            break
    return held


def _box(arm: DescribedArm, center: Array, mass: float) -> Payload:
    moment = round(mass * 2.0 * (2.0 * HALF_BOX) ** 2 / 12.0, 6)
    zero = 0.0, 0.0, 0.0
    ball = PayloadCapsule(zero, zero, round(math.sqrt(3.0) * HALF_BOX + 5e-5, 4))
    tip = arm.model.frames[arm.chain.tip]
    x, y, z = np.round(tip.R.T @ (center - tip.p), 4).tolist()
    place = {arm.name: Placement(arm.chain.tip, (x, y, z), zero)}
    name = f'{arm.name}_payload'
    return Payload(name, mass, np.zeros(3), moment * np.eye(3), place, {'box': ball})


def at_tip(arm: DescribedArm, tool: Payload) -> Payload:
    """Return a gripper whose frame is that of the tip."""
    zero = 0.0, 0.0, 0.0
    return replace(tool, placements={arm.name: Placement(arm.chain.tip, zero, zero)})


def payload_text(arm: DescribedArm, held: Payload, about: str) -> str:
    """Return what an arm holds as a payload file."""
    keys = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
    entries = zip(keys, held.inertia[np.triu_indices(3)].tolist(), strict=True)
    inertia = ', '.join(f'{key}: {value!r}' for key, value in entries)
    place = held.placements[arm.name]
    return '\n'.join(
        [
            *(f'# {line}' for line in about.splitlines()),
            f'mass: {float(held.mass)!r} # [kg]',
            f'com: {as_list(held.com)} # [m] in the frame of the payload',
            f'inertia_about_com: {{{inertia}}} # [kg m^2]',
            'placement:',
            f'  {as_key(arm.name)}: {{link: {as_key(place.link)}, xyz: {as_list(place.xyz)}, '
            f'rpy: {as_list(place.rpy)}}}',
            'shapes:',
            *(
                f'  {as_key(name)}: {{a: {as_list(s.a)}, b: {as_list(s.b)}, radius: {s.radius!r}}}'
                for name, s in held.shapes.items()
            ),
            '',
        ]
    )


def beside_links(arm: DescribedArm) -> tuple[str, ...]:
    """Say that a gripper is where the last joint is, if links are fixed elsewhere."""
    frames, tip = arm.model.frames, arm.model.layout.tip
    away = [
        name
        for name, frame in frames.items()
        if frame.joint == tip and np.linalg.norm(frame.p) > ELSEWHERE
    ]
    if arm.chain.tip != arm.chain.body or not away:
        return ()
    more = f' and {len(away) - 3} more' if len(away) > 3 else ''
    return (
        f'the gripper is put at {arm.chain.tip}, where the last joint is; fixed to it elsewhere: '
        f'{", ".join(away[:3])}{more} (--tip LINK puts it there)',
    )


def about_tool(arm: DescribedArm, tool: Payload) -> str:
    """Say what is assumed of a gripper."""
    return (
        f'{tool.name} at the tip of {arm.name}, its frame that of {arm.chain.tip}, assumed:\n'
        'put xyz and rpy right. docs/robots.md explains the keys.'
    )


def about_box(arm: DescribedArm, box: Payload) -> str:
    """Say what is assumed of a box."""
    return (
        f'A box of {box.mass:g} kg at the end of {arm.name}, assumed: put in its place what\n'
        'the arm is to hold. docs/robots.md explains the keys.'
    )


def world_of(arm: DescribedArm) -> Obstacles:
    """Return the floor that the arm stands on, if it stands on one."""
    floor = _floor(arm)
    if floor is None:
        return NO_OBSTACLES
    return Obstacles.of({'floor': BoxFacts((0.0, 0.0, _below(floor)), FLOOR).box()})


def world_text(arm: DescribedArm) -> str:
    """Return the same as a file."""
    floor = _floor(arm)
    if floor is None:
        return '# Nothing is in the way.\nobstacles: {}\n'
    return (
        '# The floor that the arm stands on, 1 cm below its base.\nobstacles:\n'
        f'  floor: {{center: [0.0, 0.0, {_below(floor)!r}], size: {as_list(FLOOR)}}}\n'
    )


def _below(floor: float) -> float:
    return round(floor - 0.5 * FLOOR[2], 4)


def _floor(arm: DescribedArm) -> float | None:
    """Height that the arm stands on [m]; none where its base ends above z = 0.

    A base without a shape stands at z = 0.
    """
    base = next((c for c in arm.found.covers if c.surface.joint < 0), None)
    low = float(base.hull[:, 2].min()) if base is not None else 0.0
    return round(low - 0.01, 4) + 0.0 if low < NEAR_FLOOR else None


def excitation_text(arm: DescribedArm, tool: Path | None) -> str:
    """Choices for motions: over the floor of this arm, with the file of its tool in the hand."""
    floor = _floor(arm)
    text = (share_directory() / 'config' / 'excitation.yaml').read_text(encoding='utf-8')
    lines = {}
    if floor is not None:
        lines['floor'] = f'{floor!r} # [m] in the base frame, 1 cm below the base of {arm.name}'
    if tool is not None:
        lines['payload'] = f"{as_key(tool.name)} # the gripper; '' for motions of the bare arm"
    rows = text.splitlines()
    return ''.join(
        f'{key}: {lines[key]}\n' if (key := row.partition(':')[0]) in lines else f'{row}\n'
        for row in rows
    )


def loop_text(
    arm: DescribedArm,
    files: Mapping[str, Path],
    prior: tuple[Array, Array, Array],
    mass: float,
    start: FirstPose,
) -> str:
    """Return the choices of a loop with this arm."""
    lower, nominal, upper = prior
    return f"""# Choices of the loop for {arm.name}, by `safe-sysid new-arm`; facts about it are in
# {files['settings'].name}. docs/ros.md explains the parameters; others have defaults.
/**: # all nodes have to agree on these
  ros__parameters:
    robot: {as_key(files['settings'].name)} # beside this file, as payload and world are
    period: {PERIOD:g} # [s] between two samples, assumed: that of the driver belongs here
    # Certificates of this loop leave period, delay and encoder steps out (`sampling: ideal`, the
    # default). A torque is held for a period meanwhile, and V may rise above V_M, which is the
    # fault TRACKING: the more so, the longer the period. Where that happens, a shorter one may
    # help, with `window`, `longest_step` and `guard.rate` below to fit; `sampling: described`
    # takes them in.
    payload: {as_key(files['payload'].name)} # what the arm may hold at most, for its shape
    prior:
      ratio: {LINKS} # every link parameter is within this share of its figure
      # end effector with all it may hold: the bare one, and up to {mass:g} kg beyond it
      lower: {as_list(lower)}
      nominal: {as_list(nominal)}
      upper: {as_list(upper)}
    gains:
      K_r: [10.0] # [1/s] rate at which a position error decays
      V_M: 0.002 # [J] energy of the tracking error that plans count on
      alpha: 25.0 # [1/s] how early the robust input sets in below V_M

/**/identifier:
  ros__parameters:
    identifier:
      observation:
        window: {ROW / PERIOD:.0f} # samples per row: {ROW:g} s
        longest_step: {1.5 * PERIOD:g} # [s], 1.5 periods; a longer one is a gap that ends a row
      solve_period: 0.5 # [s] of measurements between two solves

/**/planner:
  ros__parameters:
    world: {as_key(files['world'].name)} # what it must not touch

{_simulators(start)}"""


def _simulators(start: FirstPose) -> str:
    return '\n'.join(
        f"""/**/{bridge}:
  ros__parameters:
    start: {as_list(start.position)} # [rad or m], {start.surroundings}
    sensors:
      torque_ratio: [0.02] # errors of torques in simulation
    guard:
      max_age: 0.05 # [s] of a measurement or command
      rate: [{WITHIN_A_SAMPLE / PERIOD!r}] # [N m/s]; out of its brakes the arm has to be held
      # within a sample: {WITHIN_A_SAMPLE:g} N m per period
"""
        for bridge in ('builtin_sim_bridge', 'drake_bridge', 'mujoco_bridge')
    )


def prior_beyond(arm: DescribedArm, center: Array, mass: float) -> tuple[Array, Array, Array]:
    """Bounds on the end effector: the bare one as the loop knows it, and a mass [kg] beyond it.

    Its centre is about a place or the tip, or between these and the last joint.
    """
    place = arm.model.layout.end_effector
    bare = arm.model.theta[place]
    own = ArmKnowledge(links=LINKS, stated=arm.model.uncertainty).bounds(arm.model)[place]
    places = np.array([arm.model.frames[arm.chain.tip].p, center])
    reach = np.abs(places).max(axis=0) + HALF_BOX + ABOUT
    x, y, z = reach
    squares = np.array([y * y + z * z, x * y, x * x + z * z, x * z, y * z, x * x + y * y])
    least = np.minimum(0.0, places.min(axis=0) - ABOUT)
    most = np.maximum(0.0, places.max(axis=0) + ABOUT)
    low = np.concatenate([[0.0], least, -squares * [0, 1, 0, 1, 1, 0]])
    high = np.concatenate([[1.0], most, squares])
    lower, upper = own.lower + mass * low, own.upper + mass * high
    lower, upper = np.floor(lower * 1e6) / 1e6, np.ceil(upper * 1e6) / 1e6
    positive = [0, 4, 6, 9]
    lower[positive] = np.maximum(lower[positive], np.minimum(1e-6, own.lower[positive]))
    return lower, np.clip(bare, lower, upper), upper


def as_list(values: Any) -> str:
    """Return numbers as YAML has a list."""
    return '[' + ', '.join(repr(float(value) + 0.0) for value in values) + ']'


def as_key(name: str) -> str:
    """Name as YAML reads it back."""
    plain = name.replace('_', 'a').replace('.', 'a').replace('-', 'a').isalnum()
    is_word = plain and name[0].isalpha() and name.lower() not in NO_WORDS
    return name if is_word else json.dumps(name, ensure_ascii=False)
