"""What is known of a change of what is held, and whether the arm may go on from it by itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from safe_sysid.config import Natural, NotNegative, Settings
from safe_sysid.identify.change.change_kinds import Kind
from safe_sysid.identify.change.change_watch import NoticedChange
from safe_sysid.identify.change.held_next import HeldNext

OF_LOADS = (Kind.PICKED, Kind.DROPPED, Kind.SLIPPED)


class Source(Enum):
    """Who says that what is held has changed."""

    TOLD = 'told'  # by a gripper or a person, with a pair of stamps
    NOTICED = 'noticed'  # from torques, which is statistics
    PROVEN = 'proven'  # measurements exclude one body, or another promise is broken


class Condition(Enum):
    """What has to be so for an arm to go on after a change without a person."""

    AT_REST = 'the arm is at rest'
    CAUSE = 'something was picked or dropped, and nothing else explains it as well'
    COUNT = 'no more changes in this mission than the arm may go on from by itself'
    ENERGY = 'the energy of the tracking error is within V_M for every body that may be held'
    STANDING = 'standing still is certified for every body that may be held'


@dataclass(frozen=True)
class ResponseSettings(Settings):
    """What happens after a change that nobody announced at rest."""

    most: Natural = 2  # changes in a mission from which the arm goes on without a person
    stamp_error: NotNegative = 0.03  # [s] that the stamps of a change that is told may be off


@dataclass(frozen=True)
class Change:
    """A change of what is held: between two stamps, and what it may have been."""

    source: Source
    after: int  # [ns]
    before: int  # [ns]
    sentence: str
    kinds: tuple[Kind, ...] = ()  # none: nobody knows
    is_load: bool = False  # whether nothing but another load explains it
    is_explained: bool = True  # whether any of the kinds explains all that torques show
    noticed_at: int = -1  # [ns] when torques showed it; -1: they did not
    is_undecided: bool = False  # whether it has yet to be looked at if what is held is rigid

    @staticmethod
    def told(after: int, before: int) -> Change:
        """Return one that somebody who knows tells."""
        sentence = f'what is held has changed between {after} and {before} ns, as was told'
        return Change(Source.TOLD, after, before, sentence, (), is_load=True)

    @staticmethod
    def touch(after: int, before: int) -> Change:
        """Return one that somebody tells who knows that something was touched."""
        sentence = f'what is held has touched something between {after} and {before} ns, as told'
        return Change(Source.TOLD, after, before, sentence, (Kind.TOUCHED,))

    @staticmethod
    def noticed(found: NoticedChange) -> Change:
        """Return what was noticed from torques."""
        loads = all(kind in OF_LOADS for kind in found.kinds)
        is_explained = found.is_explained and not found.not_rigid
        return Change(
            *(Source.NOTICED, found.after, found.before, str(found), found.kinds),
            is_load=loads and is_explained,
            is_explained=is_explained,
            noticed_at=found.noticed,
            is_undecided=found.is_undecided,
        )

    @staticmethod
    def proven(stamp: int, cause: str) -> Change:
        """Return a contradiction, which says neither when nor what it was."""
        return Change(Source.PROVEN, stamp, stamp, cause)

    def apart(self, margin: int) -> Change:
        """Return the same with as much time [ns] more on either side."""
        return replace(self, after=self.after - margin, before=self.before + margin)

    def joined(self, other: Change) -> Change:
        """Return both as one, between the earlier and the later stamps.

        What was told says which of the kinds it was that torques leave open. It does not make a
        load of what only something else explains: that happened as well.
        """
        after, before = min(self.after, other.after), max(self.before, other.before)
        kinds = tuple(dict.fromkeys((*self.kinds, *other.kinds)))
        is_same = other.source is self.source  # however many events there are, one is told
        may_be_load = not other.kinds or any(kind in OF_LOADS for kind in other.kinds)
        return replace(
            self,
            after=after,
            before=before,
            sentence=self.sentence if is_same else f'{self.sentence}; {other.sentence}',
            kinds=kinds,
            is_load=self.is_load and other.is_explained and may_be_load,
            is_explained=self.is_explained and other.is_explained,
            noticed_at=max(self.noticed_at, other.noticed_at),
            is_undecided=self.is_undecided or other.is_undecided,
        )


@dataclass(frozen=True, eq=False)
class ChangeOutcome:
    """What came of a change: how the arm braked, and whether it goes on by itself."""

    change: Change
    is_braking_certified: bool  # for the next body too, from the sample on at which it began
    braking: str  # how the arm braked, or why that is not certified
    held: HeldNext  # what may be held now
    failed: Condition | None = None  # the first condition that does not hold; None: it goes on
    reason: str = ''  # why not

    @property
    def goes_on(self) -> bool:
        """Whether the arm goes on without a person."""
        return self.failed is None

    def __str__(self) -> str:
        said = f'{self.change.sentence}; {self.braking}'
        if self.failed is None:
            return f'{said}; the arm is at rest and goes on with bounds of what may be held now'
        return (
            f'{said}; the arm is held and stays, as it is not so that {self.failed.value}'
            f'{f" ({self.reason})" if self.reason else ""}: {WAYS_ON[self.failed]}'
        )


WAYS_ON = {
    Condition.AT_REST: 'engage its brakes, then say what is held',
    Condition.CAUSE: 'look for contact, a joint that is stuck or a wrong sensor; then say that '
    'what is held is new, and go on',
    Condition.COUNT: 'look why it changes so often, then go on',
    Condition.ENERGY: 'let it come to rest, or take what it holds; then say what is held',
    Condition.STANDING: 'take away what it holds or make room, then say what is held',
}


def unmet(change: Change, count: int, settings: ResponseSettings) -> tuple[Condition, str] | None:
    """Return which condition on a change itself does not hold, and why; None: all do.

    `count` changes came before it in the mission.
    """
    kinds = ' or '.join(kind.value for kind in change.kinds)
    if not change.is_load:
        return (
            Condition.CAUSE,
            f'it may have been {kinds}' if kinds else 'nobody knows what it was',
        )
    if change.source is Source.NOTICED and Kind.SLIPPED in change.kinds:
        return (
            Condition.CAUSE,
            f'it may have been {kinds}, and what slipped is not where its bounds and shapes say',
        )
    if count >= settings.most:
        return Condition.COUNT, f'{count} before this one, {settings.most} are allowed'
    return None


@dataclass(frozen=True, eq=False)
class Announcement:
    """Whether what is held may change now, and if not, why and what could be held."""

    is_granted: bool
    sentence: str
    held: HeldNext
    heaviest: float | None = None  # [kg] of all that hangs on the last joint that would be granted
