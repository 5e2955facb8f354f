"""What reachable sets are made for: an arm, its parameters, its plans, its gains and obstacles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError
from safe_sysid.model.collision.obstacles import Obstacles, PackedObstacles
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.reach.lift_off import LiftOff, Standing
from safe_sysid.reach.retreat import Retreat
from safe_sysid.track.gains import Gains
from safe_sysid.track.seen_law import Sampling, SeenLaw


@dataclass(frozen=True, eq=False)
class Problem:
    """What sets are made for."""

    model: RobotModel
    bounds: ParameterEstimate
    horizon: Horizon
    gains: Gains
    obstacles: Obstacles
    error_at_start: Array | None = None  # (n, n) shape of an ellipsoid with e; None: from rest
    sampling: Sampling | None = None  # how the arm is seen; None: exactly, and torques act at once
    before: SeenLaw | None = None  # law of the plan that plans of the horizon go on from
    lift: LiftOff | None = None  # a support that the payload may leave; it is no obstacle
    standing: Standing | None = None  # what the payload is said to stand on when the arm rests
    retreat: Retreat | None = None  # how the hand may leave what it has placed

    def __post_init__(self) -> None:
        capsules = self.model.capsules
        if not np.any(capsules.joint >= 0):
            raise BoundError(
                f'the arm {self.model.name} has no collision shapes on its moving links, so '
                'nothing can be said about contact; add capsules under `collision` in its settings'
            )
        numbers = (capsules.a, capsules.b, capsules.radius)
        if not all(np.all(np.isfinite(x)) for x in numbers) or np.any(capsules.radius <= 0.0):
            raise BoundError(
                f'capsules of the arm {self.model.name} need finite end points and radii above 0; '
                f'radii are {capsules.radius}'
            )
        if self.lift is not None and self.lift.name in self.obstacles.names:
            raise BoundError(
                f"'{self.lift.name}' is an obstacle, and what the payload is lifted off; it can "
                'be only one of these'
            )
        if not np.all(self.model.limits.torque > 0.0):
            raise BoundError(
                f'torque limits {self.model.limits.torque} of {self.model.name} have to be above 0'
            )

    def rests_at(self, q: Array, before: Sequence[Array]) -> tuple[Array, ...]:
        """Return where an arm rests, and earlier rests that its plans have yet to leave."""
        if self.retreat is None:
            return (q,)
        return self.retreat.rests_at(self.model, q, before, self.obstacles)

    def lifting(self, rest: Array, *before: Array) -> Problem:
        """Return the same for plans that may leave, after rests, what the arm touches there.

        That is a placed object that the hand is about, or was `before`, or what the payload
        stands on.
        """
        if self.standing is None and self.retreat is None:
            return self
        lift, start = None, self.horizon.curve.q0
        if self.retreat is not None:
            at, among = self.retreat.at, self.obstacles
            found = (at(self.model, each, start, among) for each in (rest, *before))
            lift = next((each for each in found if each is not None), None)
        if lift is None and self.standing is not None:
            lift = self.standing.at(self.model, rest, self.obstacles)
        if lift is None:
            return replace(self, lift=None)
        return replace(self, lift=lift, obstacles=self.obstacles.without(lift.name))

    @cached_property
    def packed_obstacles(self) -> PackedObstacles:
        """Obstacles in every time step of the horizon."""
        return self.obstacles.over(self.horizon.time)

    @property
    def promised(self) -> Gains:
        """Gains with the V_M that errors are bounded for.

        Of an arm that is seen late a little more, as the proof that V <= V_M wants (`invariance`).
        """
        return self.gains if self.sampling is None else _a_little_more(self.gains)


@lru_cache(maxsize=8)  # what is kept of gains is kept of these, too
def _a_little_more(gains: Gains) -> Gains:
    return replace(gains, V_M=gains.V_M * (1.0 + 1e-9))
