"""When a path begins, by its stamp and the clock of the arm; one of another time is refused."""

from __future__ import annotations

from trajectory_msgs.msg import JointTrajectory

from safe_sysid.errors import MessageError
from safe_sysid.ros.messages.codec import SECOND, stamp_of

AHEAD = 0.5  # [s] that a path may begin in the future


class PathTimeError(MessageError):
    """A path that is of another time."""


class PathIsOverError(PathTimeError):
    """A path that is of a time before."""


def check_begin(path: JointTrajectory, now: int) -> None:
    """Refuse what is over, or begins later; `now` is by joint_states [ns], 0 before the first.

    A stamp of 0 begins it at once, as does one from which on it would be under way. Points without
    times are over at no time.
    """
    begin = stamp_of(path.header.stamp)
    if not begin:
        return
    lasts = stamp_of(path.points[-1].time_from_start)
    end = begin + lasts
    clock = f'by joint_states it is {now / SECOND:.3f} s'
    if not now:
        raise PathTimeError(
            f'its stamp is {begin / SECOND:.3f} s, and no joint state was heard by whose stamp '
            'that could be judged; a stamp of 0 begins it at once'
        )
    if lasts and end < now:
        raise PathIsOverError(
            f'it ended {(now - end) / SECOND:.3g} s ago, {clock}; a stamp of 0 begins it at once'
        )
    if begin - now > AHEAD * SECOND:
        raise PathTimeError(
            f'it begins in {(begin - now) / SECOND:.3g} s, {clock}; ask for it then, {AHEAD} s '
            'are allowed, or with a stamp of 0, which begins it at once'
        )
