"""Recordings with gaps: long pieces are kept, and without one the gaps are named."""

import numpy as np
import pytest

from safe_sysid.calibrate.even_recording import even_recording
from safe_sysid.errors import MeasurementError
from safe_sysid.measure.recording import Samples, recording_of

ONE = np.ones(1)


def pieces(*spans):
    """Even pieces of a recording at 100 Hz that has samples in these spans [s]."""
    t = np.concatenate([np.arange(round(a * 100), round(b * 100)) for a, b in spans]) / 100.0
    q = np.sin(t)[:, None]
    samples = Samples(np.round(t * 1e9).astype(np.int64), q, np.cos(t)[:, None], 2.0 * q)
    return even_recording(recording_of('some.csv', ('a',), samples, ()), ONE, ONE, ONE < 0.0)


def test_long_pieces_are_kept_and_short_ones_dropped():
    assert [piece.begin for piece in pieces((0, 4), (5, 7), (8, 12))] == [0.0, 8.0]


def test_a_short_recording_is_one_piece():
    (piece,) = pieces((0, 2))
    assert piece.seconds == pytest.approx(2.0)


def test_gaps_that_leave_only_short_pieces_are_named_with_the_longest_piece():
    said = (
        r'some.csv: 2 gaps of more than 40 ms in 650 samples, the longest piece between them is '
        r'2.5 s of 8.49 s; at least 3 s without a gap are needed'
    )
    with pytest.raises(MeasurementError, match=said):
        pieces((0, 2), (3, 5.5), (6.5, 8.5))
