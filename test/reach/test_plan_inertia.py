"""Mass matrices never leave the bounds of their congruence, wherever the arm and theta are."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from tiers import slow_after

from safe_sysid.model.parameters import ratio_bounds
from safe_sysid.reach.congruent_inertia import Ellipsoids
from safe_sysid.reach.plan_inertia import arm_inertia, congruence, inverse_factors, largest_gap
from safe_sysid.sets.ellipsoids import upper_factor
from safe_sysid.simulate.random_arm import random_tree

FLOATS = 1e-9  # of the sampled eigenvalues themselves


class Case:
    """A random arm, ellipsoids of its positions in three steps of time, and parameters."""

    def __init__(self, rng, n, size, ratio=0.02, degree=2, armature=0.0):
        self.model = random_tree(rng, n, serial=bool(rng.random() < 0.5), armature=armature)
        self.theta = ratio_bounds(self.model.theta, ratio)
        self.arm, self.degree = arm_inertia(self.model, self.theta), degree
        center = rng.uniform(-3.0, 3.0, (3, n))
        X = inverse_factors(self.model, self.arm.bodies, center)
        G = np.linalg.cholesky(np.swapaxes(X, 1, 2) @ X)
        G *= size / np.sqrt((G**2).sum(axis=2)).max(axis=1)[:, None, None]  # [rad] largest
        self.sets = Ellipsoids(center, G, X)
        self.found = congruence(self.arm, self.sets, degree)

    @property
    def gap(self):
        return largest_gap(self.found)

    def sampled(self, rng, vertices=10, positions=40):
        """Largest |X (H + diag(Ia)) X' - 1| found in every step, by Pinocchio."""
        n, worst = self.model.n, np.zeros(3)
        for _ in range(vertices):
            lower, upper = self.theta.lower.copy(), self.theta.upper.copy()
            theta = np.where(rng.random(len(lower)) < 0.5, lower, upper)
            place = self.model.layout.joint_entries('Ia')
            theta[place] = lower[place]
            arm = self.model.with_parameters(theta).pinocchio()
            data = arm.createData()
            for s in range(3):
                z = rng.normal(size=(positions, n))
                z /= np.linalg.norm(z, axis=1, keepdims=True)
                H = np.array([self.mass(arm, data, s, each) for each in z])
                X = self.sets.X[s]
                values = np.linalg.eigvalsh(X @ H @ X.T - np.eye(n))
                worst[s] = max(worst[s], np.abs(values).max())
        return worst

    def mass(self, arm, data, s, z):
        """Mass matrix with armature somewhere in an ellipsoid, symmetric."""
        H = pin.crba(arm, data, self.sets.center[s] + self.sets.G[s] @ z)
        return np.triu(H) + np.triu(H, 1).T


@pytest.mark.parametrize('degree', [2, 3])
@pytest.mark.parametrize('n', slow_after(1, [3, 2, 5, 7]))
def test_no_mass_matrix_of_a_random_tree_leaves_its_bound(n, degree, rng):
    for size in (0.003, 0.05, 0.2):
        for armature in (0.0, 0.3):
            case = Case(rng, n, size, rng.choice([0.0, 0.02, 0.1]), degree, armature)
            assert np.all(case.sampled(rng) <= case.gap + FLOATS)


@pytest.mark.nightly
@pytest.mark.parametrize('n', range(2, 13))
def test_ten_thousand_samples_of_a_step_stay_within(n, rng):
    for size in (0.01, 0.1):
        case = Case(rng, n, size, degree=3 if n < 8 else 2)
        assert np.all(case.sampled(rng, vertices=50, positions=200) <= case.gap + FLOATS)


def test_the_bound_is_close_where_theta_is_known(rng):
    for n in (2, 4, 6):
        for size in (0.01, 0.05):
            case = Case(rng, n, size, ratio=0.0, degree=3)
            assert np.all(case.sampled(rng, 1, 400) > 0.4 * case.gap)


def broken(case, kind):
    """Largest gap with one thing forgotten."""
    found, squares = case.found, case.found.squares.copy()
    if kind == 'what is above the first degree':
        squares[:, 1:] = 0.0
        found = found._replace(squares=squares, radius=np.zeros_like(found.radius))
    elif kind == 'theta':
        found = found._replace(change=np.zeros_like(found.change))
    elif kind == 'positions':
        squares[:] = 0.0
        found = found._replace(squares=squares, radius=np.zeros_like(found.radius))
    return largest_gap(found)


@pytest.mark.parametrize(
    ('kind', 'ratio', 'size'),
    [
        ('what is above the first degree', 0.0, 0.5),
        ('theta', 0.1, 1e-4),
        ('positions', 0.01, 0.1),
    ],
)
def test_samples_find_what_is_forgotten(kind, ratio, size, rng):
    escapes = 0
    for _ in range(8):
        case = Case(rng, int(rng.integers(2, 4)), size, ratio)
        worst = case.sampled(rng)
        assert np.all(worst <= case.gap + FLOATS)
        escapes += np.sum(worst > broken(case, kind) + FLOATS)
    assert escapes > 0


def test_factors_of_another_step_are_noticed(rng):
    """The bound of one step says nothing of mass matrices in another."""
    case = Case(rng, 3, 0.05)
    gap = case.gap
    case.sets = case.sets._replace(X=np.roll(case.sets.X, 1, axis=0))
    assert np.all(case.sampled(rng) > gap)
    assert np.all(case.sampled(rng) <= largest_gap(congruence(case.arm, case.sets, 2)))


@pytest.mark.parametrize('serial', [True, False])
def test_a_step_is_bounded_as_without_the_others(serial, rng):
    """Steps are the lanes of one computation, in groups; the last group may not be full.

    Where X is zero in some of them, rounding is added in these too.
    """
    model = random_tree(rng, 4, serial=serial)
    arm = arm_inertia(model, ratio_bounds(model.theta, 0.02))
    center = rng.uniform(-3.0, 3.0, (11, 4))
    X = inverse_factors(model, arm.bodies, center)
    G = 0.01 * np.linalg.cholesky(np.swapaxes(X, 1, 2) @ X)
    together = congruence(arm, Ellipsoids(center, G, X), 2)
    for t in range(len(center)):
        own = slice(t, t + 1)
        alone = congruence(arm, Ellipsoids(center[own], G[own], X[own]), 2)
        for of_all, of_one in zip(together, alone, strict=True):
            np.testing.assert_allclose(of_all[own], of_one, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize('n', [4, 6])
def test_any_axes_of_an_ellipsoid_give_the_same_bound(n, rng):
    """Upper triangular ones cost the least; nothing depends on them."""
    for degree in (1, 2, 3):
        case = Case(rng, n, 0.05, degree=degree)
        P = case.sets.G @ np.swapaxes(case.sets.G, 1, 2)
        turn = np.linalg.qr(rng.normal(size=(n, n)))[0]
        for G in (upper_factor(P), case.sets.G @ turn):
            gap = largest_gap(congruence(case.arm, case.sets._replace(G=G), degree))
            np.testing.assert_allclose(gap, case.gap, rtol=1e-6)


def test_any_factor_and_any_axes_are_bounded(rng):
    """X and G need not be triangular, and joints may stand still in them."""
    for _ in range(6):
        case = Case(rng, 4, 0.05)
        X = case.sets.X.copy()
        turn = np.linalg.qr(rng.normal(size=(4, 4)))[0]
        G = case.sets.G * (rng.random((4, 4)) < 0.6)
        case.sets = case.sets._replace(G=G, X=turn @ X)
        found = congruence(case.arm, case.sets, 2)
        assert np.all(case.sampled(rng) <= largest_gap(found) + FLOATS)


def test_more_is_known_of_less(rng):
    """Gaps shrink with the positions, with the bounds of theta, and with the degree."""
    for ratio, size in ((0.0, 1e-6), (0.05, 1e-6), (0.0, 0.1)):
        case = Case(np.random.default_rng(3), 4, size, ratio)
        wide = Case(np.random.default_rng(3), 4, 2.0 * size, 2.0 * ratio)
        assert np.all(case.gap < wide.gap)
    two, three = (Case(np.random.default_rng(3), 4, 0.1, 0.0, degree) for degree in (2, 3))
    assert np.all(three.gap < two.gap)
    assert np.all(Case(rng, 4, 1e-9, 0.0).gap < 1e-6)


def test_positions_without_end_have_no_bound(rng):
    case = Case(rng, 2, 0.1)
    sets = case.sets._replace(G=np.full_like(case.sets.G, 1e200))
    assert np.all(largest_gap(congruence(case.arm, sets, 2)) > 1.0)


def test_armature_is_counted_at_its_lower_bound(rng):
    case = Case(rng, 3, 0.01, ratio=0.1, armature=2.0)
    model, theta = case.model, case.theta
    assert case.arm.bodies.armature == pytest.approx(np.full(3, 1.8))
    lower = theta.lower.copy()
    lower[model.layout.joint_entries('Ia')] = -1.0
    assert np.all(arm_inertia(model, replace(theta, lower=lower)).bodies.armature == 0.0)
