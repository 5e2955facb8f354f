"""Configurations in which a link is at a pose, by damped Gauss-Newton from several starts.

Guidance only: whether the arm may stand there, and go there, is for others to say.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import SafeSysidError
from safe_sysid.model.dynamics.forward_kinematics import joint_frames
from safe_sysid.model.placement import Placement
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.urdf_tree import Frame
from safe_sysid.plan.cost.terms import shortest_way

STARTS = 16  # the first one where the arm is, the others anywhere
STEPS = 60  # from each start
LONGEST = 0.4  # [rad] of a step, in the joint that moves most
DAMPING = 1e-3
ARM = 0.3  # [m] that a radian of orientation counts as
NEAR = 1e-5  # [m] in all that counts as reached
FAR = 1e6  # [m] from the base: no arm is as long, and squares of larger figures are no floats
SAME = 0.05  # [rad] in every joint within which two solutions are one


class UnreachedError(SafeSysidError):
    """No configuration was found in which the link is at the pose."""


@dataclass(frozen=True, eq=False)
class LinkPose:
    """Where a link is to be, in the frame of the base."""

    link: str
    placement: Placement
    turns_freely: bool  # whether any orientation will do


@dataclass(frozen=True, eq=False)
class FramePose:
    """The same of any frame that a joint moves."""

    frame: Frame
    placement: Placement
    turns_freely: bool


def configurations(model: RobotModel, pose: LinkPose, start: Array, seed: int = 0) -> list[Array]:
    """Return configurations with the link at the pose, the one nearest to the start first."""
    if trouble := link_trouble(model, pose.link):
        raise UnreachedError(trouble)
    if np.abs(pose.placement.p).max() > FAR:
        raise UnreachedError(
            f'{pose.placement.p.tolist()} m is out of reach of any arm; {FAR:g} m from the base '
            'is the most that is looked at'
        )
    wanted = FramePose(model.frames[pose.link], pose.placement, pose.turns_freely)
    found: list[Array] = []
    missed = np.inf
    for q in _starts(model, start, seed):
        reached, miss = _descended(model, wanted, q)
        missed = min(missed, miss)
        if miss > NEAR:
            continue
        way = shortest_way(start, reached, model.limits.is_continuous)
        q = np.where(model.limits.is_continuous, start + way, reached)
        if all(np.abs(q - other).max() > SAME for other in found):
            found.append(q)
    if not found:
        raise UnreachedError(
            f"no configuration within the joint limits was found in which '{pose.link}' is at "
            f'{np.round(pose.placement.p, 3).tolist()} m; the nearest of {STARTS} is '
            f'{1000.0 * missed:.3g} mm away, a radian of orientation counted as {ARM} m'
        )
    return sorted(found, key=lambda q: float(np.abs(q - start).max()))


def link_trouble(model: RobotModel, link: str) -> str:
    """Why a link can be nowhere; empty if joints move it."""
    moved = [name for name, frame in model.frames.items() if frame.joint >= 0]
    return '' if link in moved else f"'{link}' is no link that {model.name} moves; it has {moved}"


def nearby(model: RobotModel, pose: FramePose, start: Array) -> Array | None:
    """Return the configuration that steps from a start lead to; None where they end elsewhere."""
    reached, miss = _descended(model, pose, start)
    return reached if miss <= NEAR else None


def _starts(model: RobotModel, start: Array, seed: int) -> Iterator[Array]:
    rng = np.random.default_rng(seed)
    lower, upper = _range(model)
    yield np.clip(start, model.limits.position_lower, model.limits.position_upper)
    for _ in range(STARTS - 1):
        yield rng.uniform(lower, upper)


def _range(model: RobotModel) -> tuple[Array, Array]:
    """Positions that joints are tried in; half a turn either way where there is no limit."""
    lower, upper = model.limits.position_lower, model.limits.position_upper
    return np.maximum(lower, -np.pi), np.minimum(upper, np.pi)


def _descended(model: RobotModel, pose: FramePose, q: Array) -> tuple[Array, float]:
    """Return where steps from q lead, and how far the link is from the pose there [m]."""
    q = q.copy()
    for _ in range(STEPS):
        error, jacobian = _error(model, pose, q)
        if np.linalg.norm(error) < NEAR:
            break
        normal = jacobian @ jacobian.T + DAMPING * np.linalg.norm(error) * np.eye(len(error))
        step = jacobian.T @ np.linalg.solve(normal, error)
        step *= min(1.0, LONGEST / max(float(np.abs(step).max()), 1e-12))
        q = np.clip(q + step, model.limits.position_lower, model.limits.position_upper)
    return q, float(np.linalg.norm(_error(model, pose, q)[0]))


def _error(model: RobotModel, pose: FramePose, q: Array) -> tuple[Array, Array]:
    """Return what is left to the pose [m], and how joints change it."""
    tree, frame = model.tree, pose.frame
    R, p = joint_frames(model, q)
    tip_R, tip_p = R[frame.joint] @ frame.R, R[frame.joint] @ frame.p + p[frame.joint]
    shift, turn = np.zeros((3, model.n)), np.zeros((3, model.n))
    i = frame.joint
    while i >= 0:
        axis = R[i] @ tree.axis[i]
        if tree.is_prismatic[i]:
            shift[:, i] = axis
        else:
            shift[:, i], turn[:, i] = np.cross(axis, tip_p - p[i]), axis
        i = int(tree.parent[i])
    away = pose.placement.p - tip_p
    if pose.turns_freely:
        return away, shift
    rotation = ARM * _rotation_vector(pose.placement.R @ tip_R.T)
    return np.concatenate([away, rotation]), np.vstack([shift, ARM * turn])


def _rotation_vector(R: Array) -> Array:
    """Axis times angle of a rotation."""
    skew = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    sine, cosine = float(np.linalg.norm(skew)), 0.5 * (float(np.trace(R)) - 1.0)
    if sine > 1e-6:
        return np.asarray(skew * (np.arctan2(sine, cosine) / sine))
    if cosine > 0.0:
        return skew
    columns = R + np.eye(3)  # half a turn: twice the outer product of its axis
    axis = columns[:, int(np.linalg.norm(columns, axis=0).argmax())]
    return np.asarray(np.pi * axis / np.linalg.norm(axis))
