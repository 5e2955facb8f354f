"""LiftOff: what the arm holds stands on something, which it may touch until it has left it.

Contact with one support is allowed to capsules of the payload, to no others, and only along a
way that leads off. In time steps up to the last one in which the payload is not proven clear, the
end points of its axes

    drop    are never lower, along the direction of the lift, than they rested, or were to be at
            any time before on this plan, by more than `depth`,
    slide   are never farther beside where they rested than `slide`,

so all points of the axes are; from the next step on the payload is clear. A plan that presses
down, slides along or comes back is not certified. Both allowances have to be larger than what
tracking errors may do to the payload. Where the arm is, not what contact does to it, is proven:
of the support's force nothing is known.

A plan that goes on from another one, and a piece from the piece before it, takes over what is
left of the leave (`LiftProgress`): once the payload is proven clear it has to stay so, and until
then "before" means since it rested, on whichever plan. A rest where a plan begins anew is another
one, with a leave of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.errors import BoundError
from safe_sysid.model.collision.moving_box import MovingBox
from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.model.collision.sphere_cover import Shapes
from safe_sysid.model.dynamics.forward_kinematics import joint_frames
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.reach.clearance import Points
from safe_sysid.reach.margin import LIFT_OFF, Margin
from safe_sysid.reach.nearest_obstacle import EnclosedArm
from safe_sysid.sets.box import Box, finite_array
from safe_sysid.sets.interval import EPS, Interval

if TYPE_CHECKING:
    import numpy.typing as npt

NOT_UNIT = 1e-9  # of the length of a direction
HELD = 'what is held'


@dataclass(frozen=True)
class Standing:
    """Which obstacle the payload stands on, wherever the arm rests; see `LiftOff`."""

    support: str
    payload: tuple[str, ...]  # names of capsules
    direction: tuple[float, float, float]
    depth: float  # [m]
    slide: float  # [m]

    def at(self, model: RobotModel, q: Array, obstacles: Obstacles) -> LiftOff | None:
        """Return what is allowed to an arm that rests at q; None: there is no such support."""
        if self.support not in obstacles.names:
            return None
        shape = obstacles.shapes[obstacles.names.index(self.support)]
        if not isinstance(shape, Box):
            raise BoundError(f"support '{self.support}' is no box; nothing is lifted off it")
        told = (self.support, shape), self.payload, self.direction, (self.depth, self.slide)
        return LiftOff.at(model, q, *told)


@dataclass(frozen=True, eq=False)
class LiftOff:
    """Support, capsules of the payload and where their end points rested."""

    name: str  # of the support
    support: Box
    capsules: IntArray  # (c,) of the payload
    rest: Array  # (2, c, 3) [m] their end points a and b
    direction: Array  # (3,) of unit length, in the base
    depth: float  # [m]
    slide: float  # [m]
    what: str = HELD  # these capsules are
    highest: Array | None = None  # (2, c) [m] of the end points before a plan; None: they rested
    is_left: bool = False  # it was proven clear before a plan, and touches nothing any more

    @staticmethod
    def at(
        model: RobotModel,
        q: npt.ArrayLike,
        support: tuple[str, Box],
        payload: Sequence[str],
        direction: npt.ArrayLike,
        allowed: tuple[float, float],
        what: str = HELD,
    ) -> LiftOff:
        """Capsules on a support where the arm is at q; `allowed` are depth and slide [m]."""
        along = finite_array(direction, (3,), 'direction of a lift')
        if abs(np.linalg.norm(along) - 1.0) > NOT_UNIT:
            raise BoundError(f'the direction {along.tolist()} of a lift has to be of length 1')
        if not min(allowed) > 0.0 or not np.all(np.isfinite(allowed)):
            raise BoundError(f'depth and slide {allowed} of a lift have to be above 0')
        if isinstance(support[1], MovingBox):
            raise BoundError(f"'{support[0]}' moves; nothing is lifted off what moves")
        known = model.capsules.names
        unknown = [name for name in payload if name not in known]
        if unknown or not payload:
            raise BoundError(f'payload {list(payload)} of a lift; capsules are {list(known)}')
        # a payload that is also in the library has its capsules twice
        capsules = np.flatnonzero([name in payload for name in known])
        R, p = joint_frames(model, np.asarray(q, dtype=np.float64))
        joint = model.capsules.joint[capsules]
        if np.any(joint < 0):
            raise BoundError(f'payload {list(payload)} of a lift has to be moved by a joint')
        ends = [
            np.einsum('cij,cj->ci', R[joint], end[capsules]) + p[joint]
            for end in (model.capsules.a, model.capsules.b)
        ]
        return LiftOff(*support, capsules, np.stack(ends), along, *allowed, what)

    def margin(
        self, points: Points, shapes: Shapes, names: tuple[str, ...], time: Interval
    ) -> Margin:
        """Smallest margin of one plan: of the payload as above, of all else from the support."""
        others = self._of_others(points, shapes, names, time)
        clear = self._clear(points, shapes)
        until = self._until(clear)
        value = np.where(np.arange(len(clear)) < until, self._kept(points), clear)
        t = int(np.argmin(value))  # the first NaN, when there is one
        may = 'has left' if self.is_left else f'may touch until {self._time(time, until)}'
        where = f'{self.what} and {self.name}, which it {may}'
        steps = float(time.lower[t]), float(time.upper[t])
        own = Margin(LIFT_OFF, float(value[t]), where, steps, float(value[t]), 0.0, 'm')
        return others if others is not None and others.margin < own.margin else own

    def progress(self, points: Points, shapes: Shapes, time: Interval) -> LiftProgress:
        """Return what one plan leaves of this leave at each of its times."""
        highest = np.maximum.accumulate(self._heights(points), axis=0)
        return LiftProgress(self, time, self._until(self._clear(points, shapes)), highest)

    def _until(self, clear: Array) -> int:
        """Return how many time steps there are up to the last one that allows for contact."""
        touching = np.flatnonzero(~(clear > 0.0))
        return 0 if self.is_left or not len(touching) else int(touching[-1]) + 1

    def _heights(self, points: Points) -> Array:
        """Return how far along the lift the end points are to be, or were before, (T, 2, c)."""
        half = points.rho.shape[1] // 2
        place = np.stack([points.center[:, self.capsules + end * half] for end in (0, 1)], axis=1)
        before = 0.0 if self.highest is None else self.highest
        return np.maximum((place - self.rest) @ self.direction, before)

    def _time(self, time: Interval, until: int) -> str:
        return 'it starts' if until == 0 else f'{float(time.upper[until - 1]):.2f} s'

    def _clear(self, points: Points, shapes: Shapes) -> Array:
        """Clearance of the payload from the support in every time step, (T,)."""
        half, smallest = points.rho.shape[1] // 2, np.full(len(points.center), np.inf)
        for sphere in np.flatnonzero(np.isin(shapes.sphere_capsule, self.capsules)):
            a, s = int(shapes.sphere_capsule[sphere]), float(shapes.sphere_weight[sphere])
            center = (1.0 - s) * points.center[:, a] + s * points.center[:, a + half]
            rho = (1.0 - s) * points.rho[:, a] + s * points.rho[:, a + half]
            size = np.abs(points.center[:, [a, a + half]]).sum(axis=(1, 2)) + rho
            away = self.support.distance(center)[0] - shapes.sphere_radius[sphere] - rho
            smallest = np.minimum(smallest, away - 16.0 * EPS * (size + 1.0))
        return smallest

    def _kept(self, points: Points) -> Array:
        """Return what is left of depth and slide in every time step, (T,)."""
        half = points.rho.shape[1] // 2
        smallest = np.full(len(points.center), np.inf)
        above = np.maximum.accumulate(self._heights(points), axis=0)
        for which, rest in enumerate(self.rest):
            place = points.center[:, self.capsules + which * half]
            rho = points.rho[:, self.capsules + which * half]
            away = place - rest
            height = away @ self.direction
            beside = away - height[..., None] * self.direction
            drop = self.depth - (above[:, which] - (height - rho))
            slide = self.slide - (np.linalg.norm(beside, axis=-1) + rho)
            rounding = 64.0 * EPS * (np.abs(place).sum(axis=-1) + np.abs(rest).sum(axis=-1) + rho)
            smallest = np.minimum(smallest, (np.minimum(drop, slide) - rounding).min(axis=1))
        return smallest

    def _of_others(
        self, points: Points, shapes: Shapes, names: tuple[str, ...], time: Interval
    ) -> Margin | None:
        """Clearance of all capsules but those of the payload from the support."""
        kept = ~np.isin(shapes.sphere_capsule, self.capsules)
        if not np.any(kept):
            return None
        fewer = shapes._replace(
            sphere_capsule=shapes.sphere_capsule[kept],
            sphere_weight=shapes.sphere_weight[kept],
            sphere_radius=shapes.sphere_radius[kept],
        )
        arm, support = EnclosedArm.of(points, fewer), Obstacles.of({self.name: self.support})
        value, t, capsule, _ = arm.nearest(support, time, 0)
        steps = float(time.lower[t]), float(time.upper[t])
        where = f'{names[capsule]} and {self.name}'
        return Margin(LIFT_OFF, value, where, steps, value, 0.0, 'm')


@dataclass(frozen=True, eq=False)
class LiftProgress:
    """What is left of a leave on one certified plan."""

    lift: LiftOff  # as the plan begins
    time: Interval  # (T,) [s] steps since its start
    until: int  # steps after which the payload is proven clear to the end of the plan
    highest: Array  # (T, 2, c) [m] that the end points were to be up to each step

    def at(self, t: float) -> LiftOff:
        """Return the leave of plans that go on from this one at a time since its start [s]."""
        clear_from = self.time.lower[self.until] if self.until < len(self.highest) else np.inf
        step = int(np.searchsorted(self.time.upper, t))
        highest = self.highest[min(step, len(self.highest) - 1)]
        return replace(self.lift, highest=highest, is_left=bool(t >= clear_from))
