"""Proof of plans that follow each other, of their curves alone: whatever they say of themselves.

The first plan begins at rest, every other one where the plan before it leads at that time, with
the position error and the law that the proof of the plan before leaves it. All are followed by
their certificates' laws, which depend on the bounds of theta.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from safe_sysid.errors import BoundError
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.plan.search.pieces import certified, horizon_of
from safe_sysid.reach.certificate import PlanCertificate
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.reach.problem import Problem
from safe_sysid.trajectory.plan import Plan

SAME = 1e-9  # [rad], [rad/s] between states of plans that follow each other


def proof_of(
    plans: Sequence[Plan], problem: Problem, bounds: ParameterEstimate | None = None
) -> tuple[tuple[PlanCertificate, ...], str]:
    """Return certificates of plans, up to the first that cannot have one, and why it cannot.

    Plans are proven for what a problem says, with the bounds of theta given, or their own.
    """
    proven: list[PlanCertificate] = []
    for i, plan in enumerate(plans):
        before = plans[i - 1] if i else None
        known = bounds or _bounds_of(plan, problem)
        trouble = _begins_in_motion(plan) if before is None else _leaves(before, plan)
        if not trouble and proven and not _is_within(known, proven[-1].problem.bounds):
            trouble = 'is to hold for parameters that the plan before is not proven for'
        if trouble:
            return tuple(proven), f'plan {i + 1} {trouble}'
        begin = replace(problem, bounds=known)
        if before is not None:
            begin = proven[-1].continued(begin, plan.start_time - before.start_time)
        try:
            proven.append(_certified(plan, begin))
        except BoundError as error:  # of an error that nothing bounds nothing is proven
            return tuple(proven), f'plan {i + 1}: {error}'
    return tuple(proven), ''


def _certified(plan: Plan, problem: Problem) -> PlanCertificate:
    """Certificate of the first piece of a plan, with those of the others."""
    pieces: list[PlanCertificate] = []
    for piece in _horizons(plan, problem):
        pieces.append(certified(problem, piece, pieces[-1] if pieces else None))
    return replace(pieces[0], then=tuple(pieces[1:]))


def _horizons(plan: Plan, problem: Problem) -> list[Horizon]:
    """Pieces of a plan, in steps of time as the plan was certified in: finer ones may not do."""
    told = plan.certificate
    own = [horizon_of(problem, piece) for piece in plan.motion.pieces]
    if not isinstance(told, PlanCertificate) or len(told.then) + 1 != len(own):
        return own
    steps = [each.problem.horizon.intervals for each in (told, *told.then)]
    return [replace(each, intervals=n) for each, n in zip(own, steps, strict=True)]


def _bounds_of(plan: Plan, problem: Problem) -> ParameterEstimate:
    if plan.theta_bounds is None or plan.theta_0 is None:
        return problem.bounds
    return ParameterEstimate(problem.bounds.layout, plan.theta_0, plan.theta_bounds)


def _is_within(inner: ParameterEstimate, outer: ParameterEstimate) -> bool:
    return bool(outer.bounds.contains(inner.bounds))


def _begins_in_motion(plan: Plan) -> str:
    fastest = float(np.abs(plan.curve.qd0).max())
    if fastest <= SAME:
        return ''
    return f'begins in motion, with {fastest:.3g} rad/s, and nothing leads there'


def _leaves(before: Plan, plan: Plan) -> str:
    """Why a plan does not go on from another one; empty if it does."""
    if plan.start_time < before.start_time:
        return (
            f'begins at {plan.start_time:.3f} s, before the plan that it follows, at '
            f'{before.start_time:.3f} s'
        )
    q, qd, _ = before.desired(plan.start_time)
    jump = float(np.abs(plan.curve.q0 - q).max()), float(np.abs(plan.curve.qd0 - qd).max())
    if max(jump) <= SAME:
        return ''
    return (
        f'begins {jump[0]:.3g} rad and {jump[1]:.3g} rad/s from where the plan before it is at '
        f'{plan.start_time:.3f} s'
    )
