"""The search for a motion as an optimisation: criterion, linear limits, contact and torque rows.

The unknowns are the coefficients x (n, m) of a motion basis. Positions, velocities and
accelerations are linear in them, and the rows that limit them hold for all times, not only at
samples. Distances and torques are rows at samples, with room for what happens in between.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
import math
from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.excite.criteria import Criterion
from safe_sysid.excite.information import Information
from safe_sysid.model.collision.arm_distances import Contacts, near_slopes_into
from safe_sysid.model.dynamics.torque_rows import nominal_torque_into, torque_slopes_into
from safe_sysid.model.motion_objective import MotionObjective
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.tree import JointLimits
from safe_sysid.trajectory.motion_basis import Motion, MotionBasis

ENDLESS = 1e3  # [rad] where a joint has no limit
NEAR = 0.1  # [m] beyond the room: from here on distances have derivatives
UNUSED = 1e-6  # share of the ranges that the search leaves free, so that rounding can't break one
TORQUE_SCALE = 0.1  # a torque that is its whole limit off weighs as much as 0.1 m


@dataclass(frozen=True)
class Room:
    """What is kept free in the search, so that the result can be proven between the samples."""

    distance: float  # [m] between capsules, and to the floor
    torque: float  # share of the torque limits that is not used


class Rows(NamedTuple):
    """Inequalities row >= 0: values of all, and which can have derivatives."""

    values: Array  # (rows,)
    contact_slopes: Array  # (Nc, P + F, n) of those that are near
    states: Array  # (3, Nc, n)
    torque: Array  # (Nc, n)


@dataclass(frozen=True, eq=False)
class DesignProblem:
    """What a search needs to know about an arm, its surroundings and a motion basis."""

    information: Information
    contacts: Contacts
    basis: MotionBasis
    samples: Array  # (N,) [s] times that are judged
    checks: Array  # (Nc,) [s] times of contact and torque rows
    room: Room
    required: float  # [m] least distance that is proven in the end; of narrow pairs their share
    own: MotionObjective | None = None  # a user's cost beside the criterion

    @property
    def model(self) -> RobotModel:
        """The arm."""
        return self.information.model

    @property
    def shape(self) -> tuple[int, int]:
        """Of x."""
        return self.model.n, self.basis.count

    def criterion(self, criterion: Criterion, x: Array) -> tuple[float, Array]:
        """Value and its derivatives in x, a user's own cost included."""
        states = self.states(x)
        value, slopes = self.information.value_and_slopes(criterion, states)
        if self.own is not None:
            own = self.own.along(states, self.model.theta, self.samples)
            value, slopes = value + own.value, slopes + own.slopes
        gradient = np.zeros_like(x)
        for d in range(3):
            gradient += slopes[d].T @ self._sampled[d]
        return value, gradient

    def goal(self, criterion: Criterion, x: Array) -> float:
        """Return what motions are compared by; infinite where a user's own cost says no."""
        states = self.states(x)
        value = self.information.value(criterion, states)
        if self.own is None:
            return value
        own = self.own.along(states, self.model.theta, self.samples)
        return value + own.value if own.is_kept else math.inf

    def states(self, x: Array) -> Array:
        """q, qd, qdd at the samples that are judged, (3, N, n)."""
        return np.ascontiguousarray(self._sampled @ x.T)

    def rows(self, x: Array) -> Rows:
        """Contact and torque rows of a motion."""
        states = np.ascontiguousarray(self._checked @ x.T)
        count = len(self.contacts.names)
        gaps = np.empty((len(self.checks), count))
        slopes = np.zeros((len(self.checks), count, self.model.n))  # and 0 where nothing is near
        near = self.room.distance + NEAR
        near_slopes_into(self.contacts.bodies, states[0], near, gaps, slopes)
        torque = np.empty(states.shape[1:])
        layout = self.information.columns.layout
        nominal_torque_into(self.model.tree, self.model.theta, layout.smooth, states, torque)
        used = np.abs(torque) / (self.model.limits.torque * (1.0 - self.room.torque))
        asked = self.room.distance * self.contacts.share
        values = [(gaps - asked).ravel(), TORQUE_SCALE * (1.0 - used).ravel()]
        return Rows(np.concatenate(values), slopes, states, torque)

    def row_gradients(self, rows: Rows, active: IntArray) -> Array:
        """Return derivatives in x of the rows with the given numbers, (active, n m)."""
        count = len(self.contacts.names)
        contacts = len(self.checks) * count
        touching, straining = active[active < contacts], active[active >= contacts] - contacts
        times = touching // count
        slopes = rows.contact_slopes.reshape(contacts, self.model.n)[touching]
        near = slopes[:, :, None] * self._checked[0][times][:, None, :]
        near = near.reshape(len(touching), self.shape[0] * self.shape[1])
        return np.concatenate([near, self._torque_gradients(rows, straining)])

    def _torque_gradients(self, rows: Rows, active: IntArray) -> Array:
        if len(active) == 0:
            return np.zeros((0, self.shape[0] * self.shape[1]))
        times, joints = np.divmod(active, self.model.n)
        states = np.ascontiguousarray(rows.states[:, times])
        slopes = np.empty(states.shape)
        smooth = self.information.columns.layout.smooth
        torque_slopes_into(self.model.tree, self.model.theta, smooth, states, joints, slopes)
        limit = self.model.limits.torque[joints] * (1.0 - self.room.torque)
        size = -TORQUE_SCALE * np.sign(rows.torque[times, joints]) / limit
        gradients: Array = np.einsum('dak,dam,a->akm', slopes, self._checked[:, times], size)
        return gradients.reshape(len(active), -1)

    @cached_property
    def limits(self) -> tuple[Array, Array, Array]:
        """A (R, m) and lower, upper (n, R): lower <= A x_i <= upper keeps all limits, always."""
        A, lower, upper = linear_limits(self.basis, self.model.limits)
        kept = UNUSED * (upper - lower)
        return A, lower + kept, upper - kept

    @cached_property
    def _sampled(self) -> Array:
        return np.stack([self.basis.rows(self.samples, d) for d in range(3)])

    @cached_property
    def _checked(self) -> Array:
        return np.stack([self.basis.rows(self.checks, d) for d in range(3)])

    def motion(self, x: Array) -> Motion:
        """Return the motion with these coefficients."""
        return Motion(self.basis, x)


def linear_limits(basis: MotionBasis, limits: JointLimits) -> tuple[Array, Array, Array]:
    """Position, velocity and acceleration limits as linear rows in the coefficients of a joint."""
    low = np.where(np.isfinite(limits.position_lower), limits.position_lower, -ENDLESS)
    high = np.where(np.isfinite(limits.position_upper), limits.position_upper, ENDLESS)
    rates = [np.where(np.isfinite(x), x, ENDLESS) for x in (limits.velocity, limits.acceleration)]
    centers = [0.5 * (low + high), np.zeros_like(low), np.zeros_like(low)]
    radii = [0.5 * (high - low), *rates]
    blocks, lower, upper = [], [], []
    for d in range(3):
        A, share = basis.limiting_rows(d)
        blocks.append(A)
        ones = np.ones(len(A))
        lower.append(np.outer(centers[d] - share * radii[d], ones))
        upper.append(np.outer(centers[d] + share * radii[d], ones))
    return np.concatenate(blocks), np.hstack(lower), np.hstack(upper)
