"""Tracking errors of one plan: ellipsoids that arms without armature have, and nobody leaves."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from reach.light_arms import PANDA_HOME, UR5_HOME, panda, problem_of, ur5
from tiers import slow_after

from safe_sysid.bench.experiments.kinova_dumbbell import kinova_prior
from safe_sysid.bench.experiments.planning import violations
from safe_sysid.bench.experiments.reach import (
    energy_errors,
    kinova_with_dumbbell,
    placed_points,
    sample_motion,
)
from safe_sysid.bench.experiments.reach_escapes import excess
from safe_sysid.errors import BoundError
from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.reach import plan_error as module
from safe_sysid.reach.inertia_floors import LARGEST_ENERGY_GAP, inertia_floors
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.reach.plan_error import nominal_inverse, plan_error, position_shape
from safe_sysid.reach.problem import Problem
from safe_sysid.reach.reachable_set import ReachableSet
from safe_sysid.reach.tracking_error import tracking_error
from safe_sysid.sets.box import Box
from safe_sysid.sets.ellipsoids import contains
from safe_sysid.sets.interval import Interval
from safe_sysid.track.gains import Gains
from safe_sysid.trajectory.bezier import Bezier

ARMS = {'panda': (panda, PANDA_HOME), 'ur5': (ur5, UR5_HOME)}
STEP = 2e-3  # [s] of the integration of e


def light(name, V_M, **others):
    arm, home = ARMS[name]
    return problem_of(arm(), home, V_M, **others)


@pytest.mark.parametrize(
    ('name', 'move', 'velocity', 'position'),
    [
        ('panda', 0.0, 0.36, 47e-3),
        ('panda', 0.5, 0.50, 51e-3),
        ('ur5', 0.0, 0.17, 26e-3),
        ('ur5', 0.5, 0.28, 27e-3),
    ],
)
def test_arms_without_armature_have_certified_plans(name, move, velocity, position):
    """At rest and on a way of 0.5 rad with 5 % on everything, and exact sensors."""
    problem = light(name, 5e-4, move=move)
    certificate = ReachableSet.certify_center(problem)
    error, curve = certificate.error, problem.horizon.curve
    speed = np.abs(curve.velocity(np.linspace(0.0, 3.0, 400), problem.horizon.k_center)).max(0)
    assert certificate.holds, str(certificate)
    assert error.position.max() < position
    assert ((speed + error.velocity) / problem.model.limits.velocity).max() < velocity


@pytest.mark.parametrize('name', slow_after(1, ['ur5', 'panda']))
def test_no_sample_leaves_the_sets_or_breaks_a_limit(name, rng):
    """Joint states, commands, what theta changes in them, and end points, of a certified plan."""
    box = Box(np.array([0.0, 0.0, -1.5]), np.array([1.0, 1.0, 0.1]), np.eye(3))
    problem = replace(light(name, 5e-4, move=0.5), obstacles=Obstacles.of({'table': box}))
    sets = ReachableSet.build(
        problem.model, problem.bounds, problem.horizon, problem.gains, problem.obstacles
    )
    errors = energy_errors(rng, sets.error, sets.errors, 4000)
    samples = sample_motion(rng, problem.horizon, problem.gains.K_r, errors)
    assert excess(rng, sets, samples).escapes() == 0
    certificate = ReachableSet.certify_center(problem)
    assert certificate.holds
    assert violations(rng, certificate, 1000) == 0


def mass(arm, data, q):
    H = pin.crba(arm, data, q)
    return np.triu(H) + np.triu(H, 1).T


class Pushed:
    """An arm with parameters of its own whose r is, at every time, the worst of energy V_M."""

    def __init__(self, rng, problem, direction):
        bounds = problem.bounds.bounds
        theta = np.where(rng.random(len(bounds.lower)) < 0.5, bounds.lower, bounds.upper)
        self.arm = problem.model.with_parameters(theta).pinocchio()
        self.data, self.c = self.arm.createData(), direction
        self.gains, self.horizon = problem.gains, problem.horizon

    def worst_r(self, q, sign):
        """Where r goes along the direction as far as r' H r <= 2 V_M allows."""
        pulled = np.linalg.solve(mass(self.arm, self.data, q), self.c)
        return sign * pulled * np.sqrt(2.0 * self.gains.V_M / (self.c @ pulled))

    def states(self, e, turn):
        """Times, r and e along the plan; the push changes its sign at a time."""
        times = np.arange(0.0, self.horizon.curve.duration, STEP)
        decay = np.exp(-self.gains.K_r * STEP)
        for t in times:
            q_d = self.horizon.curve.position(t, self.horizon.k_center)
            r = self.worst_r(q_d - e, 1.0 if t < turn else -1.0)
            yield t, r, e
            e = decay * e + (1.0 - decay) * r / self.gains.K_r

    def excess(self, error, e, turn):
        """Largest |z| of r = R z and e = L z, and shares of the bounds joint by joint."""
        tube, worst = error.tube, np.zeros(4)
        for t, r, e_now in self.states(e, turn):
            s = min(int(np.searchsorted(tube.time.upper, t)), len(tube.e) - 1)
            z = [
                np.linalg.norm(np.linalg.solve(L[s], x)) for L, x in ((tube.r, r), (tube.e, e_now))
            ]
            rate = np.abs(r - self.gains.K_r * e_now) / error.velocity
            worst = np.maximum(worst, [*z, (np.abs(e_now) / error.position).max(), rate.max()])
        return worst


@pytest.mark.parametrize('name', slow_after(1, ['panda', 'ur5']))
@pytest.mark.parametrize('move', slow_after(1, [0.5, 0.0, 1.2]))
def test_the_worst_energy_does_not_leave_the_tube(name, move, rng):
    """With mass matrices by Pinocchio at vertices of [theta], at the true positions."""
    problem = light(name, 5e-4, move=move)
    error, n = plan_error(problem), problem.model.n
    assert error.tube is not None
    largest = np.zeros(4)
    for c in np.vstack([np.eye(n)[[0, 3, n - 1]], rng.normal(size=(2, n))]):
        pushed = Pushed(rng, problem, c)
        found = pushed.excess(error, np.zeros(n), rng.uniform(0.0, 3.0))
        assert np.all(found <= 1.0 + 1e-3)
        largest = np.maximum(largest, found)
    assert np.all(largest > [0.8, 0.75, 0.5, 0.4])


def largest_share(rng, problem, N, L):
    """Largest w' M^-1 w / |w|' N |w| found: M by Pinocchio, w climbs from random ones."""
    arm = problem.model.with_parameters(problem.bounds.theta).pinocchio()
    data, n, worst = arm.createData(), problem.model.n, 0.0
    middles = problem.horizon.time.center
    for s in rng.integers(len(N), size=30):
        q_d = problem.horizon.curve.position(middles[s], problem.horizon.k_center)
        z = rng.normal(size=n)
        inverse = np.linalg.inv(mass(arm, data, q_d - L[s] @ (z / np.linalg.norm(z))))
        for w in [*np.eye(n), *np.linalg.eigh(inverse)[1].T, *rng.normal(size=(20, n))]:
            worst = max(worst, (w @ inverse @ w) / (np.abs(w) @ N[s] @ np.abs(w)))
    return worst


@pytest.mark.parametrize('name', ['panda', 'ur5'])
def test_the_nominal_mass_matrix_is_bounded_along_the_plan(name, rng):
    """What the bound of the law's torque rests on for arms without armature."""
    problem = light(name, 5e-4, move=0.5)
    error = plan_error(problem)
    N = nominal_inverse(problem, error)
    share = largest_share(rng, problem, N, error.tube.e)
    assert share <= 1.0
    assert largest_share(rng, problem, 0.7 * N, error.tube.e) > 1.0  # so 0.7 of it is too little
    assert nominal_inverse(problem, replace(error, tube=None)) is None


def test_a_nominal_body_that_cannot_exist_has_no_such_bound():
    problem = light('panda', 5e-4)
    error, bounds = plan_error(problem), problem.bounds
    lower, theta = bounds.bounds.lower.copy(), bounds.theta.copy()
    mass_of_last = 60  # little is known of it, so the tube leaves the body out and it has to exist
    lower[mass_of_last] /= 3.0
    loose = replace(bounds, bounds=Interval(lower, bounds.bounds.upper))
    assert nominal_inverse(replace(problem, bounds=loose), error) is not None
    theta[mass_of_last] = lower[mass_of_last]  # too light for its first moment
    impossible = replace(loose, theta=theta)
    assert nominal_inverse(replace(problem, bounds=impossible), error) is None


@pytest.mark.parametrize('kind', slow_after(1, ['inertia', 'start', 'narrow']))
def test_what_is_forgotten_is_noticed(kind, rng, monkeypatch):
    problem = light('panda', 5e-4, move=0.5)
    start = np.zeros(7)
    if kind == 'inertia':  # that of another pose
        right = module.inverse_factors
        monkeypatch.setattr(
            module, 'inverse_factors', lambda model, bodies, q: right(model, bodies, 0.5 * q)
        )
        monkeypatch.setattr(module, '_gap_over', lambda along, _: np.full(len(along.X), 0.3))
    elif kind == 'start':
        start = 2.0 * plan_error(problem).position
    else:  # a theta that is known better than it is
        theta = problem.bounds
        problem_of_middle = light('panda', 5e-4, move=0.5, ratio=0.001)
        monkeypatch.setattr(module, 'WIDER', 1.001)
        error = plan_error(problem_of_middle)
        problem = replace(problem, bounds=theta)
    if kind != 'narrow':
        error = plan_error(problem)
    worst = [Pushed(rng, problem, c).excess(error, start, 9.0).max() for c in np.eye(7)]
    assert max(worst) > 1.001


@pytest.mark.slow
def test_a_plan_begins_with_what_the_one_before_left(rng):
    """A switch in motion to a plan for narrower bounds, at the worst error of the first."""
    first = light('panda', 1e-3, move=0.5)
    certificate = ReachableSet.certify_center(first)
    shape = certificate.error_shape(1.5)
    curve, k = first.horizon.curve, first.horizon.k_center
    state = [curve.derivative(order, 1.5, k) for order in range(3)]
    narrow = light('panda', 1e-3, ratio=0.01)
    second = replace(
        narrow,
        horizon=Horizon(Bezier(*state, 3.0), 0.3 * k, np.zeros(7)),
        error_at_start=shape,
    )
    error, alone = plan_error(second), plan_error(replace(second, error_at_start=None))
    L = np.linalg.cholesky(shape)
    assert contains(position_shape(second, error, 0.0)[None], shape[None])
    for c in np.eye(7):
        start = L @ (L.T @ c) / np.linalg.norm(L.T @ c)
        pushed = Pushed(rng, second, c)
        assert np.all(pushed.excess(error, start, 9.0) <= 1.0 + 1e-3)
    # what wider bounds left is forgotten
    late, never = (position_shape(second, each, 3.0) for each in (error, alone))
    assert np.diag(late) == pytest.approx(np.diag(never), rel=0.05)


def test_states_stay_in_their_sets(rng):
    """Rows of the joints and balls of end points, for r and e anywhere in the ellipsoids."""
    problem = light('panda', 1e-3, move=0.5, intervals=40)
    sets = ReachableSet.build(
        problem.model, problem.bounds, problem.horizon, problem.gains, problem.obstacles
    )
    tube, horizon, reach = sets.error.tube, problem.horizon, sets.joints
    K_r, worst = problem.gains.K_r, 0.0
    for _ in range(800):
        s = int(rng.integers(40))
        t = rng.choice([horizon.time.lower[s], horizon.time.upper[s], rng.random() * 0.075])
        t = min(max(t, horizon.time.lower[s]), horizon.time.upper[s])
        z = rng.normal(size=(2, 7))
        z /= np.linalg.norm(z, axis=1, keepdims=True)
        r, e = tube.r[s] @ z[0], tube.e[s] @ z[1]
        q_d, qd_d, qdd_d = (horizon.curve.derivative(i, t, horizon.k_center) for i in range(3))
        de = r - K_r * e
        values = [
            np.cos(q_d - e), np.sin(q_d - e), q_d - e, qd_d - de, qd_d + K_r * e, qdd_d + K_r * de
        ]  # fmt: skip
        at = np.concatenate([[1.0], z[0], z[1]])
        for rows, value in zip(reach.rows, values, strict=False):
            assert np.all(np.abs(value - rows[s, :, :-1] @ at) <= rows[s, :, -1] + 1e-12)
        points = np.vstack([problem.model.capsules.a, problem.model.capsules.b])
        placed = placed_points(problem.model.tree, (q_d - e)[None], np.full(2, 6), points)[0]
        gap = np.maximum(np.abs(placed - sets.occupancy.rows[s, :, :, 0]) -
                         sets.occupancy.rows[s, :, :, -1], 0.0)  # fmt: skip
        share = np.linalg.norm(gap, axis=1) / sets.occupancy.tracking[s]
        assert np.all(share <= 1.0 + 1e-9)
        worst = max(worst, share.max())
    assert worst > 0.5


def test_arms_with_armature_keep_the_bound_for_all_poses():
    model = kinova_with_dumbbell()
    bounds, gains = kinova_prior(model), Gains(np.full(7, 5.0), 0.02, 25.0)
    still, q = np.zeros(7), np.array([0.0, 0.3, 0.0, 1.9, 0.0, 0.9, 0.0])
    horizon = Horizon(Bezier(q, still, still, 3.0), still + 0.3, still)
    problem = Problem(model, bounds, horizon, gains, light('ur5', 1e-3).obstacles)
    error, everywhere = plan_error(problem), tracking_error(model, bounds, gains)
    assert error.tube is None
    for name in ('r_max', 'position', 'velocity'):
        assert np.array_equal(getattr(error, name), getattr(everywhere, name))
    assert np.all(np.diag(position_shape(problem, error, 1.0)) >= 0.999 * error.position**2)


def held(model, most):
    """Bounds of an end effector that is anything from nothing to a multiple of what it is."""
    theta, bounds = model.theta, problem_of(model, PANDA_HOME, 1e-3).bounds.bounds
    lower, upper = bounds.lower.copy(), bounds.upper.copy()
    tip = model.layout.end_effector
    lower[tip], upper[tip] = np.minimum(most * theta[tip], 0.0), np.maximum(most * theta[tip], 0.0)
    return Interval(lower, upper)


@pytest.mark.slow
def test_a_payload_that_is_not_known_leaves_a_bound_where_there_is_armature(rng):
    model = panda()
    theta = model.theta.copy()
    theta[model.layout.joint_entries('Ia')] = 0.05
    model = model.with_parameters(theta)
    problem = problem_of(model, PANDA_HOME, 1e-3, move=0.5)
    box = held(model, 3.0)
    problem = replace(problem, bounds=replace(problem.bounds, bounds=box))
    error, known = plan_error(problem), plan_error(problem_of(model, PANDA_HOME, 1e-3, 0.5))
    assert error.tube is not None
    assert error.position.max() < 2.5 * known.position.max()
    for share in (0.0, 0.5, 3.0):
        tip = model.layout.end_effector
        lower, upper = box.lower.copy(), box.upper.copy()
        lower[tip] = upper[tip] = share * model.theta[tip]
        theta = np.clip(model.theta, lower, upper)
        one = replace(problem.bounds, theta=theta, bounds=Interval(lower, upper))
        pushed = Pushed(rng, replace(problem, bounds=one), np.eye(7)[6])
        assert np.all(pushed.excess(error, np.zeros(7), 2.0) <= 1.0 + 1e-3)


def felt(model):
    """Bounds of an end effector whose mass is known to 10 %, and whose moments are not."""
    box, tip = held(model, 3.0), model.layout.end_effector
    lower, upper = box.lower.copy(), box.upper.copy()
    mass = np.arange(len(lower))[tip][:1]
    lower[mass], upper[mass] = 0.9 * model.theta[mass], 1.1 * model.theta[mass]
    return Interval(lower, upper)


@pytest.mark.parametrize('move', [0.0, 0.5])
def test_who_knows_more_of_a_payload_is_promised_no_more_error(move, rng):
    """Its mass alone: the box then has bodies of negative energy, which none can be."""
    model = panda()
    theta = model.theta.copy()
    theta[model.layout.joint_entries('Ia')] = 0.05
    problem = problem_of(model.with_parameters(theta), PANDA_HOME, 1e-3, move=move)
    boxes = (held(problem.model, 3.0), felt(problem.model))
    wide, narrow = (
        plan_error(replace(problem, bounds=replace(problem.bounds, bounds=box))) for box in boxes
    )
    assert narrow.tube is not None
    assert np.all(narrow.position <= 1.01 * wide.position)
    pushed = Pushed(rng, problem_with_tip(problem, boxes[1]), np.eye(7)[6])
    found = pushed.excess(narrow, np.zeros(7), 2.0)
    assert np.all(found <= 1.0 + 1e-3) and found[1] > 0.3


@pytest.mark.parametrize('move', [0.0, 0.5])
def test_moments_that_are_known_better_and_better_never_cost_error(move):
    """On the way there are boxes that bound the inertia by less than the links alone do."""
    model = panda()
    theta = model.theta.copy()
    theta[model.layout.joint_entries('Ia')] = 0.05
    problem = problem_of(model.with_parameters(theta), PANDA_HOME, 1e-3, move=move)
    box, tip = felt(problem.model), problem.model.layout.end_effector
    middle, before, kinds = problem.model.theta[tip], np.inf, []
    for share in np.geomspace(1.0, 0.05, 8):
        lower, upper = box.lower.copy(), box.upper.copy()
        lower[tip] = middle + share * (lower[tip] - middle)
        upper[tip] = middle + share * (upper[tip] - middle)
        bounds = Interval(np.minimum(lower, upper), np.maximum(lower, upper))
        error = plan_error(replace(problem, bounds=replace(problem.bounds, bounds=bounds)))
        size = np.log(error.position).sum()
        assert size <= before + 0.01
        before = size
        gap = inertia_floors(problem.model, bounds).energy_gap[-1]
        kinds.append(gap > LARGEST_ENERGY_GAP)
    assert set(kinds) == {True, False}


def problem_with_tip(problem, box):
    """The lightest body that the bounds of the end effector leave, everything else anywhere."""
    tip = problem.model.layout.end_effector
    lower, upper = box.lower.copy(), box.upper.copy()
    lower[tip] = upper[tip] = 0.9 * problem.model.theta[tip]
    theta = np.clip(problem.model.theta, lower, upper)
    return replace(
        problem, bounds=replace(problem.bounds, theta=theta, bounds=Interval(lower, upper))
    )


def test_the_bound_for_all_poses_counts_where_it_is_the_better_one():
    model = panda()
    theta = model.theta.copy()
    theta[model.layout.joint_entries('Ia')] = [0.0, 0.0, 0.0, 0.0, 50.0, 0.0, 0.0]
    problem = problem_of(model.with_parameters(theta), PANDA_HOME, 5e-4)
    error = plan_error(problem)
    assert error.tube is not None
    assert error.r_max[4] <= np.sqrt(1e-3 / (0.95 * 50.0)) * (1.0 + 1e-9)
    assert np.all(error.position <= error.tube.largest_e.max(axis=0))


def test_more_energy_than_the_inertia_bears_is_refused():
    with pytest.raises(BoundError, match='for V_M = 5.0 J: take a smaller V_M'):
        plan_error(light('panda', 5.0))
    with pytest.raises(BoundError, match='its armature may'):
        plan_error(light('panda', 5e-4, ratio=2.0))
