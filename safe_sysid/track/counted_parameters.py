"""Which parameters the robust law counts on while it follows a plan.

    theta_0   of the plan, the one that the plan's reachable torque was computed with;
    [theta]   while the arm is to move: of the estimate there is when the plan begins if it is
              inside that of the plan, else that of the plan;
              while the arm is to stand still, on a plan that does and after the end of any other:
              that of the plan.

All are safe for what the arm holds when the plan begins. A plan is certified for its own bounds;
for a smaller [theta] that contains the truth, w_M and V_sup are smaller in every state, so lambda
is no larger, and the torque stays in the set that was certified. At rest something else may be
held from one sample to the next, of which only the plan's bounds have to know. An estimate that is
wider, or beside the plan's bounds, says something about another payload and never changes a motion
under way. As theta_0 may change, the torque can jump by W_s (theta_0 new - theta_0 old) where one
plan follows another; what the robust input counts on changes at rest, too.
"""

from __future__ import annotations

from safe_sysid.errors import BoundError
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval
from safe_sysid.track.robust_law import ParameterDeviation, uncertainty_of
from safe_sysid.trajectory.plan import Plan


class CountedParameters:
    """Deviations from theta_0 of one plan, in motion and at rest."""

    def __init__(self, model: RobotModel, plan: Plan, estimate: ParameterEstimate) -> None:
        certified, theta_0, size = plan.theta_bounds, plan.theta_0, model.layout.size
        if certified is None or theta_0 is None or theta_0.shape != (size,):
            raise BoundError(
                'a plan has to say which parameters it was certified for: theta_bounds and '
                f'theta_0, {size} entries each'
            )
        self._rests_from = 0.0 if plan.stands_still else plan.motion.duration  # [s]
        self._is_narrower = self._rests_from > 0.0 and certified.contains(estimate.bounds)
        self._certified, self._known = certified, estimate.bounds
        self._at_rest = uncertainty_of(model, theta_0, certified)
        self._in_motion = self._at_rest
        if self._is_narrower:
            self._in_motion = uncertainty_of(model, theta_0, estimate.bounds)

    def at(self, since_start: float) -> ParameterDeviation:
        """Deviation that counts so long after the start of the plan [s]."""
        return self._in_motion if since_start < self._rests_from else self._at_rest

    def bounds(self, since_start: float) -> Interval:
        """[theta] that counts then."""
        moves = since_start < self._rests_from
        return self._known if moves and self._is_narrower else self._certified
