"""ShownScene: obstacles that somebody shows, by name, with the rules of RViz for markers.

Each change is about one key: it is shown (in place of what the key showed before), is taken away,
or cannot be understood. Where a frame is not known yet, what the key showed before stays. While
anything is not understood, or not placed, nobody knows what is in the way: `is_settled` is
False, and no plan may be made. `trouble` says why, for a frame only after `patience`, as the
transforms of a moving frame always come a moment later. Nothing is forgotten for something else:
what is shown beyond `MOST` boxes is not known, until all that there is was shown again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from safe_sysid.errors import SafeSysidError
from safe_sysid.model.collision.moving_box import MovingBox
from safe_sysid.model.collision.named_boxes import together
from safe_sysid.model.frame_tree import NEWEST, FrameTree
from safe_sysid.model.moving_frames import MovingFrames
from safe_sysid.sets.box import Box

SECOND = 1e9  # [ns]
REMEMBERED = 60.0  # [s] that a key which is not shown any more had no place
MOST = 10_000  # boxes of a scene; a key that takes no room counts as one


@dataclass(frozen=True, eq=False)
class Shown:
    """What a key shows from now on."""

    boxes: tuple[Box, ...]  # in its frame; none where it takes no room
    frame: str
    stamp: int = NEWEST  # [ns] when it was there
    moves_with_frame: bool = False
    lifetime: int = 0  # [ns] from now on; 0: for ever


@dataclass(frozen=True, eq=False)
class Change:
    """What a message says about one key, or about all (key is empty).

    All are those of a namespace, which keys have before their last stroke, where one is named.
    """

    key: str
    shown: Shown | None = None  # None: it is gone
    unclear: str = ''  # why it cannot be understood; then nothing is known about this key
    namespace: str = ''  # of those that are gone; empty: all


@dataclass(frozen=True, eq=False)
class _Entry:
    """What is known about one key."""

    shown: Shown | None  # None: what was said about it last is not understood
    placed: tuple[Box, ...]  # in the base
    expires: float  # [ns]
    unclear: str = ''
    unplaced_since: float = np.inf  # [ns]
    is_placed: bool = False

    @property
    def room(self) -> int:
        """How many boxes it counts as."""
        return max(1, len(self.placed), 0 if self.shown is None else len(self.shown.boxes))


class ShownScene:
    """What is shown now; `patience` [s] is for frames that are not known yet.

    Of frames that move it says how their obstacles may go on, see `MovingFrames`.
    """

    def __init__(
        self, frames: FrameTree, patience: float, moving: MovingFrames | None = None
    ) -> None:
        self._frames, self._patience, self._moving = frames, patience, moving
        self._entries: dict[str, _Entry] = {}
        self._unplaced: dict[str, float] = {}  # [ns] since when, also where it was shown again
        self._beyond = ''  # the first key for which there was no room

    def apply(self, changes: Iterable[Change], now: int) -> None:
        """Take what a message says, in its order."""
        self._expire(now)
        taken = sum(entry.room for entry in self._entries.values())
        for change in changes:
            if not change.key:
                taken -= self._clear(change.namespace)
                continue
            before = self._entries.get(change.key)
            after = self._entry(change, before, now)
            taken -= 0 if before is None else before.room
            if after is not None and taken + after.room > MOST:
                self._beyond, after = self._beyond or change.key, before
            if after is None:
                self._entries.pop(change.key, None)
            else:
                self._entries[change.key] = after
                taken += after.room
        self.settle(now)

    def _clear(self, namespace: str) -> int:
        """Forget all, or all of a namespace; how many boxes those were."""
        if not namespace:
            self._beyond = ''
        gone = [key for key in self._entries if namespace in ('', key.rpartition('/')[0])]
        return sum(self._entries.pop(key).room for key in gone)

    def _entry(self, change: Change, before: _Entry | None, now: int) -> _Entry | None:
        """Return what is known of a key from now on; None: it is gone."""
        placed = () if before is None else before.placed
        if change.unclear:
            return _Entry(None, placed, np.inf, change.unclear)
        if change.shown is None:
            return None
        lifetime = change.shown.lifetime
        expires = now + lifetime if lifetime > 0 else np.inf
        since = self._unplaced.setdefault(change.key, now)
        return _Entry(change.shown, placed, expires, unplaced_since=since)

    def settle(self, now: int) -> None:
        """Let lifetimes end, and place what moves or could not be placed before."""
        self._expire(now)
        for key, entry in self._entries.items():
            shown = entry.shown
            if shown is not None and (not entry.is_placed or self._may_move(shown)):
                self._entries[key] = found = self._placed_anew(entry, shown, now)
                if found.is_placed:
                    self._unplaced.pop(key, None)

    def shift(self, change: int) -> None:
        """Have what is counted from an arrival go on over a jump of the clock [ns]."""
        self._entries = {
            key: replace(
                entry,
                expires=entry.expires + change,
                unplaced_since=entry.unplaced_since + change,
            )
            for key, entry in self._entries.items()
        }
        self._unplaced = {key: since + change for key, since in self._unplaced.items()}

    @property
    def boxes(self) -> dict[str, Box]:
        """What is shown, in the base; a box that did not change is the same object."""
        entries = self._entries.items()
        single = {key: entry.placed[0] for key, entry in entries if len(entry.placed) == 1}
        several = {
            f'{key}#{i}': box
            for key, entry in entries
            if len(entry.placed) > 1
            for i, box in enumerate(entry.placed)
        }
        return together(single, several)

    @property
    def is_settled(self) -> bool:
        """Whether everything that was said is understood and placed."""
        known = (entry.is_placed and not entry.unclear for entry in self._entries.values())
        return not self._beyond and all(known)

    def trouble(self, now: int) -> str:
        """Return the first thing that is not understood, or could not be placed for too long."""
        if self._beyond:
            return (
                f"obstacle '{self._beyond}' is one too many: there is room for {MOST} boxes; what "
                'has been shown since is not known until all that there is was shown again, after '
                'a DELETEALL or as a whole scene'
            )
        for key, entry in self._entries.items():
            waited = (now - entry.unplaced_since) / SECOND
            if entry.unclear and (entry.shown is None or waited >= self._patience):
                return f"obstacle '{key}': {entry.unclear}"
        return ''

    def _expire(self, now: int) -> None:
        self._entries = {k: entry for k, entry in self._entries.items() if now < entry.expires}
        kept, oldest = self._entries, now - REMEMBERED * SECOND
        self._unplaced = {k: t for k, t in self._unplaced.items() if k in kept or t > oldest}
        excess = len(self._unplaced) - 2 * MOST
        if excess > 0:
            for key in [k for k in self._unplaced if k not in kept][:excess]:
                del self._unplaced[key]

    def _placed_anew(self, entry: _Entry, shown: Shown, now: int) -> _Entry:
        if not shown.boxes:
            return replace(entry, placed=(), is_placed=True, unclear='')
        try:
            boxes = self._boxes_of(shown, now)
        except SafeSysidError as error:  # FrameError, or numbers that no box can have
            since = now if entry.is_placed else entry.unplaced_since
            return replace(entry, is_placed=False, unclear=str(error), unplaced_since=since)
        kept = dict(enumerate(entry.placed))
        placed = tuple(_same_or_new(kept.get(i), box) for i, box in enumerate(boxes))
        return replace(entry, placed=placed, is_placed=True, unclear='', unplaced_since=np.inf)

    def _may_move(self, shown: Shown) -> bool:
        is_told = self._moving is not None and self._moving.moves(shown.frame)
        return is_told or shown.moves_with_frame

    def _boxes_of(self, shown: Shown, now: int) -> tuple[Box, ...]:
        """Return what is shown, in the base."""
        if self._moving is not None and self._moving.moves(shown.frame):
            return self._moving.placed(shown.frame, shown.boxes, now)
        stamp = NEWEST if shown.moves_with_frame else shown.stamp
        place = self._frames.placement(shown.frame, stamp, now)
        return tuple(place.of_box(box) for box in shown.boxes)


def changed(before: Mapping[str, Box], after: Mapping[str, Box]) -> dict[str, Box]:
    """Boxes that are new or not what they were."""
    return {name: box for name, box in after.items() if before.get(name) is not box}


def _same_or_new(before: Box | None, box: Box) -> Box:
    """Return the box there was, where the new one is equal to it."""
    if before is None or before.radius != box.radius:
        return box
    if not _goes_on_as(before, box):
        return box
    pairs = (
        (before.center, box.center),
        (before.half_sizes, box.half_sizes),
        (before.rotation, box.rotation),
    )
    return before if all(np.array_equal(a, b) for a, b in pairs) else box


def _goes_on_as(before: Box, box: Box) -> bool:
    """Whether two stand, or move as one message says."""
    if not (isinstance(before, MovingBox) and isinstance(box, MovingBox)):
        return type(before) is type(box)
    same = before.stamp == box.stamp and before.bounds == box.bounds
    return same and np.array_equal(before.velocity, box.velocity)
