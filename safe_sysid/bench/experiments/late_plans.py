"""Certified plans for an arm that is read late, the second of which takes over in motion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.lacking_laws import Describe, as_described
from safe_sysid.bench.experiments.late_arm import START, gains_of, known, late_kinova, sampling_of
from safe_sysid.bench.experiments.planning import at_rest
from safe_sysid.errors import SafeSysidError
from safe_sysid.model.collision.obstacles import NO_OBSTACLES
from safe_sysid.reach.certificate import PlanCertificate
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.reach.problem import Problem
from safe_sysid.reach.reachable_set import ReachableSet
from safe_sysid.trajectory.plan import Plan

BEGIN, SWITCH = 0.1, 0.4  # [s]
LASTS = 3.0  # [s] of a plan that takes over
REACH = 0.1  # [rad] that plans lead to at most, in every joint


@dataclass(frozen=True, eq=False)
class LatePlans:
    """Plans in the order in which they are in force, and the arm that they meet."""

    described: Problem  # from the rest where the first one begins, with all that is to be known
    certificates: tuple[PlanCertificate, ...]
    starts: tuple[float, ...] = (BEGIN, SWITCH)  # [s]

    @property
    def plans(self) -> tuple[Plan, ...]:
        """The plans with their laws."""
        pairs = zip(self.certificates, self.starts, strict=True)
        return tuple(plan_of(each, start) for each, start in pairs)

    @property
    def told(self) -> Problem:
        """Return what certificates and controller know, which may be less than is described."""
        return self.certificates[0].problem

    def which(self, t: float) -> int:
        """Which plan is in force."""
        return sum(t >= start - 1e-9 for start in self.starts[1:])

    def lacking(self, change: Describe) -> LatePlans | None:
        """Return the same motions of an arm of which less is known, on the arm as it is."""
        if change is as_described:
            return self
        ways = iter([each.k for each in self.certificates])
        found = plans_from(change(self.described), lambda: next(ways), self.starts)
        return None if found is None else replace(found, described=self.described)


def random_pair(rng: np.random.Generator, slow: float | None = None) -> LatePlans | None:
    """Plans that are certified, for drives as `late_kinova` has them; None: these are not."""
    return pair_of(lambda: rng.uniform(-REACH, REACH, len(START)), slow)


def pair_of(way: Callable[[], Array], slow: float | None = None) -> LatePlans | None:
    """Return the same of the ways (n,) [rad] that are asked for, one after the other."""
    model = late_kinova(slow)
    problem = replace(
        at_rest(model, known(model), START, NO_OBSTACLES),
        gains=gains_of(model),
        sampling=sampling_of(model),
    )
    return plans_from(problem, way)


def plans_from(
    problem: Problem, way: Callable[[], Array], starts: tuple[float, ...] = (BEGIN, SWITCH)
) -> LatePlans | None:
    """Return the same of any arm, from the rest that a problem is about, as many as there are."""
    found: list[PlanCertificate] = []
    following = problem
    for start, end in zip(starts, (*starts[1:], np.inf), strict=True):
        certificate = _certified(following, way())
        if certificate is None:
            return None
        found.append(certificate)
        if np.isfinite(end):
            following = _going_on(following, certificate, (start, end))
    return LatePlans(problem, tuple(found), starts)


def _going_on(
    problem: Problem, certificate: PlanCertificate, times: tuple[float, float]
) -> Problem:
    """Return plans that take over from one in motion, of its begin and of that."""
    start, end = times
    curve, since = plan_of(certificate, start).curve_from(end, LASTS), end - start
    return replace(
        problem,
        horizon=replace(problem.horizon, curve=curve),
        error_at_start=certificate.error_shape(since),
        before=certificate.law_at(since),
    )


def _certified(problem: Problem, k: Array) -> PlanCertificate | None:
    horizon = Horizon(problem.horizon.curve, k, np.zeros_like(k), 32)
    try:
        certificate = ReachableSet.certify_center(replace(problem, horizon=horizon))
    except SafeSysidError:
        return None
    return certificate if certificate.holds else None


def plan_of(certificate: PlanCertificate, start: float) -> Plan:
    """Return the plan of a certificate from a time on."""
    estimate, curve = certificate.problem.bounds, certificate.problem.horizon.curve
    theta = estimate.bounds, certificate, estimate.theta
    return Plan(start, start + 1.0, curve, certificate.k, *theta, laws=certificate.laws)
