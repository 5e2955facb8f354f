"""FrameTree: where frames were at a time, from transforms that others tell; what tf2 is for.

A frame moves in its parent, and between two transforms of it as a straight line and a rotation at
constant speed. Nothing is guessed: no time before the first or after the newest transform, no gap
and no age above `max_age` is bridged. What cannot be told is a `FrameError` that says why.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import SafeSysidError
from safe_sysid.input_file import listed, name_trouble, shortened
from safe_sysid.model.placement import HERE, Placement

KEPT = 10_000_000_000  # [ns] of transforms; a step back by more is a new time
SECOND = 1e9  # [ns]
NEWEST = 0  # a stamp that asks for the newest
MOST = 1000  # frames told by others; of more, those that move and were told longest ago go


class FrameError(SafeSysidError):
    """Where a frame was cannot be told."""


@dataclass(frozen=True, eq=False, order=False)
class Transform:
    """A frame in its parent."""

    position: Array  # (3,) [m]
    quaternion: Array  # (4,) w, x, y, z

    @property
    def placement(self) -> Placement:
        """The same as a rotation and a shift."""
        return Placement.of(self.position, self.quaternion)


@dataclass
class _Edge:
    """What was told about one frame."""

    parent: str
    is_static: bool
    stamps: list[int] = field(default_factory=list)  # [ns], in order
    told: dict[int, Transform] = field(default_factory=dict)

    def put(self, stamp: int, transform: Transform) -> None:
        if self.is_static or (self.stamps and stamp < self.stamps[-1] - KEPT):
            self.stamps.clear()
            self.told.clear()
        if stamp not in self.told:
            insort(self.stamps, stamp)
        self.told[stamp] = transform
        while self.stamps[0] < self.stamps[-1] - KEPT:
            del self.told[self.stamps.pop(0)]


class FrameTree:
    """Frames about a base; `fixed` are those that never move in it, by the model of an arm."""

    def __init__(self, base: str, fixed: Mapping[str, Placement], max_age: float) -> None:
        self._fixed = {_bare(name): place for name, place in fixed.items()} | {_bare(base): HERE}
        self._base, self._max_age = _bare(base), max_age  # [s]
        self._edges: dict[str, _Edge] = {}  # the one told last comes last

    def put(
        self, parent: str, child: str, stamp: int, transform: Transform, is_static: bool
    ) -> None:
        """Take a transform at a stamp [ns]; the one of a static frame counts for ever."""
        if trouble := name_trouble(parent) or name_trouble(child):
            raise FrameError(trouble)
        _ = transform.placement  # refuses what is no transform
        parent, child = _bare(parent), _bare(child)
        edge = self._edges.get(child)
        if edge is None:
            self._make_room(child)
        if edge is None or (edge.parent, edge.is_static) != (parent, is_static):
            edge = _Edge(parent, is_static)
        self._edges.pop(child, None)
        self._edges[child] = edge
        edge.put(stamp, transform)

    def _make_room(self, child: str) -> None:
        """Forget a frame for another one, where there are many: somebody gives ever new names."""
        if len(self._edges) < MOST:
            return
        gone = next((name for name, edge in self._edges.items() if not edge.is_static), None)
        if gone is None:
            raise FrameError(f"frame '{child}' is one too many: {MOST} static ones are known")
        del self._edges[gone]

    def placement(self, frame: str, stamp: int, now: int) -> Placement:
        """Where a frame was in the base at a stamp [ns]; NEWEST: when all was told last."""
        frame = _bare(frame)
        if frame in self._fixed:
            return self._fixed[frame]
        path = list(self._path(frame))
        last = self._edges[path[-1]].parent if path else frame
        if last in self._fixed:
            return self._fixed[last].of_frame(self._along(path, stamp, now))
        for name, fixed in self._fixed.items():
            down = list(self._path_from_fixed(name))
            above = [self._edges[each].parent for each in down]
            meeting = next((each for each in (frame, *self._parents(path)) if each in above), None)
            if meeting is not None:
                down = down[: above.index(meeting) + 1]
                up = path[: ([frame, *self._parents(path)]).index(meeting)]
                time = self._time([*up, *down], stamp, now)
                base_in_meeting = self._chain(down, time).of_frame(fixed.inverse)
                return base_in_meeting.inverse.of_frame(self._chain(up, time))
        raise FrameError(
            f"frame '{shortened(frame)}' is not connected to '{self._base}'; known are "
            f'{listed(sorted({*self._fixed, *self._edges}))}'
        )

    def above(self, frame: str) -> list[str]:
        """Frames that one hangs on, as far as they are told."""
        try:
            return self._parents(list(self._path(_bare(frame))))
        except FrameError:  # it is above itself, and so it is nowhere
            return []

    def stands(self, frame: str) -> bool:
        """Whether a frame is known not to move in the base."""
        if _bare(frame) in self._fixed:
            return True
        down = [each for name in self._fixed for each in self._path_from_fixed(name)]
        return all(self._edges[each].is_static for each in [*self._path(_bare(frame)), *down])

    def _parents(self, path: list[str]) -> list[str]:
        return [self._edges[each].parent for each in path]

    def _path(self, frame: str) -> Iterator[str]:
        """Yield the frame and those above it, up to one whose parent is fixed or has no parent."""
        seen = set()
        while frame in self._edges and frame not in self._fixed:
            if frame in seen:
                raise FrameError(f"frame '{frame}' is above itself")
            seen.add(frame)
            yield frame
            frame = self._edges[frame].parent

    def _path_from_fixed(self, frame: str) -> Iterator[str]:
        """Yield a frame that is fixed to the base and those above it."""
        if frame in self._edges and self._edges[frame].parent not in self._fixed:
            yield frame
            yield from self._path(self._edges[frame].parent)

    def _along(self, path: list[str], stamp: int, now: int) -> Placement:
        return self._chain(path, self._time(path, stamp, now))

    def _chain(self, path: list[str], time: int) -> Placement:
        """Placement of the first frame of a path in the parent of the last."""
        placed = HERE
        for frame in path:
            placed = self._at(frame, time).of_frame(placed)
        return placed

    def _time(self, path: list[str], stamp: int, now: int) -> int:
        """Return the stamp, or the newest time at which all of a path is known."""
        if stamp != NEWEST:
            return stamp
        moving = [each for each in path if not self._edges[each].is_static]
        if not moving:
            return now
        oldest = min(moving, key=lambda each: self._edges[each].stamps[-1])
        time = self._edges[oldest].stamps[-1]
        age = (now - time) / SECOND
        if abs(age) > self._max_age:
            said = 'old' if age > 0.0 else 'ahead'
            raise FrameError(
                f"the newest transform of frame '{oldest}' is {abs(age):.3g} s {said}; "
                f'{self._max_age} s are allowed'
            )
        return time

    def _at(self, frame: str, time: int) -> Placement:
        """Where a frame was in its parent."""
        edge = self._edges[frame]
        if edge.is_static:
            return edge.told[edge.stamps[0]].placement
        after = bisect_left(edge.stamps, time)
        if after < len(edge.stamps) and edge.stamps[after] == time:
            return edge.told[time].placement
        if after == 0 or after == len(edge.stamps):
            away = (time - edge.stamps[min(after, len(edge.stamps) - 1)]) / SECOND
            when = 'after the newest' if away > 0.0 else 'before the first'
            raise FrameError(
                f"frame '{frame}' is asked for {abs(away):.3g} s {when} transform that is known"
            )
        first, second = edge.stamps[after - 1], edge.stamps[after]
        if (second - first) / SECOND > self._max_age:
            gap = (second - first) / SECOND
            raise FrameError(
                f"between two transforms of frame '{frame}' are {gap:.3g} s; {self._max_age} s "
                'are allowed'
            )
        share = (time - first) / (second - first)
        return _between(edge.told[first], edge.told[second], share)


def _bare(name: str) -> str:
    return name.removeprefix('/')


def _between(first: Transform, second: Transform, share: float) -> Placement:
    """Return a share of the way from one transform to the other."""
    a = first.quaternion / np.linalg.norm(first.quaternion)
    b = second.quaternion / np.linalg.norm(second.quaternion)
    b = b if a @ b >= 0.0 else -b
    angle = float(np.arctan2(np.linalg.norm(b - (a @ b) * a), a @ b))
    if angle < 1e-9:
        q = (1.0 - share) * a + share * b
    else:
        q = (np.sin((1.0 - share) * angle) * a + np.sin(share * angle) * b) / np.sin(angle)
    return Placement.of(first.position + share * (second.position - first.position), q)
