"""Which law follows plans: the one that sees an arm exactly, or late and in steps."""

from __future__ import annotations

from safe_sysid.measure.clock import Clock
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.track.gains import Gains
from safe_sysid.track.robust_passivity import RobustPassivityController
from safe_sysid.track.seen_law import Sampling
from safe_sysid.track.sensed_passivity import SensedPassivityController

PassivityController = RobustPassivityController | SensedPassivityController


def law_for(
    model: RobotModel, gains: Gains, clock: Clock, sampling: Sampling | None
) -> PassivityController:
    """Law for an arm that is seen like this; None: exactly, and torques act at once."""
    if sampling is None:
        return RobustPassivityController(model, gains, clock)
    return SensedPassivityController(model, gains, clock, sampling)
