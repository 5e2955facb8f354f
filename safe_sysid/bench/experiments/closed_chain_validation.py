"""Is an identified closed chain any good: torques, free motion under them, and tracking."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.closed_chains import RATE, SimulatedRecording, track
from safe_sysid.calibrate.closed_chain_rows import Selection, closed_chain_rows
from safe_sysid.calibrate.even_log import EvenLog
from safe_sysid.calibrate.fit_columns import FitColumns
from safe_sysid.calibrate.validation import torque_error
from safe_sysid.model.closed_chain.chain import ClosedChain
from safe_sysid.simulate.closed_chain import ClosedChainBody

SEGMENT = 0.5  # [s] of free motion under recorded torques
SETTLED = 0.5  # [s] at the start that do not count for tracking


@dataclass(frozen=True, eq=False)
class FreeMotion:
    """Errors of positions that are integrated from recorded torques, segment by segment."""

    segments: int
    l2: Array  # (n_a,) [rad] root of the sum over all samples; grows with their number
    rms: Array  # (n_a,) [rad]


def inverse_dynamics_rms(
    chain: ClosedChain, theta: Array, selection: Selection, log: EvenLog, cutoff: float
) -> Array:
    """Rms (n_a,) [N m] of recorded less predicted motor torque, both filtered alike."""
    columns = FitColumns(chain.model.layout, 0.01)
    rows = closed_chain_rows(chain.with_parameters(theta), columns, selection, log, cutoff)
    return torque_error(rows, theta[selection.entries]).rms


def free_motion(chain: ClosedChain, recording: SimulatedRecording, segments: int) -> FreeMotion:
    """Integrate segments of a recording from their true start under the torques that acted."""
    body, length = ClosedChainBody(chain), round(SEGMENT * RATE)
    starts = np.linspace(0, len(recording.torque) - length, segments).astype(int)
    squares = np.zeros(len(chain.actuated))
    for start in starts:
        part = slice(start, start + length)
        states = recording.states[part]
        q = chain.close(states[:1, 0])[0]
        moved = body.replay(q, states[0, 1], recording.torque[part], 1.0 / RATE)
        squares += np.sum((moved[:, 0] - states[:, 0]) ** 2, axis=0)
    return FreeMotion(segments, np.sqrt(squares), np.sqrt(squares / (segments * length)))


def tracking_errors(believed: ClosedChain, true: ClosedChain, motion: tuple[Array, ...]) -> Array:
    """Mean and largest |error| (2, n_a) [rad] with the torque that a model asks for."""
    states, _ = track(believed, true, motion)
    error = np.abs(states[:, 0] - motion[0])[round(SETTLED * RATE) :]
    return np.array([error.mean(axis=0), error.max(axis=0)])
