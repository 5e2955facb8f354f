"""Rows of recordings: Y x + Y_L phi = tau, both sides behind one filter, phi where it is held.

The regressor is evaluated at a working rate and filtered with the torque; what depends on the
estimate (friction that grows with the load) is evaluated there as well and filtered alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from safe_sysid.arrays import AnyArray, Array, IntArray
from safe_sysid.calibrate.even_log import EvenLog
from safe_sysid.calibrate.motion_noise import kept_of_motion
from safe_sysid.calibrate.torque_rows import (
    ENDS,
    KEPT,
    MOTION,
    WORKING,
    motion_of,
    whole_steps,
)
from safe_sysid.identify.difference.friction_terms import FrictionTerms, standing
from safe_sysid.measure.filters import low_pass_at, zero_phase
from safe_sysid.model.dynamics.regressors import standard_regressor
from safe_sysid.model.robot_model import RobotModel

LEAST_MOTION = 20.0  # [Hz] positions keep at least this
NYQUIST = 0.45  # share of the sampling rate that positions keep at most
STANDING = 0.01  # [rad/s] slower for longer, a joint stands


@dataclass(frozen=True, eq=False)
class Stretch:
    """A recording between two gaps, at the working rate."""

    recording: int
    loaded: bool
    begin: float  # [s] of its first sample in the recording
    rate: float  # [Hz]
    cutoff: float  # [Hz]
    kept: slice  # samples that become rows
    q: Array  # (M, n)
    qd: Array  # (M, n)
    qdd: Array  # (M, n)
    bodies: Array  # (M n, 10 n) regressor of the bodies
    filtered: Array  # (N, n, 14 n) regressor behind the filter, at the rows; Coulomb still 0
    into_joint: Array  # (10, 10) payload in the frame of the last joint, of that in its own
    tau: Array  # (N, n) [N m]

    @property
    def row_rate(self) -> float:
        """Rows per second [Hz]."""
        return self.rate / (self.kept.step or 1)

    def with_gains(self, gain: Array) -> Stretch:
        """Return the stretch with its effort times a gain of each joint."""
        return replace(self, tau=self.tau * gain)

    def with_torque_of(self, log: EvenLog) -> Stretch:
        """Return the stretch with the effort of a log of the same motion."""
        tau = low_pass_at(_working(log, self.cutoff), self.rate, self.cutoff, self.kept)
        return replace(self, tau=tau)

    def low_passed(self, values: Array) -> Array:
        """Signals at the working rate behind the filter, at the rows."""
        return low_pass_at(values, self.rate, self.cutoff, self.kept)


@dataclass(frozen=True, eq=False)
class DifferenceRows:
    """Rows of all recordings; the payload's columns count where it is held."""

    Y: Array  # (N, n, p) of the arm: theta (14 n), then terms of friction (n each)
    Y_L: Array  # (N, n, 10) of the last body
    tau: Array  # (N, n) [N m]
    counts: AnyArray  # (N, n) bool, whether the joint moves
    loaded: AnyArray  # (N,) bool
    recording: IntArray  # (N,)
    stretch: IntArray  # (N,) rows of one number have no gap between them
    t: Array  # (N,) [s] in the recording
    rate: float  # [Hz] of rows

    def __len__(self) -> int:
        return len(self.tau)

    def part(self, chosen: AnyArray) -> DifferenceRows:
        """Return some of the rows."""
        arrays = ('Y', 'Y_L', 'tau', 'counts', 'loaded', 'recording', 'stretch', 't')
        return replace(self, **{name: getattr(self, name)[chosen] for name in arrays})

    def held_in(self, loaded: AnyArray) -> DifferenceRows:
        """Return the rows with others counted as loaded."""
        return replace(self, loaded=loaded)


def stretch_of(
    model: RobotModel,
    log: EvenLog,
    cutoff: float,
    recording: int,
    *,
    loaded: bool,
    frame: Array | None = None,
) -> Stretch:
    """Evaluate and filter the regressor of one stretch.

    `frame` turns parameters in the frame of the last joint into those of the payload's, (10, 10).
    """
    kept_motion = min(max(MOTION * cutoff, LEAST_MOTION), NYQUIST * log.rate)
    motion = motion_of(log, kept_of_motion(log, kept_motion))
    step = whole_steps(log.rate, WORKING * cutoff)
    working = log.rate / step
    q, qd, qdd = (x[::step] for x in (motion.q, motion.qd, motion.qdd))
    W = standard_regressor(model, q, qd, qdd)
    W[:, :, model.layout.joint_entries('Fc')] = 0.0
    into_joint = np.asarray(np.linalg.inv(np.eye(10) if frame is None else frame), dtype=float)
    ends = max(round(ENDS * working / cutoff), 3)
    kept = slice(ends, max(len(q) - ends, ends), whole_steps(working, KEPT * cutoff))
    return Stretch(
        recording,
        loaded,
        log.begin,
        working,
        cutoff,
        kept,
        q,
        qd,
        qdd,
        W[:, :, : 10 * model.n].reshape(-1, 10 * model.n),
        low_pass_at(W, working, cutoff, kept),
        into_joint,
        low_pass_at(_working(log, cutoff), working, cutoff, kept),
    )


def _working(log: EvenLog, cutoff: float) -> Array:
    """Torque at the working rate, (M, n) [N m]."""
    step = whole_steps(log.rate, WORKING * cutoff)
    tau = log.tau if step == 1 else zero_phase(log.tau, log.rate, 0.4 * log.rate / step)
    return np.asarray(tau[::step])


def rows_of(
    model: RobotModel,
    stretches: Sequence[Stretch],
    terms: FrictionTerms,
    x: Array | None = None,
    phi: Array | None = None,
) -> DifferenceRows:
    """Rows of stretches; friction that grows with the load is that of bodies x and payload phi."""
    columns = friction_columns(model, stretches, terms, x, phi)
    return with_friction(model, rows_without_friction(model, stretches), columns)


def rows_without_friction(model: RobotModel, stretches: Sequence[Stretch]) -> DifferenceRows:
    """Rows of stretches whose columns of Coulomb friction are 0."""
    parts = [_rows(model, s, i) for i, s in enumerate(stretches)]
    names = ('Y', 'Y_L', 'tau', 'counts', 'loaded', 'recording', 'stretch', 't')
    joined: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts]) for name in names
    }
    return replace(parts[0], **joined)


def _rows(model: RobotModel, s: Stretch, number: int) -> DifferenceRows:
    N = len(s.tau)
    return DifferenceRows(
        s.filtered,
        s.filtered[:, :, model.layout.end_effector] @ s.into_joint,
        s.tau,
        ~standing(s.qd, s.rate, STANDING)[s.kept],
        np.full(N, s.loaded),
        np.full(N, s.recording),
        np.full(N, number),
        s.begin + np.arange(len(s.qd))[s.kept] / s.rate,
        s.row_rate,
    )


def friction_columns(
    model: RobotModel,
    stretches: Sequence[Stretch],
    terms: FrictionTerms,
    x: Array | None = None,
    phi: Array | None = None,
) -> Array:
    """Coulomb friction, then the other terms, of every joint alone, (N, n, 1 + terms)."""
    found = []
    for s in stretches:
        signals = terms.signals((s.q, s.qd, s.qdd), _load(model, s, x, phi))
        found.append(s.low_passed(np.stack([terms.direction(s.qd), *signals], -1)))
    return np.concatenate(found)


def load_columns(
    model: RobotModel, stretches: Sequence[Stretch], terms: FrictionTerms, x: Array, phi: Array
) -> Array:
    """Friction that grows with the load of bodies x and payload phi, (N, n)."""
    each = [s.low_passed(terms.loaded(s.qd, _load(model, s, x, phi))) for s in stretches]
    return np.concatenate(each)


def friction_places(model: RobotModel, count: int) -> IntArray:
    """Where so many columns of friction of each joint stand among those of x, (n, count)."""
    joints, coulomb = np.arange(model.n), model.layout.joint_entries('Fc').start
    firsts = np.array([coulomb, *(model.n * (14 + k) for k in range(count - 1))])
    return firsts + joints[:, None]


def with_friction(model: RobotModel, rows: DifferenceRows, columns: Array) -> DifferenceRows:
    """Rows with columns of friction, (N, n, 1 + terms)."""
    N, n, count = columns.shape
    Y = np.zeros((N, n, n * (13 + count)))
    Y[:, :, : 14 * n] = rows.Y
    Y[:, np.arange(n)[:, None], friction_places(model, count)] = columns
    return replace(rows, Y=Y)


def _load(model: RobotModel, s: Stretch, x: Array | None, phi: Array | None) -> Array:
    """Torque of all that moves, (M, n) [N m]."""
    if x is None and phi is None:
        return np.zeros_like(s.q)
    torque: Array = s.bodies @ _bodies(model, s, x, phi)
    return torque.reshape(s.q.shape)


def _bodies(model: RobotModel, s: Stretch, x: Array | None, phi: Array | None) -> Array:
    """Inertial parameters of what moves, (10 n,)."""
    theta = np.zeros(10 * model.n) if x is None else x[: 10 * model.n].copy()
    if s.loaded and phi is not None:
        theta[model.layout.end_effector] += s.into_joint @ phi
    return theta


def moving(rows: DifferenceRows) -> DifferenceRows:
    """Leave out where the whole arm stands, at the ends of recordings and beside gaps."""
    moves = rows.counts.any(axis=1)
    found = np.zeros(len(rows), dtype=bool)
    for number in np.unique(rows.stretch):
        here = np.flatnonzero((rows.stretch == number) & moves)
        if len(here):
            found[here[0] : here[-1] + 1] = True
    return rows.part(found)
