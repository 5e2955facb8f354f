"""The controller, run at random states of its plan, asks for no torque outside the set."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from reach.reach_samples import BOUNDS, random_error, random_horizon, sample
from tiers import slow_after

from safe_sysid.errors import BoundError
from safe_sysid.model.dynamics.mass_matrix import mass_matrix
from safe_sysid.model.parameters import ParameterEstimate, ratio_bounds
from safe_sysid.reach.joint_reach import joint_reach
from safe_sysid.reach.torque_reach import torque_reach
from safe_sysid.sets.interval import Interval
from safe_sysid.simulate.random_arm import random_tree
from safe_sysid.track.gains import Gains
from safe_sysid.track.tracking import law_regressor

SAMPLES = 2_300  # 9 cases of these are 2e4 samples


class Case:
    """A random arm under control, with bounds in which theta_0 is not in the middle."""

    def __init__(self, rng, n=3, k_range=0.1, intervals=200, ratio=0.05):
        self.model = random_tree(rng, n, serial=False, armature=0.5)
        self.horizon = random_horizon(rng, n, k_range, intervals)
        self.error = random_error(rng, n)
        theta_0 = self.model.theta
        bounds = ratio_bounds(theta_0, ratio, 0.01)
        upper = bounds.upper + rng.uniform(0.0, 0.05) * np.abs(theta_0)
        self.estimate = ParameterEstimate(
            self.model.layout, theta_0, Interval(bounds.lower, upper)
        )
        self.gains = Gains(self.error.K_r, 0.02, 25.0, coulomb_speed=0.3, sign_speed=0.02)
        self.reach = joint_reach(self.model, self.horizon, self.error)

    def torque(self):
        return torque_reach(self.model, self.estimate, self.reach, self.gains)

    def escapes(self, rng, torque, samples=150) -> dict[str, int]:
        """How often the control law, its w_M, or what theta really changes leaves the sets."""
        counts = {'command': 0, 'w_M': 0, 'truth': 0}
        for _ in range(samples):
            x, step, state = sample(rng, self.horizon, self.error)
            tau_0, w_M = self.law(state)
            r = self.error.K_r * rng.uniform(-1, 1, self.model.n) * 10.0 ** rng.uniform(-3, 0)
            if rng.random() < 0.5:
                r = self.worst(rng, state, w_M)
            Mr = mass_matrix(self.model, self.estimate.theta, state['q']) @ r
            v = rng.choice([1.0, rng.random()]) * (np.abs(r) @ w_M) / (r @ Mr) * Mr
            at_x = self.reach.monomials.values(x[: self.reach.monomials.variables])
            gap = np.abs(tau_0 + v - torque.rows[step, :, :-1] @ at_x)
            allowed = torque.rows[step, :, -1] + torque.radius[step]
            counts['command'] += np.sum(~(gap <= allowed + BOUNDS))
            counts['w_M'] += np.sum(~(w_M <= torque.disturbance[step] + BOUNDS))
            difference = np.abs(self.true_torque(rng, state) - tau_0)
            counts['truth'] += np.sum(~(difference <= torque.disturbance[step] + BOUNDS))
        return counts

    def worst(self, rng, state, w_M):
        """Return the r of one joint's largest robust torque, for one choice of signs."""
        M = mass_matrix(self.model, self.estimate.theta, state['q'])
        j, signs = rng.integers(self.model.n), rng.choice([-1.0, 1.0], self.model.n)
        signs[j] = 1.0
        pulled = np.linalg.solve(M, signs * w_M)
        length = np.sqrt(signs * w_M @ pulled)
        unit = np.eye(self.model.n)[j] / np.sqrt(M[j, j])
        return unit * length + pulled if length > 0.0 else unit

    def law(self, state):
        """Nominal torque and disturbance bound as the controller computes them at one state."""
        W, layout = self.regressor(state), self.model.layout
        coulomb = layout.joint_entries('Fc')
        smooth = np.delete(np.arange(layout.size), np.arange(layout.size)[coulomb])
        theta_0, bounds = self.estimate.theta, self.estimate.bounds
        Fc_0 = theta_0[coulomb] * np.tanh(state['qd_d'] / self.gains.coulomb_speed)
        delta = bounds.center - theta_0
        radius = 0.5 * (bounds.upper - bounds.lower)
        slow = np.abs(state['qd']) <= self.gains.sign_speed
        Fc = np.array(
            [
                np.abs(Fc * sign - Fc_0)
                for Fc in (bounds.lower[coulomb], bounds.upper[coulomb])
                for sign in (np.sign(state['qd']), np.where(slow, -1.0, np.sign(state['qd'])))
            ]
        )
        W_M = np.abs(W[:, smooth] @ delta[smooth]) + np.abs(W[:, smooth]) @ radius[smooth]
        return W[:, smooth] @ theta_0[smooth] + Fc_0, W_M + Fc.max(axis=0)

    def true_torque(self, rng, state):
        """W_s theta for some theta in its bounds."""
        W, bounds = self.regressor(state), self.estimate.bounds
        row = W[rng.integers(self.model.n)]
        worst = np.where(row * rng.choice([-1.0, 1.0]) > 0.0, bounds.upper, bounds.lower)
        return W @ np.where(rng.random() < 0.5, worst, rng.uniform(bounds.lower, bounds.upper))

    def regressor(self, state):
        motion = [state[name] for name in ('q', 'qd', 'qd_a', 'qdd_a')]
        W = law_regressor(self.model, *motion)
        coulomb = self.model.layout.joint_entries('Fc')
        np.fill_diagonal(W[:, coulomb], np.sign(state['qd']))
        return W


WHOLE = [(*case, SAMPLES) for case in product([3, 1, 5], [0.1, 0.0, 0.5])]


@pytest.mark.parametrize(('joints', 'k_range', 'samples'), slow_after(1, [(3, 0.1, 600), *WHOLE]))
def test_commands_do_not_escape(joints, k_range, samples, rng):
    case = Case(rng, joints, k_range)
    assert case.escapes(rng, case.torque(), samples) == {'command': 0, 'w_M': 0, 'truth': 0}


@pytest.mark.slow
def test_what_is_forgotten_is_noticed(rng):
    noticed = dict.fromkeys(('radius', 'remainder', 'disturbance'), 0)
    for _ in range(6):
        case = Case(rng, 2, 0.0, intervals=1000)
        torque = case.torque()
        exact = torque.rows.copy()
        exact[..., -1] = 0.0
        mutants = {
            'radius': replace(torque, radius=0.5 * torque.disturbance),
            'remainder': replace(torque, rows=exact),
            'disturbance': replace(torque, disturbance=0.8 * torque.disturbance),
        }
        for name, mutant in mutants.items():
            noticed[name] += sum(case.escapes(rng, mutant).values())
    assert min(noticed.values()) > 0, noticed


@pytest.mark.parametrize('entry', slow_after(1, ['Fc', 'Fv', 'Ia', 'beta']))
def test_friction_taken_as_exact_is_noticed(entry, rng):
    escapes = 0
    for _ in range(4):
        case = Case(rng, 2, 0.0, intervals=1000, ratio=0.0)
        place = case.model.layout.joint_entries(entry)
        theta, bounds = case.estimate.theta, case.estimate.bounds
        lower, upper = bounds.lower.copy(), bounds.upper.copy()
        lower[place], upper[place] = theta[place] - 2.0, theta[place] + 3.0
        uncertain = replace(case.estimate, bounds=Interval(lower, upper))
        torque = case.torque()
        case.estimate = uncertain
        escapes += case.escapes(rng, torque)['truth']
        assert case.escapes(rng, case.torque()) == {'command': 0, 'w_M': 0, 'truth': 0}
    assert escapes > 0


@pytest.mark.slow
def test_slow_joints_taken_to_turn_one_way_are_noticed(rng):
    escapes = 0
    for _ in range(4):
        case = Case(rng, 1, 0.0, intervals=1000)
        case.gains = replace(case.gains, sign_speed=10.0)
        assert case.escapes(rng, case.torque())['w_M'] == 0
        certain = replace(case.gains, sign_speed=0.0)
        torque = torque_reach(case.model, case.estimate, case.reach, certain)
        escapes += case.escapes(rng, torque)['w_M']
    assert escapes > 0


def test_friction_of_a_joint_that_may_turn_either_way(rng):
    case = Case(rng, 1, 0.0)
    still = case.horizon.curve
    still = replace(still, qd0=np.zeros(1), qdd0=np.zeros(1))
    case.horizon = replace(case.horizon, curve=still, k_center=np.zeros(1))
    case.reach = joint_reach(case.model, case.horizon, case.error)
    Fc = case.model.layout.joint_entries('Fc')
    assert np.all(case.torque().disturbance >= case.estimate.bounds.upper[Fc])


def test_room_for_errors_of_the_torque_is_part_of_the_disturbance(rng):
    case = Case(rng, 3, 0.0)
    plain = case.torque().disturbance
    case.gains = replace(case.gains, torque_error=0.3)
    roomy = case.torque().disturbance
    assert np.all(roomy >= plain + 0.3)
    assert np.allclose(roomy, plain + 0.3)


def test_room_for_a_share_of_the_torque_is_that_of_the_law(rng):
    """Above what the law asks for at the largest torque of a step, and little more."""
    case = Case(rng, 3, 0.0)
    plain, ratio = case.torque(), np.array([0.0, 0.03, 0.1])
    case.gains = replace(case.gains, torque_ratio=ratio)
    roomy = case.torque()
    largest = np.abs(plain.rows[..., :-1]).sum(axis=-1) + plain.rows[..., -1]
    share = ratio * (largest + roomy.radius)
    assert np.all(roomy.disturbance >= plain.disturbance + share * (1 - 1e-12))
    assert np.all(roomy.disturbance <= 1.05 * (plain.disturbance + share))


def test_range_of_the_torque_contains_every_plan(rng):
    case = Case(rng, 3, 0.5)
    torque = case.torque()
    whole = torque.bound()
    for x in rng.uniform(-1, 1, (50, 3)):
        middle = torque.rows[..., :-1] @ case.reach.monomials.values(x)
        assert np.all(middle + torque.radius <= whole.upper)
        assert np.all(middle - torque.radius >= whole.lower)


def test_an_estimate_of_another_arm_is_refused(rng):
    case = Case(rng, 2)
    with pytest.raises(BoundError, match='the arm has 2 joints, the estimate 3'):
        torque_reach(case.model, Case(rng, 3).estimate, case.reach, case.gains)
