"""Runs a control law on a simulated arm along a chain of plans."""

import numpy as np
from track.arm_simulation import ArmInMotion
from track.law_states import CLOCK

from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.sets.interval import Interval
from safe_sysid.trajectory.bezier import Bezier
from safe_sysid.trajectory.plan import Plan

MILLISECOND = 1_000_000  # [ns]


def certain(model):
    """An estimate without doubt."""
    return ParameterEstimate(model.layout, model.theta, Interval.of(model.theta))


def resting_plan(q, duration=3.0):
    """A plan that stays where it is."""
    rest = np.zeros_like(q)
    return Plan(0.0, 0.0, Bezier(q, rest, rest, duration), rest)


def exciting_plans(rng, q, count):
    """Plans that each take over from the last one half way."""
    plans = [Plan(0.0, 1.5, Bezier(q, 0 * q, 0 * q, 3.0), rng.uniform(-1.0, 1.0, len(q)))]
    for _ in range(count - 1):
        t = plans[-1].switch_time
        goal = q + rng.uniform(-1.0, 1.0, len(q))
        curve = plans[-1].curve_from(t, 3.0)
        plans.append(Plan(t, t + 1.5, curve, goal - curve.q0))
    return plans


def follow(controller, arm, plans, estimate, seconds):
    """Errors at every millisecond, (N, n)."""
    errors = []
    for _ in range(round(seconds * 1000)):
        t = CLOCK.seconds(arm.stamp)
        plan = [plan for plan in plans if plan.start_time <= t + 1e-9][-1]
        errors.append(plan.desired(max(t, plan.start_time))[0] - arm.q)
        arm.hold(controller.step(arm.measure(), plan, estimate), MILLISECOND)
    return np.array(errors)


def arm_at(model, q, qd=None):
    """Simulated arm at the origin of the clock."""
    return ArmInMotion(model, q, np.zeros_like(q) if qd is None else qd, CLOCK.origin)
