"""How near to the limits of its joints an arm may rest: by the certificate of standing still."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.reach.limits import LimitMargins, position_margins
from safe_sysid.reach.plan_error import plan_error
from safe_sysid.reach.problem import Problem
from safe_sysid.reach.reachable_set import from_zeros
from safe_sysid.trajectory.bezier import Bezier


def resting_margins(problem: Problem, q: Array) -> LimitMargins:
    """Margins of positions in the certificate of a plan that stands still at q, begun at rest."""
    still = np.zeros_like(q)
    curve = Bezier(q, still, still, problem.horizon.curve.duration)
    horizon = replace(problem.horizon, curve=curve, k_center=still, k_range=still)
    standing = replace(problem, horizon=horizon, error_at_start=None, before=None)
    error = from_zeros(standing, plan_error(standing))
    return position_margins(curve, still, problem.model.limits, error)
