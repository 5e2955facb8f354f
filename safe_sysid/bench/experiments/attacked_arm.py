"""An arm that is moved late, from event to event, with drives that err against r at all times.

Until the first torque acts r stays as it is, or drifts evenly. From then on a body of a simulator
moves on from the beginning of a torque, or a sample, to the next, in parts in which drives err the
same way. State and errors are those of the encoders without their steps; the body is off them by
the zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.late_attack import Attack, at_rest
from safe_sysid.bench.experiments.late_plans import LatePlans
from safe_sysid.model.dry_friction import DryFriction
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.simulate.simulated_arm import Dynamics
from safe_sysid.simulate.stribeck import StribeckCurve
from safe_sysid.track.robust_law import curve_of, desired_into

PARTS = 2  # of a period at least, in which drives err the same way
SHORTEST = 2e-4  # [s] of parts that are shorter where drives are slow
SOON = 1e-12  # [s] that is no time


class Motion(NamedTuple):
    """State of an arm at an instant, and how far it is from the plan in force, (n,) each."""

    t: float
    q: Array
    qd: Array
    e: Array
    r: Array


class AttackedArm:
    """One arm, on its plans, under one attack."""

    def __init__(
        self, plans: LatePlans, attack: Attack, simulator: Callable[[RobotModel], Dynamics]
    ) -> None:
        self._plans, self._attack = plans, attack
        self._curves = [(curve_of(plan), plan.start_time) for plan in plans.plans]
        self._gains = attack.described.gains
        self._body = simulator(attack.truth)
        self._friction = StribeckCurve(_without_load(attack))
        self._torque: Array | None = None  # that acts
        self.followed: Array | None = None  # what a slow drive has reached
        self._held: tuple[float, Array, Array]  # from when e and r are these
        self._now: Motion

    @property
    def now(self) -> Motion:
        """State, as it was reached last."""
        return self._now

    def come_to(self, first: float) -> None:
        """Let r come to what it is at `first`, when the first torque begins to act."""
        e, way, share, _ = self._attack.begin
        q = self._desired(first)[0] - e
        M, _ = at_rest(self._attack.truth, q + self._attack.zero)
        r = way * np.sqrt(2.0 * share * self._gains.V_M / (way @ M @ way))
        self._held = first, e, r

    def before(self, t: float) -> Motion:
        """State up to then, for e that changes as r says, which changes as it drifts."""
        first, e, r = self._held
        K, left, drift = self._gains.K_r, t - first, self._attack.begin.drift
        settled = r / K - drift / K**2
        error = (e - settled) * np.exp(-K * left) + settled + drift / K * left
        self._now = self._at(t, error, r + drift * left)
        return self._now

    def take(self, torque: Array) -> None:
        """Let a torque act from now on."""
        self._torque = torque

    def until(self, t: float) -> Iterator[Motion]:
        """Go on, and yield the state after each part."""
        if self._torque is None:
            yield self.before(t)
            return
        start, seconds = self._now.t, t - self._now.t
        if seconds <= SOON:
            return
        count = int(np.ceil(seconds / self._longest - 1e-9))
        for i in range(count):
            self._part(start + (i + 1) / count * seconds)
            yield self._now

    def energy(self, motion: Motion) -> float:
        """V of the arm as it is [J]."""
        M, _ = at_rest(self._attack.truth, motion.q + self._attack.zero)
        return 0.5 * float(motion.r @ M @ motion.r)

    @property
    def _longest(self) -> float:
        longest, slow = self._attack.sampling.period / PARTS, self._attack.slow
        return longest if slow == 0.0 else min(longest, max(slow, SHORTEST))

    def _part(self, end: float) -> None:
        t, q, qd, _, r = self._now
        assert self._torque is not None
        reached = self._reached(self._torque, end - t)
        off = self._gains.torque_ratio * np.abs(reached) + self._gains.torque_error
        if not self._friction.is_coulomb:
            self._body.set_coulomb(self._friction.at(qd, reached))
        zero = self._attack.zero
        q, qd = self._body.advance(q + zero, qd, reached - off * np.sign(r), end - t)
        self._now = self._of(end, q - zero, qd)

    def _reached(self, command: Array, seconds: float) -> Array:
        """Mean torque of a drive of first order over some time."""
        slow = self._attack.slow
        if slow == 0.0 or self.followed is None:
            self.followed = command
        if slow == 0.0:
            return command
        behind, x = self.followed - command, seconds / slow
        self.followed = command + behind * np.exp(-x)
        return np.asarray(command + behind * (-np.expm1(-x) / x))

    def _at(self, t: float, e: Array, r: Array) -> Motion:
        q_d, qd_d = self._desired(t)
        return Motion(t, q_d - e, qd_d - (r - self._gains.K_r * e), e, r)

    def _of(self, t: float, q: Array, qd: Array) -> Motion:
        q_d, qd_d = self._desired(t)
        e = q_d - q
        return Motion(t, q, qd, e, qd_d - qd + self._gains.K_r * e)

    def _desired(self, t: float) -> Array:
        curve, start = self._curves[self._plans.which(t)]
        desired = np.empty((2, self._attack.truth.n))
        desired_into(curve, t - start, desired)
        return desired


def _without_load(attack: Attack) -> RobotModel:
    """Return the arm, of whose friction that under load counts as an error of its drives."""
    facts = replace(attack.described.model.friction.facts, load=None)
    return replace(attack.truth, friction=DryFriction(facts))
