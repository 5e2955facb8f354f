"""Drives as the settings of an arm describe them: late, limited in rate, slow, and wrong.

A command answers the sample of the instant at which it is given. It begins to act a delay later,
of a constant and a jitter that is drawn anew for each, both within what is stated, in the order in
which they were given; until the first one acts the arm is in its brakes, so that one is there from
the start. What acts between two instants is the mean of the response of first order over that
time: its impulse is exact.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.model.actuation import Actuation

PIECE = 1e-4  # [s] longest for which a torque that changes is taken for its mean
WARM = 30.0  # [s] time constant by which offsets drift as a drive gets warm
NEARLY = 1.0 - 2.0**-40  # share of the promise that is used, so that rounding cannot break it
ALWAYS, DRIFTING, ANEW = 0.4, 0.4, 0.2  # parts of the promised error


class Drive:
    """What acts on the joints of an arm, piece by piece, for commands every period."""

    def __init__(self, actuation: Actuation, period: float, rng: np.random.Generator) -> None:
        self._actuation, self._period, self._rng = actuation, period, rng
        n = len(actuation.ratio)
        self._gain, self._offset, self._drift = rng.choice([-1.0, 1.0], size=(3, n))
        self._share = np.zeros((2, n))
        self._now = self._last_arrival = 0.0
        self._jitter, bias = actuation.off_middle(period)
        self._delay = 0.5 * sum(actuation.delays(period))
        self._delay += rng.uniform(-bias, bias) if bias > 0.0 else 0.0
        self._under_way: deque[tuple[float, Array]] = deque()
        self._wanted: Array | None = None  # newest command that has arrived
        self._followed = np.zeros(n)
        self._limited = np.zeros(n)  # what the driver lets through

    def pieces(self, command: Array) -> list[tuple[float, Array]]:
        """Seconds and torques of a period, for a command that answers its first instant."""
        if self._wanted is None:
            self._wanted = self._followed = self._limited = command.copy()
        jitter = self._rng.uniform(-self._jitter, self._jitter)
        arrival = self._now + self._delay + NEARLY * jitter
        self._last_arrival = max(self._last_arrival, arrival)
        self._under_way.append((self._last_arrival, command.copy()))
        self._share = self._rng.uniform(-1.0, 1.0, size=(2, len(command)))
        end = self._now + self._period
        pieces = []
        while self._now < end - 1e-12:
            while self._under_way and self._under_way[0][0] <= self._now + 1e-12:
                self._wanted = self._under_way.popleft()[1]
            seconds = self._until_next(end)
            pieces.append((seconds, self._acting(self._wanted, seconds)))
            self._now += seconds
        self._now = end
        return pieces

    def _until_next(self, end: float) -> float:
        """Time until a command arrives, the period ends, or the torque has changed [s]."""
        until = end - self._now
        if self._under_way:
            until = min(until, self._under_way[0][0] - self._now)
        changes = self._actuation.bandwidth.any() or np.isfinite(self._actuation.slew).any()
        return min(until, PIECE) if changes else until

    def _acting(self, wanted: Array, seconds: float) -> Array:
        most = self._actuation.slew * seconds
        self._limited = self._limited + np.clip(wanted - self._limited, -most, most)
        constant = self._actuation.bandwidth
        safe = np.where(constant > 0.0, constant, 1.0)
        decay = np.where(constant > 0.0, np.exp(-seconds / safe), 0.0)
        mean = np.where(constant > 0.0, safe * (1.0 - decay) / seconds, 0.0)
        behind = self._followed - self._limited
        torque = self._limited + behind * mean
        self._followed = self._limited + behind * decay
        return np.asarray(torque + self._error(torque))

    def _error(self, torque: Array) -> Array:
        """Error of drives whose gain is wrong, whose offset drifts, and that scatter."""
        warm = 1.0 - np.exp(-self._now / WARM)
        gain = (ALWAYS + DRIFTING) * self._gain + ANEW * self._share[0]
        offset = ALWAYS * self._offset + DRIFTING * warm * self._drift + ANEW * self._share[1]
        ratio, absolute = self._actuation.ratio, self._actuation.absolute
        return np.asarray(NEARLY * (gain * ratio * np.abs(torque) + offset * absolute))
