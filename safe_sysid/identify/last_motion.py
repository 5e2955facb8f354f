"""Which of several positions an arm has last moved to, compiled."""

from __future__ import annotations

from safe_sysid.arrays import Array
from safe_sysid.sets.compiled import jit


@jit
def last_motion(positions: Array, place: Array, still: float) -> int:
    """Return the number of the last of positions (N, n) at which a joint was away by over `still`.

    Away from `place` (n,), and then from each position that was so; -1: none was.
    """
    last = -1
    for k in range(len(positions)):
        for j in range(len(place)):
            before = place[j] if last < 0 else positions[last, j]
            if abs(positions[k, j] - before) > still:
                last = k
                break
    return last
