"""Loops in which one term of the law for late readings is all that keeps V below V_M.

The arm is known exactly, its drives do not err and nothing rubs, so that no other term has room to
spare; V begins at 0.99999 V_M. What is left is at its stated worst:

    pull    an arm that stands: until the first torque encoders read half a step on one side, from
            then on on the other, so that for a window r is seen too small along r
    ageing  an arm that is driven off fast: drives follow at once that may be slow, so every torque
            acts earlier than the middle of what is allowed, and r lies along what that does
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.late_arm import PERIOD, START, late_kinova, sampling_of
from safe_sysid.bench.experiments.late_loops import (
    BEGIN,
    Change,
    FromTheBound,
    changed,
    plan_of,
    sample_at,
)
from safe_sysid.bench.experiments.planning import at_rest
from safe_sysid.measure.clock import Clock
from safe_sysid.model.collision.obstacles import NO_OBSTACLES
from safe_sysid.model.dynamics.inverse_dynamics import inverse_dynamics
from safe_sysid.model.dynamics.mass_matrix import mass_matrix
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.reach.certificate import PlanCertificate
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.reach.reachable_set import ReachableSet
from safe_sysid.sets.interval import Interval
from safe_sysid.simulate.rigid_body import RigidBody
from safe_sysid.track.gains import Gains
from safe_sysid.trajectory.plan import Plan

SHARE = 0.99999  # of V_M, at which loops begin
LOOK = 60  # samples before
UNKNOWN = 1e-9  # share of every figure
V_M = 0.01  # [J]
FINE = 1e-7  # [rad] steps that show next to everything
SLOW = 1e-3  # [s] drives may follow with
AWAY = 0.4 * np.array([0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0])  # [rad] in WITHIN
WITHIN, SOON = 2.0, 0.1  # [s]


@dataclass(frozen=True, eq=False)
class NeededTerm:
    """A certified plan, where r begins, and how the arm is read."""

    certificate: PlanCertificate
    along: Array  # (n,) direction of r
    offset: Array  # (n,) [rad] by which readings are off, before the first torque against it
    seconds: float

    def largest_energy(self, change: Change) -> float:
        """V / V_M at its largest with a law or with a changed one."""
        problem = self.certificate.problem
        gains, sampling, model = problem.gains, problem.sampling, problem.model
        assert sampling is not None
        clock, plan = Clock(0), plan_of(self.certificate, BEGIN)
        controller = FromTheBound(model, gains, clock, sampling)
        body, law = RigidBody(model), changed(plan, change)
        q_d, K = plan.desired(BEGIN)[0], gains.K_r
        r = self.along * np.sqrt(SHARE * gains.V_M / _energy(model, q_d, self.along))
        for i in range(LOOK, 0, -1):  # before, r stays as it is
            e = r / K * (1.0 - np.exp(K * i * PERIOD))
            controller.look(sample_at(clock, BEGIN - i * PERIOD, q_d - e - self.offset))
        q, qd, largest, waiting = q_d, -r, 0.0, np.zeros(model.n)
        for i in range(round(self.seconds / PERIOD)):
            t = BEGIN + i * PERIOD
            found = sample_at(clock, t, q + self.offset)
            torque = controller.step(found, law, problem.bounds)
            q_d, qd_d, _ = plan.desired(t)
            largest = max(largest, _energy(model, q, qd_d - qd + K * (q_d - q)))
            acting, waiting = (torque if i == 0 else waiting), torque
            q, qd = body.advance(q, qd, acting, PERIOD)
        return largest / gains.V_M


def pull() -> NeededTerm:
    """Return a loop that needs what the law allows for errors of de/dt in its acceleration."""
    certificate = _certified(_free_kinova(), 5.0, np.zeros(7), 3.0)
    assert certificate.law is not None and certificate.problem.sampling is not None
    half_step = 0.49 * certificate.problem.sampling.step
    return NeededTerm(certificate, certificate.law.half_width, half_step, 0.08)


def ageing() -> NeededTerm:
    """Return a loop that needs what the law allows for a state that is older than its torque."""
    model = _free_kinova()
    sensors = replace(model.sensors, encoder_resolution=np.full(model.n, FINE))
    drives = replace(model.actuation, bandwidth=np.full(model.n, SLOW))
    certificate = _certified(replace(model, sensors=sensors, actuation=drives), 2.0, AWAY, WITHIN)
    plan = plan_of(certificate, BEGIN)
    t = BEGIN + SOON
    early = _torque(model, plan, t) - _torque(model, plan, t + PERIOD)
    M = mass_matrix(model, model.theta, plan.desired(t)[0][None])[0]
    return NeededTerm(certificate, np.linalg.solve(M, early), np.zeros(model.n), 0.1)


NEEDED: dict[str, Callable[[], NeededTerm]] = {'pull': pull, 'ageing': ageing}


def _free_kinova() -> RobotModel:
    """Return an arm without friction, whose drives give what they are told."""
    model = late_kinova()
    theta: Array = model.theta.copy()
    for label in ('Fc', 'Fv', 'beta'):
        theta[model.layout.joint_entries(label)] = 0.0
    drives = replace(model.actuation, ratio=np.zeros(model.n))
    return replace(model.with_parameters(theta), actuation=drives)


def _certified(model: RobotModel, rate: float, k: Array, seconds: float) -> PlanCertificate:
    spread = UNKNOWN * np.abs(model.theta)
    bounds = Interval(model.theta - spread, model.theta + spread)
    known = ParameterEstimate(model.layout, model.theta, bounds)
    drives = model.actuation
    gains = Gains(np.full(model.n, rate), V_M, 1000.0, 0.05, 0.0, drives.absolute, drives.ratio)
    problem = at_rest(model, known, START, NO_OBSTACLES)
    curve = replace(problem.horizon.curve, duration=seconds)
    horizon = Horizon(curve, k, np.zeros_like(k), 32)
    seen = replace(problem, gains=gains, sampling=sampling_of(model), horizon=horizon)
    return ReachableSet.certify_center(seen)


def _energy(model: RobotModel, q: Array, r: Array) -> float:
    M = mass_matrix(model, model.theta, q[None])[0]
    return float(0.5 * r @ M @ r)


def _torque(model: RobotModel, plan: Plan, t: float) -> Array:
    (torque,) = inverse_dynamics(model, *(x[None] for x in plan.desired(t)))
    return np.asarray(torque)
