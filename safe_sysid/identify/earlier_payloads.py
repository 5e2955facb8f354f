"""What was learnt of the arm with other payloads in hand, or with none: rows that bind it still.

Torques show combinations of the arm and of what it holds. Rows of an empty gripper (a tare), of
the payload before, or of a calibration, keep the combinations of theta_r that they showed; what is
theirs alone is unknown: the body of then, within the prior (bounds found later may be those of
another body), and of a calibration more (`calibrated_rows.py`):

    |Y_e theta_e + Y_r theta_r - b| <= delta       of the payload that is held
    |Y_k theta_k + Y_r theta_r - b| <= delta       of payload k before

They hold for the true parameters if links, friction and offsets are the ones of then.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.identify.observation import Observation, stacked
from safe_sysid.sets.interval import Interval, concatenate

FIRST_NUMBER = 1 << 40  # of their rows; those of the payload held have the ones below
SAME_ARM = 'links, friction or offsets that are not those of the payloads before'
OTHER_CALIBRATION = (
    'links, friction, offsets or a unit of the effort that are not those of the calibration, or '
    'errors then beyond what it promises (its rows are left out from now on, until a new start)'
)


@dataclass(frozen=True, eq=False)
class EarlierRows:
    """Rows that share theta_r with those of the payload held, and have unknowns of their own."""

    rows: Observation  # Y_e has no part
    own: Array  # (m, c) columns of their own unknowns
    bounds: Interval  # (c,)


class EarlierPayloads:
    """Rows of a few payloads before: of the first, often an empty gripper, and of the last.

    Those of a calibration come on top, and stay while payloads come and go.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._calibrated: list[EarlierRows] = []  # one at most
        self._payloads: list[EarlierRows] = []

    @property
    def has_calibration(self) -> bool:
        """Whether there are rows of a calibration."""
        return bool(self._calibrated)

    def calibrate(self, rows: EarlierRows) -> None:
        """Keep rows of the arm as it was calibrated, if the arm stays the same at all."""
        self._calibrated = [rows] if self._most and len(rows.rows) else []

    def remember(self, rows: Observation, bounds: Interval) -> None:
        """Keep rows of a payload that is held no more."""
        if self._most == 0 or len(rows) == 0:
            return
        if len(self._payloads) == self._most:
            del self._payloads[min(1, self._most - 1)]
        self._payloads.append(EarlierRows(rows, rows.Y_e, bounds))

    def forget(self) -> None:
        """Forget all payloads; the calibration has no part in what they did."""
        self._payloads = []

    def doubt(self) -> tuple[str, ...]:
        """Forget all, and return what of it may explain a contradiction."""
        found = [SAME_ARM] if self._payloads else []
        found += [OTHER_CALIBRATION] if self._calibrated else []
        self._payloads, self._calibrated = [], []
        return tuple(found)

    def with_payloads(
        self, rows: Observation, numbers: IntArray, rest: Interval
    ) -> tuple[Observation, IntArray, Interval]:
        """Return these rows and those of before, their numbers, and the range of the rest."""
        return _joined(self._payloads, rows, numbers, rest)

    def with_calibration(
        self, rows: Observation, numbers: IntArray, rest: Interval
    ) -> tuple[Observation, IntArray, Interval]:
        """Return the same with rows of the calibration, too."""
        return _joined(self._calibrated + self._payloads, rows, numbers, rest)


def _joined(
    every: list[EarlierRows], rows: Observation, numbers: IntArray, rest: Interval
) -> tuple[Observation, IntArray, Interval]:
    if not every:
        return rows, numbers, rest
    shared, more = rows.Y_r.shape[1], sum(len(each.rows) for each in every)
    ends = shared + np.cumsum([each.own.shape[1] for each in every])
    parts = [_placed(rows, rows.Y_e, np.zeros((len(rows), 0)), shared, ends[-1])]
    for each, end in zip(every, ends, strict=True):
        none = np.zeros((len(each.rows), 10))
        parts.append(_placed(each.rows, none, each.own, end, ends[-1]))
    return (
        stacked(parts),
        np.concatenate([numbers, FIRST_NUMBER + np.arange(more)]),
        concatenate([rest, *(each.bounds for each in every)]),
    )


def _placed(rows: Observation, Y_e: Array, own: Array, end: int, total: int) -> Observation:
    """Return rows with these columns of theta_e, and those of their own up to a place."""
    Y_r = np.zeros((len(rows), total))
    Y_r[:, : rows.Y_r.shape[1]] = rows.Y_r
    Y_r[:, end - own.shape[1] : end] = own
    return Observation(Y_e, Y_r, rows.b, rows.delta, rows.joint, rows.start, rows.end)
