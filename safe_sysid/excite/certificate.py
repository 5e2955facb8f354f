"""Proof that a motion keeps every limit and its distances at all times, not only at samples.

Position, velocity and acceleration: rows that bound them at all times (`limiting_rows`).

Distance: over a cell of time of length h, joint j is never further from where it is in the middle
than r_j = abs(qd_j) h / 2 + max abs(qdd_j) h^2 / 8, and that moves a point of a capsule by no more
than r_j times its largest possible distance from the joint. The distance of two capsules changes
by no more than the sum over the joints between them. Cells in which that leaves too little are
halved.

Torque: intervals of q, qd and qdd over a cell, from the same bound and those of the next two
derivatives, go through Newton-Euler on intervals.

Assumptions: the arm follows the motion exactly, its dimensions are those of the model, its
capsules contain it, pairs that are not listed cannot touch, the floor is a plane of constant
height; for the torque, theta is nominal. Sums of floats are covered by 1e-9 of what is claimed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import AnyArray, Array
from safe_sysid.excite.design_problem import linear_limits
from safe_sysid.model.collision.arm_distances import Contacts, distances_into
from safe_sysid.model.dynamics.interval_dynamics import torque_enclosure
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.tree import JointLimits
from safe_sysid.sets.interval import Interval
from safe_sysid.trajectory.motion_basis import Motion

FIRST_CELL = 0.02  # [s]
HALVINGS = 9  # down to 0.04 ms
ROUNDING = 1e-9  # m, and share of a limit
TIGHTER = 1e-9  # of the time that cells overlap by, so that rounding leaves no gap


@dataclass(frozen=True)
class MotionCertificate:
    """What is proven of a motion; a failed part says where and by how much."""

    distance: float  # [m] proven smallest distance between anything listed, at all times,
    # and its share of that between what is narrow
    nearest: str  # what has no more
    position: float  # share of its limit that is used at most, over all joints and times
    velocity: float
    acceleration: float
    torque: float
    failures: tuple[str, ...]  # sentences; empty when everything is proven

    @property
    def holds(self) -> bool:
        """Whether every limit and the required distance are proven."""
        return not self.failures


def certify(
    model: RobotModel, contacts: Contacts, motion: Motion, required: float
) -> MotionCertificate:
    """Prove that a motion keeps all limits of an arm and a required distance [m]."""
    distance, nearest = proven_distance(contacts, motion, required)
    position, velocity, acceleration = limit_shares(motion, model.limits)
    torque, joint = torque_share(model, motion)
    failures = []
    if not distance >= required:
        come, asked = (1e3 * contacts.narrow(d).get(nearest, d) for d in (distance, required))
        failures.append(f'{nearest} come within {come:.2f} mm, {asked:.2f} mm are required')
    names = model.layout.joint_names
    shares = {'position': position, 'velocity': velocity, 'acceleration': acceleration}
    for what, share in shares.items():
        if not share.max() <= 1.0:
            at = int(np.argmax(share))
            failures.append(
                f'{what} of joint {names[at]} reaches {100 * share[at]:.2f} % of its limit'
            )
    if not torque <= 1.0:
        failures.append(f'torque of joint {names[joint]} may reach {100 * torque:.1f} %')
    largest = {what: float(share.max()) for what, share in shares.items()}
    return MotionCertificate(distance, nearest, **largest, torque=torque, failures=tuple(failures))


def limit_shares(motion: Motion, limits: JointLimits) -> tuple[Array, Array, Array]:
    """Share of the position, velocity and acceleration limits that is used at most, (n,) each."""
    A, lower, upper = linear_limits(motion.basis, limits)
    at = motion.x @ A.T
    center, radius = 0.5 * (lower + upper), 0.5 * (upper - lower)
    used = np.abs(at - center) / radius
    counts = [len(motion.basis.limiting_rows(d)[0]) for d in range(3)]
    position, velocity, acceleration = np.split(used, np.cumsum(counts)[:-1], axis=1)
    room = 1.0 + ROUNDING
    return (
        position.max(axis=1) * room,
        velocity.max(axis=1) * room,
        acceleration.max(axis=1) * room,
    )


def proven_distance(contacts: Contacts, motion: Motion, required: float) -> tuple[float, str]:
    """Return a distance that nothing falls below at any time, and what is nearest.

    Narrow pairs (`Contacts.share`) do not fall below their share of it. Cells are halved until
    they prove `required`; a distance below it comes from a cell that could not be halved further,
    or from a pose that breaks it.
    """
    if not contacts.names:
        return np.inf, 'nothing'
    middles, half = _first_cells(motion.basis.duration)
    worst, pair = np.inf, 0
    fastest = motion.bound(2)
    for halving in range(HALVINGS + 1):
        q, qd = (motion.derivative(middles, d) for d in range(2))
        gaps = np.empty((len(middles), len(contacts.names)))
        distances_into(contacts.bodies, np.ascontiguousarray(q), gaps)
        turns = np.abs(qd) * half + 0.5 * fastest * half**2  # (cells, n)
        least = (gaps - turns @ contacts.bodies.reach.T - ROUNDING) / contacts.share
        gaps /= contacts.share
        broken: AnyArray = np.any(gaps < required, axis=1)
        open_cells: AnyArray = np.any(least < required, axis=1)
        final = ~open_cells | broken | (halving == HALVINGS)
        if final.any():
            bounds = np.where(broken[:, None], np.minimum(gaps, least), least)[final].min(axis=0)
            if bounds.min() < worst:
                worst, pair = float(bounds.min()), int(np.argmin(bounds))
        if broken.any() or not (open_cells & ~final).any():
            break
        middles, half = _halved(middles[open_cells], half)
    return worst, contacts.names[pair]


def torque_share(model: RobotModel, motion: Motion) -> tuple[float, int]:
    """Largest share of the torque limits at any time, from above, and the joint it is of."""
    middles, half = _first_cells(motion.basis.duration)
    bounds = [motion.bound(d) for d in (2, 3, 4)]
    worst, joint = 0.0, 0
    for halving in range(HALVINGS + 1):
        share = _cell_torques(model, motion, middles, half, bounds)
        open_cells: AnyArray = np.any(share > 1.0, axis=1)
        broken = halving == HALVINGS
        if open_cells.any() and not broken:
            at_middle = _cell_torques(model, motion, middles[open_cells], 0.0, bounds)
            broken = bool((at_middle > 1.0).any())
        final = share if broken else share[~open_cells]
        if len(final) and final.max() > worst:
            worst, joint = float(final.max()), int(np.argmax(final.max(axis=0)))
        if broken or not open_cells.any():
            break
        middles, half = _halved(middles[open_cells], half)
    return worst, joint


def _cell_torques(
    model: RobotModel, motion: Motion, middles: Array, half: float, bounds: list[Array]
) -> Array:
    """Largest abs of the torque in each cell over its limit, (cells, n)."""
    around = []
    for d in range(3):
        slope = np.abs(motion.derivative(middles, d + 1))
        center = motion.derivative(middles, d)
        radius = slope * half + 0.5 * bounds[d] * half**2 + ROUNDING * (1.0 + np.abs(center))
        around.append(Interval.from_center_radius(center, radius))
    torque = torque_enclosure(model, *around)
    shares: Array = torque.magnitude / model.limits.torque
    return shares


def _first_cells(duration: float) -> tuple[Array, float]:
    """Middles and half length of the cells that cover a motion."""
    count = int(np.ceil(duration / FIRST_CELL))
    half = 0.5 * duration / count
    middles = (2.0 * np.arange(count, dtype=np.float64) + 1.0) * half
    return middles, half * (1.0 + TIGHTER)


def _halved(middles: Array, half: float) -> tuple[Array, float]:
    return np.concatenate([middles - 0.5 * half, middles + 0.5 * half]), half * 0.5 * (
        1.0 + TIGHTER
    )
