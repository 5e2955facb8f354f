"""Rows of the fit: regressor and torque behind the same filter, at a rate that wastes nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.calibrate.even_log import EvenLog
from safe_sysid.calibrate.fit_columns import FitColumns
from safe_sysid.errors import MeasurementError
from safe_sysid.measure.filters import derivative, harmonic_motion, zero_phase
from safe_sysid.measure.spectrum import convolved
from safe_sysid.model.robot_model import RobotModel

MOTION = 2.0  # cut-offs: what is kept of the motion, before the rows are filtered too
WORKING = 20.0  # cut-offs: lowest rate at which the regressor is evaluated
KEPT = 2.5  # cut-offs: rate of the rows, a little more than what the filter leaves
STANDING = 1e-9  # [rad, m] span of positions that is rounding
ENDS = 3.0  # periods of the cut-off left out at either end: what a filter rings there is 1e-3

CLOCKS = 1e-3  # share by which clocks and medians of jittering stamps differ at most
SAME_RATE = 1.05  # largest over smallest rate of rows that are taken together


@dataclass(frozen=True, eq=False)
class TorqueRows:
    """Y x = tau + errors, sample by sample and joint by joint."""

    Y: Array  # (N, n, p) filtered
    tau: Array  # (N, n) filtered alike [N m]
    recorded: Array  # (N, n) at the same instants, as recorded [N m]
    rate: float  # [Hz]
    response: Array  # of the filter to one sample, at the rate it runs
    step: int  # samples of the filter per row

    def __len__(self) -> int:
        return len(self.tau)

    def noise(self, rng: np.random.Generator) -> Array:
        """Return what white noise becomes behind the filter, (N, n) with variance 1."""
        N, n = self.tau.shape
        length = (N - 1) * self.step + 1
        white = rng.normal(size=(length + len(self.response) - 1, n))
        coloured = convolved(white, self.response)[len(self.response) - 1 : len(white)]
        unit: Array = coloured[:: self.step] / np.linalg.norm(self.response)
        return unit

    def correlation(self, lags: int) -> Array:
        """Of white noise behind the filter, between rows 0 to `lags` apart."""
        whole = convolved(self.response, self.response[::-1])[len(self.response) - 1 :]
        later = whole[:: self.step][: lags + 1] / whole[0]
        return np.concatenate([later, np.zeros(lags + 1 - len(later))])


@dataclass(frozen=True, eq=False)
class SmoothedMotion:
    """A recording with its derivatives."""

    rate: float  # [Hz]
    q: Array  # (N, n) [rad]
    qd: Array
    qdd: Array
    tau: Array  # (N, n) [N m]


def motion_of(log: EvenLog, cutoff: float) -> SmoothedMotion:
    """Zero-phase filtered positions, and their derivatives by differences."""
    q = zero_phase(log.q, log.rate, cutoff)
    qd = derivative(q, log.rate)
    return _smoothed(log, q, qd, derivative(qd, log.rate))


def periodic_motion_of(log: EvenLog, period: float, harmonics: int) -> SmoothedMotion:
    """Fit a Fourier series of a period [s] to positions, with its exact derivatives."""
    t = np.arange(len(log.q)) / log.rate
    return _smoothed(log, *harmonic_motion(t, log.q, period, harmonics))


def _smoothed(log: EvenLog, q: Array, qd: Array, qdd: Array) -> SmoothedMotion:
    """Motion in which a joint that stood has no speed: a filter leaves rounding of its reading."""
    stood = np.ptp(log.q, axis=0) <= STANDING
    return SmoothedMotion(
        log.rate, q, np.where(stood, 0.0, qd), np.where(stood, 0.0, qdd), log.tau
    )


def torque_rows(model: RobotModel, columns: FitColumns, log: EvenLog, cutoff: float) -> TorqueRows:
    """Rows of a recording: the regressor of the motion and the torque, both behind one filter.

    Filtering both sides alike keeps them equal whatever the cut-off. The ends, where a filter
    does not know what was before or comes after, are left out.
    """
    return rows_of_motion(model, columns, motion_of(log, MOTION * cutoff), cutoff)


def rows_of_motion(
    model: RobotModel, columns: FitColumns, motion: SmoothedMotion, cutoff: float
) -> TorqueRows:
    """Rows of a motion whose derivatives are known already."""

    def regressor(q: Array, qd: Array, qdd: Array) -> Array:
        return columns.regressor(model, q, qd, qdd)

    return filtered_rows(regressor, motion, cutoff)


def filtered_rows(
    regressor: Callable[[Array, Array, Array], Array], motion: SmoothedMotion, cutoff: float
) -> TorqueRows:
    """Rows of a motion, the regressor (N, n, p) of its states and its torques filtered alike."""
    step = whole_steps(motion.rate, WORKING * cutoff)
    working = motion.rate / step
    tau = motion.tau if step == 1 else zero_phase(motion.tau, motion.rate, 0.4 * working)
    q, qd, qdd, tau, recorded = (
        x[::step] for x in (motion.q, motion.qd, motion.qdd, tau, motion.tau)
    )
    Y = regressor(q, qd, qdd)
    Y = zero_phase(Y.reshape(len(Y), -1), working, cutoff).reshape(Y.shape)
    tau = zero_phase(tau, working, cutoff)
    ends = max(round(ENDS * working / cutoff), 3)
    kept = slice(ends, len(Y) - ends, whole_steps(working, KEPT * cutoff))
    if len(Y) - 2 * ends < 1:
        raise MeasurementError(
            f'{len(motion.q) / motion.rate:.2g} s are too short for a cut-off of {cutoff} Hz'
        )
    row_step = kept.step or 1
    return TorqueRows(
        np.ascontiguousarray(Y[kept]),
        tau[kept],
        recorded[kept],
        working / row_step,
        _response(working, cutoff),
        row_step,
    )


def whole_steps(rate: float, lowest: float) -> int:
    """Count samples per step, so that no fewer steps than `lowest` are taken in a second.

    Clocks differ by some millionths, and a quotient that is a whole number but for that is one.
    """
    return max(int(rate / lowest * (1.0 + CLOCKS)), 1)


def joined(pieces: list[TorqueRows]) -> TorqueRows:
    """Rows of several recordings, one after the other."""
    rates = [rows.rate for rows in pieces]
    if max(rates) > SAME_RATE * min(rates):
        raise MeasurementError(
            f'rows of the recordings come at {min(rates):.4g} to {max(rates):.4g} Hz; recordings '
            'of one calibration need the same sampling rate'
        )
    return TorqueRows(
        np.concatenate([rows.Y for rows in pieces]),
        np.concatenate([rows.tau for rows in pieces]),
        np.concatenate([rows.recorded for rows in pieces]),
        pieces[0].rate,
        pieces[0].response,
        pieces[0].step,
    )


def _response(rate: float, cutoff: float) -> Array:
    """Impulse response of the filter, to where it has faded."""
    half = round(ENDS * rate / cutoff)
    impulse = np.zeros(4 * half + 1)
    impulse[2 * half] = 1.0
    return zero_phase(impulse, rate, cutoff)[half : 3 * half + 1]
