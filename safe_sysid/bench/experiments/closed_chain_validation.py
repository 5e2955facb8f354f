"""Is an identified closed chain any good: torques, free motion under them, and tracking."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.closed_chains import RATE, SimulatedRecording, track
from safe_sysid.calibrate.closed_chain_rows import Selection, closed_chain_rows
from safe_sysid.calibrate.even_log import EvenLog
from safe_sysid.calibrate.fit_columns import FitColumns
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
    residual = torque_residual(chain, theta, selection, log, cutoff)[0]
    return np.asarray(np.sqrt(np.mean(residual**2, axis=0)))


def torque_residual(
    chain: ClosedChain, theta: Array, selection: Selection, log: EvenLog, cutoff: float
) -> tuple[Array, float]:
    """Return recorded less predicted motor torque, filtered alike, (N, n_a) [N m]; its rate."""
    columns = FitColumns(chain.model.layout, 0.01)
    rows = closed_chain_rows(chain.with_parameters(theta), columns, selection, log, cutoff)
    return rows.tau - rows.Y @ theta[selection.entries], rows.rate


def free_motion(chain: ClosedChain, recording: SimulatedRecording, segments: int) -> FreeMotion:
    """Integrate segments of a recording from their true start under the torques that acted."""
    length = round(SEGMENT * RATE)
    starts = np.linspace(0, len(recording.torque) - length, segments).astype(int)
    squares = np.zeros(len(chain.actuated))
    for start in starts:
        moved, states = free_piece(chain, recording, int(start))
        squares += np.sum((moved - states) ** 2, axis=0)
    return FreeMotion(segments, np.sqrt(squares), np.sqrt(squares / (segments * length)))


def free_piece(
    chain: ClosedChain, recording: SimulatedRecording, start: int
) -> tuple[Array, Array]:
    """Integrate one segment from its true start: positions, and as they were, (N, n_a)."""
    part = slice(start, start + round(SEGMENT * RATE))
    states = recording.states[part]
    q = chain.close(states[:1, 0])[0]
    moved = ClosedChainBody(chain).replay(q, states[0, 1], recording.torque[part], 1.0 / RATE)
    return moved[:, 0], states[:, 0]


def tracking_errors(believed: ClosedChain, true: ClosedChain, motion: tuple[Array, ...]) -> Array:
    """Mean and largest |error| (2, n_a) [rad] with the torque that a model asks for."""
    states, _ = track(believed, true, motion)
    error = np.abs(states[:, 0] - motion[0])[round(SETTLED * RATE) :]
    return np.array([error.mean(axis=0), error.max(axis=0)])
