"""Closed loops of an arm that is read in steps and moved late, from V = 0.999 V_M, at its worst.

Two certified plans follow each other in motion. All that is unknown of the arm is at an end of its
bounds, drives err against r by all that is allowed at every instant, readings are rounded or as
far off as half a step lets them, and a torque acts when the delay is over, at once or as slowly as
the drive follows. The same loops with laws that lack a term show which of them are needed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.late_arm import (
    PERIOD,
    START,
    gains_of,
    known,
    late_kinova,
    sampling_of,
    truth_of,
)
from safe_sysid.bench.experiments.planning import at_rest
from safe_sysid.errors import SafeSysidError
from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.collision.contact import ContactGauge
from safe_sysid.model.collision.obstacles import NO_OBSTACLES
from safe_sysid.model.dynamics.mass_matrix import mass_matrix
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.reach.certificate import PlanCertificate
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.reach.problem import Problem
from safe_sysid.reach.reachable_set import ReachableSet
from safe_sysid.simulate.rigid_body import RigidBody
from safe_sysid.simulate.simulated_arm import Dynamics
from safe_sysid.track.error_observer import Together
from safe_sysid.track.invariance import LawBounds
from safe_sysid.track.seen_law import SeenLaw
from safe_sysid.track.sensed_passivity import SensedPassivityController
from safe_sysid.trajectory.plan import Plan

BEGIN, SWITCH, END = 0.1, 0.4, 0.8  # [s]
REACH = 0.1  # [rad] that plans lead to at most, in every joint
PARTS = 2  # of a period in which drives err the same way
LOOK = 60  # samples before the first torque
KINDS = ('energy', 'position', 'velocity', 'torque', 'limits')


@dataclass(frozen=True, eq=False)
class LatePair:
    """Two certified plans for one arm, the second one takes over in motion."""

    model: RobotModel
    plans: tuple[Plan, Plan]
    certificates: tuple[PlanCertificate, PlanCertificate]


class LateLoop(NamedTuple):
    """Largest share of each promise, and the least clearance [m]."""

    shares: dict[str, float]
    clearance: float
    refusal: str  # why the controller gave no torque any more
    energy: Array  # V / V_M, sample by sample

    @property
    def is_broken(self) -> bool:
        """Whether any promise was."""
        return max(self.shares.values()) > 1.0 or self.clearance <= 0.0 or bool(self.refusal)


class FromTheBound(SensedPassivityController):
    """Begins where V is so near to V_M that it cannot see it is below, and never gives up."""

    def _refuse_start(self, *_: object) -> None:
        self._begins = False

    def _refuse_broken_promise(self, *_: object) -> None:
        pass


def random_pair(
    rng: np.random.Generator, slow: float = 0.0, least: float = 1.0
) -> LatePair | None:
    """Plans that are certified, for drives as `late_kinova` has them; None: these are not."""
    return pair_of(lambda: rng.uniform(-REACH, REACH, len(START)), slow, least)


def pair_of(way: Callable[[], Array], slow: float, least: float = 1.0) -> LatePair | None:
    """Return the same of the ways (n,) [rad] that are asked for, one after the other."""
    model = late_kinova(slow, least)
    problem = replace(
        at_rest(model, known(model), START, NO_OBSTACLES),
        gains=gains_of(model),
        sampling=sampling_of(model),
    )
    return pair_from(problem, way)


def pair_from(problem: Problem, way: Callable[[], Array]) -> LatePair | None:
    """Return the same of any arm, from the rest that a problem is about."""
    first = _certified(problem, way())
    if first is None:
        return None
    before = plan_of(first, BEGIN)
    curve, since = before.curve_from(SWITCH, 3.0), SWITCH - BEGIN
    horizon = replace(problem.horizon, curve=curve)
    going_on = replace(
        problem,
        horizon=horizon,
        error_at_start=first.error_shape(since),
        before=first.law_at(since),
    )
    second = _certified(going_on, way())
    if second is None:
        return None
    return LatePair(problem.model, (before, plan_of(second, SWITCH)), (first, second))


def _certified(problem: Problem, k: Array) -> PlanCertificate | None:
    horizon = Horizon(problem.horizon.curve, k, np.zeros_like(k), 32)
    try:
        certificate = ReachableSet.certify_center(replace(problem, horizon=horizon))
    except SafeSysidError:
        return None
    return certificate if certificate.holds else None


def plan_of(certificate: PlanCertificate, start: float) -> Plan:
    """Return the plan of a certificate from a time on."""
    estimate, curve = certificate.problem.bounds, certificate.problem.horizon.curve
    theta = estimate.bounds, certificate, estimate.theta
    return Plan(start, start + 1.0, curve, certificate.k, *theta, laws=certificate.laws)


Change = Callable[[SeenLaw], SeenLaw]


def whole(law: SeenLaw) -> SeenLaw:
    """Return the law as it is."""
    return law


def without_room(law: SeenLaw) -> SeenLaw:
    """Return a law that takes r_hat for r, and what it sees for what is."""
    bounds = LawBounds(law.bounds.V_M, law.bounds.alpha, 1e-9)
    return replace(law, bounds=bounds, room=np.zeros_like(law.room))


def without_ageing(law: SeenLaw) -> SeenLaw:
    """Return a law that allows for no change of what its torque is made of."""
    return replace(law, room=np.zeros_like(law.room))


def without_errors_of_r(law: SeenLaw) -> SeenLaw:
    """Return a law that takes r_hat for r, and nothing else."""
    return replace(
        law, bounds=LawBounds(law.bounds.V_M, law.bounds.alpha, 1e-9, ball=law.bounds.ball)
    )


def without_pull(law: SeenLaw) -> SeenLaw:
    """Return a law that does not allow for errors of de/dt in its desired acceleration."""
    return replace(law, bounds=law.bounds._replace(ball=0.0))


def differentiated(law: SeenLaw) -> SeenLaw:
    """Return a law that does so, with r from the last two readings."""
    drift = 1e3 * law.observer.drift + 1e3
    observer = law.observer._replace(window=law.sampling.period, drift=drift, together=Together())
    wide = np.full_like(law.room, np.inf)
    return replace(without_room(law), observer=observer, half_width=wide)


def changed(plan: Plan, change: Change) -> Plan:
    """Return a plan with changed laws."""
    return replace(plan, laws=tuple(change(law) for law in plan.laws if isinstance(law, SeenLaw)))


class _Arm:
    """The arm as it is, and what pushes it."""

    def __init__(self, pair: LatePair, truth: RobotModel, body: Dynamics) -> None:
        self._pair, self.truth, self._body = pair, truth, body
        self.K_r = pair.certificates[0].problem.gains.K_r
        self._followed: Array | None = None  # torque that a slow drive has reached

    def which(self, t: float) -> int:
        return int(t >= SWITCH - 1e-9)

    def errors(self, t: float, q: Array, qd: Array) -> tuple[Array, Array]:
        q_d, qd_d, _ = self._pair.plans[self.which(t)].desired(max(t, BEGIN))
        return q_d - q, qd_d - qd

    def energy(self, q: Array, r: Array) -> float:
        M = mass_matrix(self.truth, self.truth.theta, q[None])[0]
        return float(0.5 * r @ M @ r)

    def advance(
        self, t: float, state: tuple[Array, Array], torque: Array, seconds: float
    ) -> tuple[Array, Array]:
        """Go on under one command, with drives that err against r."""
        (q, qd), step = state, seconds / PARTS
        if seconds == 0.0:
            return state
        for part in range(PARTS):
            e, ed = self.errors(t + part * step, q, qd)
            reached = self._reached(torque, step)
            off = self.truth.actuation.error(reached)
            acting = reached - off * np.sign(ed + self.K_r * e)
            q, qd = self._body.advance(q, qd, acting, step)
        return q, qd

    def _reached(self, command: Array, seconds: float) -> Array:
        """Mean torque of a drive of first order over some time."""
        slow = float(self.truth.actuation.bandwidth.max())
        if slow == 0.0 or self._followed is None:
            self._followed = command
        if slow == 0.0:
            return command
        behind, x = self._followed - command, seconds / slow
        self._followed = command + behind * np.exp(-x)
        return np.asarray(command + behind * (-np.expm1(-x) / x))


def late_loop(
    pair: LatePair,
    rng: np.random.Generator,
    change: Change = whole,
    simulator: Callable[[RobotModel], Dynamics] = RigidBody,
    truth: RobotModel | None = None,
) -> LateLoop:
    """Follow both plans from V = 0.999 V_M, with their laws or changed ones; any truth if none."""
    clock, problem = Clock(0), pair.certificates[0].problem
    gains, sampling, estimate = problem.gains, problem.sampling, problem.bounds
    assert sampling is not None
    truth = truth or truth_of(pair.model, rng)
    arm = _Arm(pair, truth, simulator(truth))
    plans = tuple(changed(plan, change) for plan in pair.plans)
    controller = FromTheBound(pair.model, gains, clock, sampling)
    e, r = _worst_start(arm, pair, rng)
    q, qd = pair.plans[0].desired(BEGIN)[0] - e, gains.K_r * e - r
    step, q_0 = sampling.step, pair.plans[0].desired(BEGIN)[0]
    for i in range(LOOK, 0, -1):  # before, r stays as it is
        back = (e - r / gains.K_r) * np.exp(gains.K_r * i * PERIOD) + r / gains.K_r
        controller.look(sample_at(clock, BEGIN - i * PERIOD, _read(rng, step, q_0 - back)))
    early = float(rng.choice([0.0, 1.0, rng.random()])) if sampling.bias > 0.0 else 0.0
    periods, rest = divmod(sampling.delay - 2.0 * early * sampling.bias, PERIOD)
    waiting: list[Array] = []
    refusal = ''
    seen, clearances, gauge = [], [], ContactGauge(arm.truth)
    for i in range(round((END - BEGIN) / PERIOD)):
        t = BEGIN + i * PERIOD
        plan = plans[arm.which(t + sampling.age)]
        try:
            torque = controller.step(sample_at(clock, t, _read(rng, step, q)), plan, estimate)
        except SafeSysidError as error:
            refusal = str(error)
            break
        waiting = [*waiting, torque] if waiting else [torque] * (int(periods) + 2)
        seen.append(_shares(pair, arm, (t, q, qd), torque))
        if i % 100 == 0:
            clearances.append(float(gauge.clearance(q).distance))
        q, qd = arm.advance(t, (q, qd), waiting.pop(0), rest)
        q, qd = arm.advance(t + rest, (q, qd), waiting[0], PERIOD - rest)
    largest = np.max(seen, axis=0)
    shares = dict(zip(KINDS, largest.tolist(), strict=True))
    return LateLoop(shares, min(clearances), refusal, np.array(seen)[:, 0])


def _worst_start(arm: _Arm, pair: LatePair, rng: np.random.Generator) -> tuple[Array, Array]:
    """Errors with V just below V_M; e is one that r of this energy may have left."""
    V_M, n = pair.certificates[0].problem.gains.V_M, pair.model.n
    q_d = pair.plans[0].desired(BEGIN)[0]
    push = np.sign(arm.truth.theta[pair.model.layout.joint_entries('beta')])
    alone = np.where(np.arange(n) == rng.integers(n), 1.0, 0.05)
    r = push * (alone if rng.random() < 0.5 else rng.uniform(0.1, 1.0, n))
    e = 0.9 * rng.random() * push * rng.random(n) / arm.K_r
    e *= np.sqrt(V_M / max(arm.energy(q_d, arm.K_r * e), 1e-12)) * 0.9 * rng.random()
    r *= np.sqrt(0.999 * V_M / arm.energy(q_d - e, r))
    return e, r


def _read(rng: np.random.Generator, step: Array, q: Array) -> Array:
    """Read as far off as half a step lets it be, any way, or rounded."""
    if rng.random() < 0.3:
        return np.asarray(q + 0.49 * step * rng.choice([-1.0, 1.0], len(q)))
    return np.asarray(step * np.rint(q / step))


def sample_at(clock: Clock, t: float, q: Array) -> JointMeasurement:
    """Return a sample of positions."""
    return JointMeasurement(clock.stamp(t), q, np.zeros_like(q), np.zeros_like(q))


def _shares(
    pair: LatePair, arm: _Arm, state: tuple[float, Array, Array], torque: Array
) -> list[float]:
    """Share of each promise that one sample uses, in the order of KINDS."""
    t, q, qd = state
    certificate, limits = pair.certificates[arm.which(t)], pair.model.limits
    e, ed = arm.errors(t, q, qd)
    error, law = certificate.error, certificate.law
    assert law is not None
    at = np.isfinite(limits.position_upper - limits.position_lower)
    lower, upper = limits.position_lower[at], limits.position_upper[at]
    away = np.abs(2.0 * q[at] - upper - lower) / (upper - lower)
    limited = np.concatenate([np.abs(qd) / limits.velocity, away])
    return [
        arm.energy(q, ed + arm.K_r * e) / law.bounds.V_M,
        float(np.max(np.abs(e) / error.position)),
        float(np.max(np.abs(ed) / error.velocity)),
        float(np.max(np.abs(torque) / limits.torque)),
        float(np.max(limited)),
    ]
