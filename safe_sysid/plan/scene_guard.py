"""SceneGuard: whether plans that are followed, or may be next, still avoid what is in the way.

A plan that was told keeps its sets here until it is over. When obstacles change, only the changed
ones are compared with the sets that lie ahead (`reach.swept_arm`); what only went away changes
nothing. Where a plan is not proven any more, the arm comes to rest early (`plan.early_stop`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
import time

import numpy as np

from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.model.collision.shown_scene import changed
from safe_sysid.plan.early_stop import EarlyStop, StopSettings, find_rest, find_stop
from safe_sysid.plan.result import stands_still
from safe_sysid.reach.certificate import PlanCertificate
from safe_sysid.reach.margin import Margin
from safe_sysid.reach.problem import Problem
from safe_sysid.reach.reachable_set import ReachableSet
from safe_sysid.reach.swept_arm import SweptArm
from safe_sysid.sets.box import Box
from safe_sysid.trajectory.plan import Plan

NOTICED = 0.2  # [s] after its start by which it is said that a plan is followed
SAME = 1e-6  # [s] between two times that are the same up to rounding


@dataclass(frozen=True, eq=False)
class _Told:
    """A plan that somebody may follow, and where the arm can be on it."""

    plan: Plan
    swept: SweptArm


@dataclass(frozen=True, eq=False)
class Obstructed:
    """What is in the way of which plan, and the stop that was found."""

    plan: Plan
    margin: Margin  # not above 0
    stop: EarlyStop | None  # None: there is none

    @property
    def is_avoided(self) -> bool:
        """Whether the arm is proven not to meet it."""
        return self.stop is not None and self.stop.is_certified

    def __str__(self) -> str:
        said = f'a new obstacle is in the path of the plan in force: {self.margin}'
        if self.stop is None:
            return f'{said}; no earlier stop is certified, the arm ends on that plan'
        if self.stop.is_certified:
            return f'{said}; the arm stops early, certified: {self.stop.certificate.smallest}'
        return (
            f'{said}; the arm stops early, but no stop is proven to avoid it: '
            f'{self.stop.certificate.smallest}'
        )


class SceneGuard:
    """Watches over plans of one arm; times are seconds on the clock of the plans.

    `stamp` gives the stamp [ns] of such a time, which obstacles that move have.
    """

    def __init__(self, settings: StopSettings, stamp: Callable[[float], int]) -> None:
        self._settings, self._stamp = settings, stamp
        self._told: list[_Told] = []  # by start
        self._followed: float | None = None  # start of the plan that is said to be followed
        self._pending: Plan | None = None  # a stop that was told
        self._boxes: Mapping[str, Box] = {}
        self.seconds = 0.0  # that the last comparison took

    def admits(self, plan: Plan) -> bool:
        """Whether a plan that was made among other obstacles avoids those there are now."""
        assert isinstance(plan.certificate, PlanCertificate)
        before = plan.certificate.problem.obstacles
        known = dict(zip(before.names, before.shapes, strict=True))
        new = Obstacles.of({n: b for n, b in self._boxes.items() if known.get(n) is not b})
        if not len(new):
            return True
        new = _besides(plan, new).beginning(self._stamp(plan.start_time))
        nearest = SweptArm.of(plan.certificate).nearest(new, 0.0)
        return nearest is None or nearest.margin > 0.0

    def watch(self, plan: Plan, now: float) -> None:
        """Watch a plan that is told now: it may be followed.

        What is over is forgotten here too: not every arm is shown obstacles.
        """
        self._forget_what_is_over(now)
        assert isinstance(plan.certificate, PlanCertificate)
        told = [each for each in self._told if each.plan.start_time != plan.start_time]
        told = [*told, _Told(plan, SweptArm.of(plan.certificate))]
        self._told = sorted(told, key=lambda each: each.plan.start_time)

    def note_followed(self, start: float | None) -> None:
        """Whoever follows plans has said which one, by its start; None: none."""
        self._followed = start

    def forget_plans(self) -> None:
        """Forget what was told and followed, as times of before mean nothing any more."""
        self._told, self._followed, self._pending = [], None, None

    def look(self, boxes: Mapping[str, Box], now: float) -> Obstructed | None:
        """Compare what changed with all that lies ahead; what to do if something is in the way."""
        begin = time.monotonic()
        new = Obstacles.of(changed(self._boxes, boxes))
        self._boxes = dict(boxes)
        self._forget_what_is_over(now)
        hit = self._first_hit(new, now) if len(new) else None
        self.seconds = time.monotonic() - begin
        if hit is None:
            return None
        plan, margin = hit
        if plan is self._pending and now < plan.start_time:
            return Obstructed(plan, margin, None)  # there is no time for another one
        stop = self._stop(plan, now, begin + self._settings.reaction - self._settings.handover)
        if stop is not None:
            self._take(stop.plan, now)
        return Obstructed(plan, margin, stop)

    def rehearse(self, problem: Problem) -> None:
        """Have everything compiled that is needed when an obstacle appears."""
        certificate = ReachableSet.certify_center(problem)
        plan = Plan(0.0, 0.0, problem.horizon.curve, certificate.k, None, certificate)
        box = Box(np.full(3, 100.0), np.ones(3), np.eye(3))
        find_stop(plan, 0.1 * plan.end_time, Obstacles.of({'far': box}), -np.inf)

    def _take(self, stop: Plan, now: float) -> None:
        """From its start on the stop is followed, and no plan that was to begin later."""
        self._told = [each for each in self._told if each.plan.start_time < stop.start_time]
        self.watch(stop, now)
        self._pending = stop

    def _forget_what_is_over(self, now: float) -> None:
        """Keep what may be followed: what is not over, nor begins before what is followed.

        Word of what is followed may be late, so a plan that has begun is kept until it comes. What
        is over by its stamp, a whole number of nanoseconds, may end a rounding later in seconds.
        """
        if self._followed is not None:
            first = self._followed - SAME
        else:
            begun = (t.plan.start_time for t in self._told if t.plan.start_time <= now)
            first = min(max(begun, default=now), now - NOTICED)
        self._told = [
            each
            for each in self._told
            if now < each.plan.end_time - SAME and each.plan.start_time >= first
        ]

    def _is_followed(self, plan: Plan) -> bool:
        return self._followed is not None and abs(plan.start_time - self._followed) < SAME

    def _first_hit(self, new: Obstacles, now: float) -> tuple[Plan, Margin] | None:
        """Return the first plan that new obstacles are in the way of."""
        waits = self._pending is not None and now < self._pending.start_time
        for told in self._told:
            if waits and told.plan is not self._pending:
                continue  # a stop from it has been told
            begun = _besides(told.plan, new).beginning(self._stamp(told.plan.start_time))
            nearest = told.swept.nearest(begun, now - told.plan.start_time)
            if nearest is not None and not nearest.margin > 0.0:
                return told.plan, nearest
        return None

    def _stop(self, hit: Plan, now: float, deadline: float) -> EarlyStop | None:
        """Return a stop from the plan that is followed when it begins."""
        start, obstacles = now + self._settings.reaction, Obstacles.of(self._boxes)
        begun = [each.plan for each in self._told if each.plan.start_time <= start]
        refused = [p for p in begun if p.start_time < now - NOTICED and not self._is_followed(p)]
        if self._followed is not None and len(refused) < len(begun):
            begun = [plan for plan in begun if plan not in refused]
        if not begun:
            return None
        plan = begun[-1]
        obstacles = _besides(plan, obstacles)
        if hit.start_time > start:  # what is followed until then avoids everything
            later = obstacles.beginning(self._stamp(hit.start_time))
            return find_rest(plan, hit.start_time, later)
        if start >= plan.end_time:
            return None
        return find_stop(plan, start, obstacles.beginning(self._stamp(start)), deadline)


def _besides(plan: Plan, obstacles: Obstacles) -> Obstacles:
    """Return obstacles but for what may be left on a plan, while that stays the same.

    What the hand of an arm that stands has let go since the plan was made is left by the next one.
    """
    assert isinstance(plan.certificate, PlanCertificate)
    problem = plan.certificate.problem
    lift, q = problem.lift, problem.horizon.curve.q0
    if lift is None and problem.retreat is not None and stands_still(plan.certificate):
        lift = problem.retreat.at(problem.model, q, q, obstacles)
    if lift is None or not any(shape is lift.support for shape in obstacles.shapes):
        return obstacles
    return obstacles.without(lift.name)
