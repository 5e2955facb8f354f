"""Balls of the momentum regressors contain the exact regressor of every state they stand for."""

from fractions import Fraction
import operator

from model.dynamics.extended_regressors import (
    EXTENDED,
    ROUNDING,
    orthonormal,
    reference_regressors,
)
import numpy as np
import pytest

from safe_sysid.model.dynamics.interval_regressors import (
    _add,
    _multiply,
    _subtract,
    momentum_balls_into,
    moved_by,
    put_state,
    rate_balls_in_lanes,
    work_rows,
)
from safe_sysid.model.dynamics.regressors import momentum_regressors
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.lanes import LANES
from safe_sysid.simulate.random_arm import random_rotation, random_tree

TREES = [(n, serial) for n in (2, 3, 5, 7, 9, 12) for serial in (True, False)]
extended = pytest.mark.skipif(not EXTENDED, reason='long double has no 64 digits here')


def balls(tree, q, qd, q_radius, qd_radius):
    """Centres and radii (2, n, 10 n, 2) of W_m and W_c."""
    n = len(q)
    W = np.full((2, n, 10 * n, 2), np.nan)  # every entry has to be written
    ball = np.stack([q, np.broadcast_to(q_radius, n)], -1)
    rate = np.stack([qd, np.broadcast_to(qd_radius, n)], -1)
    momentum_balls_into(tree, ball, rate, W[0], W[1])
    return W


def outside(W, exact):
    """How far the farthest exact entry is outside its ball, as a share of the largest entry."""
    scale = np.abs(exact).max()
    gap = np.abs(W[..., 0].astype(np.longdouble) - exact) - W[..., 1]
    return float((gap / scale).max())


def exact_at(tree, q, qd):
    return np.array(reference_regressors(tree, q, qd))


@pytest.mark.parametrize(('n', 'serial'), TREES)
def test_the_reference_is_the_regressor(rng, n, serial):
    model = random_tree(rng, n, serial)
    q, qd = rng.normal(size=(2, n))
    exact = exact_at(model.tree, q, qd)
    rounded = np.array(momentum_regressors(model, q, qd))[..., : 10 * n]
    assert np.abs(rounded - exact).max() < 1e-14 * np.abs(exact).max()


@extended
@pytest.mark.parametrize(('n', 'serial'), TREES)
def test_balls_of_known_states_contain_the_exact_regressor(rng, n, serial):
    for _ in range(8):
        model = random_tree(rng, n, serial)
        q, qd = rng.normal(size=(2, n)) * 10.0 ** rng.uniform(-3, 2)
        W = balls(model.tree, q, qd, 0.0, 0.0)
        exact = exact_at(model.tree, q, qd)
        assert outside(W, exact) <= ROUNDING
        assert W[..., 1].max() < 1e-10 * np.abs(exact).max()


def badly_rounded(rng, model):
    """The same tree with the axes and rotations, of many, that rounding has left the worst."""
    axes = rng.normal(size=(2000, 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    long = np.abs((axes.astype(np.longdouble) ** 2).sum(axis=1) - 1)
    axes = axes[np.argsort(-long)[: model.n]]
    pool = np.array([random_rotation(rng) for _ in range(500)])
    skew = np.array([np.abs(orthonormal(R) - R).max() for R in pool])
    rotations = pool[np.argsort(-skew)[: model.n]]
    return model.tree._replace(axis=axes, R_parent_joint=rotations)


@extended
@pytest.mark.parametrize('n', [1, 2, 4, 7])
def test_axes_and_rotations_are_those_of_an_arm_that_exists(rng, n):
    # the tree has them rounded: not quite of length one, not quite orthonormal
    tree = badly_rounded(rng, random_tree(rng, n, serial=True))
    for _ in range(100):
        q, qd = rng.normal(size=(2, n))
        W = balls(tree, q, qd, 0.0, 0.0)
        assert outside(W, exact_at(tree, q, qd)) <= ROUNDING


@extended
@pytest.mark.parametrize('name', ['two_link', 'kinova_gen3', 'lbr_med7'])
def test_balls_of_the_arms_of_the_package_contain_the_exact_regressor(rng, name):
    tree = RobotModel.named(name).tree
    for _ in range(8):
        q, qd = rng.normal(size=(2, len(tree.parent)))
        W = balls(tree, q, qd, 0.0, 0.0)
        assert outside(W, exact_at(tree, q, qd)) <= ROUNDING


@extended
@pytest.mark.parametrize(('n', 'serial'), TREES)
def test_balls_contain_the_exact_regressor_of_every_state_within_the_errors(rng, n, serial):
    for _ in range(2):
        model = random_tree(rng, n, serial)
        q, qd = rng.normal(size=(2, n))
        size = 10.0 ** rng.uniform(-9, -1)
        q_radius, qd_radius = size * rng.uniform(0, 1, size=(2, n))
        W = balls(model.tree, q, qd, q_radius, qd_radius)
        inside, corners = rng.uniform(-1, 1, size=(5, 2, n)), rng.choice([-1, 1], size=(5, 2, n))
        for place in np.concatenate([inside, corners]).astype(np.longdouble):
            state = (q + place[0] * q_radius, qd + place[1] * qd_radius)
            assert outside(W, exact_at(model.tree, *state)) <= ROUNDING


@pytest.mark.parametrize(('n', 'serial'), TREES)
def test_every_lane_holds_the_balls_of_its_state_alone(rng, n, serial):
    tree = random_tree(rng, n, serial).tree
    states, rates = np.full((4 * n, 2, LANES), np.nan), np.full((10 * n * n, 2, LANES), np.nan)
    work = np.full((work_rows(n), 2, LANES), np.nan)  # nothing of it counts
    for _ in range(3):
        every = []
        for lane in range(LANES):
            q, qd = rng.normal(size=(2, n)) * 10.0 ** rng.uniform(-3, 2)
            radii = 10.0 ** rng.uniform(-12, 0) * rng.uniform(0, 1, size=(2, n))
            every.append(balls(tree, q, qd, *radii)[1])
            put_state(np.stack([np.stack([q, qd]), radii], axis=-1), lane, states)
        rate_balls_in_lanes(tree, moved_by(tree), states, work, rates)
        np.testing.assert_array_equal(rates.transpose(2, 0, 1).reshape(LANES, n, -1, 2), every)


@extended
@pytest.mark.parametrize('serial', [True, False])
def test_errors_about_rest_multiply(rng, serial):
    # all that moves is product of errors: nothing of it shows to first order
    model = random_tree(rng, 5, serial)
    rest = np.zeros(5)
    W = balls(model.tree, rest, rest, 0.2, 0.2)
    for corner in 0.2 * rng.choice([-1, 1], size=(30, 2, 5)):
        assert outside(W, exact_at(model.tree, *corner)) <= ROUNDING


@pytest.mark.parametrize(
    ('of_balls', 'of_numbers'),
    [(_add, operator.add), (_subtract, operator.sub), (_multiply, operator.mul)],
)
@pytest.mark.parametrize('size', [0.0, 1e-16, 1e-3, 2.0])
def test_operations_on_balls_contain_the_exact_result(rng, of_balls, of_numbers, size):
    for _ in range(120):
        a, b = rng.normal(size=(2, 2)) * 10.0 ** rng.uniform(-5, 5, size=(2, 1))
        a[1], b[1] = size * np.abs([a[1], b[1]])
        center, radius = of_balls(tuple(a), tuple(b))
        for signs in ((-1, -1), (-1, 1), (1, -1), (1, 1)):
            x, y = (
                Fraction(ball[0]) + s * Fraction(ball[1])
                for ball, s in zip((a, b), signs, strict=True)
            )
            assert abs(of_numbers(x, y) - Fraction(center)) <= Fraction(radius)


@extended
def test_dropping_the_rounding_or_an_error_is_noticed(rng):
    model = random_tree(rng, 7, serial=True)
    q, qd = rng.normal(size=(2, 7))
    exact = exact_at(model.tree, q, qd)
    W = balls(model.tree, q, qd, 0.0, 0.0)
    assert outside(W, exact) <= ROUNDING
    W[..., 1] = 0.0
    assert outside(W, exact) > ROUNDING
    for q_error, qd_error in ((1e-6, 0.0), (0.0, 1e-6)):
        exact = exact_at(model.tree, q + q_error, qd + qd_error)
        assert outside(balls(model.tree, q, qd, q_error, qd_error), exact) <= ROUNDING
        assert outside(balls(model.tree, q, qd, 0.0, 0.0), exact) > 1e-9


def test_radii_grow_with_the_errors_and_are_not_much_larger_than_the_spread(rng):
    model = random_tree(rng, 5, serial=True)
    q, qd = rng.normal(size=(2, 5))
    error = 1e-5
    radius = balls(model.tree, q, qd, error, error)[..., 1]
    assert (balls(model.tree, q, qd, 0.5 * error, 0.5 * error)[..., 1] <= radius).all()
    center = np.array(momentum_regressors(model, q, qd))[..., :50]
    spread = np.zeros_like(center)
    for corner in rng.choice([-error, error], size=(300, 2, 5)):
        moved = np.array(momentum_regressors(model, q + corner[0], qd + corner[1]))[..., :50]
        spread = np.maximum(spread, np.abs(moved - center))
    known = spread > 1e-9
    assert 1.0 <= np.median(radius[known] / spread[known]) < 15.0
