"""How late torques come after positions, from recordings of the empty arm, and with a payload.

A reported torque is that of a moment before, tau(t - d), so that rows have the columns
-d/dt (Y x) of their joint. Friction that a model lacks looks like a delay of joints that carry
little, so figures of single joints are printed and never applied: all joints share a bus, and the
delay is the median of them, weighted by the torque of bodies they carry, with the spread over
joints as its deviation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.interpolate import CubicSpline

from safe_sysid.arrays import AnyArray, Array, IntArray
from safe_sysid.calibrate.even_log import EvenLog
from safe_sysid.identify.difference.friction_choice import PRIOR
from safe_sysid.identify.difference.row_products import AddedColumns, JointTables, joint_grams
from safe_sysid.identify.difference.rows import DifferenceRows
from safe_sysid.identify.difference.shared_fit import JointFit, joint_fit

SURE = 3.0  # deviations from which on a delay is corrected, if that pays too
SEEN = 1.0  # deviations from which on a refusal names it
PAYS = 0.02  # of the residual
ROUNDS = 3
LEAST = 0.008  # [s] by which recordings may differ unsaid
FEWEST = 5  # rows of a stretch through which a curve is laid


@dataclass(frozen=True, eq=False)
class TorqueDelay:
    """Delay of torques, and whether they are moved by it."""

    seconds: float
    deviation: float  # [s]
    by_joint: Array  # (n,) [s]
    fall: float  # of the residual with it, as a share

    @property
    def is_corrected(self) -> bool:
        """Whether it is beyond doubt, and pays."""
        return abs(self.seconds) > SURE * self.deviation and self.fall >= PAYS

    @property
    def is_seen(self) -> bool:
        """Whether it is worth naming where rows are refused."""
        return abs(self.seconds) > SEEN * self.deviation

    def contradicts(self, stated: float) -> bool:
        """Whether it is beyond doubt another one than somebody has stated [s]; 0: nobody has."""
        is_other = abs(self.seconds - stated) > SURE * self.deviation
        return is_other and (self.is_corrected or stated != 0.0)

    @property
    def left(self) -> float:
        """Deviation of what is left of the delay in rows [s]."""
        if self.is_corrected:
            return self.deviation
        return float(np.hypot(self.seconds, self.deviation))

    def moved(self, logs: Sequence[EvenLog]) -> list[EvenLog]:
        """Return logs with torques at the time of their positions."""
        return [_moved(log, self.seconds) for log in logs] if self.is_corrected else list(logs)

    def __str__(self) -> str:
        if self.seconds == self.deviation == 0.0:
            return 'a delay of torques does not matter at rest'
        each = ', '.join(f'{1e3 * d:.0f}' for d in self.by_joint)
        what = 'corrected' if self.is_corrected else 'not corrected, taken for an error'
        return (
            f'torque comes about {1e3 * self.seconds:.1f} ± {1e3 * self.deviation:.1f} ms after '
            f'position ({each} ms by joint): {what}'
        )


def torque_delay(rows: DifferenceRows) -> TorqueDelay:
    """Estimate the delay from rows of the empty arm."""
    delays, weight, plain = _delays(rows, PRIOR, [~rows.loaded])
    common = _weighted_median(delays[0], weight)
    spread = float(np.sqrt(weight @ (delays[0] - common) ** 2))
    moved = rows.tau + common * rate_of_change(rows, rows.tau)
    freedom = rows.counts.sum(axis=0)
    later = joint_fit(joint_grams(replace(rows, tau=moved)), freedom, PRIOR)
    fall = 1.0 - float(np.mean(later.sigma / plain.sigma))
    return TorqueDelay(common, spread, delays[0], fall)


@dataclass(frozen=True, eq=False)
class LaterWithPayload:
    """By how much torques of the loaded recording are later than those of empty ones.

    What friction looks like a delay is in both, so joints differ less in this than in either.
    """

    seconds: float
    deviation: float  # [s]

    @property
    def is_sure(self) -> bool:
        """Whether it is beyond doubt, and more than rows can hide."""
        return abs(self.seconds) > max(SURE * self.deviation, LEAST)

    def __str__(self) -> str:
        than = 'later' if self.seconds > 0.0 else 'earlier'
        return (
            f'with the payload torque comes {1e3 * abs(self.seconds):.0f} ± '
            f'{1e3 * self.deviation:.0f} ms {than} after position than without it: a filter or '
            'a clock of one of the recordings is another one'
        )


def later_with_payload(rows: DifferenceRows, prior: Array) -> LaterWithPayload:
    """Estimate the delay with and without the payload, known by deviations before (10,)."""
    delays, weight, _ = _delays(rows, prior, [~rows.loaded, rows.loaded])
    later = delays[1] - delays[0]
    common = _weighted_median(later, weight)
    return LaterWithPayload(common, float(np.sqrt(weight @ (later - common) ** 2)))


def _delays(
    rows: DifferenceRows, prior: Array, groups: Sequence[AnyArray]
) -> tuple[Array, Array, JointFit]:
    """Delays of joints in groups of rows (g, n), weights of joints (n,), and a fit without."""
    n, p = rows.tau.shape[1], rows.Y.shape[2]
    tables = JointTables(rows)
    plain = fit = joint_fit(tables.grams(), tables.freedom, prior)
    x, phi = plain.x, plain.phi
    size = p + len(groups) * n
    places = p + n * np.arange(len(groups)) + np.arange(n)[:, None]
    delays, payload = np.zeros((len(groups), n)), rows.Y_L * rows.loaded[:, None, None]
    for _ in range(ROUNDS):
        rate = rate_of_change(rows, rows.Y @ x + payload @ phi)
        late = np.stack([-rate * group[:, None] for group in groups], axis=-1)
        grams = tables.grams(AddedColumns(late, places, size))
        fit = joint_fit(grams, tables.freedom, prior, near=fit)
        x, phi, delays = fit.x[:p], fit.phi, fit.x[p:].reshape(len(groups), n)
    bodies = rows.Y[:, :, : 10 * n] @ x[: 10 * n] + payload @ phi
    carried = np.sqrt(np.mean(bodies**2, axis=0))
    return delays, carried / max(float(carried.sum()), 1e-300), plain


def rate_of_change(rows: DifferenceRows, torque: Array) -> Array:
    """Differentiate torques behind the filter by curves through rows, (N, n) [N m/s]."""
    rate = np.zeros_like(torque)
    for run in runs_of_rows(rows):
        rate[run] = CubicSpline(rows.t[run], torque[run])(rows.t[run], 1)
    return rate


def runs_of_rows(rows: DifferenceRows) -> Iterator[IntArray]:
    """Rows without a gap between them, enough to lay a curve through."""
    for number in np.unique(rows.stretch):
        here = np.flatnonzero(rows.stretch == number)
        for run in np.split(here, np.flatnonzero(np.diff(here) > 1) + 1):
            if len(run) >= FEWEST:
                yield run


def _moved(log: EvenLog, delay: float) -> EvenLog:
    """Torques of a moment later, at the positions whose torques were recorded.

    Beyond an end of the recording they are those at it, where rows are left out anyway.
    """
    t = np.arange(len(log.q)) / log.rate
    tau = CubicSpline(t, log.tau)(np.clip(t + delay, 0.0, t[-1]))
    return EvenLog(log.rate, log.q, tau, log.begin)


def _weighted_median(values: Array, weight: Array) -> float:
    order = np.argsort(values)
    share = np.cumsum(weight[order])
    return float(values[order][int(np.searchsorted(share, 0.5 * share[-1]))])
