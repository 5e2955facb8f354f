"""A short closed loop of an arm that is seen exactly, at its worst, and what it left of promises.

The arm is a calibrated one with a certified plan, which begins in motion. Somewhere along it r is
as large as V_M allows, and e as large as an arm may have that always had such an r. What is
unknown of the arm is at ends of its bounds, those that were drawn or those that help r most, and
its drives err by all that is allowed: against r, or always the same way.

Torques are held for a period in which the law would go on changing. The promise is for drives that
err and a law that acts at once, so that drives err a little less than allowed, and the rest is
room for the hold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.calibrated_arms import LOADS, SHARE, CalibratedArm
from safe_sysid.bench.experiments.planning import at_rest
from safe_sysid.bench.experiments.reach import DURATION
from safe_sysid.errors import BoundError
from safe_sysid.experiment.falsify.cell import Cell, Draw
from safe_sysid.identify.momentum_observation import ObservationSettings, observe
from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointLog, JointMeasurement
from safe_sysid.model.collision.contact import ContactGauge
from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.model.dynamics.mass_matrix import mass_matrix
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.reach import margin
from safe_sysid.reach.certificate import PlanCertificate
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.reach.reachable_set import ReachableSet
from safe_sysid.sets.box import Box
from safe_sysid.sets.interval import Interval
from safe_sysid.simulate.rigid_body import RigidBody
from safe_sysid.simulate.simulated_arm import Dynamics
from safe_sysid.track.robust_passivity import RobustPassivityController
from safe_sysid.track.tracking import law_regressor
from safe_sysid.trajectory.bezier import Bezier
from safe_sysid.trajectory.plan import Plan

PERIOD, COUNT = 0.00025, 480  # [s] that a torque is held, and how often
SETTLED = 1  # samples after which V says something of the law, and not of the start
LOOKS = 24  # samples from one look at distances to the next
INTERVALS = 32  # time steps of a certificate
WAY, SPEED, RUSH = 0.3, 0.5, 1.0  # [rad], [rad/s] and [rad/s^2] in a joint at most
SHORTER = (1.0, 0.25, 0.0)  # parts of a motion that are tried when the whole is not certified
ROOM = 0.1  # share of the range of a joint in which no plan begins, at its ends
USED = 0.9  # share of the drives' promised error, the rest is room for the hold
NEARLY, PAST = 0.999, 0.98  # of V_M: at the begin, and ever before
GAP = (0.005, 0.08)  # [m] between an arm on its way and a box
SIZE = (0.02, 0.12)  # [m] half sizes of a box
CLEARANCE = 0.1  # [m] by which differences of clearances are divided
CREEPING = 0.01  # [rad/s] up to which friction of Drake and MuJoCo is not that of the rows
LABELS = ('Fc', 'Fv', 'Ia', 'beta')  # in the order of theta
TORQUE_RATIO = 0.025  # error of measured torques
ROWS = ObservationSettings(
    window=100,
    torque_signal='held',
    torque_ratio=(TORQUE_RATIO,),
    torque_error=(0.0,),
    position_error=(0.0,),
    velocity_error=(0.0,),
)


@dataclass(frozen=True, eq=False)
class State:
    """Where a loop begins: an arm as it is, on a plan, with these errors."""

    plan: Plan
    truth: RobotModel
    t: float  # [s]
    e: Array  # (n,)
    r: Array


@dataclass(frozen=True, eq=False)
class Run:
    """What an arm did, sample by sample, (N, n) each."""

    t: Array  # (N,) [s] on the clock of the plan
    q: Array
    qd: Array
    r: Array
    e: Array
    torque: Array  # asked for
    acting: Array


@lru_cache(maxsize=2)
def arm_of(cell: Cell) -> CalibratedArm:
    """Return the arm of a cell, and what is known of it."""
    return CalibratedArm.holding(cell.arm, LOADS[cell.load])


def exact_margins(
    cell: Cell, draw: Draw, simulator: Callable[[RobotModel], Dynamics]
) -> dict[str, float] | str:
    """Return what was left of each promise, as a share of it; or why nothing was promised."""
    arm = arm_of(cell)
    way = _way(arm.model, draw)
    shapes = _boxes(arm.model, way, draw)
    certificate = _certified(arm, way, Obstacles.of(dict(shapes)))
    if isinstance(certificate, str):
        return certificate
    state = _worst_state(arm, certificate, draw)
    truth = state.truth
    run = _followed(arm, state, simulator(truth), draw)
    rows = _rows(arm, truth, run, draw, 0.0 if simulator is RigidBody else CREEPING)
    return _left(certificate, truth, shapes, run) | rows


def _start(model: RobotModel, draw: Draw) -> Array:
    limits = model.limits
    low = np.where(limits.is_continuous, -np.pi, limits.position_lower)
    high = np.where(limits.is_continuous, np.pi, limits.position_upper)
    share = ROOM + (1.0 - 2.0 * ROOM) * draw['start']
    return np.asarray(low + share * (high - low))


def _way(model: RobotModel, draw: Draw) -> tuple[Bezier, Array]:
    """Return a motion from a state that was drawn, and its k."""
    speed, rush = (
        most * (2.0 * draw[name] - 1.0) for name, most in (('speed', SPEED), ('rush', RUSH))
    )
    curve = Bezier(_start(model, draw), speed, rush, DURATION)
    return curve, WAY * (2.0 * draw['way'] - 1.0)


def _boxes(model: RobotModel, way: tuple[Bezier, Array], draw: Draw) -> dict[str, Box]:
    """Two boxes, each pushed away from the base until the arm on its way has its gap to it."""
    curve, k = way
    found = {}
    for i, x in enumerate(draw['boxes'].reshape(-1, 6)):
        q = curve.position(x[5] * curve.duration, k)
        azimuth, height = 2.0 * np.pi * x[0], 1.2 * x[1] - 0.2
        outward = np.array([np.cos(azimuth), np.sin(azimuth), 0.0])
        half = np.full(3, SIZE[0] + (SIZE[1] - SIZE[0]) * x[2]) * np.array([1.0, 1.0, 0.5 + x[3]])
        gap = GAP[0] + (GAP[1] - GAP[0]) * x[4]
        near, far = 0.3, 2.0
        for _ in range(16):
            middle = 0.5 * (near + far)
            box = Box(middle * outward + np.array([0.0, 0.0, height]), half, np.eye(3))
            if _to_boxes(model, {'box': box}, q) < gap:
                near = middle
            else:
                far = middle
        found[f'box_{i}'] = Box(far * outward + np.array([0.0, 0.0, height]), half, np.eye(3))
    return found


def _to_boxes(model: RobotModel, shapes: dict[str, Box], q: Array) -> float:
    gauge = ContactGauge(model, shapes)
    return float(gauge.distances(q)[_of_boxes(gauge, model)].min())


def _of_boxes(gauge: ContactGauge, model: RobotModel) -> Array:
    """Pairs of something that moves and a box."""
    still = {model.capsules.names[c] for c in np.flatnonzero(model.capsules.joint < 0)}
    own = len(model.capsules.pairs)
    moves = [i for i, (link, _) in enumerate(gauge.pairs) if i >= own and link not in still]
    return np.array(moves, dtype=int)


def _certified(
    arm: CalibratedArm, way: tuple[Bezier, Array], obstacles: Obstacles
) -> PlanCertificate | str:
    """Certificate of a motion that was drawn, or of a slower one from where it begins."""
    curve, k = way
    problem = replace(at_rest(arm.model, arm.estimate, curve.q0, obstacles), gains=arm.gains)
    for part in SHORTER:
        slower = replace(curve, qd0=part * curve.qd0, qdd0=part * curve.qdd0)
        horizon = Horizon(slower, part * k, np.zeros_like(k), INTERVALS)
        try:
            certificate = ReachableSet.certify_center(replace(problem, horizon=horizon))
        except BoundError as error:
            return str(error)
        if certificate.holds:
            return certificate
    return str(certificate.smallest)


def _truth(model: RobotModel, bounds: Interval, links: Array, joints: Array) -> RobotModel:
    """Return an arm with links as heavy or light, and joints as good or bad, as they may be."""
    theta: Array = model.theta.copy()
    for i, sign in enumerate(links):
        theta[model.layout.inertial(i)] *= 1.0 + sign * SHARE * (1.0 - 1e-12)
    for label, signs in zip(LABELS, joints.reshape(4, -1), strict=True):
        place = model.layout.joint_entries(label)
        theta[place] = np.where(signs > 0.0, bounds.upper[place], bounds.lower[place])
    return model.with_parameters(np.clip(theta, bounds.lower, bounds.upper))


def energies(truth: RobotModel, q: Array, r: Array) -> Array:
    """V of the arm as it is, (N,)."""
    M = mass_matrix(truth, truth.theta, q)
    return np.asarray(0.5 * np.einsum('ti,tij,tj->t', r, M, r))


def _begin(certificate: PlanCertificate, draw: Draw) -> float:
    """Time since the start at which the loop begins: any, or when a clearance is least."""
    last, margins = (
        certificate.problem.horizon.curve.duration - COUNT * PERIOD,
        certificate.margins,
    )
    least, share = margins.get(margin.OBSTACLE, margins.get(margin.CAPSULES)), draw['when'][0]
    if draw['aim'][0] > 0.0 and least is not None and least.time is not None:
        begin, end = least.time
        return min(float(begin + share * (end - begin)), last)
    return float(share * last)


def _worst_state(arm: CalibratedArm, certificate: PlanCertificate, draw: Draw) -> State:
    """Return where the loop begins, and with which truth."""
    gains, estimate = arm.gains, arm.estimate
    curve, theta = certificate.problem.horizon.curve, estimate.theta
    plan = Plan(0.0, 0.0, curve, certificate.k, estimate.bounds, certificate, theta)
    t = _begin(certificate, draw)
    truth = _truth(arm.model, estimate.bounds, draw['links'], draw['joints'])
    if draw['oppose'][0] > 0.0:
        e = _worst_error(plan, certificate, truth, t, draw)
        r = _largest_rate(truth, plan.desired(t)[0] - e, gains.V_M, draw)
        signs = _helping(arm.model, plan.desired(t), (e, r), gains.K_r)
        truth = _truth(arm.model, estimate.bounds, *signs)
    e = _worst_error(plan, certificate, truth, t, draw)
    r = _largest_rate(truth, plan.desired(t)[0] - e, gains.V_M, draw)
    return State(plan, truth, t, e, r)


def _largest_rate(truth: RobotModel, q: Array, V_M: float, draw: Draw) -> Array:
    """r that takes next to all of V_M, in the direction that was drawn."""
    M = mass_matrix(truth, truth.theta, q[None])[0]
    r = np.linalg.solve(M, draw['rate_signs'] * (1e-3 + draw['rate'] ** 4))
    return np.asarray(r * np.sqrt(NEARLY * V_M / energies(truth, q[None], r[None])[0]))


def _helping(
    model: RobotModel, desired: tuple[Array, Array, Array], error: tuple[Array, Array], K_r: Array
) -> tuple[Array, Array]:
    """Signs of links and joints for which what is unknown does most work on r."""
    (q_d, qd_d, qdd_d), (e, r), n = desired, error, model.n
    ed = r - K_r * e
    qd = qd_d - ed
    states = (q_d - e, qd, qd_d + K_r * e, qdd_d + K_r * ed)
    work = r @ law_regressor(model, *(x[None] for x in states))[0]
    work[model.layout.joint_entries('Fc')] = r * np.sign(qd)
    links = [
        work[model.layout.inertial(i)] @ model.theta[model.layout.inertial(i)] for i in range(n)
    ]
    joints = [work[model.layout.joint_entries(label)] for label in LABELS]
    return np.where(np.array(links) > 0.0, 1.0, -1.0), np.where(np.ravel(joints) > 0.0, 1.0, -1.0)


def _worst_error(
    plan: Plan, certificate: PlanCertificate, truth: RobotModel, t: float, draw: Draw
) -> Array:
    """e that an arm has whose r was the same ever since, and never took more than V_M."""
    gains, shapes = certificate.problem.gains, certificate.problem.obstacles
    q = plan.desired(t)[0]
    force = draw['error_signs'] * (1e-3 + draw['error'] ** 4)
    if draw['push'][0] > 0.0:
        force = _away(ContactGauge(truth, dict(zip(shapes.names, shapes.shapes, strict=True))), q)
    M = mass_matrix(truth, truth.theta, q[None])[0]
    r = np.linalg.solve(M, force)
    r *= np.sqrt(gains.V_M / energies(truth, q[None], r[None])[0])
    way = np.array([plan.desired(s)[0] for s in np.linspace(0.0, t, 12)]) - r / gains.K_r
    most = energies(truth, way, np.broadcast_to(r, way.shape)).max()
    return np.asarray(r * np.sqrt(PAST * gains.V_M / most) / gains.K_r)


def _away(gauge: ContactGauge, q: Array) -> Array:
    """Return how the least distance grows with q."""
    least, step = int(np.argmin(_that_change(gauge, q))), 1e-6
    moved = [gauge.distances(q + step * way)[least] for way in np.eye(len(q))]
    slope = (np.array(moved) - gauge.distances(q)[least]) / step
    return slope if np.linalg.norm(slope) > 1e-6 else np.ones(len(q))


def _that_change(gauge: ContactGauge, q: Array) -> Array:
    """Distances, infinite of pairs that stay as they are."""
    now, then = gauge.distances(q), gauge.distances(q + 0.01)
    return np.where(np.abs(then - now) > 1e-9, now, np.inf)


def _followed(arm: CalibratedArm, state: State, body: Dynamics, draw: Draw) -> Run:
    """Follow the plan from its worst state."""
    gains, estimate, clock, plan = arm.gains, arm.estimate, Clock(0), state.plan
    controller = RobustPassivityController(arm.model, gains, clock)
    q_d, qd_d, _ = plan.desired(state.t)
    q, qd = q_d - state.e, qd_d - (state.r - gains.K_r * state.e)
    held, samples, against = np.zeros(len(q)), [], draw['against'][0] > 0.0
    for i in range(COUNT):
        stamp = clock.stamp(state.t + i * PERIOD)
        t = clock.seconds(stamp)
        torque = controller.step(JointMeasurement(stamp, q, qd, held), plan, estimate)
        q_d, qd_d, _ = plan.desired(t)
        e = q_d - q
        r = qd_d - qd + gains.K_r * e
        way = -np.sign(r) if against else draw['drives']
        held = torque + USED * way * arm.model.actuation.error(torque)
        samples.append((t, q, qd, r, e, torque, held))
        q, qd = body.advance(q, qd, held, PERIOD)
    return Run(*(np.array(column) for column in zip(*samples, strict=True)))


def _left(
    certificate: PlanCertificate, truth: RobotModel, shapes: dict[str, Box], run: Run
) -> dict[str, float]:
    """Return what is left of each promise but that of rows."""
    error, limits, V_M = certificate.error, truth.limits, certificate.problem.gains.V_M
    V = energies(truth, run.q, run.r) / V_M
    found = {
        'V': 1.0 - float(V.max() if V.max() > 1.0 else V[SETTLED:].max()),
        'r': 1.0 - float((np.abs(run.r) / error.r_max).max()),
        'e': 1.0 - float((np.abs(run.e) / error.position).max()),
        'de': 1.0 - float((np.abs(run.r - error.K_r * run.e) / error.velocity).max()),
    }
    own, boxes = _clearances(truth, shapes, run.q[::LOOKS])
    nearest = np.minimum(run.q - limits.position_lower, limits.position_upper - run.q)
    kept: dict[
        str, tuple[str, Array | None, Array]
    ] = {  # promise -> kind of margin, what was there of it, and by what to divide
        'torque': (margin.TORQUE, limits.torque - np.abs(run.torque), limits.torque),
        'position': (margin.POSITION, nearest, np.ones(truth.n)),
        'velocity': (margin.VELOCITY, limits.velocity - np.abs(run.qd), limits.velocity),
        'self': (margin.CAPSULES, own, np.array(CLEARANCE)),
        'obstacle': (margin.OBSTACLE, boxes, np.array(CLEARANCE)),
    }
    for name, (kind, there, size) in kept.items():
        if kind in certificate.margins and there is not None:
            found[name] = float(((there - certificate.margins[kind].margin) / size).min())
    return found


def _clearances(
    truth: RobotModel, shapes: dict[str, Box], q: Array
) -> tuple[Array | None, Array | None]:
    """Least distances to itself and to boxes at some samples."""
    gauge, own = ContactGauge(truth, shapes), len(truth.capsules.pairs)
    every, boxes = np.array([gauge.distances(each) for each in q]), _of_boxes(gauge, truth)
    return (
        every[:, :own].min(axis=1) if own else None,
        every[:, boxes].min(axis=1) if len(boxes) else None,
    )


def _rows(
    arm: CalibratedArm, truth: RobotModel, run: Run, draw: Draw, slowest: float
) -> dict[str, float]:
    """How far the true theta is from the end of the rows that the loop would be observed by.

    Joints that are ever as slow as `slowest` are left out: what does not stand still in a
    simulator creeps there, and rows are for dry friction that holds.
    """
    rng = np.random.default_rng(draw.seed)
    share = TORQUE_RATIO * draw['drives'] * np.where(rng.random(run.q.shape) < 0.9, 1.0, -1.0)
    # the sample at a stamp has the torque that is held from it on
    measured = run.acting / (1.0 + share * (1.0 - 1e-12))
    stamp = np.round((run.t - run.t[0]) * 1e9).astype(np.int64)
    log = JointLog(stamp, run.q, run.qd, measured)
    rows = observe(arm.model, arm.estimate.bounds, ROWS, log)
    rows = rows.rows(np.abs(run.qd).min(axis=0)[rows.joint] >= slowest)
    layout, theta = truth.layout, truth.theta
    off = np.abs(rows.Y_e @ theta[layout.end_effector] - rows.response(theta[layout.rest]))
    return {'rows': 1.0 - float((off / rows.delta).max())} if len(off) else {}
