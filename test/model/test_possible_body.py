"""Bounds that no body fits are refused with the reason, and never those that one fits."""

import re

import numpy as np
import pytest

from safe_sysid.model.inertia import from_pseudo_inertia, pseudo_inertia
from safe_sysid.model.possible_body import why_no_body
from safe_sysid.sets.interval import Interval


def box(**wide):
    """A cube of 1 kg and 0.2 m about the origin to 1 %, some parameters between other bounds."""
    middle = np.array([1.0, 0.0, 0.0, 0.0, *(0.007, 0.0, 0.007, 0.0, 0.0, 0.007)])
    lower, upper = middle - 1e-4, middle + 1e-4
    names = ('m', 'mcx', 'mcy', 'mcz', 'Ixx', 'Ixy', 'Iyy', 'Ixz', 'Iyz', 'Izz')
    for name, (low, high) in wide.items():
        lower[names.index(name)], upper[names.index(name)] = low, high
    return Interval(lower, upper)


def bodies(rng, count, rank):
    """Of so many points with random masses, on the edge of what can exist below four."""
    points = np.concatenate([rng.normal(0.0, 0.3, (count, rank, 3)), np.ones((count, rank, 1))], 2)
    weights = rng.uniform(0.1, 3.0, (count, rank))
    return from_pseudo_inertia(np.einsum('bi,bij,bik->bjk', weights, points, points))


@pytest.mark.parametrize('rank', [1, 2, 3, 5])
def test_bounds_about_a_body_are_never_refused(rng, rank):
    for phi in bodies(rng, 10, rank):
        radius = rng.choice([0.0, 1e-9, 0.01, 0.5], 10) * np.abs(phi)
        at = rng.choice([-1.0, 0.0, 1.0], 10)  # the body in a corner, or in the middle
        assert not why_no_body(Interval(phi + (at - 1.0) * radius, phi + (at + 1.0) * radius))


def test_nothing_and_what_is_wide_are_not_refused():
    zero = np.zeros(10)
    assert not why_no_body(Interval(zero, zero))
    assert not why_no_body(Interval(zero - 1e9, zero + 1e9))
    assert not why_no_body(box())


@pytest.mark.parametrize(
    ('wide', 'why'),
    [
        ({'m': (-2.0, -1.0)}, 'the mass is at most -1 kg'),
        ({'Ixx': (0.02, 0.03)}, 'Ixx is at least 0.02 .* other two moments at most 0.0142'),
        ({'mcx': (0.3, 0.4)}, 'Iyy is at most 0.0071 .* with mcx so far from 0, .* the y axis'),
        ({'mcy': (-0.4, -0.1)}, 'Ixx is at most 0.0071 .* with mcy so far from 0'),
        ({'m': (0.0, 0.0), 'mcz': (0.1, 0.2)}, 'weighs at most 0 kg, with mcz'),
        ({'Ixy': (0.006, 0.0065)}, 'not all together: the mean square distance of the mass'),
    ],
)
def test_bounds_that_no_body_fits_are_refused_with_the_reason(wide, why):
    assert re.search(why, why_no_body(box(**wide)))


def test_what_is_refused_has_no_body_and_what_is_known_exactly_is_decided(rng):
    """Boxes about parameters of no body, some of which reach to one."""
    refused = 0
    for phi in bodies(rng, 25, 5):
        J = pseudo_inertia(phi)
        values, vectors = np.linalg.eigh(J)
        values[0] = -rng.uniform(0.02, 0.5) * values[1]
        middle = from_pseudo_inertia((vectors * values) @ vectors.T)
        radius = rng.integers(2) * rng.uniform(0.0, 0.4) * np.abs(middle)
        bounds = Interval(middle - radius, middle + radius)
        tried = bounds.lower + rng.random((2000, 10)) * (bounds.upper - bounds.lower)
        exists = bool((np.linalg.eigvalsh(pseudo_inertia(tried))[:, 0] > 0.0).any())
        is_refused = bool(why_no_body(bounds))
        assert not (exists and is_refused)
        assert is_refused or radius.any()
        refused += is_refused
    assert refused > 8
