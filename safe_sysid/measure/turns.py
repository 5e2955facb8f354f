"""Turns: positions of joints that turn without end, from a driver that reports within one turn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from safe_sysid.arrays import AnyArray, Array
from safe_sysid.measure.recording import Recording

TURN = 2.0 * np.pi  # [rad]


class Turns:
    """Adds whole turns so that no joint jumps.

    Right as long as a joint turns by less than half a turn between two states. Where it did not,
    a position is wrong by whole turns, which neither dynamics nor poses of such a joint show; its
    differences are taken between states without a gap only.
    """

    def __init__(self, is_continuous: AnyArray) -> None:
        self._is_continuous = is_continuous
        self._last: Array | None = None

    def step(self, position: Array) -> Array:
        """Position (n,) [rad] next to the last one, for a finite one as it is reported."""
        if self._last is not None:
            turns = np.round((self._last - position) / TURN)
            position = position + TURN * np.where(self._is_continuous, turns, 0.0)
        self._last = position
        return position


def whole_turns(recording: Recording, is_continuous: AnyArray) -> Recording:
    """Return the recording with the turns of its continuous joints, as `Turns` has them."""
    position = recording.position.copy()
    position[:, is_continuous] = np.unwrap(position[:, is_continuous], axis=0)
    return replace(recording, position=position)
