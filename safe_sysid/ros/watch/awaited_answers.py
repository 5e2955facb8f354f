"""AwaitedAnswers: who has yet to take what was told of the payload, so that no motion begins."""

from __future__ import annotations

from safe_sysid.ros.watch.heartbeats import Heartbeats
from safe_sysid.ros.watch.held_changes import HeldChanges
from safe_sysid.ros.watch.payload_change import PayloadChange
from safe_sysid.ros.watch.told_bounds import is_widening_heard

TAKES = 'the identifier has taken new_payload'
HEARS = 'the planner has heard of the bounds that have widened'


class AwaitedAnswers:
    """Of the identifier, to what the supervisor tells, and of the planner to what follows."""

    def __init__(self, nodes: Heartbeats, payload: PayloadChange, changes: HeldChanges) -> None:
        self._nodes, self._payload, self._changes = nodes, payload, changes

    @property
    def is_untaken(self) -> bool:
        """Whether the identifier has yet to answer."""
        return self._payload.is_pending or self._changes.is_pending

    @property
    def before_motion(self) -> str:
        """Return what has to come before a motion begins; empty: nothing."""
        if self.is_untaken:
            return TAKES
        return '' if is_widening_heard(self._nodes) else HEARS
