"""Steps see what happens to a velocity between their ends."""

import numpy as np
import pytest

from safe_sysid.simulate.integration import dips


def ends(velocity, h):
    """Points at both ends of a step in which one velocity is a polynomial of time."""
    slope = velocity.deriv()
    return tuple(np.array([[0.0], [velocity(t)], [slope(t)], [0.0]]) for t in (0.0, h))


@pytest.mark.parametrize('h', [1e-3, 1.0])
def test_a_cubic_velocity_dips_below_zero_exactly_where_its_least_value_does(rng, h):
    seen = set()
    for _ in range(2000):
        velocity = np.polynomial.Polynomial(rng.normal(size=4) / h ** np.arange(4))
        sign = rng.choice([-1.0, 1.0])
        forward = sign * velocity
        if forward(0.0) <= 0.0 or forward(h) <= 0.0:
            continue
        expected = forward(np.linspace(0.0, h, 4001)).min() < 0.0
        assert dips(sign, *ends(velocity, h), h, 0) == expected
        seen.add(expected)
    assert seen == {True, False}


def test_a_velocity_without_a_turning_point_does_not_dip():
    for velocity in ([1.0, -0.9], [1.0, 0.5], [0.0, 1.0], [1.0, 0.0, -0.5]):
        assert not dips(1.0, *ends(np.polynomial.Polynomial(velocity), 1.0), 1.0, 0)
