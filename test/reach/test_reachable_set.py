"""Nothing that is sampled leaves the sets; certificates hold for what they say, and say it."""

from dataclasses import replace

import numpy as np
import pytest
from tiers import slow_after

from safe_sysid.bench.experiments.reach import (
    KINOVA_RANGE,
    energy_errors,
    kinova_with_dumbbell,
    random_arm,
    random_curve,
    random_horizon,
    random_obstacles,
    sample_motion,
)
from safe_sysid.bench.experiments.reach_escapes import excess
from safe_sysid.errors import BoundError
from safe_sysid.model.collision.obstacles import NO_OBSTACLES, Obstacles
from safe_sysid.model.parameters import ParameterEstimate, ratio_bounds
from safe_sysid.model.reference_limits import ReferenceLimits
from safe_sysid.reach import margin
from safe_sysid.reach.clearance import clearance_rows, whole_range
from safe_sysid.reach.error_balls import error_set
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.reach.problem import Problem
from safe_sysid.reach.reachable_set import ReachableSet
from safe_sysid.reach.torque_limits import every_row
from safe_sysid.sets.box import Box
from safe_sysid.track.gains import Gains
from safe_sysid.trajectory.bezier import Bezier

HOME = np.array([0.0, 0.3, 0.0, 1.9, 0.0, 0.9, 0.0])


def estimate(model, ratio=0.05):
    return ParameterEstimate(model.layout, model.theta, ratio_bounds(model.theta, ratio))


def gains(n):
    return Gains(np.full(n, 5.0), V_M=0.02, alpha=25.0)


def from_rest(duration=3.0):
    return Bezier(HOME, np.zeros(7), np.zeros(7), duration)


def kinova_set(obstacles=NO_OBSTACLES, curve=None):
    model = kinova_with_dumbbell()
    horizon = Horizon(curve or from_rest(), np.zeros(7), KINOVA_RANGE, intervals=64)
    return ReachableSet.build(model, estimate(model), horizon, gains(7), obstacles)


def some_motion(rng, sets, count):
    problem = sets.problem
    armature = problem.bounds.bounds.lower[problem.bounds.layout.joint_entries('Ia')]
    errors = error_set(sets.error, armature, problem.gains.V_M)
    drawn = energy_errors(rng, sets.error, errors, count)
    return sample_motion(rng, problem.horizon, sets.error.K_r, drawn)


@pytest.mark.parametrize('degree', [1, 2, 3])
def test_nothing_leaves_the_sets_of_random_arms(rng, degree):
    for _ in range(4):
        n = int(rng.integers(1, 7))
        model = random_arm(rng, n)
        horizon = random_horizon(rng, n, 0.2, degree, intervals=int(rng.integers(8, 64)))
        sets = ReachableSet.build(model, estimate(model), horizon, gains(n), NO_OBSTACLES)
        found = excess(rng, sets, some_motion(rng, sets, 1000))
        assert found.escapes() == 0, found


def test_nothing_leaves_the_sets_of_the_kinova(rng):
    model = kinova_with_dumbbell()
    for _ in range(2):
        horizon = Horizon(random_curve(rng, 7), rng.uniform(-1, 1, 7), KINOVA_RANGE)
        sets = ReachableSet.build(model, estimate(model), horizon, gains(7), NO_OBSTACLES)
        assert excess(rng, sets, some_motion(rng, sets, 2000)).escapes() == 0


@pytest.mark.parametrize('kind', slow_after(2, ['joint', 'disturbance', 'torque', 'occupancy']))
def test_samples_find_what_is_forgotten(rng, kind):
    """Remainders of joints, disturbance bound, robust input, ball of the tracking error."""
    sets = kinova_set(curve=random_curve(rng, 7))
    samples = some_motion(rng, sets, 3000)
    assert excess(rng, sets, samples).escapes() == 0
    if kind == 'joint':
        rows = np.array(sets.joints.rows)
        rows[..., -1] = 0.0
        broken = replace(sets, joints=replace(sets.joints, rows=rows))
    elif kind == 'disturbance':
        smaller = 0.5 * sets.torque.disturbance
        broken = replace(sets, torque=replace(sets.torque, disturbance=smaller))
    elif kind == 'torque':
        rows = np.array(sets.torque.rows)
        rows[..., -1] = 0.0
        nothing = np.zeros_like(sets.torque.radius)
        broken = replace(sets, torque=replace(sets.torque, rows=rows, radius=nothing))
    else:
        nothing = np.zeros_like(sets.occupancy.tracking)
        broken = replace(sets, occupancy=replace(sets.occupancy, tracking=nothing))
    assert getattr(excess(rng, broken, samples), kind).max() > 1e-3


def test_constraints_that_are_left_out_hold_and_others_are_the_same(rng):
    """Against sets of the same range with no constraint left out."""
    few = kinova_set(random_obstacles(rng, 3))
    points = whole_range(few.occupancy)
    every = replace(
        few,
        torque_rows=every_row(64, few.problem.model.limits.torque),
        clearance_rows=clearance_rows(points, few.shapes, few.problem.obstacles.packed),
    )
    assert len(few.torque_rows) < len(every.torque_rows)
    for x in rng.choice([-1.0, 1.0], size=(20, 7)):
        kept, all_values = few.evaluate(x).values, every.evaluate(x).values
        for kind in margin.KINDS:
            one, other = kept[few.kinds[kind]], all_values[every.kinds[kind]]
            assert np.all(np.isin(one, other)), kind
            assert (other < 0.0).sum() == (one < 0.0).sum(), kind


def test_derivatives_are_those_of_finite_differences(rng):
    step = 1e-6
    model = kinova_with_dumbbell()
    horizon = Horizon(from_rest(1.0), np.zeros(7), 4.0 * KINOVA_RANGE, intervals=64)
    model = replace(model, reference=ReferenceLimits(np.full(7, 20.0), np.full(7, 100.0)))
    sets = ReachableSet.build(
        model, estimate(model, 0.3), horizon, gains(7), random_obstacles(rng, 3)
    )
    assert all(rows.stop > rows.start for rows in sets.kinds.values()), sets.kinds
    x = rng.uniform(-0.9, 0.9, 7)
    jacobian = sets.evaluate(x).jacobian
    for v in range(7):
        shift = step * np.eye(7)[v]
        after, before = sets.evaluate(x + shift).values, sets.evaluate(x - shift).values
        wrong = np.abs((after - before) / (2 * step) - jacobian[:, v])
        limit = 1e-4 * (1.0 + np.abs(jacobian).max())
        assert (wrong > limit).mean() < 0.005  # kinks of the distance
        for kind in (margin.TORQUE, *margin.LIMITED):
            assert np.all(wrong[sets.kinds[kind]] < limit), kind


def test_derivatives_of_some_rows_are_those_of_all(rng):
    model = replace(
        kinova_with_dumbbell(), reference=ReferenceLimits(np.full(7, 20.0), np.ones(7))
    )
    horizon = Horizon(from_rest(1.0), np.zeros(7), 4.0 * KINOVA_RANGE, intervals=32)
    obstacles = random_obstacles(rng, 12)
    sets = ReachableSet.build(model, estimate(model, 0.3), horizon, gains(7), obstacles)
    found = sets.evaluate(rng.uniform(-0.9, 0.9, 7))
    for count in (0, 1, 7, 100, len(found.values)):
        rows = np.sort(rng.choice(len(found.values), count, replace=False))
        assert np.array_equal(found.slopes(rows), found.jacobian[rows])
    for kind, rows in sets.kinds.items():
        some = np.arange(rows.start, rows.stop)
        assert len(some), kind
        assert np.array_equal(found.slopes(some), found.jacobian[rows]), kind


def test_a_small_motion_in_free_space_is_certified(rng):
    sets = kinova_set()
    for x in rng.uniform(-1, 1, (5, 7)):
        certificate = sets.certify(x)
        assert certificate.holds, str(certificate)
        assert set(certificate.margins) == set(margin.KINDS) - {
            margin.OBSTACLE,
            margin.ACCELERATION,
            margin.JERK,
        }
        assert certificate.smallest.margin > 0.0
        assert str(certificate).startswith('certified, smallest margin: ')


def test_a_certificate_says_which_plan_it_is_for(rng):
    sets, x = kinova_set(random_obstacles(rng, 2)), rng.uniform(-1, 1, 7)
    certificate = sets.certify(x)
    assert np.array_equal(certificate.k, sets.k(x))
    assert np.all(certificate.problem.horizon.k_range == 0.0)
    for name in ('model', 'bounds', 'gains', 'obstacles'):
        assert getattr(certificate.problem, name) is getattr(sets.problem, name)
    assert certificate.problem.horizon.curve is sets.problem.horizon.curve


def test_joints_without_a_torque_limit_have_no_row(rng):
    model = random_arm(rng, 2)
    strong = replace(model, limits=replace(model.limits, torque=np.array([np.inf, 1e-6])))
    horizon = random_horizon(rng, 2, 0.1, 2, intervals=4)
    sets = ReachableSet.build(strong, estimate(strong), horizon, gains(2), NO_OBSTACLES)
    assert set(sets.torque_rows[:, 1]) == {1}
    worst = sets.certify(np.zeros(2)).margins[margin.TORQUE]
    assert worst.where == 'j1'
    assert np.isfinite(worst.margin)


def test_a_certificate_is_tighter_than_the_sets_of_the_range(rng):
    sets = kinova_set(random_obstacles(rng, 3, distance=0.6))
    for x in rng.uniform(-1, 1, (5, 7)):
        constraints, certificate = sets.evaluate(x), sets.certify(x)
        for kind, rows in sets.kinds.items():
            if rows.stop > rows.start:
                # rows that hold for all of the range are left out of its sets
                least = min(0.0, constraints.values[rows].min())
                assert certificate.margins[kind].margin >= least - 1e-9


def test_what_stands_in_the_way_is_named():
    """A cube around the gripper when the arm is at its end position."""
    free = kinova_set()
    end = free.occupancy.rows[-1, free.problem.model.capsules.names.index('gripper'), :, 0]
    cube = Box(end, np.full(3, 0.05), np.eye(3))
    sets = kinova_set(
        Obstacles.of({'far': Box(np.full(3, 5.0), np.ones(3), np.eye(3)), 'cube': cube})
    )
    certificate = sets.certify(np.zeros(7))
    assert not certificate.holds
    worst = certificate.smallest
    assert worst.kind == margin.OBSTACLE
    assert worst.where.endswith(' and cube')
    assert worst.margin < -0.05
    assert str(certificate).startswith('not certified, smallest margin: obstacle clearance of ')
    assert str(worst).endswith(' m')


def test_torque_beyond_its_limit_is_named():
    sets = kinova_set()
    weak = np.array(sets.problem.model.limits.torque)
    weak[3] = 0.5
    model = replace(sets.problem.model, limits=replace(sets.problem.model.limits, torque=weak))
    sets = ReachableSet.build(
        model, sets.problem.bounds, sets.problem.horizon, gains(7), NO_OBSTACLES
    )
    worst = sets.certify(np.zeros(7)).smallest
    assert (worst.kind, worst.where, abs(worst.limit)) == (margin.TORQUE, 'joint_4', 0.5)
    assert abs(worst.value) > 0.5
    assert worst.time is not None
    assert ' of joint_4 at t = ' in str(worst)
    assert str(worst).endswith('0.5 N m')


def test_velocity_beyond_its_limit_is_named():
    sets = kinova_set(curve=Bezier(HOME, np.array([0, 0, 0, 0, 0, 0, 3.0]), np.zeros(7), 3.0))
    worst = sets.certify(np.zeros(7)).margins[margin.VELOCITY]
    assert (worst.where, worst.time) == ('joint_7', None)
    assert worst.margin < 0.0
    assert worst.value > 3.0


def test_every_row_says_what_it_is_about(rng):
    sets = kinova_set(random_obstacles(rng, 3))
    constraints = sets.evaluate(np.zeros(7))
    for kind, rows in sets.kinds.items():
        for i in range(rows.start, rows.stop, max(1, (rows.stop - rows.start) // 7)):
            about = constraints.margin(i)
            assert about.kind == kind
            assert about.margin == constraints.values[i]


def test_a_nan_never_holds():
    certificate = kinova_set().certify(np.zeros(7))
    nan = replace(certificate.smallest, margin=float('nan'))
    assert certificate.holds
    assert not replace(certificate, margins={**certificate.margins, nan.kind: nan}).holds


@pytest.mark.parametrize('x', [np.zeros(6), np.full(7, np.nan)])
def test_x_that_is_no_plan_is_refused(x):
    with pytest.raises(BoundError, match='has to be 7 finite numbers'):
        kinova_set().evaluate(x)


def test_an_arm_without_collision_shapes_is_refused(rng):
    model = random_arm(rng, 3)
    bare = replace(model, capsules=replace(model.capsules, joint=np.full(4, -1)))
    horizon = random_horizon(rng, 3, 0.1, 2, intervals=4)
    with pytest.raises(BoundError, match='add capsules under `collision`'):
        ReachableSet.build(bare, estimate(bare), horizon, gains(3), NO_OBSTACLES)


@pytest.mark.parametrize('radius', [0.0, np.nan])
def test_capsules_without_size_are_refused(rng, radius):
    model = random_arm(rng, 3)
    flat = replace(model, capsules=replace(model.capsules, radius=np.full(4, radius)))
    horizon = random_horizon(rng, 3, 0.1, 2, intervals=4)
    with pytest.raises(BoundError, match='radii above 0'):
        ReachableSet.build(flat, estimate(flat), horizon, gains(3), NO_OBSTACLES)


def test_an_arm_without_torque_is_refused(rng):
    model = random_arm(rng, 2)
    weak = replace(model, limits=replace(model.limits, torque=np.array([1.0, 0.0])))
    horizon = random_horizon(rng, 2, 0.1, 2, intervals=4)
    with pytest.raises(BoundError, match='torque limits'):
        ReachableSet.build(weak, estimate(weak), horizon, gains(2), NO_OBSTACLES)


def test_what_a_drive_refuses_of_the_desired_motion_is_not_certified():
    """The plan from rest has 10 k / sqrt(3) / T^2 of acceleration and 60 k / T^3 of jerk."""
    model, k, T = kinova_with_dumbbell(), 0.05, 3.0
    peak = np.array([10.0 * k / np.sqrt(3.0) / T**2, 60.0 * k / T**3])
    horizon = Horizon(from_rest(), np.full(7, k), np.zeros(7), intervals=64)
    for share, holds in ((1.001, (True, True)), (0.999, (False, False))):
        limits = ReferenceLimits(*np.repeat(share * peak[:, None], 7, axis=1))
        arm = replace(model, reference=limits)
        problem = Problem(arm, estimate(model), horizon, gains(7), NO_OBSTACLES)
        margins = ReachableSet.certify_center(problem).margins
        found = tuple(margins[kind].margin > 0.0 for kind in (margin.ACCELERATION, margin.JERK))
        assert found == holds
        assert 'rad/s^2' in str(margins[margin.ACCELERATION])
        assert abs(margins[margin.JERK].value) == pytest.approx(peak[1])
