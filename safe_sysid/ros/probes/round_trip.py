"""The built-in simulator with a stop watch: from each sample to the torque that answers it.

Prints one JSON object when its time is over; for `safe-sysid bench ros`.
"""

from __future__ import annotations

from dataclasses import dataclass
import json
import sys
import time

import numpy as np

from safe_sysid.config import Positive
from safe_sysid.ros.bridges.simulation_bridge import SimulationBridge, SimulationSettings
from safe_sysid.ros.process.main import main_of
from safe_sysid.simulate.rigid_body import RigidBody

SETTLING = 1.0  # [s] after the first answer that are not counted
GRACE = 0.5  # [s] for the last answers


@dataclass(frozen=True)
class ProbeSettings(SimulationSettings):
    """Parameters of the stop watch."""

    measured: Positive = 60.0  # [s] that are measured
    late: Positive = 0.002  # [s] from a sample to its answer, more is late


class RoundTripProbe(SimulationBridge):
    """Notes when a sample leaves and when its answer arrives."""

    def __init__(self) -> None:
        super().__init__('builtin_sim_bridge', ProbeSettings, RigidBody)
        assert isinstance(self._settings, ProbeSettings)
        self._measured, self._late = self._settings.measured, self._settings.late
        self._told_ns: dict[int, int] = {}  # by stamp: when it left
        self._round_trips: list[float] = []  # [s]
        self._first_answer: float | None = None  # [s]
        self._is_over = False
        self._edge.when_answered = self._stop_watch

    def _tell(self) -> None:
        begun = time.monotonic()
        if self._first_answer is None:
            self._told_ns = {self._stamped().stamp: time.perf_counter_ns()}
            super()._tell()
            return
        elapsed = begun - self._first_answer - SETTLING
        if 0.0 <= elapsed < self._measured:
            self._told_ns[self._stamped().stamp] = time.perf_counter_ns()
        super()._tell()  # in one process the answer comes meanwhile
        if elapsed > self._measured + GRACE:
            self._print()

    def _stop_watch(self) -> None:
        arrived = time.perf_counter_ns()
        told = self._told_ns.pop(self._edge.answered or 0, None)
        if self._first_answer is None:
            self._first_answer = time.monotonic()
        elif told is not None:
            self._round_trips.append((arrived - told) * 1e-9)

    def _print(self) -> None:
        if self._is_over:
            return
        self._is_over = True
        ms = 1e3 * np.array(self._round_trips or [np.inf])
        quantiles = {'p50': 0.5, 'p99': 0.99, 'p999': 0.999, 'max': 1.0}
        figures = {
            'round_trip_ms': {name: float(np.quantile(ms, q)) for name, q in quantiles.items()},
            'samples': len(self._round_trips) + len(self._told_ns),
            'late_cycles': int(np.count_nonzero(ms > 1e3 * self._late)),
            'lost_samples': len(self._told_ns),
            'mode': '' if self._edge.mode is None else self._edge.mode.value,
            'not_permitted': self._warnings,
        }
        sys.stdout.write(f'{json.dumps(figures)}\n')
        sys.stdout.flush()
        self.exit_status = 0


def main() -> int:
    """Run the node."""
    return main_of(RoundTripProbe)


if __name__ == '__main__':
    sys.exit(main())
