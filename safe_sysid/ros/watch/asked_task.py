"""AskedTask: when a goal that came to the planner begins the task, or ends it."""

from __future__ import annotations

from collections import deque

from safe_sysid.ros.messages.request_topics import TAKEN, WAITING
from safe_sysid.ros.watch.heartbeats import Heartbeats
from safe_sysid.track.supervisor import Mode, Signal

BEGINS = {
    Mode.IDENTIFIED: Signal.DO_TASK,
    Mode.HOLDING: Signal.EXCITE,  # what is left to learn, which may be nothing; then the task
}
MOST_VOID = 100  # goals that are remembered to be void; the planner has room for 10 of each topic
STOPPED = (Mode.FAULT, Mode.IDLE, Mode.RELEASING, Mode.ENDED)
WAITS = (Mode.PROBING, Mode.EXCITING, *BEGINS)  # elsewhere a goal begins nothing, then or later


class AskedTask:
    """Goes by the stamp of the goal that the planner says it has taken.

    A goal begins the task where the arm holds or has learned; one that comes while it learns,
    then. One that the planner had heard of when somebody braked or a fault came begins nothing any
    more. Nor does one that is void, whenever the planner takes it: a planner that was silent hears
    late.
    """

    def __init__(self, nodes: Heartbeats) -> None:
        self._nodes = nodes
        self._known = ''  # stamp of the goal that begins nothing any more
        self._late: set[str] = set()  # stamps of those that will not, once they are taken
        self._void: deque[str] = deque(maxlen=MOST_VOID)

    def void(self, stamp: int) -> None:
        """Have the goal of this stamp begin nothing, and end a task that leads there."""
        self._void.append(str(stamp))

    def begin_nothing(self) -> None:
        """Have no goal that the planner has heard of begin anything, as somebody asks for rest."""
        self._known = self._nodes.figure('planner', TAKEN) or ''
        self._late |= self._waiting()

    def _waiting(self) -> set[str]:
        return set((self._nodes.figure('planner', WAITING) or '').split())

    def refusal(self, signal: Signal) -> str:
        """Why the task does not begin yet; empty if it may."""
        goal = self._nodes.figure('planner', TAKEN) or ''
        if signal is not Signal.DO_TASK or goal not in self._void:
            return ''
        return (
            f'the planner leads to the goal of stamp {goal} ns, whose action has ended; it is '
            'told so, else publish another goal, or one without names'
        )

    def signal(self, mode: Mode) -> Signal | None:
        """Return what is asked for now."""
        goal = self._nodes.figure('planner', TAKEN) or ''
        is_void = goal in self._void
        if mode in STOPPED:
            self.begin_nothing()
        self._late &= {*self._waiting(), goal}
        if mode is Mode.TASK and (is_void or (self._known and not goal)):
            self._known = goal
            return Signal.BRAKE  # void, taken away, or forgotten by a planner that began again
        if is_void or not goal or goal in self._late or mode not in WAITS:
            self._known = goal
        return None if goal in ('', self._known) else BEGINS.get(mode)
