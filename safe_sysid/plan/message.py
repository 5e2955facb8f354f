"""A plan as a message and back; the only file that knows the fields of the message.

The message is a trajectory_msgs/JointTrajectory with two points: the quintic through them, in
position, velocity and acceleration; more points where a plan has more pieces. header.stamp is when
it starts, header.frame_id the name of the estimate it was certified for. The effort of the point
at the end of a piece are the numbers of its law (`track/law_numbers.py`), for an arm that is seen
late; of one that is seen exactly there are none. Nothing here needs ROS:
nodes fill messages of rclpy, an audit reads those of a bag.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
import hashlib
from typing import Any

import numpy as np

from safe_sysid.errors import MessageError
from safe_sysid.input_file import listed, name_trouble
from safe_sysid.measure.clock import Clock
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.plan.agreement import Followed
from safe_sysid.track.law_numbers import law_of, numbers_of
from safe_sysid.track.seen_law import SeenLaw
from safe_sysid.trajectory.bezier import Bezier
from safe_sysid.trajectory.plan import Plan
from safe_sysid.trajectory.task_motion import Piece, TaskMotion

SECOND = 1_000_000_000  # [ns]
MOST_POINTS = 1000  # of a plan; those of ours have a few dozen at most


def name_of(estimate: ParameterEstimate) -> str:
    """Name that follows from the numbers alone, so that nobody has to count estimates."""
    numbers = (estimate.bounds.lower, estimate.theta, estimate.bounds.upper)
    return hashlib.blake2b(np.concatenate(numbers).tobytes(), digest_size=8).hexdigest()


@dataclass(frozen=True, eq=False)
class PlanNotice:
    """A plan as a message tells it; what it was certified for has a name only."""

    start: int  # [ns]
    motion: TaskMotion
    certified_for: str
    laws: tuple[SeenLaw, ...] = ()

    def plan(self, clock: Clock, estimate: ParameterEstimate) -> Plan:
        """Return the plan, on a clock, with the estimate of this name."""
        start, (first, *then) = clock.seconds(self.start), self.motion.pieces
        return Plan(
            start,
            start + self.motion.duration,  # whoever takes over says himself when
            first.curve,
            first.k,
            estimate.bounds,
            self.certified_for,
            estimate.theta,
            tuple(then),
            self.laws,
        )


def notice_of(plan: Plan, clock: Clock, certified_for: str) -> PlanNotice:
    """Return what there is to say about a plan."""
    laws = tuple(law for law in plan.laws if isinstance(law, SeenLaw))
    return PlanNotice(clock.stamp(plan.start_time), plan.motion, certified_for, laws)


def fill_plan(
    msg: Any, new_point: Callable[[], Any], notice: PlanNotice, joint_names: Sequence[str]
) -> None:
    """Write points at the start and at the end of every piece into an empty message."""
    first = notice.motion.pieces[0].curve
    states = [(first.q0, first.qd0, first.qdd0), *(piece.end for piece in notice.motion.pieces)]
    lengths = [0.0, *(piece.curve.duration for piece in notice.motion.pieces)]
    msg.header.stamp.sec, msg.header.stamp.nanosec = divmod(notice.start, SECOND)
    msg.header.frame_id = notice.certified_for
    msg.joint_names = list(joint_names)
    laws = [numbers_of(law).tolist() for law in notice.laws] or [[] for _ in states[1:]]
    rows = zip(states, np.cumsum(lengths).tolist(), [[], *laws], strict=True)
    for (q, qd, qdd), t, effort in rows:
        point = new_point()
        point.positions = q.tolist()
        point.velocities = qd.tolist()
        point.accelerations = qdd.tolist()
        point.effort = effort
        point.time_from_start.sec, point.time_from_start.nanosec = divmod(
            round(t * SECOND), SECOND
        )
        msg.points.append(point)


def plan_notice(msg: Any, joint_names: Sequence[str]) -> PlanNotice:
    """Return what a plan message says, or an error that names why it is none."""
    n = len(joint_names)
    if list(msg.joint_names) != list(joint_names) or len(msg.points) < 2:
        raise MessageError(
            f'plan is for {listed(msg.joint_names)} and has {len(msg.points)} points; '
            f'{list(joint_names)} and 2 or more are needed'
        )
    if len(msg.points) > MOST_POINTS:
        raise MessageError(f'the plan has {len(msg.points)} points; {MOST_POINTS} are allowed')
    if trouble := name_trouble(msg.header.frame_id):
        raise MessageError(f'what the plan is certified for: {trouble}')
    states = [
        [np.array(x, dtype=np.float64) for x in (p.positions, p.velocities, p.accelerations)]
        for p in msg.points
    ]
    if any(x.shape != (n,) or not np.isfinite(x).all() for state in states for x in state):
        raise MessageError(f'a point of the plan has not {n} finite numbers of each kind')
    ends = [_nanoseconds(point.time_from_start) for point in msg.points]
    pieces: list[Piece] = []
    q, qd, qdd = states[0]
    for i, (q1, qd1, qdd1) in enumerate(states[1:]):
        duration = ends[i + 1] - ends[i]
        if duration <= 0:
            raise MessageError(f'a piece of the plan lasts {duration} ns; that has to be above 0')
        curve = Bezier(q, qd, qdd, duration / SECOND, qd1=qd1, qdd1=qdd1)
        pieces.append(Piece(curve, q1 - q))
        q, qd, qdd = pieces[-1].end
    if np.any(qd) or np.any(qdd):
        raise MessageError('the plan does not end at rest')
    start, laws = _nanoseconds(msg.header.stamp), _laws(msg, n)
    return PlanNotice(start, TaskMotion(tuple(pieces)), msg.header.frame_id, laws)


def _laws(msg: Any, n: int) -> tuple[SeenLaw, ...]:
    """Laws of the pieces, all of them or none."""
    numbers = [np.array(point.effort, dtype=np.float64) for point in msg.points[1:]]
    return tuple(law_of(each, n) for each in numbers) if any(map(len, numbers)) else ()


def followed_of(msg: Any, joint_names: Sequence[str]) -> Followed | None:
    """Return what plan_in_force says that the arm follows; None if it has no points."""
    if not len(msg.points):
        return None
    notice = plan_notice(msg, joint_names)
    return Followed(notice.start, notice.start + round(notice.motion.duration * SECOND))


def _nanoseconds(time: Any) -> int:
    """Return a ROS time or duration."""
    return int(time.sec) * SECOND + int(time.nanosec)
