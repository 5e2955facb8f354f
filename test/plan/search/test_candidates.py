"""The gentlest plan accelerates least; candidates are everywhere."""

import numpy as np
from plan.kinova_problem import kinova_problem
from scipy.integrate import quad

from safe_sysid.plan.search.candidates import gentlest, spread
from safe_sysid.trajectory.bezier import Bezier


def effort(curve, k):
    """Integral of squared acceleration of every joint."""
    return [
        quad(lambda t, j=j: curve.acceleration(t, k)[j] ** 2, 0.0, curve.duration)[0]
        for j in range(len(k))
    ]


def test_the_gentlest_plan_accelerates_least(rng):
    curve = Bezier(rng.normal(size=3), rng.normal(size=3), rng.normal(size=3), 2.0)
    k = gentlest(curve)
    for step in (-0.01, 0.01):
        assert np.all(np.array(effort(curve, k)) < effort(curve, k + step))


def test_the_gentlest_plan_from_rest_stands_still():
    assert not gentlest(kinova_problem().horizon.curve).any()


def test_candidates_fill_the_range_at_all_scales():
    points = spread(3, 4000, 4)
    assert np.abs(points).max() <= 1.0
    largest = np.abs(points).max(axis=1)
    assert largest.max() > 0.9
    assert largest.min() < 0.05
    signs = (points > 0.0) @ (1 << np.arange(4))
    assert np.bincount(signs, minlength=16).min() > 150  # of 250 in every orthant
    assert np.array_equal(points, spread(3, 4000, 4))
    assert not np.array_equal(points, spread(4, 4000, 4))
