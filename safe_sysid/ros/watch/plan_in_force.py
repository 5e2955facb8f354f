"""PlanInForce: the plan that the controller says the arm follows, and when it is over.

A plan is in force from its start on. So one that begins later than now is not, by more than two
nodes can differ in the newest sample they have: it counts once its start has come, it is named
until then, and the plan before it stays the one in force. A plan that the controller follows no
longer, as in a fault, is in force no more; the guard brakes on it, though, so the arm moves until
it is over.
"""

from __future__ import annotations

from collections.abc import Sequence

from trajectory_msgs.msg import JointTrajectory

from safe_sysid.errors import MessageError
from safe_sysid.plan.message import SECOND, PlanNotice, plan_notice

AHEAD = 1.0  # [s] that samples may be newer where the plan is told than where it is heard


class PlanInForce:
    """Stamps of samples [ns] are its time; 0 is before the first one."""

    def __init__(self, joint_names: Sequence[str]) -> None:
        self._joint_names = joint_names
        self._believed: PlanNotice | None = None
        self._ahead: PlanNotice | None = None  # heard last, its start has yet to come
        self._left: PlanNotice | None = None  # by the controller; the guard may brake on it

    def hear(self, msg: JointTrajectory, now: int) -> None:
        """Take what is said at a time [ns] to be in force; no points: nothing is."""
        self.at(now)
        if not msg.points:
            self._left = self._believed or self._left
            self._believed = self._ahead = None
            return
        try:
            self._ahead = plan_notice(msg, self._joint_names)
        except MessageError:
            return  # the controller says so

    def at(self, now: int) -> PlanNotice | None:
        """Return the plan in force at a time [ns]."""
        if now and self._ahead is not None and self._ahead.start - now <= AHEAD * SECOND:
            self._believed, self._ahead, self._left = self._ahead, None, None
        return self._believed

    def end(self, now: int) -> int:
        """Return when the plan in force at a time comes to rest [ns]; 0: nothing is in force."""
        plan = self.at(now)
        return 0 if plan is None else _end(plan)

    def may_brake_on_it(self, now: int) -> bool:
        """Whether a plan that the controller has left goes on at a time [ns]."""
        plan = self._left
        # before its start the clock has gone back, and nobody follows it any more
        return plan is not None and plan.start - AHEAD * SECOND <= now < _end(plan)

    def trouble(self, now: int) -> str:
        """Say that a plan does not count; empty: all of them do."""
        self.at(now)
        if self._ahead is None or not now:
            return ''
        return (
            f'plan_in_force begins {(self._ahead.start - now) / SECOND:.4g} s after now; at most '
            f'{AHEAD:g} s are allowed, so it does not count'
        )


def _end(plan: PlanNotice) -> int:
    return plan.start + round(plan.motion.duration * SECOND)
