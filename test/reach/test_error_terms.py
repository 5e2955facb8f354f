"""Joint states under tracking errors in ellipsoids stay in their rows, and so do the torques."""

from dataclasses import replace

import numpy as np
import pytest
from reach.reach_samples import BOUNDS, random_horizon
from tiers import slow_after

from safe_sysid.bench.experiments.kinova_dumbbell import kinova_prior
from safe_sysid.bench.experiments.reach import kinova_with_dumbbell
from safe_sysid.model.dynamics.mass_matrix import mass_matrix
from safe_sysid.model.parameters import ParameterEstimate, ratio_bounds
from safe_sysid.reach.error_balls import ErrorSet, error_set
from safe_sysid.reach.error_terms import with_errors
from safe_sysid.reach.forward_occupancy import without_error
from safe_sysid.reach.joint_reach import COS, KINDS, Horizon, joint_reach
from safe_sysid.reach.torque_reach import torque_reach
from safe_sysid.reach.tracking_error import tracking_error
from safe_sysid.simulate.random_arm import random_tree
from safe_sysid.track.gains import Gains
from safe_sysid.track.tracking import law_regressor
from safe_sysid.trajectory.bezier import Bezier


class Case:
    """A random arm, plans, and the ellipsoids of its errors."""

    def __init__(self, rng, n, k_range=0.2, V_M=0.05, intervals=16):
        self.model = random_tree(rng, n, serial=False, armature=0.5)
        self.horizon = random_horizon(rng, n, k_range, intervals)
        self.gains = Gains(rng.uniform(3.0, 6.0, n), V_M, 25.0)
        bounds = ratio_bounds(self.model.theta, 0.05, 0.01)
        self.estimate = ParameterEstimate(self.model.layout, self.model.theta, bounds)
        self.error = tracking_error(self.model, self.estimate, self.gains)
        armature = bounds.lower[self.model.layout.joint_entries('Ia')]
        self.errors = error_set(self.error, armature, V_M)
        self.desired = joint_reach(self.model, self.horizon, without_error(n))
        self.reach = self.reach_with(self.errors)

    def reach_with(self, errors):
        return with_errors(self.model, self.horizon, self.desired, self.error, errors)

    def drawn(self, rng):
        """r and e with V <= V_M of an arm whose bodies weigh nothing, often at the ends."""
        axes, K_r = self.errors.half_axes, self.gains.K_r
        r, e = (_in_ball(rng, len(axes)) * axes for _ in range(2))
        r = np.clip(r * K_r.min(), -self.error.r_max, self.error.r_max)
        return r, np.clip(e, -self.error.position, self.error.position)

    def state(self, rng):
        """One state of the true arm, and where in the sets it is."""
        x, step = rng.uniform(-1.0, 1.0, self.model.n), int(rng.integers(self.horizon.intervals))
        time = self.horizon.time
        t = rng.choice([time.lower[step], time.upper[step]])
        r, e = self.drawn(rng)
        de = r - self.gains.K_r * e
        k = self.horizon.k_center + self.horizon.k_range * x
        q_d, qd_d, qdd_d = (self.horizon.curve.derivative(i, t, k) for i in range(3))
        turns = ~self.model.tree.is_prismatic
        values = {
            'cos': np.where(turns, np.cos(q_d - e), 1.0),
            'sin': np.where(turns, np.sin(q_d - e), 0.0),
            'q': q_d - e,
            'qd': qd_d - de,
            'qd_a': qd_d + self.gains.K_r * e,
            'qdd_a': qdd_d + self.gains.K_r * de,
            'qd_d': qd_d,
        }
        return x, step, np.concatenate([r / self.gains.K_r.min(), e]), values

    def escapes(self, rng, reach, samples=300):
        """How often states leave their rows, by kind."""
        counts = dict.fromkeys(KINDS, 0)
        axes = np.tile(self.errors.half_axes, 2)
        for _ in range(samples):
            x, step, errors, values = self.state(rng)
            at = reach.monomials.values(x[: reach.monomials.variables])
            at = np.concatenate([at, (errors / axes)[: reach.error_variables]])
            for i, kind in enumerate(KINDS):
                row = reach.rows[i, step]
                gap = np.abs(values[kind] - row[:, :-1] @ at)
                counts[kind] += np.sum(~(gap <= row[:, -1] + BOUNDS))
        return counts


def _in_ball(rng, n):
    """On the unit sphere, along one axis, or inside."""
    if rng.random() < 0.3:
        return rng.choice([-1.0, 1.0]) * np.eye(n)[rng.integers(n)]
    point = rng.normal(size=n)
    return point / np.linalg.norm(point) * rng.choice([1.0, rng.random()])


def random_cases(rng, joints):
    for n in joints:
        for k_range in (0.0, 0.1, 0.6):
            yield Case(rng, n, k_range, V_M=10.0 ** rng.uniform(-4, 0))


@pytest.mark.parametrize('joints', slow_after(1, [[1, 3], [2, 5, 7]]), ids=['few', 'many'])
def test_states_do_not_escape(joints, rng):
    for case in random_cases(rng, joints):
        assert case.reach.error_variables == 2 * case.model.n
        assert set(case.escapes(rng, case.reach).values()) == {0}


def test_what_is_forgotten_is_noticed(rng):
    """Each linear term, its sign, and the curvature of cosine and sine."""
    noticed = dict.fromkeys(('terms', 'sign', 'curvature'), 0)
    case = Case(rng, 4, 0.05, V_M=0.5, intervals=1000)
    M = case.reach.monomials.count
    for name in noticed:
        rows = np.array(case.reach.rows)
        if name == 'terms':
            rows[..., M:-1] *= 0.5
        elif name == 'sign':
            rows[..., M:-1] *= -1.0
        else:
            rows[: COS + 2, ..., -1] = case.desired.rows[: COS + 2, ..., -1]
        counts = case.escapes(rng, replace(case.reach, rows=rows))
        noticed[name] = sum(count > 0 for count in counts.values())
    assert noticed['terms'] == 6, noticed  # qd_d has no error
    assert noticed['sign'] == 6, noticed
    assert noticed['curvature'] == 2, noticed


def test_without_ellipsoids_errors_are_in_the_radius(rng):
    case = Case(rng, 3)
    box = ErrorSet(case.error.position, np.full(3, np.inf))
    reach = case.reach_with(box)
    assert reach.error_variables == 0
    assert np.array_equal(reach.rows, joint_reach(case.model, case.horizon, case.error).rows)
    assert set(case.escapes(rng, reach).values()) == {0}


class Standing:
    """The Kinova with Table I's bounds, standing still anywhere."""

    def __init__(self, rng):
        self.model = kinova_with_dumbbell()
        self.estimate = kinova_prior(self.model)
        self.gains = Gains(np.full(7, 5.0), 0.02, 25.0)
        still = np.zeros(7)
        self.q = rng.uniform(-2.0, 2.0, 7)
        self.horizon = Horizon(Bezier(self.q, still, still, 3.0), still, still, intervals=1)
        self.error = tracking_error(self.model, self.estimate, self.gains)
        armature = self.estimate.bounds.lower[self.model.layout.joint_entries('Ia')]
        self.errors = error_set(self.error, armature, self.gains.V_M)

    def torque(self, joints):
        return torque_reach(self.model, self.estimate, joints, self.gains)

    @property
    def ball(self):
        desired = joint_reach(self.model, self.horizon, without_error(7))
        return with_errors(self.model, self.horizon, desired, self.error, self.errors)

    def nominal(self, r, e):
        """tau_0 of one state."""
        de = r - 5.0 * e
        W = law_regressor(self.model, *(x[None] for x in (self.q - e, -de, 5.0 * e, 5.0 * de)))
        return W[0] @ self.estimate.theta

    def worst(self, joint):
        """Errors at which the torque of a joint grows most, by its derivatives; (r, e)."""
        axes, step, zero = self.errors.half_axes, 1e-5, np.zeros(7)
        slopes = np.array(
            [
                [
                    (self.nominal(a * d, b * d) - self.nominal(-a * d, -b * d))[joint] / (2 * step)
                    for d in step * np.diag(axes)
                ]
                for a, b in ((5.0, 0.0), (0.0, 1.0))
            ]
        )
        r, e = slopes / np.linalg.norm(slopes, axis=1, keepdims=True) * axes
        return 5.0 * r + zero, e


def test_the_worst_errors_nearly_reach_the_torque_that_is_allowed(rng):
    """And those that leave a box, but not the ellipsoids, would leave smaller ones."""
    shares = []
    for _ in range(8):
        case = Standing(rng)
        rows = case.torque(case.ball).rows[0]
        for joint in range(7):
            r, e = case.worst(joint)
            gap = max(abs(case.nominal(s * r, s * e)[joint] - rows[joint, 0]) for s in (-1.0, 1.0))
            shares.append(gap / rows[joint, -1])
    assert max(shares) <= 1.0
    assert np.median(shares) > 0.9


def test_ellipsoids_allow_less_torque_than_boxes(rng):
    for _ in range(3):
        case = Standing(rng)
        box = case.torque(joint_reach(case.model, case.horizon, case.error)).bound()
        ball = case.torque(case.ball).bound()
        assert np.all(ball.lower > box.lower)
        assert np.all(ball.upper < box.upper)


@pytest.mark.parametrize('k_range', slow_after(1, [0.2, 0.0]))
def test_commands_do_not_escape(k_range, rng):
    """tau_0 + v with w_M as the controller computes it, at states of all kinds."""
    for n in (1, 3, 6):
        case = Case(rng, n, k_range)
        torque = torque_reach(case.model, case.estimate, case.reach, case.gains)
        for _ in range(250):
            x, step, errors, values = case.state(rng)
            tau, w_M = law(case, values, errors[:n] * case.gains.K_r.min())
            at = torque.monomials.values(x[: torque.monomials.variables])
            gap = np.abs(tau - torque.rows[step, :, :-1] @ at)
            assert np.all(w_M <= torque.disturbance[step] + BOUNDS)
            assert np.all(gap <= torque.rows[step, :, -1] + torque.radius[step] + BOUNDS)


def law(case, values, r):
    """Torque where V = V_M, and w_M."""
    motion = [values[name][None] for name in ('q', 'qd', 'qd_a', 'qdd_a')]
    W = law_regressor(case.model, *motion)[0]
    theta, bounds = case.estimate.theta, case.estimate.bounds
    columns = np.arange(theta.size)[case.model.layout.joint_entries('Fc')]
    compensated = theta[columns] * np.tanh(values['qd_d'] / case.gains.coulomb_speed)
    coulomb = [
        np.abs(Fc[columns] * np.sign(values['qd']) - compensated)
        for Fc in (bounds.lower, bounds.upper)
    ]
    w_M = np.abs(W @ (bounds.center - theta)) + np.abs(W) @ bounds.radius + np.maximum(*coulomb)
    Mr = mass_matrix(case.model, theta, values['q']) @ r
    v = (np.abs(r) @ w_M) / (r @ Mr) * Mr if np.any(r) else 0.0 * r
    return W @ theta + compensated + v, w_M
