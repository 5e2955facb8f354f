"""Criteria: their bounds, their invariances, and their derivatives in the eigenvalues."""

import numpy as np
import pytest

from safe_sysid.errors import ConfigError
from safe_sysid.excite import criteria
from safe_sysid.excite.criteria import GOALS, POWERS, STAGES, smooth_condition, stages_of

EVERY = [criterion for stages in STAGES.values() for criterion in stages] + list(GOALS.values())


def eigenvalues(rng, size=9):
    return np.sort(np.exp(rng.normal(scale=2.0, size=size)))


@pytest.mark.parametrize('criterion', EVERY)
def test_derivatives_agree_with_differences(criterion, rng):
    for _ in range(5):
        values = eigenvalues(rng)
        _, g = criterion(values)
        for i in range(len(values)):
            h = 1e-6 * values[i] * np.eye(len(values))[i]
            slope = (criterion(values + h)[0] - criterion(values - h)[0]) / (2 * h[i])
            assert g[i] == pytest.approx(slope, rel=1e-5, abs=1e-6 / values[i])


@pytest.mark.parametrize('power', POWERS)
def test_the_smooth_bound_is_as_close_as_it_says_and_has_no_scale(power, rng):
    for _ in range(50):
        values = eigenvalues(rng)
        kappa = criteria.log_condition(values)[0]
        rho = smooth_condition(power)(values)[0]
        assert kappa <= rho + 1e-12
        assert rho <= kappa + np.log(len(values)) / power + 1e-12
        assert smooth_condition(power)(7.3 * values)[0] == pytest.approx(rho, rel=1e-12)


def test_r_c_bounds_the_condition_number_at_every_scale_and_depends_on_it(rng):
    values = eigenvalues(rng)
    kappa = np.exp(criteria.log_condition(values)[0])
    bounds = [criteria.frobenius_sum(scale * values)[0] for scale in np.geomspace(1e-4, 1e4, 81)]
    assert min(bounds) >= kappa
    assert max(bounds) > 100 * min(bounds)
    # its least value over scales is exp(rho_2)
    assert min(bounds) == pytest.approx(np.exp(smooth_condition(2.0)(values)[0]), rel=0.03)


def test_determinant_trace_and_smallest_are_what_they_say():
    values = np.array([0.5, 1.0, 4.0])
    assert criteria.negative_log_determinant(values)[0] == pytest.approx(-np.log(2.0))
    assert criteria.total_variance(values)[0] == pytest.approx(3.25)
    assert criteria.negative_log_smallest(values)[0] == pytest.approx(np.log(2.0))
    assert criteria.log_condition(values)[0] == pytest.approx(0.5 * np.log(8.0))


def test_unknown_names_are_refused():
    with pytest.raises(ConfigError, match="no criterion 'best', there are"):
        stages_of('best')
