"""What was learnt of the arm with other payloads in hand, or with none: rows that bind it still.

Torques show combinations of the arm and of what it holds. Rows of an empty gripper (a tare), or of
the payload before, keep the combinations of theta_r that they showed; the body of then is ten
unknowns more, within the prior (bounds found later may be those of another body):

    |Y_e theta_e + Y_r theta_r - b| <= delta       of the payload that is held
    |Y_e theta_k + Y_r theta_r - b| <= delta       of payload k before

They hold for the true parameters if links, friction and offsets are the ones of then.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import IntArray
from safe_sysid.identify.observation import Observation, stacked
from safe_sysid.sets.interval import Interval, concatenate

FIRST_NUMBER = 1 << 40  # of their rows; those of the payload held have the ones below
SAME_ARM = 'links, friction or offsets that are not those of the payloads before'


@dataclass(frozen=True, eq=False)
class _Episode:
    """Rows of one payload, and bounds on it."""

    rows: Observation
    bounds: Interval


class EarlierPayloads:
    """Rows of a few payloads before: of the first, often an empty gripper, and of the last."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._episodes: list[_Episode] = []

    def __len__(self) -> int:
        return len(self._episodes)

    def remember(self, rows: Observation, bounds: Interval) -> None:
        """Keep rows of a payload that is held no more."""
        if self._most == 0 or len(rows) == 0:
            return
        if len(self._episodes) == self._most:
            del self._episodes[min(1, self._most - 1)]
        self._episodes.append(_Episode(rows, bounds))

    def forget(self) -> None:
        """Forget them all."""
        self._episodes = []

    def with_rows(
        self, rows: Observation, numbers: IntArray, rest: Interval
    ) -> tuple[Observation, IntArray, Interval]:
        """Return these rows and those of before, their numbers, and the range of the rest."""
        if not self._episodes:
            return rows, numbers, rest
        count, shared = len(self._episodes), rows.Y_r.shape[1]
        parts = [_with_columns(rows, None, count, shared)]
        parts += [
            _with_columns(each.rows, k, count, shared) for k, each in enumerate(self._episodes)
        ]
        more = sum(len(each.rows) for each in self._episodes)
        return (
            stacked(parts),
            np.concatenate([numbers, FIRST_NUMBER + np.arange(more)]),
            concatenate([rest, *(each.bounds for each in self._episodes)]),
        )


def _with_columns(rows: Observation, held: int | None, count: int, shared: int) -> Observation:
    """Move theta_e of rows to the columns of payload `held` before, if it is one."""
    Y_r = np.zeros((len(rows), shared + 10 * count))
    Y_r[:, :shared] = rows.Y_r
    Y_e = rows.Y_e
    if held is not None:
        Y_r[:, shared + 10 * held : shared + 10 * (held + 1)] = Y_e
        Y_e = np.zeros_like(Y_e)
    return Observation(Y_e, Y_r, rows.b, rows.delta, rows.joint, rows.start, rows.end)
