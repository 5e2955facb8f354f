"""Set-membership bounds contain the truth, and nothing a solver says can make them wrong."""

from dataclasses import replace
from fractions import Fraction
import time

import highspy
import numpy as np
import pytest
from scipy.optimize import linprog
from tiers import slow_after

from safe_sysid.bench.experiments.identification import random_trial
from safe_sysid.identify.contradiction import ContradictionError
from safe_sysid.identify.linear_bounds import linear, linear_unweighted
from safe_sysid.identify.linear_programs import Budget, Ending
from safe_sysid.identify.observation import Observation
from safe_sysid.identify.parameter_polytope import ParameterPolytope
from safe_sysid.identify.set_membership import SetMembership, set_membership
from safe_sysid.model.inertia import is_consistent
from safe_sysid.sets.interval import Interval
from safe_sysid.simulate.random_arm import random_body

NAMES = tuple(f'joint_{i}' for i in range(1, 8))
FEW, TRIALS = 24, 60


def rows_of(rng, theta_e, theta_r, m=40):
    """Observation that these parameters satisfy, some rows exactly at their limit."""
    Y_e, Y_r = rng.normal(size=(m, 10)), rng.normal(size=(m, len(theta_r)))
    delta = rng.uniform(0.05, 0.2, size=m)
    error = rng.choice([-1.0, 1.0, 0.3], size=m) * delta * 0.999999
    b = Y_e @ theta_e + Y_r @ theta_r + error
    time = np.arange(m) * 0.1
    return Observation(Y_e, Y_r, b, delta, np.arange(m) % 3, time, time + 0.1)


def box(rng, center, size):
    return Interval(
        center - size * rng.uniform(0.1, 1.0, size=len(center)),
        center + size * rng.uniform(0.1, 1.0, size=len(center)),
    )


@pytest.fixture
def problem(rng):
    theta_e, theta_r = random_body(rng), rng.normal(size=12)
    rows = rows_of(rng, theta_e, theta_r)
    return rows, box(rng, theta_r, 0.2), box(rng, theta_e, 2.0), theta_e


def encloses_the_truth(bounds_of, trials, seed=1):
    """Whether bounds from recordings of random arms contain the truth in every trial."""
    for trial in range(trials):
        case = random_trial(np.random.default_rng([seed, trial]))
        prior = case.prior.end_effector_bounds
        try:
            bounds = bounds_of(case.observation(), case.rest, prior)
        except ContradictionError:
            return False
        if not bounds.contains(case.truth):
            return False
    return True


@pytest.mark.parametrize(
    'trials', [*slow_after(1, [FEW // 6, FEW]), pytest.param(TRIALS, marks=pytest.mark.nightly)]
)
def test_truth_is_inside_for_random_and_adversarial_errors(trials):
    def both(observation, rest, prior):
        joint = set_membership(observation, rest, prior)
        one = linear(observation, rest, prior).intersection(prior)
        assert one is not None
        return joint.intersection(one)

    assert encloses_the_truth(both, trials)


def test_a_weaker_bound_is_caught_by_these_trials():
    def without_errors(observation, rest, prior):
        return set_membership(replace(observation, delta=0.9 * observation.delta), rest, prior)

    def without_rest(observation, rest, prior):
        return set_membership(observation, Interval.of(rest.center), prior)

    def shrunk(observation, rest, prior):
        found = set_membership(observation, rest, prior)
        return Interval.from_center_radius(found.center, 0.5 * found.radius)

    for mutant in (without_errors, without_rest, shrunk):
        assert not encloses_the_truth(mutant, FEW)


def test_bounds_are_those_of_another_solver_up_to_the_cuts(problem):
    rows, rest, prior, truth = problem
    found = set_membership(rows, rest, prior)
    A = np.concatenate([rows.Y_e, rows.Y_r], axis=1)
    lower = np.concatenate([prior.lower, rest.lower])
    upper = np.concatenate([prior.upper, rest.upper])
    for i in range(10):
        for sign, bound in ((1, found.upper[i]), (-1, -found.lower[i])):
            c = np.zeros(22)
            c[i] = -sign
            best = linprog(
                c, np.concatenate([A, -A]),
                np.concatenate([rows.b + rows.delta, rows.delta - rows.b]),
                bounds=np.transpose([lower, upper]),
            )  # fmt: skip
            assert bound <= -best.fun + 1e-7  # consistency cuts may only tighten
            assert bound >= sign * truth[i]


@pytest.mark.slow
def test_never_wider_than_the_linear_bounds():
    for trial in range(8):
        case = random_trial(np.random.default_rng([2, trial]))
        rows, prior = case.observation(), case.prior.end_effector_bounds
        joint = set_membership(rows, case.rest, prior)
        for other in (linear, linear_unweighted):
            inside = other(rows, case.rest, prior).intersection(prior)
            assert inside is not None
            assert (joint.radius <= inside.radius * (1 + 1e-6) + 1e-12).all()


def test_any_dual_gives_a_valid_bound(problem, rng):
    rows, rest, prior, truth = problem
    polytope = ParameterPolytope(rows, rest, prior, reach=None)
    polytope.add_cuts(rng.normal(size=(5, 4)))
    costs = rng.normal(size=(10, 50))
    duals = rng.normal(size=(len(rows) + 5, 50)) * rng.choice([0.0, 0.1, 10.0], size=50)
    bounds = polytope.upper_bounds(costs, duals)
    assert np.isfinite(bounds).all()
    assert (bounds >= costs.T @ truth).all()


def test_a_bound_holds_in_exact_arithmetic(rng):
    # one row, one direction: x_0 is pinned by y_e . theta_e within delta, all by hand in fractions
    for _ in range(10):
        theta_e = random_body(rng)
        Y_e = np.zeros((1, 10))
        Y_e[0, 0] = rng.uniform(0.3, 3.0)
        rows = Observation(
            Y_e, np.zeros((1, 1)), np.array([Y_e[0, 0] * theta_e[0]]), np.array([0.01]),
            np.zeros(1, dtype=int), np.zeros(1), np.ones(1),
        )  # fmt: skip
        prior = Interval(theta_e - 5.0, theta_e + 5.0)
        found = set_membership(rows, Interval(np.zeros(1), np.zeros(1)), prior)
        exact = (Fraction(rows.b[0]) + Fraction(rows.delta[0])) / Fraction(Y_e[0, 0])
        assert Fraction(found.upper[0]) >= exact
        assert float(found.upper[0]) == pytest.approx(float(exact), rel=1e-9)


def agree(one, other):
    """Equal to a hundredth of the width: which cuts were found first makes that much of it."""
    assert (np.abs(one.lower - other.lower) < 1e-2 * other.radius).all()
    assert (np.abs(one.upper - other.upper) < 1e-2 * other.radius).all()


def test_a_second_solve_starts_where_the_first_ended(problem):
    rows, rest, prior, _ = problem
    programs = SetMembership(NAMES, reach=None)
    first = programs.solve(rows.rows(slice(0, 30)), rest, prior, np.arange(30))
    warm = programs.solve(rows, rest, prior, np.arange(40))
    cold = SetMembership(NAMES, reach=None).solve(rows, rest, prior)
    assert first.bounds.contains(warm.bounds)
    agree(warm.bounds, cold.bounds)
    # rows that go and rows in another order are no trouble either
    kept = np.array([39, 5, 7, 11, 38, 20, 21, 22])
    again = programs.solve(rows.rows(kept), rest, prior, kept)
    assert (again.bounds.radius > 0.999 * cold.bounds.radius).all()


def test_rows_without_weight_do_not_matter(problem):
    rows, rest, prior, _ = problem
    found = SetMembership(NAMES, reach=None).solve(rows, rest, prior)
    assert 0 < np.count_nonzero(found.weight > 1e-9) < len(rows)
    kept = SetMembership(NAMES, reach=None).solve(rows.rows(found.weight > 0), rest, prior)
    agree(kept.bounds, found.bounds)


def test_consistency_tightens_and_the_center_is_a_body(rng):
    theta_e = random_body(rng)
    rows = rows_of(rng, theta_e, np.zeros(1), m=4)  # too few rows to pin the body
    prior, rest = Interval(theta_e - 2.0, theta_e + 2.0), Interval(np.zeros(1), np.zeros(1))
    found = SetMembership(NAMES, reach=None).solve(rows, rest, prior)
    assert found.bounds.lower[0] > -1e-9  # mass
    assert found.bounds.lower[4] > -1e-9  # Ixx
    assert found.bounds.contains(theta_e)
    assert is_consistent(found.center)
    near = SetMembership(NAMES, reach=0.8).solve(rows, rest, prior)
    assert (near.bounds.radius < 1.01 * found.bounds.radius).all()
    assert near.bounds.contains(theta_e)
    assert (near.bounds.radius < 0.9 * found.bounds.radius).any()


def test_without_time_the_prior_is_all_there_is(problem):
    rows, rest, prior, _ = problem
    found = SetMembership(NAMES, reach=None).solve(rows, rest, prior, budget=Budget(np.inf, 0.0))
    assert found.ending is Ending.CLOCK
    np.testing.assert_array_equal(found.bounds.lower, prior.lower)
    np.testing.assert_array_equal(found.bounds.upper, prior.upper)


def test_bounds_do_not_depend_on_how_fast_the_machine_is(problem, monkeypatch):
    rows, rest, prior, _ = problem

    def bounds(pause):
        budget = Budget(pivots=60)
        run = highspy.Highs.run

        def slow(highs):
            time.sleep(pause)
            return run(highs)

        with monkeypatch.context() as machine:
            machine.setattr(highspy.Highs, 'run', slow)
            return SetMembership(NAMES, reach=None).solve(rows, rest, prior, budget=budget)

    fast, slow = bounds(0.0), bounds(0.02)
    assert fast.ending is slow.ending is Ending.PIVOTS
    np.testing.assert_array_equal(fast.bounds.lower, slow.bounds.lower)
    np.testing.assert_array_equal(fast.bounds.upper, slow.bounds.upper)
    all_done = SetMembership(NAMES, reach=None).solve(rows, rest, prior)
    assert all_done.ending is Ending.ALL_DONE
    assert all_done.bounds.radius.sum() < fast.bounds.radius.sum()


def test_an_empty_polytope_is_proven_empty_without_pivots_left(problem):
    rows, rest, prior, _ = problem
    broken = replace(rows, b=rows.b + 1e3 * rows.delta)
    found = SetMembership(NAMES, reach=None).solve(broken, rest, prior, budget=Budget(500))
    assert found.contradiction is not None


def test_a_contradiction_names_the_rows_and_how_wrong_the_promise_is(problem):
    rows, rest, _, theta_e = problem
    theta_r = rest.center
    residual = rows.Y_e @ theta_e + rows.Y_r @ theta_r
    b = residual.copy()
    b[7] += 50 * rows.delta[7] + np.abs(rows.Y_r[7]) @ rest.radius
    false = replace(rows, b=b)
    pinned = Interval(theta_e - 1e-3, theta_e + 1e-3)
    found = SetMembership(NAMES, reach=None).solve(false, rest, pinned)
    assert found.bounds is None
    assert found.contradiction.joints == ('joint_2',)  # row 7 of joints 0, 1, 2 in turn
    assert (found.contradiction.start, found.contradiction.end) == pytest.approx((0.7, 0.8))
    assert 10 < found.contradiction.factor < 60
    with pytest.raises(
        ContradictionError, match=r'joint 1 between 0\.70 s and 0\.80 s contradict'
    ):
        set_membership(false, rest, pinned)
