"""EarlyStop: a certified plan that brings a moving arm to rest sooner than the plan it follows.

It goes on from the desired state at a time that is still ahead, so that it can be taken over like
any other plan, for the bounds, gains and nominal parameters of the plan in force. Its length is
the first one of a few, the shortest first, that is certified. Where none is, the arm comes to rest
on what is certified for everything but the obstacles that have appeared: with the largest
clearance from them, and said to be no certified one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
import time

import numpy as np

from safe_sysid.config import Positive, Settings
from safe_sysid.errors import SafeSysidError
from safe_sysid.model.collision.obstacles import NO_OBSTACLES, Obstacles
from safe_sysid.plan.search.candidates import gentlest
from safe_sysid.plan.search.nominal_check import NominalCheck
from safe_sysid.reach.certificate import PlanCertificate
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.reach.margin import OBSTACLE
from safe_sysid.reach.problem import Problem
from safe_sysid.reach.reachable_set import ReachableSet
from safe_sysid.reach.swept_arm import SweptArm
from safe_sysid.trajectory.bezier import Bezier
from safe_sysid.trajectory.plan import Plan

SHARES = (0.1, 0.15, 0.22, 0.33, 0.5, 0.75)  # of the length of the plan in force
CHECKS = 12  # times of a stop that are looked at before it is proven
BRIEF = 0.05  # [s] no stop is shorter


@dataclass(frozen=True)
class StopSettings(Settings):
    """How soon a stop begins after an obstacle has appeared."""

    reaction: Positive = 0.25  # [s] until the stop begins: to find it, and to hand it over
    handover: Positive = 0.05  # [s] of that, for its way to whoever follows plans


@dataclass(frozen=True, eq=False)
class EarlyStop:
    """A plan that stops; `certificate.holds` says whether it avoids every obstacle."""

    plan: Plan
    certificate: PlanCertificate

    @property
    def is_certified(self) -> bool:
        """Whether it is proven for all obstacles that are known."""
        return self.certificate.holds


def find_stop(plan: Plan, start: float, obstacles: Obstacles, deadline: float) -> EarlyStop | None:
    """Find the soonest certified rest from the desired state at `start` [s, plan's clock].

    None where even without obstacles nothing is certified. `deadline` is of time.monotonic: after
    it, what has been found counts.
    """
    best: EarlyStop | None = None
    for horizon in _promising_first(plan, start):
        stop = _certified(plan, start, horizon, obstacles)
        if stop is not None and (best is None or _clearance(stop) > _clearance(best)):
            best = stop
        if (best is not None and best.is_certified) or time.monotonic() > deadline:
            break
    return best


def find_rest(plan: Plan, start: float, obstacles: Obstacles) -> EarlyStop | None:
    """Return the rest of a plan as a plan of its own, to be followed in place of a successor."""
    for horizon in _rest(plan, start):
        return _certified(plan, start, horizon, obstacles)
    return None


def _promising_first(plan: Plan, start: float) -> Iterator[Horizon]:
    """Yield stops that pass the cheap checks in floats, then the others."""
    horizons = list(_stops(plan, start))
    if not horizons:
        return
    bare = replace(_problem(plan), obstacles=NO_OBSTACLES, horizon=horizons[0])
    check, doubtful = NominalCheck(bare, CHECKS), []
    for horizon in horizons:
        if check.along(horizon).margin(horizon.k_center) > 0.0:
            yield horizon
        else:
            doubtful.append(horizon)
    yield from doubtful


def _stops(plan: Plan, start: float) -> Iterator[Horizon]:
    """Curves that slow down, the shortest first; the rest of the plan in force comes last."""
    left = plan.end_time - start
    for share in SHARES:
        duration = max(share * plan.motion.duration, BRIEF)
        if duration < left:
            curve = plan.curve_from(start, duration)
            yield _horizon(plan, curve, gentlest(curve))
    yield from _rest(plan, start)


def _rest(plan: Plan, start: float) -> Iterator[Horizon]:
    """Yield what is left of the last piece of a plan, which is the quintic through its ends."""
    left = plan.end_time - start
    if left > 0.0 and start >= plan.end_time - plan.motion.pieces[-1].curve.duration:
        curve = plan.curve_from(start, left)
        yield _horizon(plan, curve, plan.end_position - curve.q0)


def _horizon(plan: Plan, curve: Bezier, k: np.ndarray) -> Horizon:
    """One plan, in steps of time as long as those of the certificate of the plan in force."""
    whole = _problem(plan).horizon
    share = curve.duration / whole.curve.duration
    intervals = max(int(np.ceil(share * whole.intervals)), 1)
    return Horizon(curve, k, np.zeros_like(k), intervals, whole.degree)


def _problem(plan: Plan) -> Problem:
    assert isinstance(plan.certificate, PlanCertificate)
    return plan.certificate.problem


def _certified(
    plan: Plan, start: float, horizon: Horizon, obstacles: Obstacles
) -> EarlyStop | None:
    """Return a stop that keeps all limits and clear of itself; obstacles in its certificate."""
    assert isinstance(plan.certificate, PlanCertificate)
    bare = replace(_problem(plan), horizon=horizon, obstacles=NO_OBSTACLES)
    bare = plan.certificate.continued(bare, start - plan.start_time)
    if bare.lift is not None and bare.lift.name in obstacles.names:
        bare = replace(bare, lift=None)
    try:
        proven = ReachableSet.certify_center(bare)
    except SafeSysidError:
        return None
    if not proven.holds:
        return None
    nearest = SweptArm.of(proven).nearest(obstacles, 0.0)
    margins = proven.margins if nearest is None else {**proven.margins, OBSTACLE: nearest}
    problem = replace(bare, obstacles=obstacles)
    certificate = replace(proven, problem=problem, margins=margins)
    curve = horizon.curve
    stop = Plan(
        start,
        start + curve.duration,
        curve,
        horizon.k_center,
        problem.bounds.bounds,
        certificate,
        problem.bounds.theta,
        laws=certificate.laws,
    )
    return EarlyStop(stop, certificate)


def _clearance(stop: EarlyStop) -> float:
    nearest = stop.certificate.margins.get(OBSTACLE)
    return np.inf if nearest is None else nearest.margin
