"""HeldChanges: what a supervisor asks of the identifier when what is held changes, and then does.

Announced: the identifier gives bounds for what is held and what may be held next, in mode changing
the planner stands still on a plan that is certified for them, and once the arm follows that plan,
with V of every body in them at most V_M, what is held `may change`: until that is used or called
off, or the arm follows a plan for other bounds, and also while a grasp shakes it. An event of
before is no answer to that: the change is called off, and told again. Where it may have changed
and nobody says that it has, bounds stay those for both; so they do where a supervisor was started
again meanwhile.
Not announced: after the fault the arm goes on by itself, at rest, where nothing but a load
explains the change, at most `most` times until a person asks for something. Whether it may move is
for the planner then: it certifies standing for the new bounds first, with V of every body in them
at most V_M at the measured state.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from rclpy.node import Node
from sensor_msgs.msg import TimeReference
from std_msgs.msg import Header

from safe_sysid.plan.result import FAILED
from safe_sysid.ros.messages.codec import SECOND, time_of
from safe_sysid.ros.messages.qos import STATE
from safe_sysid.ros.watch.bodies_energy import told_energy
from safe_sysid.ros.watch.heartbeats import Heartbeats
from safe_sysid.ros.watch.payload_events import (
    ANNOUNCE,
    ANNOUNCED_FOR,
    CALL_OFF,
    CHANGED,
    FIRST,
    GO_ON,
    IS_LOAD,
    MAY_BE_TOUCH,
    MAY_HAVE_CHANGED,
    SEEN,
    TAKEN,
    TOPIC,
    TOUCHED,
    WAITS,
)
from safe_sysid.ros.watch.told_bounds import is_widening_heard
from safe_sysid.track.supervisor import (
    OF_A_CHANGE,
    Cause,
    Mode,
    Signal,
    Situation,
    Supervision,
    successor,
)

MOVED = (Mode.EXCITING, Mode.TASK)  # modes from which the loop goes on
CERTIFYING = 'standing is being certified for what may be held next; ask again'
NOT_GRANTED = 'what is held may not change now: announce_change has to be granted'
LOST = (
    'what is held may not change any more: announce_change was granted, but the plan that the arm '
    'follows is not certified for it now; ask again, or brake'
)
EARLY = 'what is held changed before it was granted, as an event has told'
FAILURES = frozenset(outcome.name for outcome in FAILED)


def granted(has_shape: bool) -> str:
    """Return the answer to an announcement; `has_shape`: of what may be held."""
    said = 'what is held may change now; say payload_changed when it has'
    if has_shape:
        return said
    return (
        f'{said}. Neither `payload` nor `library` gives a shape: certificates keep the arm clear '
        'of obstacles, not what it picks'
    )


@dataclass(frozen=True)
class Seen:
    """What the supervisor sees in one look."""

    mode: Mode
    faults: frozenset[Cause]
    is_at_rest: bool
    certified_for: str  # name of the estimate that the plan in force is for
    expects_touch: bool = False  # whether what is held is about to stand on something
    cause: Cause | None = None  # of the fault, the first one
    stamp: int = 0  # [ns] of the newest sample
    may_grant: bool = True  # whether the plan in force is one that a change is granted on yet

    @property
    def causes(self) -> frozenset[Cause]:
        """All that are present, and the first one of the fault, present still or not."""
        return self.faults if self.cause is None else self.faults | {self.cause}


class HeldChanges:
    """The newest request, told again until the identifier has taken it."""

    def __init__(self, node: Node, nodes: Heartbeats, settling: float, most: int) -> None:
        self._nodes, self._settling, self._most = nodes, settling, most
        self._asked: TimeReference | None = None
        self._name = -1  # of the newest request, by which it is known
        self._asked_at = -1  # [ns] stamp of the newest sample then
        self._before_fault = Mode.IDLE
        self._goes_on = self._is_announcing = self._touches = False
        self._granted: int | None = None  # [ns] since when the announced change may be
        self._most_energy = 0.0  # [V_M] of any body that may be held, since then
        self.count = 0
        self.announced = 0  # changes that came as was announced
        self.refusal = ''  # why what is held may not change
        self.doubt = ''  # why the moment in which it did is not certified
        self._publisher = node.create_publisher(TimeReference, TOPIC, STATE)

    @property
    def is_pending(self) -> bool:
        """Whether the identifier has yet to answer."""
        return self._asked is not None and self._figure(TAKEN) != str(self._name)

    @property
    def bounds(self) -> str:
        """Name of the estimate for what is held and what may be held next; empty: none."""
        return self._figure(ANNOUNCED_FOR)

    def remind(self, stamp: int) -> None:
        """Tell it again, as long as nobody has answered.

        What was announced, and not by this process, has nobody who ends it, or knows what came of
        it: it may have happened until the newest sample, of this stamp [ns].
        """
        if self._asked is not None and self.is_pending:
            self._publisher.publish(self._asked)
        elif self.bounds and stamp and not self._is_ours:
            self._ask(MAY_HAVE_CHANGED, stamp, stamp + round(self._settling * SECOND))

    @property
    def _is_ours(self) -> bool:
        """Whether what was announced was so by this process."""
        return self._asked is not None and self._asked.source in (ANNOUNCE, TOUCHED)

    def asked(self, signal: Signal, stamp: int, age: float) -> None:
        """Tell the identifier of what a person was granted; the newest sample has this age [s]."""
        self.count, self._goes_on = 0, False
        self.doubt = self._doubt() if signal is Signal.PAYLOAD_CHANGED else ''
        if signal is Signal.PAYLOAD_CHANGED:
            self.announced += 1
            self._ask(CHANGED, stamp, stamp + round((age + self._settling) * SECOND))
        elif self._is_announcing:  # in a mode that did not change by it
            self._is_announcing = False
            self._ask(CALL_OFF, stamp, stamp)

    def answer(
        self, now: Supervision, asked: Situation, seen: Seen, stamp: int, has_shape: bool
    ) -> tuple[bool, str]:
        """Whether what is held may change now; asking again tells how far it is.

        Where there is a fault nothing may, though the mode has yet to follow: one of what was told
        has to be answered first.
        """
        is_granted = self._granted is not None and self._stands(seen)
        # then all plans stand still: one that goes on, or a shaken arm, takes nothing back
        next_one = successor(now, replace(asked, at_rest=asked.at_rest or is_granted))
        if next_one.refusal:
            return False, next_one.refusal
        if next_one.cause is not None:
            said, way_back = next_one.cause.value
            return False, f'{Signal.ANNOUNCE_CHANGE.value} has to wait, as {said}: {way_back}'
        if self.may_change(seen):
            return True, granted(has_shape)
        if refusal := self.refusal:
            self.refusal = ''
            return False, refusal
        if now.mode is not Mode.CHANGING:
            self.announce(stamp)
        return False, CERTIFYING

    def announce(self, stamp: int) -> None:
        """Have bounds widened to what may be held next; then the mode is to be changing."""
        if not self._is_announcing and not self.is_pending:  # the last answer is still on its way
            self.refusal = self.doubt = ''
            self._is_announcing, self._granted, self._most_energy = True, None, 0.0
            self._ask(ANNOUNCE, stamp, stamp)

    def may_change(self, seen: Seen) -> bool:
        """Whether what is held may change now; once it might, nobody knows that it did not."""
        if not self._stands(seen) or self._is_early:
            return False
        if self._granted is None and not seen.may_grant:
            return False
        energy = told_energy(self._nodes, self.bounds)
        may = energy <= 1.0
        if may and self._granted is None:
            self._granted = seen.stamp
        if self._granted is not None:
            self._most_energy = max(self._most_energy, energy)
        return may

    def was_allowed(self, seen: Seen) -> bool:
        """Whether what is held may have changed as was granted, whatever V is by now."""
        may = self.may_change(seen)
        return may or (self._granted is not None and self._stands(seen) and not self._is_early)

    def not_allowed(self, seen: Seen) -> str:
        """Why what is held cannot have changed as was granted; empty if it may have."""
        if self.was_allowed(seen):
            return ''
        if self._granted is None or seen.mode is not Mode.CHANGING:
            return NOT_GRANTED
        return EARLY if self._is_early else LOST

    def _stands(self, seen: Seen) -> bool:
        """Whether the arm follows a plan for what is held and what may be held next."""
        is_known = bool(self.bounds) and not self.is_pending
        return is_known and seen.mode is Mode.CHANGING and seen.certified_for == self.bounds

    @property
    def _is_early(self) -> bool:
        """Whether an event of before the grant was told, errors of its stamp aside."""
        first = int(self._figure(FIRST) or -1)
        return first >= 0 and (self._granted is None or first < self._granted)

    def _doubt(self) -> str:
        """Why the moment of a change that was granted is not certified; empty if it is."""
        if self._most_energy <= 1.0:
            return ''
        return (
            f'V may have been {self._most_energy:.3g} V_M when what is held changed: that moment '
            'is certified for the body before only'
        )

    def left(self, before: Mode, now: Mode, by: Signal | None, stamp: int) -> None:
        """Take note of a mode that was left; a change that could not come is called off."""
        if now is Mode.FAULT:
            self._before_fault = before
        if before is Mode.HOLDING and self._touches and now is not Mode.CHANGING:
            self._ask(CALL_OFF, stamp, stamp)
        self._touches &= before is not Mode.HOLDING
        is_called_off = before is Mode.CHANGING and by is not Signal.PAYLOAD_CHANGED
        if is_called_off and self._granted is not None:
            self._ask(MAY_HAVE_CHANGED, stamp, stamp + round(self._settling * SECOND))
        elif is_called_off or (self._is_announcing and now is not Mode.CHANGING):
            self._ask(CALL_OFF, stamp, stamp)
        self._is_announcing = False
        self._goes_on &= by is Signal.GO_ON  # what leads elsewhere is not what it was for

    def signal(self, seen: Seen, stamp: int, age: float) -> Signal | None:
        """Return what follows by itself."""
        if self._is_announcing and not self.is_pending:
            return self._refused() or Signal.ANNOUNCE_CHANGE
        if seen.mode is Mode.CHANGING and not self.is_pending:
            return self._of_announced(seen)
        is_known = not self.is_pending and is_widening_heard(self._nodes)
        if seen.mode is Mode.HOLDING and self._goes_on and is_known:
            self._goes_on = False
            return Signal.EXCITE
        is_held = self._before_fault is not Mode.IDLE
        if seen.mode is not Mode.FAULT or not seen.is_at_rest or not is_held:
            return None
        if seen.expects_touch and self.may_have_touched(seen):
            self._goes_on, self._touches = False, True
            self._ask(TOUCHED, stamp, stamp)
            return Signal.GO_ON
        if self.why_it_stays(seen):
            return None
        self.count += 1
        self._goes_on = self._before_fault in MOVED
        self._ask(GO_ON, stamp, stamp + round(age * SECOND))
        return Signal.GO_ON

    def may_have_touched(self, seen: Seen) -> bool:
        """Whether nothing is the matter but what a touch brings."""
        is_noticed = Cause.CHANGE_NOTICED in seen.faults
        is_alone = seen.causes <= {Cause.CHANGE_NOTICED, Cause.TRACKING}
        return is_noticed and is_alone and self._figure(MAY_BE_TOUCH) == 'True'

    def why_it_stays(self, seen: Seen) -> str:
        """Why an arm in this fault does not go on by itself; empty if it does."""
        if Cause.CHANGE_NOTICED not in seen.faults:
            return 'nobody says that what is held has changed'
        if self._before_fault is Mode.IDLE:
            return 'no torque was given before'
        others = [cause.name for cause in seen.causes - OF_A_CHANGE]
        if others:
            return f'there is {", ".join(others)} as well'
        if self._figure(IS_LOAD) != 'True':
            return self._figure(WAITS) or 'something else than a load may explain it'
        if self.count >= self._most:
            return f'it went on by itself {self.count} times, {self._most} are allowed'
        return ''

    def _of_announced(self, seen: Seen) -> Signal | None:
        """Return what follows while a change is announced."""
        if self._is_early:
            self.refusal = EARLY
            return Signal.BRAKE
        if self.was_allowed(seen):
            event = self._figure(SEEN) or '-1'
            return Signal.PAYLOAD_CHANGED if int(event) > self._asked_at else None
        said = int(self._nodes.figure('planner', 'said at [ns]') or -1)
        outcome = self._nodes.figure('planner', 'outcome') or ''
        if said > self._asked_at and outcome in FAILURES:
            found = self._nodes.figure('planner', 'found') or ''
            self.refusal = f'standing is not certified for what may be held next: {found}'
            return Signal.BRAKE
        return None

    def _refused(self) -> Signal | None:
        """Return what follows where the identifier has no bounds for the change."""
        self.refusal = self._figure('change refused')
        if not self.refusal:
            return None
        self._is_announcing = False
        return Signal.BRAKE

    def _figure(self, key: str) -> str:
        return self._nodes.figure('identifier', key) or ''

    def _ask(self, what: str, stamp: int, now: int) -> None:
        is_clock_back = stamp < self._asked_at
        self._name = stamp if is_clock_back else max(stamp, self._name + 1)  # never one twice
        self._asked_at = stamp
        if str(self._name) == self._figure(TAKEN):  # of a supervisor before this one
            self._name += 1
        header = Header(stamp=time_of(self._name))
        self._asked = TimeReference(header=header, time_ref=time_of(now), source=what)
        self._publisher.publish(self._asked)
