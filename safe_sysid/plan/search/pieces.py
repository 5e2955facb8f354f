"""Certificates of pieces that follow each other: error, law, time and leave go on to the next."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from safe_sysid.reach.certificate import PlanCertificate
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.reach.problem import Problem
from safe_sysid.reach.reachable_set import ReachableSet
from safe_sysid.trajectory.task_motion import Piece


def horizon_of(problem: Problem, piece: Piece) -> Horizon:
    """One piece, with steps of time as long as those of the whole horizon of a problem."""
    whole = problem.horizon
    share = piece.curve.duration / whole.curve.duration
    intervals = int(np.ceil(share * whole.intervals))
    return Horizon(piece.curve, piece.k, np.zeros_like(piece.k), intervals, whole.degree)


def certified(problem: Problem, piece: Horizon, before: PlanCertificate | None) -> PlanCertificate:
    """Certify a piece that begins as a problem says, or where the piece before it ends."""
    if before is not None:
        until = before.problem.horizon.curve.duration
        later = before.problem.obstacles.later(until)
        problem = before.continued(replace(problem, obstacles=later), until)
    return ReachableSet.certify_center(replace(problem, horizon=piece))
