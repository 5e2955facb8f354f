"""Loops in which what one term of the proof allows for is all that keeps V below V_M.

The arm is known exactly and nothing rubs; V begins at 0.99999 V_M. All figures of sensors and
drives are 0 but the few that a loop is about, so that no other term has room to spare. They are
at their stated worst:

    pull              the arm stands: until the first torque encoders read half a step on one
                      side, from then on on the other, so that for a window r is seen too small
    ageing            the arm is driven off fast: drives follow at once that may be slow, so every
                      torque acts earlier than the middle of what is allowed, along r
    jitter            likewise: torques act at once that may be late by a time that differs
    constant of delays
                      likewise: by one that is always the same, and that nobody knows
    delay             the arm is driven off against r: torques are as late as they may be
    slow drives       likewise: drives follow as slowly as they may
    stamp errors      likewise: all stamps are late alike, so that the arm is led ahead of its plan
    zero errors       the arm stands: joints are off such that gravity pushes along r
    tilt of gravity   the arm stands: gravity leans along r
    errors of drives  the arm stands: drives err against r
    friction at rest  one joint of the arm sticks while its plan leads it off

Periods that are longer have no such loop: all else that ages within a period has a hundred times
as much room. What they do to times of torques is a claim of `late_loops`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, repeat
from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.lacking_laws import NOTHING_LACKS, Lack
from safe_sysid.bench.experiments.late_arm import PERIOD, START
from safe_sysid.bench.experiments.late_attack import (
    Attack,
    Begin,
    at_rest,
    leaning,
    samples_before,
)
from safe_sysid.bench.experiments.late_loops import followed
from safe_sysid.bench.experiments.late_plans import BEGIN, LatePlans, plans_from
from safe_sysid.bench.experiments.planning import at_rest as plans_at_rest
from safe_sysid.model.collision.obstacles import NO_OBSTACLES
from safe_sysid.model.dry_friction import DryFriction
from safe_sysid.model.dynamics.inverse_dynamics import inverse_dynamics
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.signal_facts import DryFrictionFacts
from safe_sysid.sets.interval import Interval
from safe_sysid.track.gains import Gains
from safe_sysid.track.seen_law import OLDER, Sampling
from safe_sysid.trajectory.plan import Plan

SHARE = 0.99999  # of V_M, at which loops begin
UNKNOWN = 1e-9  # share of every figure
V_M = 0.01  # [J]
N = 7
FINE, COARSE = np.full(N, 1e-7), np.full(N, 1e-4)  # [rad] steps that show next to everything
SLOW = 1e-3  # [s] drives may follow with
LATE = 0.004  # [s] by which torques may be late, at most
STAMP, ZERO, TILT = 3e-4, 5e-3, 5e-3  # [s, rad, rad]
RATIO, ABSOLUTE = 0.01, 0.05  # of a torque; [N m]
STUCK, STICKS = 1, 0.5  # joint; [N m]
SIDES = 8  # to which gravity may lean
STANDING, MOVING = 5.0, 2.0  # [1/s] K_r
STILL = np.zeros(N)
AWAY = 0.4 * np.array([0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0])  # [rad] in WITHIN
WITHIN, FASTER, SOON = 2.0, 1.5, 0.1  # [s]


@dataclass(frozen=True, eq=False)
class NeededTerm:
    """A certified plan, how r begins on it, and what the arm does."""

    plans: LatePlans
    begin: Begin
    seconds: float
    truth: RobotModel
    zero: Array = field(default_factory=lambda: STILL)
    is_off: bool = False  # readings, at first to one side and then to the other
    delay: float = 1.0  # from -1 to 1, of all torques
    stamp: float = 0.0  # likewise
    slow: float = 0.0  # [s] time constant that drives have

    def largest_energy(self, lack: Lack = NOTHING_LACKS) -> float:
        """V / V_M at its largest with a law, or with one that lacks something."""
        plans = self.plans.lacking(lack.describe)
        assert plans is not None
        loop = followed(plans, self._attack(), lack.change, end=BEGIN + self.seconds)
        return loop.shares['energy']

    def _attack(self) -> Attack:
        stamps, delays = (repeat(np.full(1, x)) for x in (self.stamp, self.delay))
        told = self.plans.described, self.truth, self.zero, self.begin
        times = repeat(np.zeros(1)), stamps, self.delay, delays
        return Attack(*told, *times, self._readings(), self.slow)

    def _readings(self) -> Iterator[Array | None]:
        if not self.is_off:
            return repeat(None)
        side, sampling = np.ones(N), self.plans.described.sampling
        assert sampling is not None
        return chain(repeat(-side, samples_before(sampling)), repeat(side))


def pull() -> NeededTerm:
    """Return a loop that needs what the law allows for errors of de/dt in its acceleration."""
    step = RobotModel.named('kinova_gen3').sensors.encoder_resolution
    plans = _certified(_Setting(Sampling(step, PERIOD, PERIOD)))
    law = plans.certificates[0].law
    assert law is not None
    begin = Begin(STILL, law.half_width, SHARE)
    return NeededTerm(plans, begin, 0.08, plans.described.model, is_off=True)


def ageing() -> NeededTerm:
    """Return a loop that needs what the law allows for a state that is older than its torque."""
    older = 2.0 * OLDER * RobotModel.named('kinova_gen3').limits.torque
    sampling = Sampling(FINE, PERIOD, PERIOD, slow=SLOW, older=older)
    return _driven_off(_Setting(sampling, AWAY, FASTER), 1.0)


def jitter() -> NeededTerm:
    """Return a loop that needs what is allowed for delays that differ."""
    sampling = Sampling(FINE, PERIOD, LATE, jitter=0.5 * LATE)
    return _driven_off(_Setting(sampling, AWAY), -1.0)


def constant_of_delays() -> NeededTerm:
    """Return a loop that needs what is allowed for a delay that nobody knows."""
    sampling = Sampling(FINE, PERIOD, LATE, bias=0.5 * LATE)
    return _driven_off(_Setting(sampling, AWAY), -1.0)


def delay() -> NeededTerm:
    """Return a loop that needs what is allowed for torques that are all late alike."""
    return _held_back(_driven_off(_Setting(Sampling(FINE, PERIOD, LATE), AWAY), 1.0))


def slow_drives() -> NeededTerm:
    """Return a loop that needs what is allowed for drives that follow slowly."""
    older = 2.0 * OLDER * RobotModel.named('kinova_gen3').limits.torque
    slow, often = 2.0 * SLOW, 0.5 * PERIOD  # so that less else ages
    sampling = Sampling(FINE, often, often, window=0.01, slow=slow, older=older)
    return replace(_held_back(_driven_off(_Setting(sampling, AWAY), 1.0)), slow=slow)


def stamp_errors() -> NeededTerm:
    """Return a loop that needs what is allowed for stamps that are wrong."""
    plans = _certified(_Setting(Sampling(FINE, PERIOD, PERIOD, stamp=STAMP), AWAY))
    ahead = Begin(STILL, -AWAY, SHARE)
    return NeededTerm(plans, ahead, 1.2, plans.described.model, stamp=1.0)


def zero_errors() -> NeededTerm:
    """Return a loop that needs what is allowed for joints that are not where they say."""
    zero = np.full(N, ZERO)
    plans = _certified(_Setting(Sampling(FINE, PERIOD, PERIOD, zero=zero)))
    return _leaned_on(plans, plans.described.model, zero)


def tilt_of_gravity() -> NeededTerm:
    """Return a loop that needs what is allowed for a base that leans."""
    plans = _certified(_Setting(Sampling(FINE, PERIOD, PERIOD, tilt=TILT)))
    model, sides = plans.described.model, np.linspace(0.0, 2.0 * np.pi, SIDES, endpoint=False)
    return max(
        (_leaned_on(plans, leaning(model, TILT, side), STILL) for side in sides),
        key=lambda loop: float(np.abs(loop.begin.r).max()),
    )


def errors_of_drives() -> NeededTerm:
    """Return a loop that needs what is allowed for drives that err."""
    setting = _Setting(Sampling(FINE, PERIOD, PERIOD), ratio=RATIO, absolute=ABSOLUTE)
    plans = _certified(setting)
    return NeededTerm(plans, Begin(STILL, np.ones(N), SHARE), 0.2, plans.described.model)


def friction_at_rest() -> NeededTerm:
    """Return a loop that needs what is allowed for a joint that holds more at rest."""
    plans = _certified(_Setting(Sampling(COARSE, PERIOD, PERIOD), 0.05 * AWAY, sticks=STICKS))
    model, joint = plans.described.model, np.eye(N)[STUCK]
    M, _ = at_rest(model, START)
    behind = np.sqrt(2.0 * SHARE * V_M / M[STUCK, STUCK]) / MOVING  # at rest, r is K_r e
    return NeededTerm(plans, Begin(behind * joint, joint, SHARE), 0.3, model)


NEEDED: dict[str, Callable[[], NeededTerm]] = {
    'pull': pull,
    'ageing': ageing,
    'jitter': jitter,
    'constant of delays': constant_of_delays,
    'delay': delay,
    'slow drives': slow_drives,
    'stamp errors': stamp_errors,
    'zero errors': zero_errors,
    'tilt of gravity': tilt_of_gravity,
    'errors of drives': errors_of_drives,
    'friction at rest': friction_at_rest,
}


class _Setting(NamedTuple):
    """How the arm is seen and moved, what is wrong of its drives, and where it is led."""

    sampling: Sampling
    k: Array = STILL
    within: float = WITHIN
    ratio: float = 0.0
    absolute: float = 0.0
    sticks: float = 0.0


def _driven_off(setting: _Setting, delay: float) -> NeededTerm:
    """Return an arm whose torques act earlier than they should, with r along what that does."""
    plans = _certified(setting)
    plan, model = plans.plans[0], plans.described.model
    t = BEGIN + SOON
    early = _torque(model, plan, t) - _torque(model, plan, t + PERIOD)
    M, _ = at_rest(model, plan.desired(t)[0])
    along = np.linalg.solve(M, early).astype(np.float64)
    begin = Begin(STILL, along, SHARE)
    return NeededTerm(plans, begin, 0.1, model, delay=delay)


def _held_back(case: NeededTerm) -> NeededTerm:
    """Return an arm whose torques come later than they should, likewise."""
    begin = case.begin
    return replace(case, begin=begin._replace(r=-begin.r))


def _leaned_on(plans: LatePlans, arm: RobotModel, zero: Array) -> NeededTerm:
    """Return an arm that stands, with r along what gravity does that is not expected."""
    M, needed = at_rest(arm, START + zero)
    push = needed - at_rest(plans.described.model, START)[1]
    along = np.linalg.solve(M, push).astype(np.float64)
    begin = Begin(STILL, along, SHARE)
    return NeededTerm(plans, begin, 0.2, arm, zero)


def _certified(setting: _Setting) -> LatePlans:
    """Return a plan of an arm that is known, without friction, or with one that sticks."""
    model = RobotModel.named('kinova_gen3')
    theta: Array = model.theta.copy()
    for label in ('Fc', 'Fv', 'beta'):
        theta[model.layout.joint_entries(label)] = 0.0
    sticks = DryFriction(DryFrictionFacts(static=(setting.sticks,)))
    model = replace(model.with_parameters(theta), friction=sticks)
    spread = UNKNOWN * np.abs(theta)
    known = ParameterEstimate(model.layout, theta, Interval(theta - spread, theta + spread))
    rate = MOVING if setting.k.any() else STANDING
    errors = np.full(N, setting.absolute), np.full(N, setting.ratio)
    problem = plans_at_rest(model, known, START, NO_OBSTACLES)
    curve = replace(problem.horizon.curve, duration=setting.within)
    seen = replace(
        problem,
        gains=Gains(np.full(N, rate), V_M, 1000.0, 0.05, 0.0, *errors),
        sampling=setting.sampling,
        horizon=replace(problem.horizon, curve=curve),
    )
    plans = plans_from(seen, lambda: setting.k, (BEGIN,))
    assert plans is not None
    return plans


def _torque(model: RobotModel, plan: Plan, t: float) -> Array:
    (torque,) = inverse_dynamics(model, *(x[None] for x in plan.desired(t)))
    return np.asarray(torque)
