"""How far what a late law sees is from the state at which its torque acts, kind by kind.

The estimate q_hat, qd_hat that a torque comes from, and the true state while it acts, differ by

    q      s / 2 + S |de/dt| + z + span |qd_d|
    qd     delta_v + S |d2e/dt2| + span |qdd_d|
    qd_a   K_r (s / 2 + S |de/dt|) + span |qdd_d|
    qdd_a  span |d3q_d/dt3|, and the pull: K_r times the difference of de/dt, delta_v + S |d2e/dt2|

at most, with s the step of the encoders, z their zero error (the estimate is in coordinates of the
encoder, what an arm is in its own), S the age of the state, and `span` the time between the
instant that the desired motion is taken at and any at which the torque acts. A law takes it in the
middle of those, but not before its plan begins: so `span` is all of that time, jitter included.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.reach.joint_reach import COS, QD, QD_A, QD_D, QDD_A, SIN, JointReach, Q
from safe_sysid.track.seen_law import Sampling

OF_Q, OF_QD, OF_QD_A, OF_QD_D, OF_QDD_A, PULL = range(6)  # rows of the differences, (6, n)
UP = 1.0 + 1e-9


class DesiredMotion(NamedTuple):
    """Bounds of a plan and of its tracking error, (n,) each."""

    K_r: Array
    velocity_error: Array
    speed: Array
    acceleration: Array
    jerk: Array


def differences(
    s: Sampling, plan: DesiredMotion, step: Array, swing: tuple[Array, Array, Array]
) -> Array:
    """Bounds for readings within step / 2.

    `swing` are errors of de/dt: at a sample, of the one that the pull is made of, and by ageing.
    """
    span, K = 2.0 * s.half, plan.K_r
    e = 0.5 * step + s.age * plan.velocity_error
    faster, pull = swing[0] + swing[2], swing[1] + swing[2]
    gentle = plan.acceleration + span * plan.jerk  # also before the plan begins
    parts = (
        e + s.zero + span * (plan.speed + span * gentle),
        faster + span * gentle,
        K * e + span * gentle,
        span * gentle,
        span * plan.jerk,
        K * pull,
    )
    return np.array(parts) * UP + 1e-12


def share_of(part: Array, whole: Array) -> float:
    """Least s with part <= s whole."""
    return float(np.max(np.where(part > 0.0, part / np.maximum(whole, 1e-300), 0.0)))


def acting(reach: JointReach, most: Array, zero: Array | float) -> JointReach:
    """Return states in which torques of a plan act, in coordinates of the arm.

    Torques of its first samples act before it begins, and `most` is more than a state moves then.
    """
    rows = turned(reach, zero).rows.copy()
    _widen(rows[:, :1], most, most[PULL])
    rows.setflags(write=False)
    return JointReach(reach.monomials, reach.time, rows)


def turned(reach: JointReach, zero: Array | float) -> JointReach:
    """Joint states of an arm whose joints are off by up to their zero errors."""
    rows = reach.rows.copy()
    for kind in (Q, COS, SIN):
        rows[kind, ..., -1] = (rows[kind, ..., -1] + zero) * UP
    rows.setflags(write=False)
    return JointReach(reach.monomials, reach.time, rows)


def wider(reach: JointReach, by: Array, pull: Array) -> JointReach:
    """Joint states as wide as estimates of them may be off, with so much of the pull."""
    rows = reach.rows.copy()
    _widen(rows, by, pull)
    rows.setflags(write=False)
    return JointReach(reach.monomials, reach.time, rows)


def _widen(rows: Array, by: Array, pull: Array) -> None:
    for kind, more in (
        (Q, by[OF_Q]),
        (COS, by[OF_Q]),
        (SIN, by[OF_Q]),
        (QD, by[OF_QD]),
        (QD_A, by[OF_QD_A]),
        (QD_D, by[OF_QD_D]),
        (QDD_A, by[OF_QDD_A] + pull),
    ):
        rows[kind, ..., -1] = (rows[kind, ..., -1] + more) * UP
