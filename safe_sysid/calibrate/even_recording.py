"""A recording as even pieces of motion, long enough for rows behind a filter."""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import AnyArray, Array
from safe_sysid.calibrate.even_log import LARGEST_GAP, EvenLog, even_logs, unwrapped
from safe_sysid.errors import MeasurementError
from safe_sysid.measure.recording import Recording

BRIDGED = 0.02  # [s] a gap that a curve through positions may bridge
FEWEST_SECONDS = 3.0  # of a piece between gaps; shorter ones have no rows behind the filter


def even_recording(
    recording: Recording, sign: Array, scale: Array, is_continuous: AnyArray
) -> list[EvenLog]:
    """Return pieces without gaps, effort times sign and scale; short pieces are dropped.

    A recording that is short itself is one piece; a longer one without a long piece is refused.
    """
    log = unwrapped(recording.log(sign, scale), is_continuous)
    pieces = even_logs(log, BRIDGED)
    long = [piece for piece in pieces if piece.seconds >= FEWEST_SECONDS]
    seconds = (log.stamp - log.stamp[0]) * 1e-9
    if not long and seconds[-1] >= FEWEST_SECONDS:
        raise MeasurementError(f'{recording.source}: {_only_short(seconds, pieces)}')
    return long or pieces


def _only_short(seconds: Array, pieces: list[EvenLog]) -> str:
    """Say that gaps leave no piece that is long enough."""
    steps = np.diff(seconds)
    bridged = max(LARGEST_GAP * float(np.median(steps)), BRIDGED)
    return (
        f'{np.count_nonzero(steps > bridged)} gaps of more than '
        f'{1e3 * bridged:.0f} ms in {len(seconds)} samples, the longest piece between them is '
        f'{max(piece.seconds for piece in pieces):.2g} s of '
        f'{seconds[-1]:.3g} s; at least {FEWEST_SECONDS:g} s without a gap are '
        'needed: record without losing samples'
    )
