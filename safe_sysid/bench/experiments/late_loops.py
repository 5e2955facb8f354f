"""Closed loops of an arm that is read in steps and moved late, from V = 0.999 V_M, at its worst.

Certified plans follow each other in motion. All that is unknown of the arm is at an end of its
bounds, and what it does meanwhile is as `late_attack` has it. Promises are looked at in all parts
in which drives err the same way, between samples too. So are claims of the proof, which spare less
than the promises do:

    r at a sample             is within the half width that is observed
    r when its torque begins  is within sigma of what that is made of, in the norm of M of the law
    times of a torque         it acts within `half` of the middle of its time

The same loops with laws that lack a term, or for an arm of which a figure is not known
(`lacking_laws`), show which of them are needed.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.attacked_arm import AttackedArm, Motion
from safe_sysid.bench.experiments.lacking_laws import Change, changed, whole
from safe_sysid.bench.experiments.late_arm import truth_of
from safe_sysid.bench.experiments.late_attack import (
    Attack,
    at_rest,
    random_attack,
    samples_before,
)
from safe_sysid.bench.experiments.late_plans import LatePlans
from safe_sysid.errors import SafeSysidError
from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.collision.contact import ContactGauge
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.simulate.rigid_body import RigidBody
from safe_sysid.simulate.simulated_arm import Dynamics
from safe_sysid.track.robust_law import Q, R
from safe_sysid.track.seen_law import SeenLaw
from safe_sysid.track.sensed_passivity import SensedPassivityController

END = 0.8  # [s]
KINDS = ('energy', 'position', 'velocity', 'torque', 'limits')
CLAIMS = ('r at a sample', 'r when its torque begins', 'times of a torque')
GAUGED = 100  # samples from one look at clearances to the next

Simulator = Callable[[RobotModel], Dynamics]


class LateLoop(NamedTuple):
    """Largest share of each promise and claim, and the least clearance [m]."""

    shares: dict[str, float]
    clearance: float
    refusal: str  # why the controller gave no torque any more
    energy: Array  # V / V_M, sample by sample
    claims: dict[str, float]

    @property
    def is_broken(self) -> bool:
        """Whether any promise was."""
        return bool(self.broken)

    @property
    def broken(self) -> list[str]:
        """Names of promises that were broken."""
        named = [kind for kind in KINDS if self.shares[kind] > 1.0]
        named += ['clearance'] * (self.clearance <= 0.0)
        return named + ['no torque any more'] * bool(self.refusal)


class FromTheBound(SensedPassivityController):
    """Begins where V is so near to V_M that it cannot see it is below, and never gives up."""

    def _refuse_start(self, *_: object) -> None:
        self._begins = False

    def _refuse_broken_promise(self, *_: object) -> None:
        pass

    @property
    def expected(self) -> tuple[Array, Array]:
        """Position, and r when the torque of the last step begins to act, as the law has them."""
        state = self._work.state
        return state[Q, 0].copy(), state[R, 0].copy()


def late_loop(
    plans: LatePlans,
    rng: np.random.Generator,
    change: Change = whole,
    simulator: Simulator = RigidBody,
    truth: RobotModel | None = None,
    end: float = END,
) -> LateLoop:
    """Follow plans from V = 0.999 V_M, with their laws or changed ones; any truth if none."""
    truth = truth or truth_of(plans.described.model, rng)
    return followed(plans, random_attack(plans, rng, truth), change, simulator, end)


def followed(
    plans: LatePlans,
    attack: Attack,
    change: Change = whole,
    simulator: Simulator = RigidBody,
    end: float = END,
) -> LateLoop:
    """Follow plans up to a time, with their laws or changed ones, under one attack."""
    loop = _Loop(plans, attack, change, simulator)
    loop.look()
    refusal = ''
    try:
        while loop.t < end:
            loop.step()
    except SafeSysidError as error:
        refusal = str(error)
    return loop.watch.told(refusal)


class _Loop:
    """Controller and arm, from sample to sample."""

    def __init__(
        self, plans: LatePlans, attack: Attack, change: Change, simulator: Simulator
    ) -> None:
        told = plans.told
        assert told.sampling is not None
        self._plans, self._attack = plans, attack
        self._told = [changed(plan, change) for plan in plans.plans]
        self._age, self._estimate = told.sampling.age, told.bounds
        self._clock, self.t = Clock(0), plans.starts[0]
        self._controller = FromTheBound(told.model, told.gains, self._clock, told.sampling)
        self._arm = AttackedArm(plans, attack, simulator)
        self.watch = _Watch(plans, attack, self._arm)
        self._waiting: deque[tuple[float, Array, _Seen]] = deque()
        self._first: float | None = attack.acts_from(self.t)
        self._acting: _Seen | None = None
        self._arm.come_to(self._first)

    def look(self) -> None:
        """Take samples before the first torque, in which r stays as it is."""
        spans = np.array(
            [self._attack.period() for _ in range(samples_before(self._attack.sampling))]
        )
        for left in np.cumsum(spans)[::-1]:
            self._controller.look(self._sample(self._arm.before(self.t - left))[0])
        self._arm.before(self.t)

    def step(self) -> None:
        """Take a sample, and go on to the next one."""
        motion = self._arm.now
        sample, stamp = self._sample(motion)
        plan = self._told[self._plans.which(stamp + self._age)]
        torque = self._controller.step(sample, plan, self._estimate)
        law = plan.laws[0]
        assert isinstance(law, SeenLaw)
        seen = _Seen(law, stamp, *self._controller.expected)
        self.watch.sample(motion, torque, (law, self._controller.r))
        begins = self._first or self._attack.acts_from(self.t)
        self._first = None
        self._waiting.append((begins, torque, seen))
        following = self.t + self._attack.period()
        while self._waiting and self._waiting[0][0] <= following:
            begins, torque, seen = self._waiting.popleft()
            self._move(begins)
            self._arm.take(torque)
            self.watch.begins(self._arm.now, seen, self._acting)
            self._acting = seen
        self._move(following)
        self.t = following

    def _move(self, until: float) -> None:
        for motion in self._arm.until(until):
            self.watch.part(motion)

    def _sample(self, motion: Motion) -> tuple[JointMeasurement, float]:
        """Return a sample of positions, and its stamp [s]."""
        stamp = self._attack.stamp(motion.t)
        return sample_at(self._clock, stamp, self._attack.read(motion.q)), stamp


class _Seen(NamedTuple):
    """What a torque was made of."""

    law: SeenLaw
    stamp: float
    q: Array
    r: Array


class _Watch:
    """What was used of every promise and claim."""

    def __init__(self, plans: LatePlans, attack: Attack, arm: AttackedArm) -> None:
        self._plans, self._attack, self._arm = plans, attack, arm
        self._gauge = ContactGauge(attack.truth)
        self._shares = dict.fromkeys(KINDS, 0.0)
        self._claims = dict.fromkeys(CLAIMS, 0.0)
        self._energy: list[float] = []
        self._clearance = np.inf

    def told(self, refusal: str) -> LateLoop:
        """Return what was used up to now."""
        energy = np.array(self._energy)
        return LateLoop(self._shares, self._clearance, refusal, energy, self._claims)

    def part(self, motion: Motion) -> float:
        """Look at a state between samples, and return V / V_M."""
        i, limits = self._plans.which(motion.t), self._plans.described.model.limits
        error, law = self._plans.certificates[i].error, self._plans.certificates[i].law
        assert law is not None
        energy = self._arm.energy(motion) / law.bounds.V_M
        at = np.isfinite(limits.position_upper - limits.position_lower)
        lower, upper = limits.position_lower[at], limits.position_upper[at]
        q = motion.q[at] + np.broadcast_to(self._attack.zero, motion.q.shape)[at]
        away = np.abs(2.0 * q - upper - lower) / (upper - lower)
        self._use('energy', energy)
        self._use('position', float(np.max(np.abs(motion.e) / error.position)))
        rate = np.abs(motion.r - self._plans.told.gains.K_r * motion.e)
        self._use('velocity', float(np.max(rate / error.velocity)))
        fast = np.abs(motion.qd) / limits.velocity
        self._use('limits', float(np.max(np.concatenate([fast, away]))))
        return energy

    def sample(self, motion: Motion, torque: Array, seen: tuple[SeenLaw, Array]) -> None:
        """Look at a sample, its torque and r as it is seen (2, n)."""
        if len(self._energy) % GAUGED == 0:
            where = self._gauge.clearance(motion.q + self._attack.zero)
            self._clearance = min(self._clearance, float(where.distance))
        self._energy.append(self.part(motion))
        limit = self._plans.described.model.limits.torque
        self._use('torque', float(np.max(np.abs(torque) / limit)))
        law, (r, half) = seen
        within = half + self._attack.sampling.stamp * law.pace.rate  # r is that of the stamp
        self._claim(CLAIMS[0], float(np.max(np.abs(motion.r - r) / within)))

    def begins(self, motion: Motion, seen: _Seen, before: _Seen | None) -> None:
        """Look at r and the time when a torque begins to act, and the one before ends."""
        told = self._plans.told
        M, _ = at_rest(told.model.with_parameters(told.bounds.theta), seen.q)
        off = motion.r - seen.r
        length = float(np.sqrt(off @ M @ off))
        if seen.law.bounds.sigma > 0.0:  # else it is no claim of the law
            self._claim(CLAIMS[1], length / seen.law.bounds.sigma)
        for each in (seen,) if before is None else (seen, before):
            s = each.law.sampling
            self._claim(CLAIMS[2], abs(motion.t - each.stamp - s.middle) / s.half)

    def _use(self, kind: str, share: float) -> None:
        self._shares[kind] = max(self._shares[kind], share)

    def _claim(self, kind: str, share: float) -> None:
        self._claims[kind] = max(self._claims[kind], share)


def sample_at(clock: Clock, t: float, q: Array) -> JointMeasurement:
    """Return a sample of positions."""
    return JointMeasurement(clock.stamp(t), q, np.full_like(q, np.nan), np.full_like(q, np.nan))


def figures_of(law: str, loops: Sequence[LateLoop]) -> dict[str, object]:
    """Return how many loops broke which promise, and the largest share of promises and claims."""
    named = Counter(name for loop in loops for name in loop.broken)
    return {
        'law': law,
        'loops': len(loops),
        'broken': sum(loop.is_broken for loop in loops),
        'what': dict(named),
        **largest(loops),
    }


def largest(loops: Sequence[LateLoop]) -> dict[str, float]:
    """Return the largest share of each promise and claim."""
    used = [{**loop.shares, **loop.claims} for loop in loops]
    names = (*KINDS, *CLAIMS)
    return {name: max((each[name] for each in used), default=float('nan')) for name in names}
