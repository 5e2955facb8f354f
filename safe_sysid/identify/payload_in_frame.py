"""The payload by itself, in the frame a controller wants it, and what is certain of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import ModelError
from safe_sysid.identify.last_body import bodies_up_to
from safe_sysid.model import inertia
from safe_sysid.model.arm import Arm
from safe_sysid.model.arm_knowledge import ArmKnowledge
from safe_sysid.model.urdf_tree import Frame, read_urdf
from safe_sysid.sets.interval import Interval

ROUNDING = 1e-14  # relative
NOT_NEGATIVE = [0, 4, 6, 9]  # mass and moments of inertia
SOME = 1e-9  # [kg] that are not rounding
IN_TIP = 'without what was on the flange at calibration'  # words of a body's `contains`
THINNEST = 1e-6  # least eigenvalue of a pseudo-inertia, as share of the largest


@dataclass(frozen=True, eq=False)
class Body:
    """Ten parameters about the origin of a frame, nominal and with their bounds."""

    frame: str
    nominal: Array  # (10,)
    bounds: Interval  # (10,)
    assumed: tuple[str, ...] = ()  # what the bounds rest on and nobody stated
    kind: str | None = None  # of the bounds, where they are of another kind than bounds on one
    # recording
    contains: str = ''  # what of all that the last joint moves it is, in words
    caution: str = ''  # why the bounds may not hold, as whoever found them says

    @property
    def mass(self) -> float:
        """Nominal [kg]."""
        return float(self.nominal[0])

    @property
    def com(self) -> Array:
        """Nominal centre of mass [m], (3,)."""
        return self._mass_com_inertia()[1]

    @property
    def inertia(self) -> Array:
        """Nominal, about the centre of mass, axes of the frame [kg m^2], (3, 3)."""
        return self._mass_com_inertia()[2]

    @property
    def com_bounds(self) -> Interval:
        """Every centre of mass that the bounds allow, (3,); unbounded if the mass may be 0."""
        if self.bounds.lower[0] <= 0.0:
            return Interval(np.full(3, -np.inf), np.full(3, np.inf))
        return self.bounds[1:4] / self.bounds[0:1]

    @property
    def inertia_bounds(self) -> Interval:
        """[xx, xy, yy, xz, yz, zz] about the centre of mass that the bounds allow, (6,)."""
        if self.bounds.lower[0] <= 0.0:
            return Interval(np.full(6, -np.inf), np.full(6, np.inf))
        x, y, z = (self.bounds[1 + i : 2 + i] for i in range(3))
        m = self.bounds[0:1]
        squares = [a.square() / m for a in (x, y, z)]
        shift = [
            squares[1] + squares[2], -(x * y / m), squares[0] + squares[2],
            -(x * z / m), -(y * z / m), squares[0] + squares[1],
        ]  # fmt: skip
        parts = [self.bounds[4 + i : 5 + i] - shift[i] for i in range(6)]
        return Interval(
            np.concatenate([p.lower for p in parts]), np.concatenate([p.upper for p in parts])
        )

    def sentence(self, name: str) -> str:
        """Say what it weighs and where its centre is, with bounds.

        The distance of the centre is bounded by the largest and smallest of its box.
        """
        low, high = float(self.bounds.lower[0]), float(self.bounds.upper[0])
        said = f'{name} weighs {self.mass:.2f} kg: {low:.2f} to {high:.2f} kg'
        com = self.com_bounds
        if not (np.isfinite(com.lower).all() and np.isfinite(com.upper).all()):
            return f'{said}; where its centre is has no bounds'
        square = com.square().sum()
        least, most = np.sqrt(np.maximum(square.lower, 0.0)), np.sqrt(square.upper)
        return (
            f'{said}; its centre is {100 * float(np.linalg.norm(self.com)):.0f} cm from '
            f'{self.frame}: {100 * least:.0f} to {100 * most:.0f} cm'
        )

    def _mass_com_inertia(self) -> tuple[Array, Array, Array]:
        if not self.nominal[0] > 0.0:
            raise ModelError(
                f'the mass of the payload is {self.nominal[0]:.4g} kg: there is none, or what the '
                'URDF says about the last link is wrong'
            )
        return inertia.mass_com_inertia(self.nominal)


def payload_of(
    arm: Arm, nominal: Array, bounds: Interval, flange: str, known: ArmKnowledge
) -> Body:
    """Return what the last joint carries beyond `tip`, up to which all links are the arm's own."""
    link = _up_to_tip(arm)
    there = float(arm.model.own_end_effector[0] - link[0])
    contains = f'all that the last joint carries beyond the link {arm.facts.tip}'
    if there > SOME:
        contains += f', with {there:.3g} kg that the URDF has there'
    if arm.facts.gripper_in_tip:
        contains += f', {IN_TIP}'
    return replace(_without(arm, nominal, bounds, flange, known, link), contains=contains)


def mounted_beyond(arm: Arm, flange: str) -> Array:
    """Return what the URDF has beyond `tip`, ten parameters about the frame of the flange."""
    mounted = arm.model.own_end_effector - _up_to_tip(arm)
    if mounted[0] <= SOME:
        return np.zeros(10)
    there: Array = into_frame(arm.model.frames[flange]) @ mounted
    return there


def _up_to_tip(arm: Arm) -> Array:
    """Return the links from the last joint to `tip`, ten parameters about the joint."""
    bodies = bodies_up_to(arm.facts.tip, read_urdf(arm.urdf), arm.model)
    link: Array = sum(bodies.values(), np.zeros(10))
    return link


def object_of(
    arm: Arm, nominal: Array, bounds: Interval, flange: str, known: ArmKnowledge
) -> Body:
    """Return what the last joint carries beyond all that the URDF has there, a gripper too."""
    own = arm.model.own_end_effector
    contains = 'the object alone, without all that the URDF has on the last joint'
    return replace(_without(arm, nominal, bounds, flange, known, own), contains=contains)


def _without(
    arm: Arm, nominal: Array, bounds: Interval, flange: str, known: ArmKnowledge, link: Array
) -> Body:
    frames = arm.model.frames
    if flange not in frames or frames[flange].joint != arm.model.layout.tip:
        fixed = [name for name, frame in frames.items() if frame.joint == arm.model.layout.tip]
        raise ModelError(f"'{flange}' is not fixed to the last joint; these links are: {fixed}")
    n = arm.model.n
    width = known.body_widths(np.tile(link, (n, 1)))[arm.model.layout.tip]
    spread = Interval.from_center_radius(link, width)
    matrix, payload = into_frame(frames[flange]), bounds - spread
    rounding = ROUNDING * np.abs(matrix) @ payload.magnitude  # of the entries of the matrix
    turned = _possible(matrix @ payload + Interval(-rounding, rounding), arm.facts.tip)
    return Body(flange, nearest_body(matrix @ (nominal - link), turned), turned)


def _possible(bounds: Interval, tip: str) -> Interval:
    """Bounds without what no body has: a mass or moments of inertia below 0."""
    for place in NOT_NEGATIVE:
        if bounds.upper[place] < 0.0:
            raise ModelError(
                f'{inertia.LABELS[place]} of the payload is {bounds.upper[place]:.4g} '
                f'{inertia.UNITS[place]} at most, below 0: the link {tip} of the arm is not what '
                'its URDF says; weigh it, or give --known-links what it needs'
            )
    lower = bounds.lower.copy()
    lower[NOT_NEGATIVE] = np.maximum(lower[NOT_NEGATIVE], 0.0)
    return Interval(lower, bounds.upper)


def nearest_body(nominal: Array, bounds: Interval) -> Array:
    """Return the parameters, or a consistent body near them within the bounds.

    What is left of a body without a part of it need not be one when both are uncertain.
    """
    if inertia.is_consistent(nominal):
        return nominal
    nominal = np.clip(nominal, bounds.lower, bounds.upper)
    values, vectors = np.linalg.eigh(inertia.pseudo_inertia(nominal))
    raised = np.maximum(values, THINNEST * np.abs(values).max())
    near: Array = inertia.from_pseudo_inertia(vectors @ np.diag(raised) @ vectors.T)
    return near if bounds.contains(near) and inertia.is_consistent(near) else nominal


def into_frame(frame: Frame) -> Array:
    """Matrix that describes a body given in the frame of the joint in this frame, (10, 10)."""
    return np.column_stack([inertia.moved(e, frame.R.T, -frame.R.T @ frame.p) for e in np.eye(10)])
