"""PayloadEvents: what an identifier hears and sees of changes of what is held.

Three things say that it has changed: a `std_msgs/Header` on `payload_event`, whose stamp is when,
a finger of the gripper that passes from one side of the middle to the other (`finger.py`), and
the test on torques. An event whose stamp cannot be (none, ahead of the samples, or long before
them) is taken, and its stamp is not: no sample until the answer is of either body then. Where no
change was announced that is a fault, CHANGE_NOTICED. What comes of it the supervisor says on
`payload_change` (`sensor_msgs/TimeReference`): header.stamp names the request, time_ref is the
stamp up to which samples are of no body, source is what to do. What was taken is told on
/diagnostics, so requests are told again until it is.

A `std_msgs/Header` on `touched` says that what is held has touched something: a force that no
model has. Where the supervisor takes that, or what torques say of it, for a touch of the place, no
sample since is of any body until what is held has been let go.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import reduce

from rclpy.node import Node
from sensor_msgs.msg import TimeReference
from std_msgs.msg import Header

from safe_sysid.config import NotNegative, Settings
from safe_sysid.errors import SafeSysidError
from safe_sysid.identify.change.change_kinds import Kind
from safe_sysid.identify.change.held_next import HeldNext, either
from safe_sysid.identify.change.response import Change, ResponseSettings, Source, unmet
from safe_sysid.identify.online_identifier import OnlineIdentifier
from safe_sysid.plan.message import name_of
from safe_sysid.ros.messages.codec import SECOND, stamp_of
from safe_sysid.ros.messages.qos import REQUESTS as REQUEST_PROFILE
from safe_sysid.ros.messages.qos import STATE
from safe_sysid.ros.watch.finger import Finger, FingerSettings

TOPIC, EVENT, TOUCH = 'payload_change', 'payload_event', 'touched'
ANNOUNCE, CALL_OFF, CHANGED, GO_ON = 'announce', 'call off', 'changed', 'go on'
MAY_HAVE_CHANGED = 'may have changed'
TOUCHED = 'touched'
REQUESTS = (ANNOUNCE, CALL_OFF, CHANGED, MAY_HAVE_CHANGED, TOUCHED, GO_ON)
TAKEN = 'payload change taken [ns]'
ANNOUNCED_FOR = 'bounds for a change'  # name of the estimate for what is held and held next
SEEN = 'payload event [ns]'
FIRST = 'first event of the change, at the latest [ns]'  # that an announced one has to answer
FINGER = 'finger'
IS_LOAD = 'change is one of load'
MAY_BE_TOUCH = 'change may be a touch'
WAITS = 'change waits for a person'
UNDECIDED = 'whether what is held is rigid is yet to be looked at'
OLDEST = SECOND  # [ns] that the stamp of an event may be before the newest sample
AHEAD = SECOND // 2  # [ns] and behind it
ANY_TIME = 2**63 - 1  # [ns] in place of a time that nobody knows


@dataclass(frozen=True)
class HoldSettings(Settings):
    """What is heard of a gripper, and what comes of a change that nobody announced."""

    finger: FingerSettings = field(default_factory=FingerSettings)
    stamp_error: NotNegative = 0.03  # [s] that stamps of events may be off


class PayloadEvents:
    """Keeps the change that is not answered yet, if there is one."""

    def __init__(
        self,
        node: Node,
        identifier: OnlineIdentifier,
        held: HeldNext,
        settings: HoldSettings,
        publish: Callable[[], None],
        begins_anew: Callable[[int], bool],
        says: Callable[[], None],
    ) -> None:
        """Listen; `begins_anew` forgets the payload at a stamp, where no torque is given.

        `says` tells the supervisor at once, which would grant a change meanwhile.
        """
        self._begins_anew, self._says = begins_anew, says
        self._identifier, self._held, self._publish = identifier, held, publish
        self._settings = settings
        self._told: Change | None = None
        # Not answered when a change was announced, and told since: that change is its answer.
        self._meanwhile: Change | None = None
        self._first = -1  # [ns] stamp at which the first of that was, at the latest
        self._event = -1  # [ns] stamp of the newest
        self._heard = self._touched = 0  # [ns] stamps of the newest messages, as they were
        self._newest = -1  # [ns] stamp of the newest sample
        self._has_no_time = False  # whether an event has a stamp that cannot be
        self._announced: int | None = None  # [ns] stamp of the newest sample then
        self._taken = -1
        self._has_announced = False  # any change, in this process
        self._touch: Change | None = None  # of the place, since which nothing is learnt
        self._announced_for = self._refusal = ''
        self._finger = Finger(node, settings.finger, self._on_finger)
        node.create_subscription(TimeReference, TOPIC, self._on_request, STATE)
        node.create_subscription(Header, EVENT, self._on_event, REQUEST_PROFILE)
        node.create_subscription(Header, TOUCH, self._on_touch, REQUEST_PROFILE)

    @property
    def trouble(self) -> str:
        """What keeps changes from being told; empty: nothing."""
        return self._finger.trouble

    def note_sample(self, stamp: int) -> None:
        """Keep the newest stamp [ns] of the arm, by which those of events are judged."""
        has_begun_anew = stamp < self._newest - OLDEST  # the clock
        self._newest = stamp if has_begun_anew else max(self._newest, stamp)

    def change(self) -> Change | None:
        """Return the change that has to be answered, as it is known by now, if there is one."""
        if self._announced is not None:
            return None
        found = self._identifier.noticed() if self._identifier.has_noticed else None
        noticed = None if found is None else Change.noticed(found)
        if self._told is None:
            return noticed
        return self._told if noticed is None else self._told.joined(noticed)

    def forget(self) -> None:
        """Whatever was heard is of a payload before."""
        self._told = self._announced = self._touch = self._meanwhile = None
        self._announced_for, self._has_no_time, self._first = '', False, -1

    def begin_anew(self) -> None:
        """Forget the same of a payload that is unknown from now on.

        A process that was started anew hears of it when it has taken an announcement already,
        which has to come again then: its bounds are not those that it gave.
        """
        if self._announced is not None:
            self._taken = -1
        self.forget()

    def figures(self) -> dict[str, object]:
        """Return what the supervisor goes by."""
        change = self.change()
        stays = None if change is None else unmet(change, 0, ResponseSettings())
        why = '' if stays is None else stays[1]
        if change is not None and change.is_undecided:
            why = why or UNDECIDED
        return {
            TAKEN: self._taken,
            SEEN: self._event,
            FIRST: self._first,
            FINGER: self._finger.state,
            ANNOUNCED_FOR: self._announced_for,
            IS_LOAD: change is not None and not why,
            MAY_BE_TOUCH: change is not None and Kind.TOUCHED in change.kinds,
            WAITS: why,
            'change': '' if change is None else change.sentence,
            'change refused': self._refusal,
        }

    def _on_event(self, msg: Header) -> None:
        stamp = stamp_of(msg.stamp)
        if 0 < stamp == self._heard:
            return  # told again
        self._heard = stamp
        self._hear(stamp, stamp, 'an event')

    def _on_finger(self, after: int, stamp: int) -> None:
        self._hear(after, stamp, 'the finger of the gripper')

    def _hear(self, after: int, stamp: int, teller: str) -> None:
        """Take word of a change; one whose stamp cannot be was at any time until now."""
        if -AHEAD <= self._newest - stamp <= OLDEST:
            self._note(after, stamp)
            return
        self._has_no_time = True
        self._note(
            0,
            max(self._newest, 0),
            f'what is held has changed, as was told by {teller} whose stamp, {stamp} ns, cannot '
            f'be: the newest sample is of {self._newest} ns',
        )

    def _on_touch(self, msg: Header) -> None:
        """Take word of a touch; one whose stamp cannot be was at any time until now."""
        stamp = stamp_of(msg.stamp)
        if 0 < stamp == self._touched:
            return  # told again
        self._touched = stamp
        is_likely = -AHEAD <= self._newest - stamp <= OLDEST
        after, before = (stamp, stamp) if is_likely else (0, max(self._newest, 0))
        if self._begins_anew(before):
            return
        self._identifier.doubt()
        told = Change.touch(after, before).apart(round(self._settings.stamp_error * SECOND))
        self._told = told if self._told is None else self._told.joined(told)
        self._says()

    def _note(self, after: int, before: int, sentence: str = '') -> None:
        """Take an event between two stamps; those of one promise may be off."""
        self._event = before
        is_announced = self._announced is not None
        if not is_announced and self._begins_anew(before):
            return
        told = Change.told(after, before).apart(round(self._settings.stamp_error * SECOND))
        told = replace(told, sentence=sentence or told.sentence)
        if is_announced:
            self._meanwhile = told if self._meanwhile is None else self._meanwhile.joined(told)
            latest = ANY_TIME if sentence else told.before
            self._first = latest if self._first < 0 else min(self._first, latest)
        else:
            self._identifier.doubt()
            self._told = told if self._told is None else self._told.joined(told)
        self._says()

    def _on_request(self, msg: TimeReference) -> None:
        """Do what the supervisor asks for, once; what nobody knows is told by somebody else."""
        name, now = stamp_of(msg.header.stamp), stamp_of(msg.time_ref)
        if name == self._taken or msg.source not in REQUESTS:
            return
        self._taken, self._refusal = name, ''
        try:
            self._answer(msg.source, now)
        except SafeSysidError as error:
            self._refusal = str(error)
        self._publish()

    def _answer(self, source: str, now: int) -> None:
        identifier = self._identifier
        if source == ANNOUNCE:
            self._announce(now)
        elif source == TOUCHED and (change := self.change()) is not None:
            self._announce(now, change)
        elif source in (CALL_OFF, MAY_HAVE_CHANGED) and self._is_left_by(source):
            self._say_again()
        elif source == TOUCHED and not self._has_announced:
            self._told = Change.touch(0, max(self._newest, 0))
            identifier.doubt()
        elif source == CALL_OFF and self._announced is not None:
            identifier.trust()
            self.forget()
        elif source in (CHANGED, MAY_HAVE_CHANGED):
            self._has_changed(source, now)
        elif source == GO_ON:
            self._go_on(now)

    def _is_left_by(self, source: str) -> bool:
        """Whether something was told that nobody has answered, nor does this request."""
        is_before_granted = source == CALL_OFF and self._meanwhile is not None
        return is_before_granted or bool(self._touch or self._told)

    def _has_changed(self, source: str, now: int) -> None:
        """Give no sample until now to any body: since the announcement, or ever.

        A process that was started again has heard of no announcement, nor what was held before.
        """
        identifier = self._identifier
        if self._announced is None and self._has_announced:  # answered before
            return
        if self._announced is None and self._told is not None:
            self._told = self._told.joined(Change.told(0, now))
            return
        if self._meanwhile is not None:  # told later than the supervisor knew
            now = max(now, self._meanwhile.before)
        if self._announced is None or identifier.has_fault:
            identifier.new_payload(now)
        else:
            held, after = self._held, self._first_of(self._announced)
            if source == MAY_HAVE_CHANGED:
                both = identifier.estimate
                held = HeldNext(both.end_effector_bounds, both.end_effector)
            identifier.change(after, max(after, now), held)
        self.forget()

    def _say_again(self) -> None:
        """Say what was told before or meanwhile: nobody knows that what was touched is left."""
        told = self._unanswered()
        self._announced, self._announced_for, self._first = None, '', -1
        self._touch = self._meanwhile = None
        self._told = reduce(Change.joined, told)

    def _unanswered(self) -> list[Change]:
        """Return all that was told."""
        told = (self._touch, self._told, self._meanwhile)
        return [each for each in told if each is not None]

    def _first_of(self, stamp: int) -> int:
        """Return a stamp [ns], or an earlier one after which torques or somebody say it was."""
        found = self._identifier.noticed() if self._identifier.has_noticed else None
        every = self._unanswered() + ([] if found is None else [Change.noticed(found)])
        room = self._identifier.longest_window
        return min([stamp, *(each.after - room for each in every)])

    def _announce(self, now: int, touch: Change | None = None) -> None:
        """Widen bounds to what may be held next; no sample from now on is of any body.

        Nor is one since what was told and nobody has answered, which this does not answer either:
        it is said again where the change is called off.
        """
        estimate = self._identifier.announce(self._held)
        self._announced = now if self._announced is None else min(now, self._announced)
        self._announced_for, self._has_announced = name_of(estimate), True
        if touch is not None:
            self._touch, self._told = touch, None
        elif self._touch is not None and self._told is not None:  # it touches all the while
            self._touch, self._told = self._touch.joined(self._told), None
        told = [each for each in (self._told, self._meanwhile) if each is not None]
        self._meanwhile = reduce(Change.joined, told) if told else None
        self._first = min([self._newest, *(each.before for each in told)]) if told else -1
        self._event, self._told = -1, None

    def _go_on(self, now: int) -> None:
        """Give samples on either side of the change to different bodies.

        Where nobody told it, it may be a false alarm: what was held may be held still.
        """
        change, held = self.change(), self._held
        if change is None:
            return
        if self._has_no_time:
            change = replace(change, before=max(change.before, now))
        if change.source is not Source.TOLD:
            held = either(self._identifier.estimate, held)
        found = change.apart(self._identifier.longest_window)
        self._identifier.change(found.after, found.before, held)
        self.forget()
