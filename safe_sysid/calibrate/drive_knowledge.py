"""Which friction and armature recordings tell: of what none is told, no figure may be written.

A joint that stands says nothing of either, and least squares makes any figure of its noise. A
semidefinite program ends at the edge of what may be: 1e-10 is such an edge and no measurement. And
a figure within its own uncertainty of 0, where that is no small part of the arm's torque, tells
nothing; where it is, the figure is small, which is worth more than anything up to a third of that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import AnyArray, Array, IntArray
from safe_sysid.calibrate.fit_columns import FitColumns
from safe_sysid.calibrate.uncertainty import FitUncertainty
from safe_sysid.model.friction import LABELS, units
from safe_sysid.model.robot_model import RobotModel

STANDING = 3.0  # times creep: tanh is 0.995 there
EDGE = 1e-6  # of what takes the whole torque limit: below, a figure is the edge of the program
SURE = 2.0  # standard deviations a figure has to be away from 0, where they are larger than
SMALL = 0.02  # of what takes the whole torque limit
OF_FRICTION = (
    'friction and armature of a joint. The files have 0 for them, which counts as unknown'
)
OF_BODIES = 'what bodies resist to a motion of a joint'
DRIVES = 3  # Coulomb and viscous friction, armature


@dataclass(frozen=True, eq=False)
class DriveKnowledge:
    """Figures of the drives and what speaks against each."""

    names: tuple[str, ...]
    figures: Array  # (3, n) Coulomb [N m], viscous [N m s/rad], armature [kg m^2]; of a joint
    # that slides: [N], [N s/m], [kg]
    deviation: Array  # (3, n) in the same units; 0 where a figure only shows in a combination
    speed: Array  # (n,) [rad/s, m/s] largest that was recorded
    slow: Array  # (n,) [rad/s, m/s] up to which a joint as good as stands
    slides: AnyArray  # (n,) joints that do not turn
    scale: Array  # (3, n) figures that take the whole torque limit
    behind_gear: bool  # torques are measured there: no figure of drives is written at all

    @property
    def standing(self) -> AnyArray:
        """Joints that hardly moved, (n,)."""
        slow: AnyArray = self.speed < STANDING * self.slow
        return slow

    @property
    def unknown(self) -> AnyArray:
        """Figures that recordings do not tell, (3, n)."""
        at_edge = self.figures < EDGE * self.scale
        is_wide = self.deviation > SMALL * self.scale
        unsure = (self.figures < SURE * self.deviation) & is_wide
        told_by_none: AnyArray = (at_edge | unsure | self.standing) & (not self.behind_gear)
        return told_by_none

    @property
    def unmeasured(self) -> AnyArray:
        """Figures that come of no motion or of no sensor and not of a measurement, (3, n)."""
        alike: AnyArray = np.tile(self.standing | self.behind_gear, (DRIVES, 1))
        return alike

    def cautions(self) -> tuple[str, ...]:
        """Sentences about joints and figures of which nothing is known."""
        said = []
        if self.standing.any():
            each = ', '.join(
                f'{self.names[j]} ({self.speed[j]:.2g} of {STANDING * self.slow[j]:.2g} '
                f'{"m/s" if self.slides[j] else "rad/s"})'
                for j in np.flatnonzero(self.standing)
            )
            said.append(
                f'hardly moved: {each}; below {STANDING:g} times creep nothing tells '
                f'{OF_BODIES if self.behind_gear else OF_FRICTION}. Record a motion of every joint'
            )
        small = self.unknown & ~self.standing
        if small.any():
            each = ', '.join(self._said(kind, j) for kind, j in np.argwhere(small))
            said.append(
                f'not told apart from 0: {each}. The files have 0 for them, which counts as '
                'unknown; a motion with more speed or acceleration of these joints may tell them'
            )
        return tuple(said)

    def _said(self, kind: int, joint: int) -> str:
        figure, deviation = self.figures[kind, joint], self.deviation[kind, joint]
        around = f' +- {deviation:.2g}' if deviation > 0.0 else ''
        unit = units(bool(self.slides[joint]))[kind]
        return f'{self.names[joint]}.{LABELS[kind]} {figure:.2g}{around} {unit}'


def drive_knowledge(
    model: RobotModel,
    columns: FitColumns,
    fitted: tuple[Array, FitUncertainty],
    velocities: list[Array],
) -> DriveKnowledge:
    """Return what a fit (factors, their uncertainty) of motions (N, n) [rad/s] knows of drives."""
    x, uncertainty = fitted
    n = model.n
    place = np.arange(10 * n, (10 + DRIVES) * n).reshape(DRIVES, n)
    alone = uncertainty.deviation_alone()
    deviation = np.vectorize(lambda column: alone.get(int(column), 0.0), otypes=[float])(place)
    speed = np.max([np.abs(qd).max(axis=0) for qd in velocities], axis=0)
    return knowledge_of_joints(model, columns, np.arange(n), (x[place], deviation), speed)


def knowledge_of_joints(
    model: RobotModel,
    columns: FitColumns,
    joints: IntArray,
    found: tuple[Array, Array],
    speed: Array,
) -> DriveKnowledge:
    """Return what figures of some joints and their deviations (3, k) are worth."""
    torque, velocity, acceleration = (
        np.where(np.isfinite(most) & (most > 0.0), most, 1.0)[joints]
        for most in (model.limits.torque, model.limits.velocity, model.limits.acceleration)
    )
    return DriveKnowledge(
        names=tuple(columns.layout.joint_names[j] for j in joints),
        figures=found[0],
        deviation=found[1],
        speed=speed,
        slow=columns.slow(model)[joints],
        slides=model.tree.is_prismatic[joints],
        scale=np.array([torque, torque / velocity, torque / acceleration]),
        behind_gear=model.sensors.sensing.torque.sensor == 'link',
    )
