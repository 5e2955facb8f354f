"""An arm that is seen in steps and moved late keeps V <= V_M, in a simulator of its own."""

from dataclasses import replace
from functools import cache
import re
from typing import NamedTuple

import numpy as np
import pinocchio as pin
import pytest
from tiers import slow_after

from safe_sysid.errors import BoundError, MeasurementError
from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.collision.obstacles import NO_OBSTACLES
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.reach.joint_reach import Horizon, joint_reach
from safe_sysid.reach.plan_error import plan_error
from safe_sysid.reach.problem import Problem
from safe_sysid.reach.reachable_set import ReachableSet
from safe_sysid.reach.seen_bounds import seen_bounds
from safe_sysid.sets.interval import Interval
from safe_sysid.track import sensed_passivity
from safe_sysid.track.error_observer import Together
from safe_sysid.track.gains import Gains
from safe_sysid.track.invariance import LawBounds
from safe_sysid.track.seen_law import Sampling
from safe_sysid.track.sensed_passivity import BrokenPromiseError, SensedPassivityController
from safe_sysid.trajectory.bezier import Bezier
from safe_sysid.trajectory.plan import Plan

CLOCK = Clock(1_700_000_000_000_000_000)
START, PARTS, SECONDS = 0.1, 2, 0.3
LOAD = 0.5  # [N m] offset at the end of its bounds
EXACT = Gains(np.full(2, 10.0), 0.02, 1000.0, sign_speed=0.5)
GAINS = replace(EXACT, torque_error=0.02, torque_ratio=0.01)
SAMPLING = Sampling(np.full(2, 2e-5), 1e-3, 1e-3)
UNMEASURED = np.full(2, np.nan)
SLOW = 5e-5  # [s] time constant of drives that follow slowly
BIASED = replace(SAMPLING, bias=5e-4)
SLOWLY = replace(SAMPLING, slow=SLOW, older=np.full(2, 0.04))


class Loop(NamedTuple):
    """What happened at every instant of the simulation."""

    energy: np.ndarray  # as a share of V_M
    acceleration: np.ndarray  # (n,) largest |qdd|
    seen: np.ndarray  # |r - r_hat| at samples, as a share of the half width
    robust: np.ndarray  # |v|
    in_range: bool  # V, in what the controller says of it
    doubts: str  # of the controller, of sampling


class Setting(NamedTuple):
    """What is unknown of an arm besides a load."""

    ratio: float  # share of everything
    coulomb: float  # [N m]
    gains: Gains


ALL = Setting(0.02, 0.05, GAINS)
LOADED = Setting(0.0, 0.0, EXACT)  # nothing else: w = w_M at all times
LOADED_AND_ALL = [
    pytest.param(LOADED, id='loaded'),
    pytest.param(ALL, id='all', marks=pytest.mark.slow),
]


@cache
def nominal(setting):
    model = RobotModel.named('two_link')
    theta = model.theta.copy()
    theta[model.layout.joint_entries('Fc')] = setting.coulomb
    theta[model.layout.joint_entries('Fv')] = 0.0
    return model.with_parameters(theta)


def known(setting):
    model = nominal(setting)
    spread = setting.ratio * np.abs(model.theta)
    spread[model.layout.joint_entries('beta')] = LOAD
    bounds = Interval(model.theta - spread, model.theta + spread)
    return ParameterEstimate(model.layout, model.theta, bounds)


def horizon_of(k):
    rest = np.zeros(2)
    return Horizon(Bezier(np.array([-1.0, 0.5]), rest, rest, 2.0), k, rest, 32)


@cache
def bounded(setting=ALL, sampling=SAMPLING):
    problem = problem_of(setting, sampling)
    error = plan_error(problem)
    states = joint_reach(problem.model, problem.horizon, error)
    return seen_bounds(problem, error, states)


def problem_of(setting=ALL, sampling=SAMPLING):
    horizon = horizon_of(np.array([0.4, -0.3]))
    return Problem(
        nominal(setting),
        known(setting),
        horizon,
        setting.gains,
        NO_OBSTACLES,
        sampling=sampling,
    )


def truth_of(rng, setting):
    """Bodies, friction and armature at ends of their bounds, and all of the load."""
    model = nominal(setting)
    scale = 1.0 + setting.ratio * rng.choice([-1.0, 1.0], 2)
    theta = model.theta.copy()
    for i in range(2):
        theta[model.layout.inertial(i)] *= scale[i]
    theta[20:26] *= 1.0 + setting.ratio * rng.choice([-1.0, 1.0], 6)
    theta[model.layout.joint_entries('beta')] = LOAD * rng.choice([-1.0, 1.0], 2)
    return model.with_parameters(theta * (1.0 - 1e-12) + model.theta * 1e-12)


class Arm:
    """Two links by Pinocchio, with friction, and actuators that always err against r."""

    def __init__(self, model, plan, gains):
        self.plan, self.after, self.gains = plan, None, gains
        self.rigid = model.pinocchio()
        self.data = self.rigid.createData()
        self.Fc, self.Fv, _, self.beta = model.layout.friction(model.theta)

    def errors(self, t, q, qd):
        after = self.after is not None and t >= self.after.start_time
        q_d, qd_d, _ = (self.after if after else self.plan).desired(max(t, START))
        return q_d - q, qd_d - qd

    def energy(self, t, q, qd):
        e, ed = self.errors(t, q, qd)
        r = ed + 10.0 * e
        M = pin.crba(self.rigid, self.data, q)
        M = np.triu(M) + np.triu(M, 1).T
        return 0.5 * r @ M @ r, r

    def acceleration(self, t, q, qd, torque):
        e, ed = self.errors(t, q, qd)
        off = self.gains.torque_ratio * np.abs(torque) + self.gains.torque_error
        acting = torque - off * np.sign(ed + 10.0 * e)
        friction = self.Fc * np.sign(qd) + self.Fv * qd + self.beta
        return pin.aba(self.rigid, self.data, q, qd, acting - friction)

    def advance(self, t, q, qd, torque, dt):
        """Take one step of Runge and Kutta."""
        k1 = self.acceleration(t, q, qd, torque)
        k2 = self.acceleration(t + dt / 2, q + dt / 2 * qd, qd + dt / 2 * k1, torque)
        v2 = qd + dt / 2 * k1
        k3 = self.acceleration(t + dt / 2, q + dt / 2 * v2, qd + dt / 2 * k2, torque)
        v3 = qd + dt / 2 * k2
        v4 = qd + dt * k3
        k4 = self.acceleration(t + dt, q + dt * v3, v4, torque)
        q = q + dt / 6 * (qd + 2 * v2 + 2 * v3 + v4)
        return q, qd + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def worst_start(rng, arm):
    """Tracking errors with V just below V_M, in the direction into which the load pushes."""
    e = 0.005 * np.sign(arm.beta) * rng.random(2)
    r = np.sign(arm.beta) * (0.1 + rng.random(2))
    q_d, qd_d, _ = arm.plan.desired(START)
    q = q_d - e
    V, _ = arm.energy(START, q, qd_d - (r - 10.0 * e))
    r *= np.sqrt(0.999 * GAINS.V_M / V)
    return e, r


def read(rng, q):
    """Readings as far off as half a step lets them be, any way, or rounded."""
    step = SAMPLING.step
    if rng.random() < 0.3:
        return q + 0.49 * step * rng.choice([-1.0, 1.0], 2)
    return np.round(q / step) * step


def plan_of(law, estimate, k, horizon, start=START):
    """Plan with a law, from a time on."""
    end, theta_0 = start + 1.0, estimate.theta
    return Plan(start, end, horizon.curve, k, estimate.bounds, None, theta_0, laws=(law,))


def looped(seed, law, setting=ALL, late=0.0, after=None, slow=0.0):
    """Run a plan, and one after it; `late` [s] is how much later torques act than said.

    Drives follow with a time constant `slow` [s].
    """
    rng, sampling, gains = np.random.default_rng([11, seed]), law.sampling, setting.gains
    truth, estimate, k = truth_of(rng, setting), known(setting), np.array([0.4, -0.3])
    plan = plan_of(law, estimate, k, horizon_of(k))
    arm = Arm(truth, plan, gains)
    arm.after = after
    controller = SensedPassivityController(truth, gains, CLOCK, sampling)
    e, r = worst_start(rng, arm)
    period, ahead = sampling.period, sampling.delay + late
    assert abs(ahead / period - round(ahead / period)) < 1e-9  # torques begin at samples
    count, lead = round(SECONDS / period), round(ahead / period)
    q_d = plan.desired(START)[0]
    for i in range(-60, 0):  # before, r stays as it is
        b = -i * period
        back = (e - r / 10.0) * np.exp(10.0 * b) + r / 10.0
        torque = sample(
            rng,
            controller,
            CLOCK.origin + round(1e9 * (START - b)),
            q_d - back,
            plan,
            estimate,
            i == -1,
        )
    queue, reached = [torque] * lead, torque
    q, qd = q_d - e, plan.desired(START)[1] - (r - 10.0 * e)
    energies, seen, robust, ranges, most = [], [], [], [], np.zeros(2)
    for i in range(count):
        t = START + i * period
        is_over = after is not None and t + sampling.age >= after.start_time
        followed = after if is_over else plan
        stamp = CLOCK.origin + round(1e9 * t)
        queue.append(sample(rng, controller, stamp, q, followed, estimate, True, reached))
        V, true_r = arm.energy(t, q, qd)
        ranges.append((controller.energy.lower <= V) & (controller.energy.upper >= V))
        seen.append(np.abs(controller.r[0] - true_r) / controller.r[1])
        robust.append(np.abs(controller.robust))
        wanted = queue.pop(0)
        parts = 8 * PARTS if slow else PARTS
        dt = period / parts
        for part in range(parts):
            energies.append(arm.energy(t + part * dt, q, qd)[0])
            x = dt / slow if slow else np.inf
            mean = wanted + (reached - wanted) * (-np.expm1(-x) / x)
            reached = wanted + (reached - wanted) * np.exp(-x)
            now = arm.acceleration(t + part * dt, q, qd, mean)
            most = np.maximum(most, np.abs(now))
            q, qd = arm.advance(t + part * dt, q, qd, mean, dt)
    V = np.array(energies) / GAINS.V_M
    told = controller.doubts
    return Loop(V, most, np.array(seen), np.array(robust), bool(np.all(ranges)), told)


def sample(rng, controller, stamp, q, plan, estimate, acts, torque=UNMEASURED):
    measured = JointMeasurement(stamp, read(rng, q), np.full(2, np.nan), torque)
    if acts:
        return controller.step(measured, plan, estimate)
    controller.look(measured)
    return None


@pytest.fixture
def from_the_bound(monkeypatch):
    """Starts on V = 0.999 V_M, which no sensor could tell from one above."""
    monkeypatch.setattr(sensed_passivity, 'refusal_to_begin', lambda *_: '')


@pytest.mark.usefixtures('from_the_bound')
@pytest.mark.parametrize('setting', LOADED_AND_ALL)
@pytest.mark.parametrize('seed', slow_after(1, range(3)))
def test_energy_keeps_its_limit_with_sensors_and_delay_at_their_worst(seed, setting):
    bounds = bounded(setting)
    loop = looped(seed, bounds.law, setting)
    assert 0.99 < loop.energy[0] < 1.0
    assert loop.energy.max() <= 1.0
    assert loop.doubts == ''
    assert loop.seen.max() <= 1.0
    assert loop.in_range
    assert np.all(loop.robust <= bounds.torque.radius.max(axis=0))


@pytest.mark.slow
@pytest.mark.usefixtures('from_the_bound')
@pytest.mark.parametrize('setting', LOADED_AND_ALL)
@pytest.mark.parametrize('seed', range(3))
def test_energy_keeps_its_limit_with_drives_that_follow_slowly(seed, setting):
    bounds = bounded(setting, SLOWLY)
    assert bounds.invariance.x > bounded(setting).invariance.x
    loop = looped(seed, bounds.law, setting, slow=SLOW)
    assert loop.energy.max() <= 1.0
    assert loop.seen.max() <= 1.0
    assert loop.in_range
    assert np.all(loop.robust <= bounds.torque.radius.max(axis=0))


@pytest.mark.slow
@pytest.mark.usefixtures('from_the_bound')
@pytest.mark.parametrize('setting', LOADED_AND_ALL)
@pytest.mark.parametrize('early', [0.0, 1e-3])
def test_energy_keeps_its_limit_with_a_constant_delay_that_nobody_knows(early, setting):
    bounds = bounded(setting, BIASED)
    for seed in range(3):
        loop = looped(seed, bounds.law, setting, late=-early)
        assert loop.energy.max() <= 1.0
        assert loop.seen.max() <= 1.0
        assert loop.in_range
        assert np.all(loop.robust <= bounds.torque.radius.max(axis=0))


@pytest.mark.usefixtures('from_the_bound')
@pytest.mark.parametrize('setting', [LOADED, pytest.param(ALL, marks=pytest.mark.slow)])
def test_the_acceleration_of_the_arm_keeps_its_bound(setting):
    """It is far above that of the plan, and at most twenty times what is seen."""
    certificate = ReachableSet.certify_center(problem_of(setting))
    assert certificate.law is not None
    loop = looped(0, certificate.law, setting)
    bound = certificate.acceleration
    assert np.all(loop.acceleration <= bound)
    assert np.all(loop.acceleration > 0.05 * bound)


def blind(law):
    """The law without what late and coarse readings need, and r from the last two of them."""
    bounds = LawBounds(law.bounds.V_M, law.bounds.alpha, 1e-9, 0.0, 0.0, 0.0)
    observer = law.observer._replace(
        window=law.sampling.period, drift=law.observer.drift * 1e3, together=Together()
    )
    wide = np.full(2, np.inf)
    return replace(law, bounds=bounds, observer=observer, half_width=wide, room=np.zeros(2))


@pytest.fixture
def unwatched(monkeypatch):
    """Goes on when V is seen to be above V_M, to see how far it gets."""
    controller = sensed_passivity.SensedPassivityController
    monkeypatch.setattr(controller, '_refuse_broken_promise', lambda *_: None)


@pytest.mark.usefixtures('from_the_bound')
def test_v_above_its_limit_is_named():
    with pytest.raises(BrokenPromiseError, match=r'at least 0\.02.* J, 0\.02 J are promised'):
        looped(0, blind(bounded(LOADED).law), LOADED)


@pytest.mark.usefixtures('from_the_bound', 'unwatched')
def test_without_the_terms_for_sensors_and_delay_energy_leaves_its_limit():
    law = blind(bounded(LOADED).law)
    assert any(looped(seed, law, LOADED).energy.max() > 1.0 for seed in range(2))


@pytest.mark.slow
@pytest.mark.usefixtures('from_the_bound', 'unwatched')
def test_torques_that_come_far_later_than_promised_break_it_and_are_noticed():
    """35 ms in place of 1: V is above V_M; 80 ms: no motion that is possible fits the readings.

    A torque is read a sample after it began to act.
    """
    law = bounded(LOADED).law
    loop = looped(0, law, LOADED, 0.034)
    assert loop.energy.max() > 1.04
    assert 'torques are measured 36 ms after their samples' in loop.doubts
    with pytest.raises(
        BrokenPromiseError, match='no motion within its bounds .*of these is false'
    ):
        looped(0, law, LOADED, 0.079)


def test_too_late_an_arm_is_refused_with_what_would_do():
    late = replace(SAMPLING, delay=0.01)
    with pytest.raises(
        BoundError, match='too small for what the law sees of the arm; it takes'
    ) as it:
        bounded(sampling=late)
    named = re.search(
        r'; (\d+) % of the disturbance is that of joint_\d, (\S+) N m', str(it.value)
    )
    assert 50 <= int(named[1]) <= 100
    assert float(named[2]) > 0.0


def test_every_error_costs_tube():
    """Steps, delay and errors of the actuators, each a little larger than it is."""
    x = bounded().invariance.x
    for sampling in (
        replace(SAMPLING, step=1.5 * SAMPLING.step),
        replace(SAMPLING, delay=1.5e-3),
        replace(SAMPLING, jitter=2e-5),
    ):
        assert bounded(sampling=sampling).invariance.x > x
    erring = ALL._replace(gains=replace(GAINS, torque_error=0.1))
    assert bounded(erring).invariance.x > x


def test_friction_may_point_either_way_at_speeds_that_are_seen_badly():
    law = bounded(ALL._replace(gains=replace(GAINS, sign_speed=0.0))).law
    assert law.sign_speed > law.half_width.max()


def test_too_few_samples_give_no_torque():
    law, estimate, k = bounded().law, known(ALL), np.array([0.4, -0.3])
    plan = plan_of(law, estimate, k, horizon_of(k))
    controller = SensedPassivityController(nominal(ALL), GAINS, CLOCK, law.sampling)
    q = plan.desired(START)[0]
    for i, words in ((0, 'two samples are needed'), (1, 'too few samples came')):
        stamp = CLOCK.origin + round(1e9 * START) + i * 1_000_000
        measured = JointMeasurement(stamp, q, q, q)
        with pytest.raises(MeasurementError, match=words):
            controller.step(measured, plan, estimate)


@pytest.mark.usefixtures('from_the_bound')
def test_a_plan_takes_over_from_another_and_v_stays_below_its_limit():
    """With tighter bounds of theta and another theta_0, while the arm is moving."""
    first, k = bounded(), np.array([0.4, -0.3])
    before = plan_of(first.law, known(ALL), k, horizon_of(k))
    start, there = START + 0.12, np.array([-0.3, 0.5])
    curve = before.curve_from(start, 1.5)
    problem = problem_of()
    horizon = Horizon(curve, there, np.zeros(2), 32)
    theta = known(ALL)
    bounds = Interval(theta.bounds.lower, theta.bounds.upper)
    nearer = theta.theta + 0.2 * (theta.bounds.upper - theta.theta)
    estimate = ParameterEstimate(theta.layout, nearer, bounds)
    problem = replace(problem, horizon=horizon, bounds=estimate, before=first.law)
    error = plan_error(problem)
    second = seen_bounds(problem, error, joint_reach(problem.model, horizon, error))
    after = plan_of(second.law, estimate, there, horizon, start)
    for seed in range(2):
        loop = looped(seed, first.law, after=after)
        assert loop.energy.max() <= 1.0
        assert loop.seen.max() <= 1.0


def test_a_start_with_more_than_can_be_seen_to_be_right_is_refused():
    with pytest.raises(BoundError, match='would begin with up to .* as far as can be seen'):
        looped(0, bounded().law)


def test_plans_without_their_law_or_with_another_energy_are_refused():
    law, estimate, k = bounded().law, known(ALL), np.array([0.4, -0.3])
    plan = plan_of(law, estimate, k, horizon_of(k))
    other = replace(law, bounds=law.bounds._replace(V_M=0.5 * law.bounds.V_M))
    controller = SensedPassivityController(nominal(ALL), GAINS, CLOCK, law.sampling)
    q = plan.desired(START)[0]
    measured = JointMeasurement(CLOCK.origin + round(1e9 * START), q, q, q)
    for laws, words in (((), 'has 0 laws'), ((other,), 'V_M of a run is')):
        with pytest.raises(BoundError, match=words):
            controller.step(measured, replace(plan, laws=laws), estimate)


def faster(law, times):
    """A law under which r may have changed so much faster, all else as it is."""
    pace = law.pace._replace(
        unknown=times * law.pace.unknown,
        rate=times * law.pace.rate,
        length=law.pace.length.times(times),
    )
    return replace(law, pace=pace)


def following(before):
    problem = replace(problem_of(), before=before)
    error = plan_error(problem)
    return seen_bounds(problem, error, joint_reach(problem.model, problem.horizon, error)).law


def test_a_plan_pays_for_how_fast_r_was_before_it_and_tells_whoever_follows_soon():
    first = bounded().law
    wild = faster(first, 1.3)
    gentle, paying = following(first), following(wild)
    assert paying.bounds.sigma > gentle.bounds.sigma
    assert np.all(paying.observer.drift >= wild.pace.unknown)
    soon, later = paying.since_start(0.01), paying.since_start(0.06)
    for kind in ('unknown', 'rate'):
        assert np.all(getattr(soon.pace, kind) >= getattr(wild.pace, kind))
        assert np.all(getattr(later.pace, kind) < getattr(wild.pace, kind))
    assert np.all(np.array(soon.pace.length) >= wild.pace.length)
    assert later is paying
