"""Linear bounds contain the truth whatever the errors are within their promise."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from safe_sysid.errors import BoundError
from safe_sysid.identify import linear_bounds
from safe_sysid.identify.linear_bounds import linear, linear_unweighted
from safe_sysid.identify.observation import Observation
from safe_sysid.sets.interval import Interval

FORMS = pytest.mark.parametrize('form', [linear, linear_unweighted])


def box(center, radius):
    return Interval.from_center_radius(center, radius)


def corner(interval, signs):
    return np.where(signs > 0, interval.upper, interval.lower)


def random_case(rng):
    """Regressors, bounds and an error promise, of very different sizes; no errors yet."""
    m, p = int(rng.integers(12, 60)), int(rng.integers(1, 20))
    Y_e = rng.normal(size=(m, 10)) * 10.0 ** rng.uniform(-2, 1, 10)
    Y_r = rng.normal(size=(m, p)) * 10.0 ** rng.uniform(-2, 1, p)
    delta = 10.0 ** rng.uniform(-4, 0, m)
    rest = box(rng.normal(size=p), 10.0 ** rng.uniform(-3, 0, p))
    prior = box(rng.normal(size=10), 10.0 ** rng.uniform(-2, 1, 10))
    joint, start = np.zeros(m, dtype=np.int64), np.arange(m) * 0.1
    empty = Observation(Y_e, Y_r, np.zeros(m), delta, joint, start, start + 0.1)
    return empty, rest, prior


def observed(case, theta_e, theta_r, errors):
    """Rows that hold for these parameters with these errors, up to rounding."""
    return replace(case, b=case.Y_e @ theta_e + case.Y_r @ theta_r - errors)


def worst_case(form, case, rest, prior, parameter):
    """Truth and errors at the corner that moves one estimated parameter furthest."""
    L = left_inverse(form, case, rest, prior)
    row, unseen = L[parameter], (np.eye(10) - L @ case.Y_e)[parameter]
    theta_e, theta_r = corner(prior, unseen), corner(rest, -(row @ case.Y_r))
    # rows hold up to rounding of b: stay inside the promise by more than that
    errors = case.delta * np.sign(row) * (1.0 - 1e-9)
    return theta_e, theta_r, observed(case, theta_e, theta_r, errors)


def left_inverse(form, case, rest, prior):
    if form is linear:
        return linear_bounds._balanced_left_inverse(case, rest.radius, prior.radius)
    return np.linalg.pinv(case.Y_e)


def misses(form, bounds_of, trials, rng):
    """How many true bodies `bounds_of` loses when everything is at its worst."""
    count = 0
    for _ in range(trials):
        case, rest, prior = random_case(rng)
        theta_e, _, rows = worst_case(form, case, rest, prior, int(rng.integers(10)))
        count += not bounds_of(rows, rest, prior).contains(theta_e)
    return count


@FORMS
def test_contain_the_truth_for_errors_against_each_parameter(form, rng):
    assert misses(form, form, 120, rng) == 0


@FORMS
def test_contain_the_truth_for_random_errors(form, rng):
    for _ in range(120):
        case, rest, prior = random_case(rng)
        theta_e, theta_r = (rng.uniform(x.lower, x.upper) for x in (prior, rest))
        errors = case.delta * rng.uniform(-1, 1, len(case)) * (1.0 - 1e-9)
        assert form(observed(case, theta_e, theta_r, errors), rest, prior).contains(theta_e)


@FORMS
def test_are_no_wider_than_the_worst_case(form, rng):
    # the same corners, as oracle of sharpness: the truth lies on the edge of its interval
    for _ in range(50):
        case, rest, prior = random_case(rng)
        i = int(rng.integers(10))
        theta_e, _, rows = worst_case(form, case, rest, prior, i)
        bounds = form(rows, rest, prior)
        gap = min(theta_e[i] - bounds.lower[i], bounds.upper[i] - theta_e[i])
        assert gap <= 1e-6 * bounds.radius[i]


def without_rest(form):
    return lambda rows, rest, prior: form(rows, Interval.of(rest.center), prior)


def without_error(form):
    return lambda rows, rest, prior: form(replace(rows, delta=rows.delta * 0.5), rest, prior)


@pytest.mark.parametrize('mutant', [without_rest, without_error])
@FORMS
def test_a_bound_that_forgets_an_error_is_caught(form, mutant, rng):
    assert misses(form, mutant(form), 100, rng) > 50


def test_forgotten_prior_is_caught_when_the_data_do_not_see_everything(rng, monkeypatch):
    def case_of(rng):
        case, rest, prior = original(rng)
        return replace(case, Y_e=case.Y_e * (np.arange(10) < 6)), rest, prior

    original = random_case
    monkeypatch.setitem(globals(), 'random_case', case_of)

    def forgetful(rows, rest, prior):
        L = left_inverse(linear, rows, rest, prior)
        return linear_bounds._enclosure(rows, L, rest, Interval.of(prior.center))

    assert misses(linear, linear, 100, rng) == 0
    assert misses(linear, forgetful, 100, rng) > 30


@FORMS
def test_rounding_is_outward(form, rng):
    """Exact rational arithmetic of the identity, at a corner, stays inside."""

    def exact(matrix):
        return np.vectorize(Fraction, otypes=[object])(matrix)

    for _ in range(10):
        case, rest, prior = random_case(rng)
        rows = case.rows(slice(0, 12))
        rows = replace(rows, b=rng.normal(size=12) * 1e3, delta=np.full(12, 1e-13))
        L = left_inverse(form, rows, rest, prior)
        rest, prior = Interval.of(rest.center), Interval.of(prior.center)
        theta_e, theta_r = exact(prior.center), exact(rest.center)
        left = exact(L)
        response = exact(rows.b) - exact(rows.Y_e) @ theta_e - exact(rows.Y_r) @ theta_r
        value = theta_e + left @ response
        bounds = linear_bounds._enclosure(rows, L, rest, prior)
        assert all(
            Fraction(low) <= x <= Fraction(high)
            for low, x, high in zip(bounds.lower, value, bounds.upper, strict=True)
        )


@FORMS
def test_directions_that_the_data_do_not_see_are_left_to_the_prior(form, rng):
    case, rest, prior = random_case(rng)
    blind = np.arange(10) >= 7
    rows = replace(case, Y_e=np.where(blind, 0.0, case.Y_e))
    bounds = form(rows, rest, prior)
    np.testing.assert_allclose(bounds.lower[blind], prior.lower[blind], atol=1e-9)
    np.testing.assert_allclose(bounds.upper[blind], prior.upper[blind], atol=1e-9)


@FORMS
def test_no_rows_give_the_prior(form, rng):
    case, rest, prior = random_case(rng)
    bounds = form(case.rows(slice(0, 0)), rest, prior)
    assert bounds.contains(prior)
    np.testing.assert_allclose(bounds.radius, prior.radius, rtol=1e-9)


def test_balanced_is_tighter_than_unweighted_when_rows_differ(rng):
    ratios = []
    for _ in range(50):
        case, rest, prior = random_case(rng)
        theta_e, theta_r = prior.center, rest.center
        rows = observed(case, theta_e, theta_r, np.zeros(len(case)))
        ratios.append(
            linear(rows, rest, prior).radius / linear_unweighted(rows, rest, prior).radius
        )
    assert np.exp(np.mean(np.log(ratios))) < 0.5
    assert np.max(ratios) < 3.0  # balanced in the Euclidean sense, not the best of all


@FORMS
def test_an_unbounded_prior_is_refused(form, rng):
    case, rest, prior = random_case(rng)
    with pytest.raises(BoundError, match='unbounded'):
        form(case, rest, Interval(prior.lower, np.full(10, np.inf)))


@FORMS
def test_rows_without_any_error_are_no_trouble(form, rng):
    for _ in range(20):
        case, rest, prior = random_case(rng)
        # a few parts in 1e14 of rounding in b are within delta of most rows, 1e-300 is not
        delta = np.where(np.arange(len(case)) % 3 == 0, 1e-300, case.delta)
        rows = replace(case, delta=delta, Y_r=np.where(delta[:, None] < 1e-9, 0.0, case.Y_r))
        rows = replace(rows, Y_e=np.where(delta[:, None] < 1e-9, 0.0, case.Y_e))
        theta_e, theta_r = (rng.uniform(x.lower, x.upper) for x in (prior, rest))
        assert form(observed(rows, theta_e, theta_r, 0.0), rest, prior).contains(theta_e)


def test_all_rows_exact_give_the_truth(rng):
    case, rest, prior = random_case(rng)
    prior, rest = Interval(np.full(10, -64.0), np.full(10, 64.0)), Interval.of(rest.center * 0.0)
    theta_e = rng.integers(-64, 64, 10).astype(float)
    rows = replace(case, Y_e=rng.integers(-9, 9, (len(case), 10)).astype(float))
    rows = replace(rows, b=rows.Y_e @ theta_e, delta=np.full(len(case), 1e-300))
    bounds = linear(rows, rest, prior)
    assert bounds.contains(theta_e)
    assert bounds.radius.max() < 1e-6
