"""Sensitivity bounds are the published ones; inside they are linear, on the edge they miss."""

from dataclasses import replace

import numpy as np
import pytest

from safe_sysid.identify.linear_bounds import linear, linear_unweighted
from safe_sysid.identify.log_cholesky_fit import FitOutcome, fit
from safe_sysid.identify.observation import Observation
from safe_sysid.identify.sensitivity_bounds import sensitivity
from safe_sysid.model.inertia import from_mass_com_inertia
from safe_sysid.sets.interval import Interval
from safe_sysid.simulate.random_arm import random_body

UNITS = np.array([1, 0.1, 0.1, 0.1, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01])
PRIOR = Interval(
    np.array([0.1, -1, -1, -1, -0.5, -0.5, -0.5, -0.5, -0.5, -0.5]),
    np.array([9.0, 1, 1, 1, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]),
)


def rows_of(rng, phi, noise, m=60):
    """Rows with random errors within delta; theta_r within 1 % of the middle of its bounds."""
    Y_e = rng.normal(size=(m, 10)) / UNITS * np.array([1, 1, 1, 1, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3])
    Y_r = rng.normal(size=(m, 3))
    theta_r = rng.uniform(0.5, 1.0, 3)
    rest = Interval.from_center_radius(theta_r * (1.0 + 0.01 * rng.uniform(-1, 1, 3)), 0.011)
    truth = Y_e @ phi
    delta = noise * (np.abs(truth) + 0.1 * np.abs(truth).max())
    b = truth + Y_r @ theta_r + delta * rng.uniform(-1, 1, m)
    joint, start = np.zeros(m, dtype=np.int64), np.arange(m) * 0.1
    return Observation(Y_e, Y_r, b, delta, joint, start, start + 0.1), rest


def rod(rng):
    """A rod along z, 1 cm thin: its Izz is next to the least that can exist."""
    mass, length = rng.uniform(1.0, 4.0), np.array([0.0, 0.0, rng.uniform(0.05, 0.2)])
    return from_mass_com_inertia(mass, length, mass * np.diag([1e-2, 1e-2, 1e-4]))


def against(rows, rest, phi, parameter):
    """The same rows with errors at the limit of their promise, all against one parameter."""
    errors = -np.sign(np.linalg.pinv(rows.Y_e)[parameter]) * rows.delta * (1.0 - 1e-9)
    return replace(rows, b=rows.Y_e @ phi + rows.Y_r @ rest.center + errors)


def interior_cases(rng, count):
    for _ in range(count):
        rows, rest = rows_of(rng, random_body(rng), 0.002)
        equal = replace(rows, delta=np.full(len(rows), 0.01))
        if fit(equal, rest.center, PRIOR.center).outcome is FitOutcome.LEAST_SQUARES:
            yield rows, rest, equal


def test_inside_the_slope_is_the_one_of_finite_differences_of_the_fit(rng):
    tried = 0
    for rows, rest, equal in interior_cases(rng, 5):
        columns = []
        for step in 1e-4 * np.eye(len(rows)):
            up, down = (
                fit(replace(equal, b=rows.b + x), rest.center, PRIOR.center).phi
                for x in (step, -step)
            )
            columns.append((up - down) / 2e-4)
        S = np.transpose(columns)
        radius = np.abs(S @ rows.Y_r) @ rest.radius + np.abs(S) @ rows.delta
        np.testing.assert_allclose(sensitivity(rows, rest, PRIOR).radius, radius, rtol=1e-5)
        tried += 1
    assert tried >= 3


def test_inside_it_is_the_unweighted_linear_bound(rng):
    tried = 0
    for rows, rest, _ in interior_cases(rng, 20):
        ours, linear_ = sensitivity(rows, rest, PRIOR), linear_unweighted(rows, rest, PRIOR)
        np.testing.assert_allclose(ours.lower / UNITS, linear_.lower / UNITS, atol=1e-6)
        np.testing.assert_allclose(ours.upper / UNITS, linear_.upper / UNITS, atol=1e-6)
        tried += 1
    assert tried >= 10


@pytest.mark.slow
def test_on_the_edge_of_consistency_it_misses_the_truth_although_errors_keep_their_promise(rng):
    """Why this form is called an estimate; the guaranteed form holds on the same rows."""
    half_widths = []  # from the middle of the estimate to the true Izz
    for _ in range(20):
        phi = rod(rng)
        rows, rest = rows_of(rng, phi, 0.005)
        rows = against(rows, rest, phi, 9)
        estimate = sensitivity(rows, rest, PRIOR)
        half_widths.append(abs(phi[9] - estimate.center[9]) / estimate.radius[9])
        assert linear(rows, rest, PRIOR).contains(phi)
        assert linear_unweighted(rows, rest, PRIOR).contains(phi)
    assert np.min(half_widths) > 1.0
    assert np.max(half_widths) > 20.0


def test_without_a_slope_the_prior_is_the_answer(rng):
    rows, rest = rows_of(rng, random_body(rng), 0.02)
    for blind in (replace(rows, Y_e=np.zeros_like(rows.Y_e)), rows.rows(slice(0, 0))):
        bounds = sensitivity(blind, rest, PRIOR)
        assert bounds.contains(PRIOR)
        assert PRIOR.contains(bounds)
