"""Clearances are never above those of the real capsules, and their gradients are right."""

from dataclasses import replace

import numpy as np
import pytest
from tiers import slow_after

from safe_sysid.bench.experiments.reach import (
    KINOVA_RANGE,
    box_errors,
    kinova_with_dumbbell,
    placed_points,
    random_arm,
    random_curve,
    random_obstacles,
    sample_motion,
)
from safe_sysid.model.collision.enclosing_boxes import extents
from safe_sysid.model.collision.obstacles import NO_OBSTACLES, Obstacles
from safe_sysid.model.collision.sphere_cover import Shapes, sphere_cover
from safe_sysid.reach.clearance import (
    Points,
    clearance_rows,
    clearances,
    points_at,
    whole_range,
)
from safe_sysid.reach.clearance_slopes import clearance_slopes, moved_points
from safe_sysid.reach.error_balls import ErrorSet
from safe_sysid.reach.forward_occupancy import (
    Occupancy,
    ball_radius,
    forward_occupancy,
    without_error,
)
from safe_sysid.reach.joint_reach import Horizon, joint_reach
from safe_sysid.reach.nearest_obstacle import EnclosedArm
from safe_sysid.reach.one_way_clearance import undecided_one_way
from safe_sysid.reach.tracking_error import TrackingError
from safe_sysid.sets.box import Box
from safe_sysid.sets.monomials import monomials

MIXTURES = np.linspace(0.0, 1.0, 21)


def tracking_error(n, position):
    K_r = np.full(n, 5.0)
    return TrackingError(K_r, K_r * position, np.full(n, position), 2.0 * K_r * position)


class Case:
    """Sets of one arm with obstacles around it."""

    def __init__(self, rng, model, k_range, obstacles, intervals=32):
        self.model, self.obstacles = model, obstacles
        self.error = tracking_error(model.n, 0.01)
        k_center = rng.uniform(-0.5, 0.5, size=model.n)
        self.horizon = Horizon(random_curve(rng, model.n), k_center, k_range, intervals)
        errors = ErrorSet(self.error.position, np.full(model.n, np.inf))
        desired = joint_reach(model, self.horizon, without_error(model.n))
        self.occupancy = forward_occupancy(model, desired, errors)
        self.shapes = sphere_cover(model.capsules)
        self.points = whole_range(self.occupancy)
        self.rows = clearance_rows(self.points, self.shapes, obstacles.packed)

    def at(self, x, rows=None):
        """Clearances and derivatives of the given rows, or of all."""
        rows = self.rows if rows is None else rows
        monomials = self.occupancy.monomials
        points = points_at(self.occupancy, self.occupancy.rho, rows, monomials.values(x))
        moved = moved_points(self.occupancy, rows, monomials.gradients(x))
        packed = self.obstacles.packed
        values = clearances(points, self.shapes, packed, rows)
        return values, clearance_slopes(points, moved, self.shapes, packed, rows)


def kinova_case(rng, intervals=32):
    obstacles = random_obstacles(rng, 4)
    return Case(rng, kinova_with_dumbbell(), KINOVA_RANGE, obstacles, intervals)


def undecided(case):
    arm = EnclosedArm.of(case.points, case.shapes)
    return arm.undecided(case.obstacles, case.horizon.time)


def may_meet(case):
    """Whether the box about a sphere, for all k, overlaps that about an obstacle, for each row."""
    t, sphere, o = case.rows.obstacle.T
    a, s = case.shapes.sphere_capsule[sphere], case.shapes.sphere_weight[sphere][:, None]
    b, points = a + case.points.rho.shape[1] // 2, case.points
    center = (1.0 - s) * points.center[t, a] + s * points.center[t, b]
    rho = (1.0 - s[:, 0]) * points.rho[t, a] + s[:, 0] * points.rho[t, b]
    size = (case.shapes.sphere_radius[sphere] + rho)[:, None]
    around = extents(case.obstacles.shapes)[o]
    return np.all((center - size <= around[:, 1]) & (center + size >= around[:, 0]), axis=1)


def motion(rng, case, count):
    errors = box_errors(rng, case.error, count)
    return sample_motion(rng, case.horizon, case.error.K_r, errors)


def true_segments(model, q):
    """Points on the segments of all capsules, (N, m, 21, 3)."""
    capsules = model.capsules
    a = placed_points(model.tree, q, capsules.joint, capsules.a)
    b = placed_points(model.tree, q, capsules.joint, capsules.b)
    return a[:, :, None] + MIXTURES[:, None] * (b - a)[:, :, None]


def escapes(case, samples):
    """By how much clearances are above those of points of the real capsules, the largest."""
    segments = true_segments(case.model, samples.q)
    capsules, rows = case.model.capsules, case.rows
    worst = -np.inf
    obstacle_count = len(rows.obstacle)
    for i in range(len(samples.q)):
        values, _ = case.at(samples.x[i])
        t = samples.interval[i]
        of_time = np.flatnonzero(rows.obstacle[:, 0] == t)
        nearest = {}
        for o, shape in enumerate(case.obstacles.shapes):
            distance = shape.distance(segments[i].reshape(-1, 3))[0].reshape(-1, len(MIXTURES))
            nearest[o] = distance.min(axis=1) - capsules.radius
        for row in of_time:
            c = case.shapes.sphere_capsule[rows.obstacle[row, 1]]
            spheres = of_time[case.shapes.sphere_capsule[rows.obstacle[of_time, 1]] == c]
            spheres = spheres[rows.obstacle[spheres, 2] == rows.obstacle[row, 2]]
            claimed = values[spheres].min()
            worst = max(worst, claimed - nearest[rows.obstacle[row, 2]][c])
        for row in np.flatnonzero(rows.capsule[:, 0] == t):
            first, second = capsules.pairs[rows.capsule[row, 1]]
            apart = segments[i, first][:, None] - segments[i, second]
            true = np.linalg.norm(apart, axis=-1).min() - capsules.radius[[first, second]].sum()
            worst = max(worst, values[obstacle_count + row] - true)
    return worst


def test_claimed_clearances_of_the_kinova_are_never_above_the_real_ones(rng):
    for _ in range(3):
        case = kinova_case(rng)
        samples = motion(rng, case, 30)
        assert escapes(case, samples) <= 1e-12


def test_claimed_clearances_of_random_arms_are_never_above_the_real_ones(rng):
    for _ in range(6):
        n = int(rng.integers(2, 6))
        case = Case(rng, random_arm(rng, n), rng.uniform(0.0, 0.2, n), random_obstacles(rng, 3), 8)
        samples = motion(rng, case, 30)
        assert escapes(case, samples) <= 1e-12


@pytest.mark.parametrize(
    'forgotten', slow_after(2, ['remainder', 'tracking error', 'capsule radius', 'cover'])
)
def test_samples_find_what_is_forgotten(rng, forgotten):
    # Long time intervals for what they leave open, short ones so that they do not hide the rest.
    case = kinova_case(rng, intervals=8 if forgotten == 'remainder' else 256)
    samples = motion(rng, case, 60)
    if forgotten == 'remainder':
        case.occupancy.rows[..., -1] = 0.0
    elif forgotten == 'tracking error':
        case.occupancy.tracking[:] = 0.0
    elif forgotten == 'capsule radius':
        case.shapes = case.shapes._replace(
            capsule_radius=np.zeros(len(case.model.capsules.radius)),
            sphere_radius=np.zeros(len(case.shapes.sphere_radius)),
        )
    else:
        case.shapes = case.shapes._replace(
            sphere_weight=np.full(len(case.shapes.sphere_radius), 0.5)
        )
    assert escapes(case, samples) > 1e-4


def test_rows_that_are_left_out_hold_for_every_k(rng):
    case = kinova_case(rng)
    kept = undecided(case)
    assert 0 < len(kept.obstacle) < len(case.rows.obstacle)
    names = {tuple(row) for row in kept.obstacle.tolist()}
    left_out = np.array([tuple(row) not in names for row in case.rows.obstacle.tolist()])
    pairs = {tuple(row) for row in kept.capsule.tolist()}
    left_out_pair = np.array([tuple(row) not in pairs for row in case.rows.capsule.tolist()])
    for x in (*rng.uniform(-1, 1, (20, 7)), *rng.choice([-1.0, 1.0], (40, 7))):
        values, _ = case.at(x)
        count = len(case.rows.obstacle)
        assert np.all(values[:count][left_out & may_meet(case)] > 0.0)
        assert np.all(values[count:][left_out_pair] > 0.0)


def test_rows_are_those_that_are_not_positive_for_the_whole_range(rng):
    """What boxes about the arm leave out would be left out one by one."""
    model = kinova_with_dumbbell()
    for count in (1, 12, 40):
        case = Case(rng, model, KINOVA_RANGE, random_obstacles(rng, count, 0.9), intervals=21)
        kept, obstacles = undecided(case), len(case.rows.obstacle)
        values = clearances(case.points, case.shapes, case.obstacles.packed, case.rows)
        undecided_ones = ~(values[:obstacles] > 0.0)
        needed = case.rows.obstacle[undecided_ones & may_meet(case)]
        allowed = {tuple(row) for row in case.rows.obstacle[undecided_ones].tolist()}
        found = {tuple(row) for row in kept.obstacle.tolist()}
        assert {tuple(row) for row in needed.tolist()} <= found <= allowed
        assert len(found) == len(kept.obstacle)
        assert np.all(np.diff(kept.obstacle[:, 0]) >= 0)
        assert np.array_equal(kept.capsule, case.rows.capsule[~(values[obstacles:] > 0.0)])


def test_the_nearest_of_many_boxes_is_that_of_all_rows(rng):
    """From any time step on, also in the middle of those that are looked at together."""
    several = random_obstacles(rng, 40, 1.8)  # none of which it touches
    boxes = {
        name: shape
        for name, shape in zip(several.names, several.shapes, strict=True)
        if isinstance(shape, Box)
    }
    case = Case(rng, kinova_with_dumbbell(), KINOVA_RANGE, Obstacles.of(boxes), intervals=21)
    values = clearances(case.points, case.shapes, case.obstacles.packed, case.rows)
    arm, steps = EnclosedArm.of(case.points, case.shapes), case.rows.obstacle[:, 0]
    for first in range(21):
        found = arm.nearest(case.obstacles, case.horizon.time, first)
        later = values[: len(steps)][steps >= first]
        assert found.clearance == pytest.approx(later.min(), abs=1e-9)
        assert found.step >= first


@pytest.mark.parametrize('unknown', [np.nan, np.inf, -np.inf])
def test_what_is_not_known_may_be_anywhere(unknown, rng):
    case = Case(rng, kinova_with_dumbbell(), KINOVA_RANGE, random_obstacles(rng, 3, 5.0))
    assert not len(undecided(case).obstacle)
    case.points.center[7, 2] = unknown
    steps = set(undecided(case).obstacle[:, 0].tolist())
    assert steps == {7}
    arm = EnclosedArm.of(case.points, case.shapes)
    assert arm.nearest(case.obstacles, case.horizon.time, 0).clearance == -np.inf


def left_out_one_way(case, occupancy=None):
    """Rows of obstacles, then of pairs, that are left out by the way towards what is near."""
    obstacles = case.obstacles.packed
    occupancy = case.occupancy if occupancy is None else occupancy
    kept = undecided_one_way(occupancy, case.shapes, obstacles, case.rows)
    of_obstacles = {tuple(row) for row in kept.obstacle.tolist()}
    of_pairs = {tuple(row) for row in kept.capsule.tolist()}
    every = [tuple(row) not in of_obstacles for row in case.rows.obstacle.tolist()]
    every += [tuple(row) not in of_pairs for row in case.rows.capsule.tolist()]
    return np.array(every)


def smallest_searched(rng, case, left_out, rounds=30):
    """Smallest value of these rows anywhere, at corners, and downhill from a few of the worst."""
    at = [rng.choice([-1.0, 1.0], 7) for _ in range(rounds)]
    at += [rng.uniform(-1.0, 1.0, 7) for _ in range(rounds)]
    worst = np.inf
    for x in at:
        for _ in range(3):
            values, jacobian = case.at(x)
            row = np.flatnonzero(left_out)[values[left_out].argmin()]
            worst = min(worst, values[row])
            x = np.where(jacobian[row] > 0.0, -1.0, 1.0)
    return worst


@pytest.mark.parametrize('several', slow_after(1, [0, 1, 2, 3, 4, 5]))
def test_rows_that_one_way_cannot_reach_hold_for_every_k(rng, several):
    rng = np.random.default_rng([several, rng.integers(1 << 30)])
    case = kinova_case(rng)
    left_out, obstacles = left_out_one_way(case), len(case.rows.obstacle)
    assert left_out[:obstacles].any()
    assert smallest_searched(rng, case, left_out) > 0.0
    by_balls = undecided(case)
    assert (~left_out[:obstacles]).sum() <= len(by_balls.obstacle)
    assert (~left_out[obstacles:]).sum() < len(by_balls.capsule)


@pytest.mark.parametrize('forgotten', ['a variable', 'a product', 'tracking error'])
def test_a_search_finds_what_one_way_forgets(rng, forgotten):
    case = Case(rng, kinova_with_dumbbell(), KINOVA_RANGE, random_obstacles(rng, 40), 16)
    rows, tracking = case.occupancy.rows.copy(), case.occupancy.tracking
    exponents = case.occupancy.monomials.exponents
    if forgotten == 'tracking error':
        tracking = np.zeros_like(tracking)
    elif forgotten == 'a variable':
        rows[..., :-1] *= exponents[:, 1] == 0
    else:
        rows[..., :-1] *= exponents.sum(axis=1) < 2
    changed = replace(case.occupancy, rows=rows, tracking=tracking)
    assert smallest_searched(rng, case, left_out_one_way(case, changed), 100) < 0.0


def test_what_is_not_known_is_left_in(rng):
    case = Case(rng, kinova_with_dumbbell(), KINOVA_RANGE, random_obstacles(rng, 3, 5.0))
    before = left_out_one_way(case)
    case.occupancy.rows[7, 2] = np.nan
    lost = before & ~left_out_one_way(case)
    steps = np.concatenate([case.rows.obstacle[:, 0], case.rows.capsule[:, 0]])
    assert set(steps[lost].tolist()) == {7}


def test_kept_rows_have_the_values_they_have_among_all(rng):
    case = kinova_case(rng)
    kept = undecided(case)
    x = rng.uniform(-1, 1, 7)
    every, few = case.at(x)[0], case.at(x, kept)[0]
    place = {tuple(row): i for i, row in enumerate(case.rows.obstacle.tolist())}
    pair = {tuple(row): i for i, row in enumerate(case.rows.capsule.tolist())}
    expected = [every[place[tuple(row)]] for row in kept.obstacle.tolist()]
    expected += [every[len(place) + pair[tuple(row)]] for row in kept.capsule.tolist()]
    assert np.array_equal(few, expected)


def test_gradients_are_those_of_finite_differences(rng):
    """Rows whose second difference is larger than a curvature would make it are at a kink."""
    step, largest_curvature = 1e-6, 1e3
    case = kinova_case(rng)
    for _ in range(3):
        x = rng.uniform(-0.9, 0.9, 7)
        values, jacobian = case.at(x)
        numeric = np.empty_like(jacobian)
        smooth = np.ones(len(values), dtype=bool)
        for v in range(7):
            shift = step * np.eye(7)[v]
            after, before = case.at(x + shift)[0], case.at(x - shift)[0]
            numeric[:, v] = (after - before) / (2 * step)
            smooth &= np.abs(after - 2 * values + before) < largest_curvature * step**2
        assert smooth.mean() > 0.99
        assert np.abs(numeric - jacobian)[smooth].max() < 1e-3
        assert np.median(np.abs(numeric - jacobian)) < 1e-8


def test_an_arm_without_obstacles_has_only_self_clearances(rng):
    case = Case(rng, kinova_with_dumbbell(), KINOVA_RANGE, NO_OBSTACLES)
    values, jacobian = case.at(np.zeros(7))
    assert len(values) == len(jacobian) == 32 * len(case.model.capsules.pairs)


def test_a_ball_contains_the_box(rng):
    half_widths = rng.uniform(0.0, 1.0, size=(100, 3))
    assert np.all(ball_radius(half_widths) >= np.linalg.norm(half_widths, axis=1))


def test_clearance_of_two_known_points():
    """A single sphere of radius 0.1 half a metre in front of a cube, known to within 0.05."""
    cube = Obstacles.of({'cube': Box(np.array([1.0, 0.0, 0.0]), np.full(3, 0.5), np.eye(3))})
    no_pairs = np.zeros((0, 2), dtype=np.int64)
    shapes = Shapes(np.array([0.1]), no_pairs, np.zeros(1, int), np.array([0.5]), np.array([0.1]))
    slope = np.zeros((1, 2, 3, 1))
    slope[..., 0, 0] = 2.0
    points = Points(np.zeros((1, 2, 3)), np.array([[0.05, 0.05]]))
    rows = clearance_rows(points, shapes, cube.packed)
    values = clearances(points, shapes, cube.packed, rows)
    jacobian = clearance_slopes(points, slope, shapes, cube.packed, rows)
    assert values == pytest.approx([0.5 - 0.1 - 0.05])
    assert jacobian == pytest.approx(np.array([[-2.0]]))


@pytest.mark.parametrize('end', range(4))
def test_capsules_of_which_an_end_is_known_to_nobody_are_not_apart(end):
    centers = np.array([[[0.0, 0, 0], [0.0, 0, 5], [1.0, 0, 0], [1.0, 0, 5]]])
    shapes = Shapes(np.full(2, 0.1), np.array([[0, 1]]), *np.zeros((3, 0)))
    shapes = shapes._replace(sphere_capsule=np.zeros(0, int))
    rho = np.zeros((1, 4))
    points = Points(centers, rho)
    rows = clearance_rows(points, shapes, NO_OBSTACLES.packed)
    assert clearances(points, shapes, NO_OBSTACLES.packed, rows) == pytest.approx([4.8])
    rho[0, end] = np.nan
    assert np.isnan(clearances(points, shapes, NO_OBSTACLES.packed, rows)).all()


def test_a_row_that_sliding_along_a_tilted_wall_may_touch_is_left_in():
    """A rotation that was given in nine digits is one to within them, which the way counts."""
    tilt = 5e-8
    rotation = np.array([[1.0, -tilt, 0.0], [tilt, 1.0, 0.0], [0.0, 0.0, 1.0]])
    rotation[0, 0] -= 2e-10
    wall = Obstacles.of(
        {'wall': Box(np.array([0.0, -1.0, 0.0]), np.array([5.0, 0.5, 5.0]), rotation)}
    )
    table = monomials(1, 1)
    for gap in np.linspace(0.0, 4e-7, 81):
        rows = np.zeros((1, 2, 3, 3))
        rows[0, :, 1, 0] = 0.1 + gap - 0.5
        rows[0, :, 0, 1] = 3.9
        occupancy = Occupancy(table, rows, (rows[..., 0], 3.9 + rows[..., 0]), np.zeros((1, 2)))
        shapes = Shapes(
            np.full(1, 0.1),
            np.zeros((0, 2), int),
            np.zeros(1, int),
            np.full(1, 0.5),
            np.full(1, 0.1),
        )
        points = Points(rows[..., 0].copy(), occupancy.rho)
        every = clearance_rows(points, shapes, wall.packed)
        kept = undecided_one_way(occupancy, shapes, wall.packed, every)
        for x in (-1.0, 1.0):
            at = table.values(np.array([x]))
            there = points_at(occupancy, occupancy.rho, every, at)
            value = clearances(there, shapes, wall.packed, every)[0]
            assert len(kept.obstacle) or value > 0.0
