"""A recording as even pieces of motion, long enough for rows behind a filter."""

from __future__ import annotations

from safe_sysid.arrays import AnyArray, Array
from safe_sysid.calibrate.even_log import EvenLog, even_logs, unwrapped
from safe_sysid.measure.recording import Recording

BRIDGED = 0.02  # [s] a gap that a curve through positions may bridge
FEWEST_SECONDS = 3.0  # of a piece between gaps; shorter ones have no rows behind the filter


def even_recording(
    recording: Recording, sign: Array, scale: Array, is_continuous: AnyArray
) -> list[EvenLog]:
    """Return pieces without gaps, effort times sign and scale; short pieces are dropped."""
    pieces = even_logs(unwrapped(recording.log(sign, scale), is_continuous), BRIDGED)
    return [piece for piece in pieces if piece.seconds >= FEWEST_SECONDS] or pieces
