"""What the plan that an arm follows leaves to the one that takes over from it."""

from __future__ import annotations

from dataclasses import replace

from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.reach.certificate import PlanCertificate
from safe_sysid.reach.problem import Problem
from safe_sysid.trajectory.plan import Plan


def going_on(problem: Problem, plan: Plan, t: float) -> Problem:
    """Return the same with the error, the law and the leave that a plan leaves behind at t [s]."""
    certificate = plan.certificate
    if not isinstance(certificate, PlanCertificate):
        return problem
    return certificate.continued(problem, t - plan.start_time)


def beginning_after(problem: Problem, plan: Plan | None, t: float) -> Problem:
    """Return the same for plans that begin where the arm is measured, after the law of a plan."""
    if plan is None or not isinstance(plan.certificate, PlanCertificate):
        return problem
    return replace(problem, before=plan.certificate.law_at(t - plan.start_time))


def covers(plan: Plan, estimate: ParameterEstimate) -> bool:
    """Whether a plan was certified for all that is possible now."""
    certified = plan.theta_bounds
    return (
        certified is not None
        and certified.shape == estimate.bounds.shape
        and certified.contains(estimate.bounds)
    )
