"""Scene of a page: where an arm, obstacles and what a plan may reach are, as plain numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
import itertools

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.audit.loop_record import LoopRecord
from safe_sysid.model.collision.capsules import Capsules
from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.model.dynamics.forward_kinematics import joint_frames
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.reach.certificate import PlanCertificate
from safe_sysid.reach.reachable_set import ReachableSet
from safe_sysid.report.held_body import held_body
from safe_sysid.report.nearest_point import nearest_points
from safe_sysid.report.page_scene import (
    ArmShape,
    Beside,
    LinkMesh,
    Motion,
    PageScene,
    PlanOccupancy,
)
from safe_sysid.sets.box import Box
from safe_sysid.trajectory.plan import Plan

FRAMES = 400  # poses of the arm on a page, spread evenly over time
BONE = 0.025  # [m] radius of links whose shape nobody described


def arm_scene(
    model: RobotModel,
    time: Array,
    q: Array,
    obstacles: Obstacles,
    plans: Iterable[Plan] = (),
    meshes: tuple[LinkMesh, ...] = (),
) -> PageScene:
    """Draw the arm at measured positions (N, n), and what certificates allow for."""
    motion = motion_of(model, time, q)
    capsules = drawn_capsules(model)
    return PageScene(
        motion,
        ArmShape(
            capsules.joint,
            np.stack([capsules.a, capsules.b], axis=1),
            capsules.radius,
            tuple(bool(joint == model.layout.tip) for joint in capsules.joint),
            model.tree.axis,
            meshes,
        ),
        boxes=box_corners(obstacles),
        occupancy=tuple(
            replace(piece, plan=number)
            for number, plan in enumerate(plans)
            for piece in plan_occupancy(plan)
        ),
        nearest=nearest_points(capsules, placed_capsules(capsules, motion), obstacles),
    )


def loop_scene(
    model: RobotModel,
    record: LoopRecord,
    obstacles: Obstacles,
    plans: Iterable[Plan],
    truth: Array | None,
) -> PageScene:
    """Draw a run of the loop: also torques, and what is known of what is held."""
    scene = arm_scene(model, record.time, record.q, obstacles, plans)
    shown = drawn_moments(record.time)
    return replace(
        scene,
        use=np.abs(record.tau[shown]) / record.torque_limit,
        held=held_body(record.estimates, model.layout.tip, truth),
        marks=tuple((float(t), f'plan {i + 1}') for i, t in enumerate(record.plan_start)),
    )


def beside(model: RobotModel, name: str, record: LoopRecord, begin: float) -> Beside:
    """Return another run of the same arm, to be drawn as beginning at `begin` [s]."""
    motion = motion_of(model, record.time, record.q)
    return Beside(name, motion, begin, record.fault_time)


def drawn_moments(time: Array) -> Array:
    """Return indices of the moments that are drawn."""
    chosen: Array = np.unique(np.linspace(0, len(time) - 1, FRAMES).astype(int))
    return chosen


def motion_of(model: RobotModel, time: Array, q: Array) -> Motion:
    """Return the joint frames at moments spread evenly over those given."""
    chosen = drawn_moments(time)
    frames = [joint_frames(model, q[i]) for i in chosen]
    turn = np.array([[quaternion(R) for R in rotations] for rotations, _ in frames])
    return Motion(time[chosen], turn, np.array([origins for _, origins in frames]))


def drawn_capsules(model: RobotModel) -> Capsules:
    """Capsules of an arm, or its bones."""
    return model.capsules if len(model.capsules.names) else bones(model)


def bones(model: RobotModel) -> Capsules:
    """Capsules from each joint to the next, for an arm without any."""
    n, tree = model.n, model.tree
    ends = [tree.p_parent_joint[i] for i in range(n)]
    return Capsules(
        tuple(f'to {name}' for name in model.layout.joint_names),
        np.array([int(tree.parent[i]) for i in range(n)], dtype=np.int64),
        np.zeros((n, 3)),
        np.array(ends),
        np.full(n, BONE),
        np.zeros((0, 2), dtype=np.int64),
    )


def placed_capsules(capsules: Capsules, motion: Motion) -> Array:
    """End points in the base frame at every drawn moment, (F, m, 2, 3)."""
    count = len(motion.time)
    x, y, z, w = np.moveaxis(motion.turn, -1, 0)
    R = np.empty((*motion.turn.shape[:2], 3, 3))
    R[..., 0, :] = np.stack(
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)], -1
    )
    R[..., 1, :] = np.stack(
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)], -1
    )
    R[..., 2, :] = np.stack(
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)], -1
    )
    # The last frame, found by -1, is the base.
    R = np.concatenate([R, np.broadcast_to(np.eye(3), (count, 1, 3, 3))], axis=1)
    p = np.concatenate([motion.origin, np.zeros((count, 1, 3))], axis=1)
    ends = np.stack([capsules.a, capsules.b], axis=1)
    placed: Array = np.einsum('fmij,mej->fmei', R[:, capsules.joint], ends)
    placed += p[:, capsules.joint, None]
    return placed


def plan_occupancy(plan: Plan) -> list[PlanOccupancy]:
    """Return what a certified plan may occupy for all parameters, an entry per piece."""
    certificate = plan.certificate
    if not isinstance(certificate, PlanCertificate):
        return []
    found, start = [], plan.start_time
    for piece in (certificate, *certificate.then):
        problem = piece.problem
        sets = ReachableSet.of(problem)
        center, rho = sets.occupancy.whole_range
        m = len(problem.model.capsules.names)
        points = np.stack([center[:, :m], center[:, m:]], axis=2)
        radii = np.stack([rho[:, :m], rho[:, m:]], axis=2)
        moving = problem.model.capsules.joint >= 0
        found.append(
            PlanOccupancy(
                start,
                problem.horizon.time.upper,
                points[:, moving],
                (radii + problem.model.capsules.radius[:, None])[:, moving],
            )
        )
        start += problem.horizon.curve.duration
    return found


def quaternion(R: Array) -> Array:
    """Return the unit quaternion x y z w: the largest eigenvector of Bar-Itzhack's matrix."""
    K = np.empty((4, 4))
    K[:3, :3] = R + R.T - np.trace(R) * np.eye(3)
    K[3, :3] = K[:3, 3] = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    K[3, 3] = np.trace(R)
    found: Array = np.linalg.eigh(K)[1][:, -1]
    return found


def box_corners(obstacles: Obstacles) -> dict[str, Array]:
    """Corners (8, 3) of every obstacle, by its name."""
    return dict(zip(obstacles.names, map(_corners, _boxes(obstacles)), strict=True))


def _boxes(obstacles: Obstacles) -> list[Array]:
    """Centre and half edges of every obstacle: (4, 3); of other shapes those of a box around."""
    found = []
    for shape in obstacles.shapes:
        if isinstance(shape, Box):
            half_edges = (shape.rotation * (shape.half_sizes + shape.radius)).T
        else:
            half_edges = np.diag(np.abs(shape.generators).sum(axis=0) + shape.radius)
        found.append(np.vstack([shape.center, half_edges]))
    return found


def _corners(box: Array) -> Array:
    """Corners (8, 3), their signs counted in binary."""
    signs = np.array(list(itertools.product((-1.0, 1.0), repeat=3)))
    corners: Array = box[0] + signs @ box[1:]
    return corners
