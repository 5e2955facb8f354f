"""FollowJointTrajectory as a path of ours: fields of its goal, feedback and result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from safe_sysid.arrays import Array
from safe_sysid.ros.actions.asked import Motion
from safe_sysid.ros.actions.following import Code, RefusedTrajectoryError, Tolerance
from safe_sysid.ros.messages.codec import time_of
from safe_sysid.ros.messages.path_times import PathIsOverError, PathTimeError, check_begin


def trajectory_of(request: Any, joint_names: Sequence[str], now: int) -> JointTrajectory:
    """Return the path that is asked for, or say why it is none; `now` is by joint_states [ns]."""
    told: JointTrajectory = request.trajectory
    if sorted(told.joint_names) != sorted(joint_names):
        raise RefusedTrajectoryError(
            Code.INVALID_JOINTS,
            f'joints are {list(told.joint_names)}; all of {list(joint_names)} are needed',
        )
    if request.multi_dof_trajectory.points:
        raise RefusedTrajectoryError(Code.INVALID_GOAL, 'joints of this arm turn about one axis')
    if not told.points:
        raise RefusedTrajectoryError(Code.INVALID_GOAL, 'the path has no points')
    try:
        check_begin(told, now)
    except PathIsOverError as error:
        raise RefusedTrajectoryError(Code.OLD_HEADER_TIMESTAMP, str(error)) from error
    except PathTimeError as error:
        raise RefusedTrajectoryError(Code.INVALID_GOAL, str(error)) from error
    return told


def tolerances_of(request: Any, joint_names: Sequence[str]) -> tuple[Tolerance, Tolerance]:
    """Return what is tolerated on the way, and at the end."""
    if request.component_path_tolerance or request.component_goal_tolerance:
        raise RefusedTrajectoryError(
            Code.INVALID_GOAL, 'tolerances of components are for joints that this arm has not'
        )
    on_the_way, at_the_end = (
        Tolerance.of(joint_names, [(x.name, x.position, x.velocity, x.acceleration) for x in each])
        for each in (request.path_tolerance, request.goal_tolerance)
    )
    return on_the_way, at_the_end


def feedback_of(kind: Any, joint_names: Sequence[str], motion: Motion | None) -> Any:
    """Return desired and measured state of the newest sample; empty before there is a plan."""
    feedback = kind.Feedback(joint_names=list(joint_names))
    if motion is None:
        return feedback
    feedback.header.stamp = time_of(motion.stamp)
    q, qd, qdd = motion.desired
    feedback.desired = _point(q, qd, qdd)
    feedback.actual = _point(motion.position, motion.velocity)
    feedback.error = _point(q - motion.position, qd - motion.velocity)
    return feedback


def _point(q: Array, qd: Array, qdd: Array | None = None) -> JointTrajectoryPoint:
    accelerations = [] if qdd is None else qdd.tolist()
    return JointTrajectoryPoint(
        positions=q.tolist(), velocities=qd.tolist(), accelerations=accelerations
    )
