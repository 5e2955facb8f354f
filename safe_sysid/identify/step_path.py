"""Where a joint was between two samples, from what is measured at both: the middle of a step.

With h the step, v0 and v1 the velocities, and d the way between the positions, the cubic through
all four has at its middle

    qd = (v0 + v1) / 2 + bulge,   q = q0 + d / 2 + h (v0 - v1) / 8,   bulge = 3/2 (d / h - mean v).

The bulge is all that a velocity differs from a straight line, to the order that positions and
velocities show. It is known to `noise` = 3/2 (2 dq / h + dv). Two bounds on how far the true
velocity is from a curve follow from A4, of which the one that says more is taken, joint by joint:

    curved    within safety/2 of the bulge of the cubic
    straight  within safety/2 of the largest change of velocity, in this step or the last one, of
              the straight line; a velocity that rises or falls all the way is, for safety = 2

The second is for encoders, whose steps hide the bulge, and for a step in which a joint with dry
friction may stop or break away: the accelerations of all joints jump then, and what bulges to
both sides may show no bulge at all. It is not taken where the bulge that is seen excludes it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import AnyArray, Array
from safe_sysid.sets.compiled import jit

ROUNDING = 2.0**-50  # 8 units: more than the rounding of the few operations of one term
TURN = 2.0 * np.pi


class ErrorBounds(NamedTuple):
    """How wrong a sample may be, per joint."""

    position: Array  # (n,) [rad]
    velocity: Array  # (n,) [rad/s]
    torque_ratio: Array  # (n,) of the measured torque
    torque: Array  # (n,) [N m]


class Rule(NamedTuple):
    """What is promised of the samples, and how a window is integrated."""

    bounds: ErrorBounds
    zero: Array  # (n,) [rad] constant error of positions, beside those of single readings
    dry: Array  # (n,) [N m] most dry friction a joint may have
    trapezoid: bool  # smooth terms by a rule of second order, otherwise forward Euler
    has_curvature: bool  # whether somebody bounds how they bend
    torque: int  # what it does between samples: SAMPLED, HELD or HELD_UNTIL
    safety: float  # times the bend that is seen bounds the one that is there
    stride: int  # samples between two torques whose slope is smooth


@jit
def whole_turns(way: float, rise: float) -> float:
    """Return turns to take from the way between two readings of a position that wraps.

    `rise` is the way by the velocities, from which a true way differs by much less than half a
    turn in one step.
    """
    return float(np.rint((way - rise) / TURN))


@jit
def may_reverse(before: float, now: float, error: float) -> bool:
    """Whether the sign of a velocity is not certain in a step."""
    return bool(min(before, now) - error <= 0.0 <= max(before, now) + error)


@jit
def may_stop(before: Array, now: Array, rule: Rule) -> bool:
    """Whether a joint with dry friction may stop, break away or reverse in a step.

    Rows of a sample are q, qd, tau. One that did not move by exact readings did none of these.
    """
    position, velocity = rule.bounds.position, rule.bounds.velocity
    for j in range(len(rule.dry)):
        if rule.dry[j] > 0.0 and may_reverse(before[1, j], now[1, j], velocity[j]):
            is_exact = position[j] == 0.0 and velocity[j] == 0.0
            is_still = before[1, j] == now[1, j] == 0.0 and before[0, j] == now[0, j]
            if not (is_exact and is_still):
                return True
    return False


@jit
def middle_of_step(
    before: Array,
    now: Array,
    change: Array,
    step: float,
    is_prismatic: AnyArray,
    rule: Rule,
    state: Array,
) -> None:
    """Write balls (2, n, 2) of q and qd, about the middle of a step, that hold all of its states.

    `before` and `now` are samples, `change` the changes of velocity in the step before.
    """
    has_event = may_stop(before, now, rule)
    for j in range(len(change)):
        v0, v1 = before[1, j], now[1, j]
        dq, dv = rule.bounds.position[j], rule.bounds.velocity[j]
        way, rise = now[0, j] - before[0, j], 0.5 * step * (v0 + v1)
        if not is_prismatic[j]:
            way -= TURN * whole_turns(way, rise)
        bulge = 1.5 * (way - rise) / step
        noise = 1.5 * (2.0 * dq / step + dv)
        noise += ROUNDING * (abs(now[0, j]) + abs(before[0, j]) + abs(rise)) / step
        curved = 0.5 * rule.safety * (abs(bulge) + noise) + noise
        straight = 0.5 * rule.safety * (max(abs(v1 - v0), abs(change[j])) + 2.0 * dv)
        is_curved = curved <= straight and not has_event
        if is_curved or abs(bulge) > noise + straight:
            centre, radius = bulge, curved
        else:
            centre, radius = 0.0, straight
        q, qd = state[0, j], state[1, j]
        qd[0] = 0.5 * (v0 + v1) + centre
        qd[1] = dv + radius + ROUNDING * (abs(v0) + abs(v1) + abs(centre))
        q[0] = before[0, j] + 0.5 * way + 0.125 * step * (v0 - v1)
        q[1] = rule.zero[j] + dq + 0.25 * step * dv + 0.5 * step * radius
        q[1] += ROUNDING * (abs(before[0, j]) + abs(way) + step * (abs(v0) + abs(v1)))
