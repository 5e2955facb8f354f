"""Plans out of recorded messages, certified again for the bounds recorded beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.audit.bag_settings import RecordedSettings
from safe_sysid.errors import MeasurementError
from safe_sysid.measure.clock import Clock
from safe_sysid.model.parameters import ParameterEstimate, ParameterLayout
from safe_sysid.plan.message import PlanNotice
from safe_sysid.reach.certificate import PlanCertificate
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.reach.problem import Problem
from safe_sysid.reach.reachable_set import ReachableSet
from safe_sysid.sets.interval import Interval
from safe_sysid.track.seen_law import SeenLaw
from safe_sysid.trajectory.plan import Plan
from safe_sysid.trajectory.task_motion import Piece

OFFSET = 2  # numbers before the data of a stamped array: seconds and nanoseconds


def stamp_of(time: Any) -> int:
    """Nanoseconds of a ROS time or duration."""
    return int(time.sec) * 10**9 + int(time.nanosec)


def stamp_in(message: Any) -> int:
    """Stamp [ns] before the data of an array."""
    return int(message.data[0]) * 10**9 + int(message.data[1])


def estimate_in(message: Any, layout: ParameterLayout) -> ParameterEstimate:
    """Estimate of a recorded `parameter_estimate` or `certified_estimate`."""
    if len(message.data) != OFFSET + 3 * layout.size:
        raise MeasurementError(
            f'a recorded estimate has {len(message.data)} numbers, not {OFFSET + 3 * layout.size}'
        )
    lower, theta, upper = np.array(message.data[OFFSET:], dtype=np.float64).reshape(3, -1)
    return ParameterEstimate(layout, theta, Interval(lower, upper))


@dataclass
class RecordedPlans:
    """Plans in the order they were followed; each becomes a certified one when it is asked for."""

    settings: RecordedSettings
    estimates: dict[str, ParameterEstimate] = field(default_factory=dict)  # by digest
    notices: dict[int, PlanNotice] = field(default_factory=dict)  # by the start of the plan [ns]

    def certified(self, clock: Clock) -> list[Plan]:
        """All plans followed, with the certificates that follow from what was recorded."""
        plans: list[Plan] = []
        for _, notice in sorted(self.notices.items()):
            plans.append(self.certified_as(notice, clock, plans[-1] if plans else None))
        return plans

    def certified_as(self, notice: PlanNotice, clock: Clock, before: Plan | None) -> Plan:
        """Return the plan of a notice, which follows another one or none."""
        name, start = notice.certified_for, clock.seconds(notice.start)
        if name not in self.estimates:
            raise MeasurementError(
                f'the bounds that the plan of {notice.start / 1e9:.3f} s was certified for are '
                'not in the recording'
            )
        estimate = self.estimates[name]
        left = NOTHING if before is None else _left_by(before, estimate, start)
        return certified_plan(self.settings, estimate, start, notice.motion.pieces, left)


class Left(NamedTuple):
    """What a plan leaves to the next one."""

    error: Array | None  # shape of an ellipsoid with e; None: none
    law: SeenLaw | None  # of an arm that is seen late


NOTHING = Left(None, None)


def certified_plan(
    settings: RecordedSettings,
    estimate: ParameterEstimate,
    start: float,
    pieces: Sequence[Piece],
    left: Left = NOTHING,
) -> Plan:
    """Return a motion from a time on, with what is proven of it for these bounds, here and now."""
    own: list[PlanCertificate] = []
    for piece in pieces:
        own.append(_certificate(settings, estimate, piece, left))
        duration = piece.curve.duration
        left = Left(own[-1].error_shape(duration), own[-1].law_at(duration))
    certificate = replace(own[0], then=tuple(own[1:]))
    first, rest = pieces[0], tuple(pieces[1:])
    return Plan(
        start,
        start + first.curve.duration,
        first.curve,
        first.k,
        estimate.bounds,
        certificate,
        estimate.theta,
        rest,
        certificate.laws,
    )


def _left_by(before: Plan, estimate: ParameterEstimate, start: float) -> Left:
    """Return what is left to the next plan, if what this one was proven for holds still."""
    certificate = before.certificate
    assert isinstance(certificate, PlanCertificate)
    if not certificate.problem.bounds.bounds.contains(estimate.bounds):
        return NOTHING
    since = start - before.start_time
    return Left(certificate.error_shape(since), certificate.law_at(since))


def _certificate(
    settings: RecordedSettings,
    estimate: ParameterEstimate,
    piece: Piece,
    left: Left,
) -> PlanCertificate:
    still = np.zeros_like(piece.k)
    horizon = Horizon(piece.curve, piece.k, still, settings.intervals, settings.degree)
    obstacles = settings.obstacle_set
    return ReachableSet.certify_center(
        Problem(
            settings.model,
            estimate,
            horizon,
            settings.gains,
            obstacles,
            left.error,
            settings.sampling,
            left.law,
        )
    )
