"""A law for an arm that is seen late, of which nothing is promised; for arms without a plan."""

from __future__ import annotations

import numpy as np

from safe_sysid.model.robot_model import RobotModel
from safe_sysid.track.error_observer import InWindow, ObserverBounds
from safe_sysid.track.gains import Gains
from safe_sysid.track.invariance import LawBounds, Rates, Shell
from safe_sysid.track.seen_law import Pace, Sampling, SeenLaw, Turning


def uncertified(model: RobotModel, gains: Gains, sampling: Sampling) -> SeenLaw:
    """Law that takes r as it is seen, where it may change as fast as the arm may accelerate."""
    n, unbounded = model.n, np.full(model.n, np.inf)
    at_all = Rates(*4 * (np.inf,)), InWindow(*2 * (np.inf,)), Turning(1.0, 0.0)
    observer = ObserverBounds(
        gains.K_r,
        np.broadcast_to(sampling.step, (n,)).copy(),
        model.limits.acceleration.copy(),
        sampling.window,
        sampling.jitter + sampling.stamp,
        sampling.reach,
        np.zeros(n),
    )
    pace = Pace(*6 * (unbounded,), *at_all, unbounded)
    bounds = LawBounds(gains.V_M, gains.alpha)
    return SeenLaw(
        sampling,
        Shell(gains.V_M),
        bounds,
        observer,
        unbounded,
        np.zeros(n),
        gains.sign_speed,
        pace,
        pace,
    )
