"""Scene of a page: where an arm, obstacles and what a plan may reach are, as plain numbers."""

from __future__ import annotations

from collections.abc import Iterable
import itertools

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.model.collision.capsules import Capsules
from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.model.dynamics.forward_kinematics import joint_frames
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.reach.certificate import PlanCertificate
from safe_sysid.reach.reachable_set import ReachableSet
from safe_sysid.report.html_page import PageScene, PlanOccupancy
from safe_sysid.sets.box import Box
from safe_sysid.trajectory.plan import Plan

FRAMES = 240  # pictures of the arm on a page, spread evenly over time
BONE = 0.025  # [m] radius of links whose shape nobody described


def arm_scene(
    model: RobotModel,
    time: Array,
    q: Array,
    obstacles: Obstacles,
    plans: Iterable[Plan] = (),
) -> PageScene:
    """Draw the arm at measured positions (N, n), and what certificates allow for."""
    chosen = np.unique(np.linspace(0, len(time) - 1, FRAMES).astype(int))
    capsules = model.capsules if len(model.capsules.names) else bones(model)
    return PageScene(
        time=time[chosen],
        capsules=np.array([_placed(model, capsules, q[i]) for i in chosen]),
        radius=capsules.radius,
        is_tip=tuple(bool(joint == model.layout.tip) for joint in capsules.joint),
        boxes=dict(zip(obstacles.names, map(_corners, _boxes(obstacles)), strict=True)),
        occupancy=tuple(part for plan in plans for part in plan_occupancy(plan)),
    )


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


def _placed(model: RobotModel, capsules: Capsules, q: Array) -> Array:
    """End points in the base frame, (m, 2, 3)."""
    R, p = joint_frames(model, q)
    R = np.concatenate([R, np.eye(3)[None]])  # the last one, found by -1, is the base
    p = np.concatenate([p, np.zeros((1, 3))])
    ends = np.stack([capsules.a, capsules.b], axis=1)
    placed: Array = np.einsum('mij,mej->mei', R[capsules.joint], ends) + p[capsules.joint, None]
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
        center, rho = sets.occupancy.whole_range()
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
