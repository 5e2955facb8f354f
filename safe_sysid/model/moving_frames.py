"""MovingFrames: frames that go on after they were told, with obstacles fixed in them.

A frame that somebody tells the motion of, or that is said to move, is known only by such messages,
and only while they are recent: it is never taken to stand. How far its obstacles may get is in the
bounds that are promised (`collision.moving_box`); without these nothing is known either. A message
that makes no sense says that its frame moves, and not how. The names of frames that move are kept,
the motions of those told last; where there are too many names to be kept, no other frame is taken
to stand any more.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError, SafeSysidError
from safe_sysid.input_file import shortened
from safe_sysid.model.collision.moving_box import MotionBounds, MovingBox
from safe_sysid.model.frame_tree import KEPT, SECOND, FrameError, FrameTree, Transform
from safe_sysid.sets.box import Box, finite_array

MOST = 1000  # motions that are kept
NAMES = 100_000  # of frames that move


class UnnamedMotionError(FrameError):
    """Something moves, and nobody has said what."""


@dataclass(frozen=True, eq=False)
class FrameMotion:
    """A frame in its parent at a stamp, and how it moves then, along its own axes."""

    parent: str
    stamp: int  # [ns]
    transform: Transform
    linear: Array  # (3,) [m/s] of its origin
    angular: Array  # (3,) [rad/s]


class MovingFrames:
    """Motions told last; no older than `max_age` [s], in parents that stand."""

    def __init__(
        self, frames: FrameTree, bounds: MotionBounds, max_age: float, expected: Iterable[str] = ()
    ) -> None:
        self._frames, self._bounds, self.max_age = frames, bounds, max_age
        self._names = {_bare(name) for name in expected}  # of all that move
        self._told: dict[str, FrameMotion] = {}  # the one told last comes last
        self._refused: dict[str, str] = {}  # why what was told of a frame last makes no sense
        self._beyond = ''  # the first frame whose name was not kept

    def put(self, frame: str, motion: FrameMotion) -> None:
        """Take a motion, unless a later one is known; of what makes no sense, that it moves."""
        frame = _bare(frame)
        if not frame:
            raise UnnamedMotionError(
                'child_frame_id is empty; it has to name the frame that moves'
            )
        self._note_name(frame)
        try:
            _check(frame, motion)
        except SafeSysidError as error:
            raise FrameError(self._refuse(frame, error)) from error
        self._refused.pop(frame, None)
        known = self._told.get(frame)
        if known is None or motion.stamp > known.stamp or motion.stamp < known.stamp - KEPT:
            self._told.pop(frame, None)
            self._told[frame] = motion
            if len(self._told) > MOST:
                del self._told[next(iter(self._told))]

    def _refuse(self, frame: str, error: SafeSysidError) -> str:
        """Keep why a motion is none, until one is understood; the one before it grows old."""
        said = f"motion of '{shortened(frame)}': {error}"
        self._refused.pop(frame, None)
        self._refused[frame] = said
        if len(self._refused) > MOST:
            del self._refused[next(iter(self._refused))]
        return said

    def _note_name(self, frame: str) -> None:
        """Keep in mind that a frame moves, as it must never be taken to stand again."""
        if frame not in self._names and len(self._names) >= NAMES:
            self._beyond = self._beyond or frame
            raise FrameError(
                f"frame '{frame}' is one too many: {NAMES} frames have been told to move"
            )
        self._names.add(frame)

    def moves(self, frame: str) -> bool:
        """Whether a frame moves, or hangs on one that does."""
        if self._beyond:
            return True
        return bool(self._names) and any(
            each in self._names for each in (_bare(frame), *self._frames.above(frame))
        )

    def placed(self, frame: str, boxes: Iterable[Box], now: int) -> tuple[MovingBox, ...]:
        """Boxes of a frame in the base, from the stamp of its motion on."""
        frame = _bare(frame)
        motion, refused = self._told.get(frame), self._refused.get(frame)
        since = f' ({refused})' if refused else ''
        if motion is None:
            if self._beyond and frame not in self._names:
                raise FrameError(
                    f"nobody knows whether frame '{frame}' stands: {NAMES} frames have been told "
                    f"to move, and '{self._beyond}' and maybe others beside; start this node again"
                )
            hangs = '' if frame in self._names else ', or a frame that it hangs on'
            raise FrameError(f"frame '{frame}'{hangs} moves, and nobody has told how{since}")
        if not self._bounds.are_known:
            raise FrameError(
                f"frame '{frame}' moves, and it is not promised how fast; state "
                'scene.motion.position_error and scene.motion.speed'
            )
        age = (now - motion.stamp) / SECOND
        if abs(age) > self.max_age:
            said = 'old' if age > 0.0 else 'in the future'
            raise FrameError(
                f"the motion of frame '{frame}' is {abs(age):.3g} s {said}; {self.max_age} s are "
                f'allowed{since}'
            )
        if self.moves(motion.parent) or not self._frames.stands(motion.parent):
            raise FrameError(
                f"the motion of frame '{frame}' is told in frame '{motion.parent}', which is not "
                'known to stand'
            )
        outer = self._frames.placement(motion.parent, motion.stamp, now)
        place = outer.of_frame(motion.transform.placement)
        velocity, turning = place.R @ motion.linear, float(np.linalg.norm(motion.angular))
        try:
            return tuple(
                MovingBox.of(place.of_box(box), motion.stamp, velocity, self._of(box, turning))
                for box in boxes
            )
        except BoundError as error:
            raise FrameError(f"frame '{frame}': {error}") from error

    def _of(self, box: Box, turning: float) -> MotionBounds:
        """Promises about points of a box: they have not the velocity of the origin if it turns."""
        if turning == 0.0:
            return self._bounds
        size = np.linalg.norm(box.center) + np.linalg.norm(box.half_sizes) + box.radius
        error = self._bounds.velocity_error + turning * float(size) * (1.0 + 1e-12)
        return replace(self._bounds, velocity_error=error)


def _check(frame: str, motion: FrameMotion) -> None:
    """Refuse what says nothing about how a frame moves."""
    if motion.stamp <= 0:
        raise FrameError('it has no stamp; it has to be that of its pose')
    finite_array(motion.linear, (3,), f"velocity of frame '{frame}'")
    finite_array(motion.angular, (3,), f"angular velocity of frame '{frame}'")
    _ = motion.transform.placement  # refuses what is no transform


def _bare(name: str) -> str:
    return name.removeprefix('/')
