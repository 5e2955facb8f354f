"""Retreat: the hand leaves what it has placed, along the line from there to its last joint.

Where an arm has let go of something its hand is still about it, and so are the shapes of what it
may hold, which stay those of the arm. Where these touch one placed object at rest, contact with it
is allowed to them as in `LiftOff`, along a way that leads off, until they have left it: a rest on
that way changes nothing. Elsewhere, and for all other parts of the arm, a placed object is an
obstacle like any.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.model.collision.capsules_to_box import clearances
from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.model.dynamics.forward_kinematics import joint_frames
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.reach.lift_off import LiftOff
from safe_sysid.sets.box import Box

HAND = 'the hand'
LEAST = 1e-6  # [m] between an object and the last joint, that a direction is told by


@dataclass(frozen=True)
class Retreat:
    """Which obstacles were placed, and what their contact with the hand is allowed for."""

    prefix: str  # of their names
    depth: float  # [m] as of `LiftOff`
    slide: float  # [m]

    def at(self, model: RobotModel, rest: Array, start: Array, among: Obstacles) -> LiftOff | None:
        """Return what plans may leave that begin at `start` after a rest; None: nothing.

        An object that the hand does not touch at rest is none of these, nor one that it is
        farther than `depth` from where the plans begin.
        """
        found: list[tuple[float, LiftOff]] = []
        tip = np.flatnonzero(model.capsules.joint == model.layout.tip)
        for name, shape in zip(among.names, among.shapes, strict=True):
            if not name.startswith(self.prefix) or type(shape) is not Box:
                continue
            away = clearances(model, rest, tip, shape)
            is_left = clearances(model, start, tip, shape).min() > self.depth
            if away.min() > 0.0 or is_left:
                continue
            told = (name, shape), self._capsules(model, tip[away <= self.depth])
            way = self._direction(model, rest, shape)
            lift = LiftOff.at(model, rest, *told, way, (self.depth, self.slide), HAND)
            found.append((float(away.min()), lift))
        return min(found, key=lambda each: each[0])[1] if found else None

    def rests_at(
        self, model: RobotModel, q: Array, before: Sequence[Array], among: Obstacles
    ) -> tuple[Array, ...]:
        """Return where the arm rests now, and the rest before whose contact it has yet to leave.

        A hand that comes to rest on its way off may be clear by less than errors need: it goes
        on leaving what it let go then.
        """
        left = [rest for rest in before if self.at(model, rest, q, among) is not None]
        return (q, *left[:1])

    def is_of(self, lift: LiftOff | None) -> bool:
        """Whether that is a placed object which the hand may leave."""
        return lift is not None and lift.name.startswith(self.prefix)

    def _capsules(self, model: RobotModel, which: IntArray) -> tuple[str, ...]:
        return tuple(model.capsules.names[c] for c in which)

    def _direction(self, model: RobotModel, rest: Array, shape: Box) -> Array:
        """From the middle of what was placed to the last joint; up, where that is no line."""
        way = np.asarray(joint_frames(model, rest)[1][model.layout.tip] - shape.center)
        length = float(np.linalg.norm(way))
        return way / length if length > LEAST else np.array([0.0, 0.0, 1.0])
