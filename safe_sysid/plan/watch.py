"""Watch over a plan: whether the arm is as near to it as its certificate promises."""

from __future__ import annotations

import numpy as np

from safe_sysid.errors import SafeSysidError
from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.plan.cost.terms import shortest_way
from safe_sysid.reach.certificate import PlanCertificate
from safe_sysid.track.seen_law import LEFT_OUT
from safe_sysid.trajectory.plan import Plan


class TrackingFault(SafeSysidError):  # noqa: N818 - a fault is what it is
    """The arm is farther from its plan than the controller promises: an assumption is false."""


def refuse_broken_promise(measurement: JointMeasurement, plan: Plan, clock: Clock) -> None:
    """Raise a TrackingFault where a measured position is beyond the certified tracking error.

    An error of the encoders counts as one of the arm, but for what the certificate says of them.
    """
    certificate = plan.certificate
    if not isinstance(certificate, PlanCertificate):
        return
    model, error = certificate.problem.model, certificate.error
    q_d, qd_d, _ = plan.desired(max(clock.seconds(measurement.stamp), plan.start_time))
    sampling, bound = certificate.problem.sampling, error.position
    if sampling is not None:
        bound = bound + 0.5 * sampling.step + sampling.stamp * (np.abs(qd_d) + error.velocity)
    away = np.abs(shortest_way(measurement.position, q_d, model.limits.is_continuous))
    if np.all(away <= bound):
        return
    j = int(np.argmax(np.where(away <= bound, 0.0, away / bound)))
    raise TrackingFault(
        f'{model.layout.joint_names[j]} is {away[j]:.4g} away from its plan, {bound[j]:.4g} (rad, '
        'or m) are promised; an assumption is false: look for contact, another payload, wrong '
        f'friction{"" if sampling is not None else f" or, {LEFT_OUT}"}'
    )
