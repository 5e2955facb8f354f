"""What the rest of a task needs to know of what is held, and when learning more does not help it.

The rest is looked at with fast motions first, then with slower and shorter ones, which take longer
but ask for less torque. Everything said of it is a certificate of every piece, for bounds that are
given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import SafeSysidError
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.plan.possible_payloads import always, exactly, known_to, largest_share
from safe_sysid.plan.rest_of_route import Refusal, RestOfRoute

MASS = 0  # entry of theta_e
MOSTLY_MASS = np.array([0.3, *(0.7 / 9.0,) * 9])  # where no torque decides
SHRINKS = 0.03  # share by which a plan has to narrow the width, to be worth another one
TAUGHT = 2  # plans at least, before what they teach is said to be too little


class TooHeavyError(SafeSysidError):
    """What is held is heavier than what can be carried to the goal, however well it is known."""


@dataclass(frozen=True, eq=False)
class TaskNeed:
    """What is known of the rest of a task, for one estimate."""

    seconds: float  # that the rest takes with what is known; inf: it is not certified
    fastest: float  # [s] that it takes if what is held is known well enough; inf: it never is
    share: float  # of the half widths of now that are narrow enough for `fastest`; 0: none are
    importance: Array  # (10,) of the half widths of theta_e for what refuses it; their sum is 1
    refusal: Refusal | None  # what decides now; None: the fastest is certified
    largest_mass: float = np.inf  # [kg] above which no payload can be carried, though it is known
    is_of_payload: bool = True  # whether what refuses it would not refuse the arm alone

    @property
    def is_met(self) -> bool:
        """Whether no knowledge would help."""
        return self.seconds <= self.fastest < np.inf

    def relative_width(self, radius: Array, now: Array) -> float:
        """Return what half widths of theta_e count for, in those of now."""
        ratio = np.divide(radius, now, out=np.ones_like(now), where=now > 0.0)
        return float(self.importance @ ratio)


def seconds_to_finish(
    rests: Sequence[RestOfRoute],
    estimate: ParameterEstimate,
    has_time: Callable[[], bool] = always,
) -> tuple[float, Refusal | None]:
    """Return the time of the fastest way that is certified, and what refuses the very first.

    Ways for which there is no time count as refused.
    """
    first = None
    for rest in rests:
        if first is not None and not has_time():
            break
        proof = rest.proof(estimate)
        if proof.holds:
            return rest.seconds, first
        first = proof.refusal if first is None else first
    return np.inf, first


def need_of(
    rests: Sequence[RestOfRoute],
    estimate: ParameterEstimate,
    own: Array,
    has_time: Callable[[], bool] = always,
) -> TaskNeed:
    """Return what the rest of a task needs; `rests` are of the same way, the fastest first."""
    seconds, first = seconds_to_finish(rests, estimate, has_time)
    if first is None:
        return TaskNeed(seconds, seconds, 1.0, MOSTLY_MASS, None)
    for rest in rests:
        if rest.seconds >= seconds:  # as is certified already
            return TaskNeed(seconds, seconds, 1.0, MOSTLY_MASS, first)
        if not has_time():
            return TaskNeed(seconds, np.inf, 0.0, _importance(first, estimate), first)
        narrower = known_to(estimate)
        if not rest.proof(narrower(0.0)).holds:
            continue
        found = largest_share(rest, narrower, has_time=has_time)
        if found.share > 0.0:
            share, importance = found.share, _importance(found.refusal, estimate)
            return TaskNeed(seconds, rest.seconds, share, importance, found.refusal)
    return _never_certified(rests[-1], estimate, own, first, has_time)


def _never_certified(
    slowest: RestOfRoute,
    estimate: ParameterEstimate,
    own: Array,
    first: Refusal,
    has_time: Callable[[], bool],
) -> TaskNeed:
    """Return what refuses the way that asks for least, though what is held were known."""
    never, importance = (np.inf, np.inf, 0.0), _importance(first, estimate)
    known = exactly(estimate, own)
    alone = slowest.proof(known(0.0))
    if alone.refusal is not None:
        return TaskNeed(*never, importance, alone.refusal, is_of_payload=False)
    heaviest = largest_share(slowest, known, has_time=has_time)
    mass = heaviest.refused * float((estimate.end_effector - own)[MASS])
    largest = mass if heaviest.share > 0.0 else np.inf  # there was no time to find it
    return TaskNeed(*never, importance, heaviest.refusal or first, largest)


def refuse_too_heavy(need: TaskNeed, estimate: ParameterEstimate, own: Array) -> None:
    """Raise `TooHeavyError` where the lower bound of the mass is above what can be carried."""
    bounds = estimate.end_effector_bounds
    low, high = (float(x[MASS] - own[MASS]) for x in (bounds.lower, bounds.upper))
    if low > need.largest_mass:
        raise TooHeavyError(
            f'what is held weighs {low:.2f} to {high:.2f} kg; what is certified to be carried to '
            f'the goal is at most {need.largest_mass:.2f} kg, however well it is known: '
            f'{need.refusal}'
        )


def reason_to_stop(
    need: TaskNeed, predicted_seconds: float, duration: float, widths: Sequence[float]
) -> str:
    """Return why learning more does not help the task; empty: it does.

    `predicted_seconds` is the time to finish after more motions to learn by, which take `duration`
    [s]; `widths` are the relative ones before each exciting plan, and now.
    """
    if need.is_met:
        return 'the rest of the task is certified'
    if not need.is_of_payload:
        return 'what refuses the rest of the task is not what is held'
    if need.seconds < np.inf and need.seconds - predicted_seconds < duration:
        return 'another motion to learn by takes longer than it would save'
    if need.seconds == predicted_seconds == np.inf and need.fastest < np.inf:
        return 'what the rest of the task needs to know is not to be learnt in time'
    if len(widths) > TAUGHT and widths[-1] > (1.0 - SHRINKS) * widths[-2]:
        return f'the last plan narrowed what the task needs by less than {SHRINKS:.0%}'
    return ''


def _importance(refusal: Refusal | None, estimate: ParameterEstimate) -> Array:
    """Share of each half width of theta_e in the torque that decides."""
    if refusal is None or refusal.weight is None:
        return MOSTLY_MASS
    parts = refusal.weight * estimate.end_effector_bounds.radius
    total = float(parts.sum())
    return MOSTLY_MASS if total <= 0.0 else np.asarray(parts / total)
