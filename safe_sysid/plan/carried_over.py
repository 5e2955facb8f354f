"""Whether a plan in force is safe for another body too, and how it is followed then.

What is held may change while a plan is followed that was certified for the body before. From then
on the arm is safe along the rest of it, if

  - the whole plan is certified for bounds that contain the next body too, with the theta_0 that
    the law goes on with,
  - at the measured state V(r) <= V_M and V(K_r e) <= V_M for all theta in these bounds, and e is
    in the set that this certificate allows for at that time,
  - the law goes on with w_M of these bounds, from that sample on.

The certificate speaks of what follows the sample. What was between the change and the sample
nobody has certified: it is over, and the measured state is what it led to. For an arm that is
seen late nothing is said: the numbers of its law belong to the bounds that a plan was made with.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import SafeSysidError
from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.reach.certificate import PlanCertificate
from safe_sysid.reach.error_tube import ErrorTube
from safe_sysid.reach.reachable_set import ReachableSet
from safe_sysid.sets.interval import Interval
from safe_sysid.track.takeover import TrackedArm
from safe_sysid.track.tracking import shortest_turn
from safe_sysid.trajectory.plan import Plan

ROUNDING = 1e-6  # of a share that floats may be off


def widened(plan: Plan, bounds: Interval) -> Plan:
    """Return the same motion, to be followed for these bounds too; nothing is promised of it."""
    known = bounds if plan.theta_bounds is None else plan.theta_bounds.hull(bounds)
    return replace(plan, theta_bounds=known, certificate=None)


def carried_over(
    plan: Plan, bounds: Interval, measurement: JointMeasurement, clock: Clock
) -> tuple[Plan | None, str]:
    """Return the plan as it is certified for these bounds too from a sample on, or why not."""
    certificate, wide = plan.certificate, widened(plan, bounds)
    if not isinstance(certificate, PlanCertificate) or wide.theta_bounds is None:
        return None, 'the plan in force has no certificate'
    problem = certificate.problem
    if problem.sampling is not None:
        return None, 'of an arm that is seen late nothing is certified for another body'
    try:
        wider = _certified(certificate, wide)
    except SafeSysidError as error:
        return None, str(error)
    if not wider.holds:
        return None, f'for it and the next body the rest of the plan has {wider.smallest}'
    t = max(clock.seconds(measurement.stamp), plan.start_time)
    arm = TrackedArm(problem.model, problem.gains)
    try:
        refusal = arm.refusal_to_begin(wide, t, measurement, wide.theta_bounds)
    except SafeSysidError as error:
        return None, str(error)
    q_d = plan.desired(t)[0]
    e = shortest_turn(q_d - measurement.position, problem.model.limits.is_continuous)
    if not refusal and not _contains(wider, t - plan.start_time, e):
        refusal = 'the arm is farther from its plan than it may be with the next body'
    return (None, refusal) if refusal else (replace(wide, certificate=wider), '')


def _certified(certificate: PlanCertificate, plan: Plan) -> PlanCertificate:
    """Return what is proven of all pieces for the bounds of a plan."""
    assert plan.theta_bounds is not None and plan.theta_0 is not None
    layout = certificate.problem.bounds.layout
    known = ParameterEstimate(layout, plan.theta_0, plan.theta_bounds)
    pieces: list[PlanCertificate] = []
    for each in (certificate, *certificate.then):
        problem = replace(each.problem, bounds=known)
        if pieces:
            before = pieces[-1]
            left = before.error_shape(before.problem.horizon.curve.duration)
            problem = replace(problem, error_at_start=left)
        pieces.append(ReachableSet.certify_center(problem))
    return replace(pieces[0], then=tuple(pieces[1:]))


def _contains(certificate: PlanCertificate, since: float, e: Array) -> bool:
    """Whether a position error is one that the certificate allows for at a time of its plan."""
    piece, pieces = certificate, certificate.then
    while pieces and since > piece.problem.horizon.curve.duration:
        since, piece, pieces = since - piece.problem.horizon.curve.duration, pieces[0], pieces[1:]
    if piece.error.tube is None:
        return bool(np.all(np.abs(e) <= piece.error.position))
    P = _left_at(piece, piece.error.tube, since)
    return float(e @ np.linalg.solve(P, e)) <= 1.0 - ROUNDING


def _left_at(certificate: PlanCertificate, tube: ErrorTube, since: float) -> Array:
    """Shape of e that the tube has come to at a time since the start of a piece.

    What it gives for a whole step is larger, and may lead out of that of the next one.
    """
    K_r, start = certificate.error.K_r, certificate.problem.error_at_start
    Q = tube.r @ np.swapaxes(tube.r, 1, 2)
    beta = float(K_r.min())
    rates = (K_r - 0.5 * beta)[:, None] + (K_r - 0.5 * beta)
    P = Q[0] / (K_r[:, None] * K_r) if start is None else start
    for begin, end, each in zip(tube.time.lower, tube.time.upper, Q, strict=True):
        if begin >= since:
            break
        w = np.exp(-rates * (min(end, since) - begin))
        P = w * P + (1.0 - w) * each / (beta * rates)
    return np.asarray(P)
