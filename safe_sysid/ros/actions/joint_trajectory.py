"""FollowJointTrajectory as a path of ours: fields of its goal, feedback and result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from safe_sysid.arrays import Array
from safe_sysid.ros.actions.asked import Motion
from safe_sysid.ros.actions.following import Code, RefusedTrajectoryError, Tolerance
from safe_sysid.ros.messages.codec import SECOND, stamp_of, time_of

AHEAD = 0.5  # [s] that a trajectory may begin in the future


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
    stamp = stamp_of(told.header.stamp)
    if stamp:
        _check_time(stamp, stamp + stamp_of(told.points[-1].time_from_start), now)
    return told


def _check_time(begin: int, end: int, now: int) -> None:
    """Refuse what is over, or begins later [ns], by the clock of the arm."""
    clock = f'by joint_states it is {now / SECOND:.3f} s'
    if not now:
        raise RefusedTrajectoryError(
            Code.INVALID_GOAL,
            f'its stamp is {begin / SECOND:.3f} s, and no joint state was heard by whose stamp '
            'that could be judged; a stamp of 0 begins it at once',
        )
    if end < now:
        raise RefusedTrajectoryError(
            Code.OLD_HEADER_TIMESTAMP,
            f'it ended {(now - end) / SECOND:.3g} s ago, {clock}; a stamp of 0 begins it at once',
        )
    if begin - now > AHEAD * SECOND:
        raise RefusedTrajectoryError(
            Code.INVALID_GOAL,
            f'it begins in {(begin - now) / SECOND:.3g} s, {clock}; ask for it then, {AHEAD} s '
            'are allowed, or with a stamp of 0, which begins it at once',
        )


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
