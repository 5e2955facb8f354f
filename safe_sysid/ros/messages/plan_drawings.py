"""How a plan and all that it may reach look in RViz."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from visualization_msgs.msg import MarkerArray

from safe_sysid.model.dynamics.forward_kinematics import joint_frames
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.reach.certificate import PlanCertificate
from safe_sysid.reach.reachable_set import ReachableSet
from safe_sysid.ros.messages.drawings import Balls, ball_markers, path_markers
from safe_sysid.trajectory.plan import Plan

POINTS = 50  # of the line along which the last joint goes


def plan_path(model: RobotModel, plan: Plan, frame: str, stamp: int) -> MarkerArray:
    """Return the way of the origin of the last joint."""
    times = np.linspace(plan.start_time, plan.end_time, POINTS)
    points = [joint_frames(model, plan.desired(t)[0])[1][model.layout.tip] for t in times]
    return path_markers(np.array(points), frame, stamp)


def reachable_balls(plan: Plan, frame: str, stamp: int) -> MarkerArray:
    """Balls that contain the arm and what it holds while it follows a certified plan."""
    first = plan.certificate
    pieces = (first, *first.then) if isinstance(first, PlanCertificate) else ()
    return ball_markers([balls for piece in pieces for balls in _balls(piece)], frame, stamp)


def _balls(certificate: PlanCertificate) -> Iterator[Balls]:
    """Of one piece: every sphere that covers a capsule, in all time intervals."""
    problem = certificate.problem
    sets = ReachableSet.of(problem)
    centers, radii = sets.occupancy.whole_range
    count, shapes = len(problem.model.capsules.names), sets.shapes
    for capsule, weight, radius in zip(
        shapes.sphere_capsule, shapes.sphere_weight, shapes.sphere_radius, strict=True
    ):
        a, b = centers[:, capsule], centers[:, count + capsule]
        reached = max(radii[:, capsule].max(), radii[:, count + capsule].max())
        yield Balls((1.0 - weight) * a + weight * b, float(radius + reached))
