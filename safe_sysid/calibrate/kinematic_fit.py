"""Geometry of an arm from measured poses or points of its tip, with the gauge handled.

Every joint has an origin, an orientation and an axis, and the tip a frame: 8 n + 6 numbers for
revolute joints, of which poses show 4 n + 6 and points three fewer. The rest is gauge: it changes
no pose. Gauss-Newton steps leave it as it was: first the marker and the place of the first joint
move alone, then everything, by the steps that move the arm least. The place of the first joint
can not be told from the pose of the frame that measurements are in; so all of it goes to the
frame, and the first joint stays on the base as described. Of a prismatic joint only the direction
shows: 2 combinations in place of 4.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg

from safe_sysid.arrays import Array, IntArray
from safe_sysid.calibrate.settings import PoseNoise
from safe_sysid.errors import MeasurementError
from safe_sysid.model.dynamics.forward_kinematics import frames_of_poses
from safe_sysid.model.inertia import skew
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.tree import Tree

STEPS = 50
SETTLED = 1e-12  # [m or rad] largest change of a parameter
GAP = 1e-7  # of the largest singular value: below is gauge; measured gaps are 1e9
SAME = 1e-6  # of a unit vector: gauge directions that move nothing but the frame and the marker
PER_JOINT = 8
FIRST_AXIS = [6, 7]  # its tilt is gauge: the turn of the first joint and what follows do the same


@dataclass(frozen=True, eq=False)
class TipPoses:
    """Positions of the joints and where a marker on the tip was seen, in one fixed frame."""

    q: Array  # (N, n) [rad]
    p: Array  # (N, 3) [m]
    R: Array | None  # (N, 3, 3); None when only points are measured

    def __post_init__(self) -> None:
        N = len(self.q)
        if self.p.shape != (N, 3) or (self.R is not None and self.R.shape != (N, 3, 3)):
            raise MeasurementError(f'{N} joint positions need as many points or poses of the tip')
        values = [self.q, self.p] + ([] if self.R is None else [self.R])
        if not all(np.isfinite(x).all() for x in values):
            raise MeasurementError('joint positions and poses have to be finite')


@dataclass(frozen=True, eq=False)
class Marker:
    """Frame of what is measured, fixed to the body of the tip joint."""

    R: Array  # (3, 3)
    p: Array  # (3,) [m]


@dataclass(frozen=True, eq=False)
class MeasuringFrame:
    """Where the frame of the measurements is, in the frame of the base."""

    R: Array  # (3, 3)
    p: Array  # (3,) [m]


@dataclass(frozen=True, eq=False)
class KinematicFit:
    """The arm with its geometry, the marker, and how well they are determined."""

    model: RobotModel
    marker: Marker
    frame: MeasuringFrame
    rank: int  # combinations of the numbers that the measurements show
    unknowns: int
    gap: float  # smallest singular value that counts over the largest that does not
    position_rms: float  # [m] of the residuals
    rotation_rms: float  # [rad]; nan for points
    steps: int
    last_step: float  # [m or rad] largest change of the last one; what it stopped at
    deviation: Array  # (N, 3) [m] of the fitted tip where it was measured


def kinematic_fit(
    model: RobotModel, poses: TipPoses, noise: PoseNoise, marker: Marker | None = None
) -> KinematicFit:
    """Fit of all joints and the marker; without a marker the tip joint's frame is the start.

    The frame that measurements are in may be anywhere. Where it is comes out beside the arm.
    """
    _check(model, poses)
    chain = chain_to(model.tree, model.layout.tip)
    placed, marker = _aligned(model, poses, marker or Marker(np.eye(3), np.zeros(3)))
    problem, numbers = (chain, noise), np.arange(PER_JOINT * len(chain) + 6)
    around = np.concatenate([numbers[:6], numbers[-6:]])
    placed, marker, _, (before, _) = _settled(placed, poses, marker, problem, around)
    moving = np.delete(numbers, FIRST_AXIS)
    placed, marker, singular, (after, last) = _settled(placed, poses, marker, problem, moving)
    rank = int(np.sum(singular > GAP * singular[0]))
    e, J = _linearised(placed, poses, marker, problem)
    N, width = len(poses.q), len(e) // len(poses.q)
    by_sample = e.reshape(N, width)
    rotation = np.nan
    if poses.R is not None:
        rotation = float(np.sqrt(np.mean(by_sample[:, 3:] ** 2) * 3.0) * noise.rotation)
    on_its_base, frame = _on_its_base(placed, model, chain[0])
    return KinematicFit(
        model=on_its_base,
        marker=marker,
        frame=frame,
        rank=rank,
        unknowns=J.shape[1],
        gap=float(singular[rank - 1] / max(singular[rank:].max(initial=0.0), 1e-300)),
        position_rms=float(np.sqrt(np.mean(by_sample[:, :3] ** 2) * 3.0) * noise.position),
        rotation_rms=rotation,
        steps=before + after,
        last_step=last,
        deviation=_tip_deviation(J, e, rank, N, noise),
    )


def seen_poses(fit: KinematicFit, q: Array) -> tuple[Array, Array]:
    """Rotation (N, 3, 3) and position (N, 3) of the marker in the frame of the measurements."""
    R, p = tip_poses(fit.model, q, fit.marker)
    return fit.frame.R.T @ R, (p - fit.frame.p) @ fit.frame.R


def tip_poses(model: RobotModel, q: Array, marker: Marker) -> tuple[Array, Array]:
    """Rotation (N, 3, 3) and position (N, 3) of the marker at joint positions (N, n)."""
    frames, origins = frames_of_poses(model, q)
    return _marker_at(frames[:, model.layout.tip], origins[:, model.layout.tip], marker)


def _marker_at(R: Array, p: Array, marker: Marker) -> tuple[Array, Array]:
    """Rotation (N, 3, 3) and position (N, 3) of the marker where the tip's frame is at R, p."""
    return R @ marker.R, p + R @ marker.p


def chain_to(tree: Tree, joint: int) -> list[int]:
    """Joints between the base and a joint, base first."""
    chain = [joint]
    while tree.parent[chain[-1]] >= 0:
        chain.append(int(tree.parent[chain[-1]]))
    return chain[::-1]


def pose_derivatives(
    model: RobotModel, q: Array, marker: Marker, chain: list[int]
) -> tuple[Array, Array, Array, Array]:
    """Poses of the marker at q (N, n), and how they follow every one of m unknowns.

    Rotations (N, 3, 3) and points (N, 3), then the slopes of points and of rotations (N, 3, m).
    """
    frames, origins = frames_of_poses(model, q)
    tip = chain[-1]
    R_tip, p_tip = _marker_at(frames[:, tip], origins[:, tip], marker)
    base, none = np.broadcast_to(np.eye(3), R_tip.shape), np.zeros_like(R_tip)
    moves, turns = [], []
    for i in chain:
        up = int(model.tree.parent[i])
        below = base if up < 0 else frames[:, up]
        still = below @ model.tree.R_parent_joint[i]  # joint frame before the joint moves
        moves.append(below)  # of the origin
        turns.append(none)
        slid = bool(model.tree.is_prismatic[i])
        way = still @ model.tree.axis[i] * q[:, i, None] if slid else 0.0
        moves.append(-skew(p_tip - origins[:, i] + way) @ still)  # of the orientation
        turns.append(still)
        tilts = still @ _tilts(model.tree.axis[i], q[:, i], slid)
        moves.append(tilts if slid else -skew(p_tip - origins[:, i]) @ tilts)
        turns.append(none[..., :2] if slid else tilts)
    moves += [frames[:, tip], none]
    turns += [none, R_tip]
    return R_tip, p_tip, np.concatenate(moves, axis=2), np.concatenate(turns, axis=2)


def logarithm(R: Array) -> Array:
    """Rotation vector of a rotation matrix, (3, 3) -> (3,)."""
    axis = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    sine, cosine = float(np.linalg.norm(axis)), 0.5 * (np.trace(R) - 1.0)
    if sine > 1e-6:
        vector: Array = axis * (np.arctan2(sine, cosine) / sine)
        return vector
    if cosine > 0.0:
        small: Array = axis
        return small
    values, vectors = np.linalg.eigh(0.5 * (R + R.T))  # half a turn
    return vectors[:, int(np.argmax(values))] * np.pi


def exponential(w: Array) -> Array:
    """Rotation matrix of a rotation vector."""
    angle = float(np.linalg.norm(w))
    S = skew(w)
    if angle < 1e-9:
        return np.eye(3) + S + 0.5 * S @ S
    K = S / angle
    R: Array = np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K
    return R


def _check(model: RobotModel, poses: TipPoses) -> None:
    n = model.n
    if poses.q.shape[1] != n:
        raise MeasurementError(f'{poses.q.shape[1]} joint positions per pose, the arm has {n}')
    per_pose = 3 if poses.R is None else 6
    unknowns = PER_JOINT * len(chain_to(model.tree, model.layout.tip)) + 6
    if per_pose * len(poses.q) < unknowns:
        raise MeasurementError(
            f'{len(poses.q)} poses have {per_pose * len(poses.q)} numbers; '
            f'{-(-unknowns // per_pose)} poses or more are needed for {unknowns} unknowns'
        )


def _aligned(model: RobotModel, poses: TipPoses, marker: Marker) -> tuple[RobotModel, Marker]:
    """Align the first joint with the measured points, and the marker with them."""
    R, p = tip_poses(model, poses.q, marker)
    mean, seen = p.mean(axis=0), poses.p.mean(axis=0)
    U, _, Vt = np.linalg.svd((p - mean).T @ (poses.p - seen))
    turn = Vt.T @ np.diag([1.0, 1.0, np.sign(np.linalg.det(Vt.T @ U.T))]) @ U.T
    shift = seen - turn @ mean
    tree = model.tree
    R_new, p_new = tree.R_parent_joint.copy(), tree.p_parent_joint.copy()
    first = chain_to(tree, model.layout.tip)[0]
    R_new[first], p_new[first] = turn @ R_new[first], turn @ p_new[first] + shift
    model = _with_tree(model, R_new, p_new, tree.axis)
    if poses.R is not None:
        left = np.einsum('tji,tjk->ik', turn @ R, poses.R)  # sum of R_now' R_seen
        U, _, Vt = np.linalg.svd(left)
        nearest = U @ np.diag([1.0, 1.0, np.sign(np.linalg.det(U @ Vt))]) @ Vt
        marker = Marker(marker.R @ nearest, marker.p)
    return model, marker


def _settled(
    model: RobotModel,
    poses: TipPoses,
    marker: Marker,
    problem: tuple[list[int], PoseNoise],
    moving: IntArray,
) -> tuple[RobotModel, Marker, Array, tuple[int, float]]:
    """Gauss-Newton steps in some of the numbers; also singular values, steps and the last one."""
    singular = np.zeros(1)
    count, last = 0, np.inf
    for _step in range(STEPS):
        count += 1
        e, J = _linearised(model, poses, marker, problem)
        U, singular, Vt = scipy.linalg.svd(
            J[:, moving], full_matrices=False, lapack_driver='gesvd'
        )
        shown = singular > GAP * singular[0]
        step = np.zeros(J.shape[1])
        shortest = -Vt[shown].T @ ((U[:, shown].T @ e) / singular[shown])
        step[moving] = _least_change(shortest, Vt[~shown].T)
        model, marker = _moved(model, marker, problem[0], step)
        last = float(np.abs(step).max())
        if last < SETTLED:
            break
    return model, marker, singular, (count, last)


def _least_change(step: Array, gauge: Array) -> Array:
    """Add to a step (m,) what changes no pose (m, k), so that the arm itself moves least.

    The first six numbers are the place of the first joint, the last six the marker: both free.
    """
    arm = slice(6, len(step) - 6)
    along = np.linalg.lstsq(gauge[arm], step[arm], rcond=SAME)[0]
    least: Array = step - gauge @ along
    return least


def _on_its_base(
    placed: RobotModel, described: RobotModel, first: int
) -> tuple[RobotModel, MeasuringFrame]:
    """Put the first joint back on its base; where it was measured places the frame."""
    tree, before = placed.tree, described.tree
    R, p = tree.R_parent_joint.copy(), tree.p_parent_joint.copy()
    turn = before.R_parent_joint[first] @ R[first].T
    frame = MeasuringFrame(turn, before.p_parent_joint[first] - turn @ p[first])
    R[first], p[first] = before.R_parent_joint[first], before.p_parent_joint[first]
    return _with_tree(placed, R, p, tree.axis), frame


def _linearised(
    model: RobotModel, poses: TipPoses, marker: Marker, problem: tuple[list[int], PoseNoise]
) -> tuple[Array, Array]:
    """Weighted residuals (rows) and their derivative by all unknowns."""
    chain, noise = problem
    R_tip, p_tip, moves, turns = pose_derivatives(model, poses.q, marker, chain)
    off = p_tip - poses.p
    if poses.R is None:
        return off.ravel() / noise.position, moves.reshape(off.size, -1) / noise.position
    back = poses.R.transpose(0, 2, 1)
    error = np.array([logarithm(R) for R in back @ R_tip])
    inverse = np.array([_left_jacobian_inverse(w) for w in error])
    e = np.stack([(back @ off[:, :, None])[..., 0] / noise.position, error / noise.rotation], 1)
    J = np.stack([back @ moves / noise.position, inverse @ back @ turns / noise.rotation], 1)
    return e.ravel(), J.reshape(e.size, -1)


def _tilts(axis: Array, q: Array, slid: bool) -> Array:
    """Rotation (or shift of a slider) by a change of the axis across itself, (N, 3, 2)."""
    across, angle = _across(axis), q[:, None, None]
    if slid:
        return angle * across
    tilts: Array = np.sin(angle) * across + (1.0 - np.cos(angle)) * (skew(axis) @ across)
    return tilts


def _across(axis: Array) -> Array:
    """Two unit vectors at right angles to an axis and to each other, (3, 2)."""
    start = np.eye(3)[int(np.argmin(np.abs(axis)))]
    first = np.cross(axis, start)
    first /= np.linalg.norm(first)
    return np.column_stack([first, np.cross(axis, first)])


def _left_jacobian_inverse(w: Array) -> Array:
    angle = float(np.linalg.norm(w))
    S = skew(w)
    if angle < 1e-4:
        return np.eye(3) - 0.5 * S + S @ S / 12.0
    half = 0.5 * angle
    inverse: Array = np.eye(3) - 0.5 * S + (1.0 - half / np.tan(half)) / angle**2 * S @ S
    return inverse


def _moved(
    model: RobotModel, marker: Marker, chain: list[int], step: Array
) -> tuple[RobotModel, Marker]:
    """Return the arm after a step in all unknowns."""
    tree = model.tree
    R, p, axis = tree.R_parent_joint.copy(), tree.p_parent_joint.copy(), tree.axis.copy()
    for i, part in zip(chain, _parts(step, len(chain)), strict=True):
        p[i] = p[i] + part[:3]
        R[i] = R[i] @ exponential(part[3:6])
        across = _across(axis[i]) @ part[6:8]
        tilted = axis[i] + across
        axis[i] = tilted / np.linalg.norm(tilted)
    last = step[PER_JOINT * len(chain) :]
    moved = Marker(marker.R @ exponential(last[3:]), marker.p + last[:3])
    return _with_tree(model, R, p, axis), moved


def _parts(step: Array, joints: int) -> Iterator[Array]:
    for j in range(joints):
        yield step[PER_JOINT * j : PER_JOINT * (j + 1)]


def _with_tree(model: RobotModel, R: Array, p: Array, axis: Array) -> RobotModel:
    tree = model.tree._replace(R_parent_joint=R, p_parent_joint=p, axis=axis)
    return replace(model, tree=tree)


def _tip_deviation(J: Array, e: Array, rank: int, N: int, noise: PoseNoise) -> Array:
    """Return standard deviation of the fitted tip at every measured pose, from the residuals."""
    U, _, _ = scipy.linalg.svd(J, full_matrices=False, lapack_driver='gesvd')
    variance = float(e @ e) / max(len(e) - rank, 1)
    leverage = np.sum(U[:, :rank] ** 2, axis=1).reshape(N, -1)[:, :3]
    spread: Array = np.sqrt(variance * leverage) * noise.position
    return spread
