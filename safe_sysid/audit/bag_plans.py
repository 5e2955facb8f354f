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
from safe_sysid.trajectory.bezier import Bezier
from safe_sysid.trajectory.plan import Plan
from safe_sysid.trajectory.task_motion import Piece

SAME = 1e-9  # [rad], [rad/s] between the states of plans that follow each other
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
        pieces = notice.motion.pieces
        goes_on = before is not None and _goes_on(before, pieces[0].curve, start)
        left = _left_by(before, estimate, start) if before and goes_on else NOTHING
        return certified_plan(self.settings, estimate, start, pieces, left)


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
    for piece, intervals in zip(pieces, _intervals(settings, pieces), strict=True):
        own.append(_certificate(settings, estimate, piece, intervals, left))
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


def _intervals(settings: RecordedSettings, pieces: Sequence[Piece]) -> list[int]:
    """Time steps of the certificate of each piece: those that the planner proved it with.

    Finer ones need not prove it, too. Pieces of a motion have steps as long as those of any plan
    (`plan/search/pieces.py`); where an arm stands on one piece, it has as many.
    """
    if len(pieces) == 1 and not np.any(pieces[0].curve.qd0):
        return [settings.intervals]
    shares = (piece.curve.duration / settings.duration for piece in pieces)
    return [int(np.ceil(share * settings.intervals)) for share in shares]


def _goes_on(before: Plan, curve: Bezier, start: float) -> bool:
    """Whether a plan begins where the one before leads, and not where the arm was measured.

    Of one that begins anew the error begins anew.
    """
    q, qd, _ = before.desired(start)
    return bool(np.allclose(curve.q0, q, 0.0, SAME) and np.allclose(curve.qd0, qd, 0.0, SAME))


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
    intervals: int,
    left: Left,
) -> PlanCertificate:
    still = np.zeros_like(piece.k)
    horizon = Horizon(piece.curve, piece.k, still, intervals, settings.degree)
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
