"""Compiles the law before a sample waits for it."""

from __future__ import annotations

import numpy as np

from safe_sysid.loop_settings import LoopArm
from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.track.chosen_law import law_for
from safe_sysid.trajectory.bezier import Bezier
from safe_sysid.trajectory.plan import Plan

MILLISECOND = 1_000_000  # [ns]


def warm_up_law(arm: LoopArm) -> None:
    """One step of the law at rest; the first one in a process may take seconds."""
    model, prior = arm.model, arm.prior
    rest = np.zeros(model.n)
    plan = Plan(0.0, 0.0, Bezier(rest, rest, rest, 1.0), rest, prior.bounds, None, prior.theta)
    law = law_for(model, arm.gains, Clock(0), arm.sampling)
    for stamp in (0, MILLISECOND):
        law.brake(JointMeasurement(stamp, rest, rest, rest), plan, prior)
