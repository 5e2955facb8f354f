"""The robust law is the one that was proved: each bound in it holds and is attained."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from tiers import slow_after
from track.law_states import estimate_of, random_theta, stepped, stepped_at_limit

from safe_sysid.model.dynamics.mass_matrix import inverse_length, mass_matrix
from safe_sysid.model.dynamics.regressors import momentum_regressors
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval

TRIALS = 300
SOME_OR_ALL = pytest.mark.parametrize('trials', slow_after(1, [25, TRIALS]))


def coulomb(case, Fc, s):
    """Friction minus its compensation, for friction s Fc."""
    Fc_0 = case.estimate.theta[case.model.layout.joint_entries('Fc')]
    return Fc * s - Fc_0 * np.tanh(case.qd_d / 0.05)


def disturbance(case, theta, s):
    """W_s (theta - theta_0) and what friction leaves over."""
    Fc = theta[case.model.layout.joint_entries('Fc')]
    return case.W_s @ (theta - case.estimate.theta) + coulomb(case, Fc, s)


def largest_disturbance(case, uncertain):
    """By trying every extreme: signs of the columns for theta, ends of Fc, signs of friction."""
    bounds, layout = case.estimate.bounds, case.model.layout
    Fc = layout.joint_entries('Fc')
    most = np.zeros(case.model.n)
    for side in (-1.0, 1.0):
        for end in (bounds.lower, bounds.upper):
            for s in (-1.0, 1.0):
                direction = np.where(uncertain, s, np.sign(case.qd))
                theta = bounds.center + side * np.sign(case.W_s) * bounds.radius
                delta = theta - case.estimate.theta
                delta[:, Fc] = 0.0
                w = (case.W_s * delta).sum(axis=1) + coulomb(case, end[Fc], direction)
                most = np.maximum(most, np.abs(w))
    return most


@SOME_OR_ALL
def test_nominal_torque_is_the_regressor_times_theta_0(rng, trials):
    for _ in range(trials):
        case = stepped(rng)
        Fc_0 = case.estimate.theta[case.model.layout.joint_entries('Fc')]
        expected = case.W_s @ case.estimate.theta + Fc_0 * np.tanh(case.qd_d / 0.05)
        assert np.allclose(case.law.nominal, expected, rtol=1e-10, atol=1e-9)
        assert np.array_equal(case.torque, case.law.nominal + case.law.robust)


@SOME_OR_ALL
@pytest.mark.parametrize('sign_speed', slow_after(1, [0.1, 0.0]))
def test_disturbance_bound_is_the_largest_disturbance(rng, trials, sign_speed):
    for _ in range(trials):
        case = stepped(rng, {'sign_speed': sign_speed})
        uncertain = np.abs(case.qd) <= sign_speed
        largest = largest_disturbance(case, uncertain)
        assert np.allclose(case.law.disturbance, largest, rtol=1e-9, atol=1e-9)
        theta = random_theta(rng, case.estimate.bounds)
        s = np.where(uncertain, rng.uniform(-1.0, 1.0, case.model.n), np.sign(case.qd))
        assert np.all(np.abs(disturbance(case, theta, s)) <= case.law.disturbance + 1e-9)


def test_room_for_errors_of_the_torque_is_added_to_the_disturbance():
    for seed in range(5):
        plain, roomy = (
            stepped(np.random.default_rng(seed), {'torque_error': room}).law.disturbance
            for room in (0.0, 0.3)
        )
        assert np.allclose(roomy - plain, 0.3)


@pytest.mark.slow
def test_room_for_a_share_of_the_torque_is_enough_for_the_largest_one():
    """w_M has to contain ratio (|tau_0| + |v|) for the v that w_M itself asks for."""
    rng = np.random.default_rng(7)
    for seed in range(40):
        n = 7 if seed % 2 else 2
        model = RobotModel.named('kinova_gen3' if n == 7 else 'two_link')
        ratio, error = rng.uniform(0.0, 0.1, n), rng.uniform(0.0, 0.5, n)
        room = {'torque_ratio': ratio, 'torque_error': error}
        plain = stepped_at_limit(seed, model=model)
        case = stepped_at_limit(seed, room, model=model)
        law = case.law
        acting = np.abs(law.nominal) + np.abs(law.robust)
        needed = plain.law.disturbance + error + ratio * acting
        np.testing.assert_allclose(law.disturbance, needed, rtol=1e-9)
        assert np.all(np.abs(law.robust) <= largest_input(case) * (1.0 + 1e-9))
        stopped = law.r @ law.robust  # whatever the actuators make of it
        slack = 1.0 + 1e-9
        assert stopped * slack >= np.abs(law.r) @ law.disturbance
        assert stopped >= plain.law.r @ plain.law.robust


def test_friction_of_a_joint_at_rest_may_point_either_way():
    model = RobotModel.named('two_link')
    fast, slow = (
        stepped(np.random.default_rng(3), {'sign_speed': speed}, model=model)
        for speed in (0.0, 10.0)
    )
    Fc = fast.estimate.bounds.upper[model.layout.joint_entries('Fc')]
    gained = slow.law.disturbance - fast.law.disturbance
    assert np.all(gained > 0.0)
    assert np.all(gained <= 2.0 * Fc)


@SOME_OR_ALL
def test_energy_is_between_its_bounds_and_the_upper_one_is_attained(rng, trials):
    for _ in range(trials):
        case = stepped(rng)
        bounds, layout, r = case.estimate.bounds, case.model.layout, case.law.r
        row = 0.5 * r @ momentum_regressors(case.model, case.q, r)[0]
        row[layout.joint_entries('Ia')] = 0.5 * r**2
        corner = np.where(row > 0.0, bounds.upper, bounds.lower)
        assert case.law.energy.upper == pytest.approx(row @ corner, rel=1e-9)
        theta = case.model.theta * rng.uniform(0.95, 1.05)  # still a body that can exist
        truth = case.model.with_parameters(theta).pinocchio()
        M = pin.crba(truth, truth.createData(), case.q)
        V = 0.5 * r @ np.triu(M, 1) @ r * 2 + 0.5 * r**2 @ np.diag(M)
        assert case.law.energy.lower * (1.0 - 1e-9) <= V <= case.law.energy.upper * (1.0 + 1e-9)
        armature = bounds.lower[layout.joint_entries('Ia')]
        assert case.law.energy.lower >= 0.5 * armature @ r**2 * (1.0 - 1e-9)


def largest_input(case):
    """1/2 (sqrt(M_jj) |w_M| + w_Mj), with the norm of |M^-1|."""
    M, w = mass_matrix(case.model, case.estimate.theta, case.q), case.law.disturbance
    return 0.5 * (np.sqrt(np.diag(M)) * inverse_length(M[None], w[None]) + w)


@SOME_OR_ALL
def test_robust_input_is_bounded_by_half_of_norm_and_entry(rng, trials):
    closest = 0.0
    for _ in range(trials):
        case = stepped(rng, {'alpha': 1e-3}, error=10.0 ** rng.uniform(-4.0, 1.0))
        bound = largest_input(case)
        if case.law.energy.lower <= 0.02:
            assert np.all(np.abs(case.law.robust) <= bound * (1.0 + 1e-9))
            closest = max(closest, np.max(np.abs(case.law.robust) / bound))
    assert closest > 0.9  # no smaller formula would do


@SOME_OR_ALL
@pytest.mark.parametrize('share', slow_after(1, [1.0, 0.5]))
def test_energy_does_not_grow_where_it_is_at_its_limit(rng, trials, share):
    """dV/dt = r' (W_s theta + friction - tau) for every theta; with half of v it does grow."""
    grows = 0
    for seed in rng.integers(1 << 30, size=trials):
        case = stepped_at_limit(seed, {'sign_speed': 0.02})
        law = case.law
        uncertain = np.abs(case.qd) <= 0.02
        s = np.where(uncertain, rng.choice([-1.0, 1.0], case.model.n), np.sign(case.qd))
        for theta in (random_theta(rng, case.estimate.bounds), worst_theta(case)):
            Fc = theta[case.model.layout.joint_entries('Fc')]
            tau = law.nominal + share * law.robust
            growth = law.r @ (case.W_s @ theta + Fc * s - tau)
            scale = np.abs(law.r) @ law.disturbance
            grows += growth > 1e-9 * scale
    assert (grows == 0) == (share == 1.0)


@pytest.mark.slow
def test_an_arm_that_broke_its_promise_is_led_back_by_little_more_damping():
    """Where V > V_M for every theta, v does more than w_M asks for; alpha / 2 (M r) at most."""
    for seed in range(50):
        law, low = (stepped(np.random.default_rng(seed), {'V_M': V_M}).law for V_M in (1e9, 1e-3))
        case = stepped(np.random.default_rng(seed), {'V_M': 1e-3})
        assert np.array_equal(law.robust, np.zeros_like(law.r))
        Mr = mass_matrix(case.model, case.estimate.theta, case.q) @ case.law.r
        asked = np.abs(low.r) @ low.disturbance - 25.0 * max(0.0, 1e-3 - low.energy.upper)
        asked = max(0.0, float(asked)) / (low.r @ Mr)
        gain = (low.r @ low.robust) / (low.r @ Mr)
        back = 25.0 * max(0.0, float(low.energy.lower) - 1e-3) / (low.r @ Mr)
        assert gain == pytest.approx(asked + back, rel=1e-9)
        assert back <= 0.5 * 25.0


def test_the_robust_input_points_along_the_momentum_of_the_error(rng):
    for _ in range(50):
        case = stepped(rng, {'V_M': 1e-6})
        Mr = mass_matrix(case.model, case.estimate.theta, case.q) @ case.law.r
        gain = (case.law.robust @ Mr) / (Mr @ Mr)
        np.testing.assert_allclose(case.law.robust, gain * Mr, rtol=1e-9, atol=1e-12)


def test_a_nominal_arm_that_cannot_exist_is_damped_all_the_same():
    """Its mass matrix is no norm; then v = lambda r."""
    model = RobotModel.named('two_link')
    known = estimate_of(model)
    theta = model.theta.copy()
    theta[model.layout.joint_entries('Ia')] = -10.0
    bounds = Interval(np.minimum(known.bounds.lower, theta), known.bounds.upper)
    bad = replace(known, theta=theta, bounds=bounds)
    case = stepped(np.random.default_rng(1), {'V_M': 1e-6}, model=model, estimate=bad)
    gain = case.law.robust / case.law.r
    assert gain[0] > 0.0
    assert gain[0] == pytest.approx(gain[1])


def worst_theta(case):
    """The corner that feeds most energy into r, friction aside."""
    bounds = case.estimate.bounds
    return np.where(case.law.r @ case.W_s > 0.0, bounds.upper, bounds.lower)


def test_the_law_is_idle_near_the_plan_and_never_divides_by_zero(rng):
    for error in (0.0, 1e-300, 1e-160, 1e-12, 1e-6):
        law = stepped(rng, error=error).law
        assert np.array_equal(law.robust, np.zeros_like(law.r))


@pytest.mark.slow
def test_energy_shrinks_towards_the_limit_no_faster_than_alpha_asks(rng):
    """Below V_M the robust input is what is left of |r|' w_M after alpha (V_M - V_sup)."""
    active = 0
    for _ in range(TRIALS):
        case = stepped(rng, {'alpha': 3.0, 'V_M': 0.5}, error=0.1)
        law = case.law
        power = np.abs(law.r) @ law.disturbance
        left = power - 3.0 * max(0.0, 0.5 - float(law.energy.upper))
        back = 3.0 * max(0.0, float(law.energy.lower) - 0.5)
        assert law.r @ law.robust == pytest.approx(max(0.0, left) + back, rel=1e-9, abs=1e-12)
        active += left > 0.0
    assert 0 < active < TRIALS
