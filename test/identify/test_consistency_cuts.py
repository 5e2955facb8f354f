"""Cuts keep every body that can exist and take away points that are none."""

from fractions import Fraction

import numpy as np
import pytest

from safe_sysid.identify.consistency_cuts import (
    LENGTH,
    cut,
    cut_rounding,
    distinct,
    first_vectors,
    reach_cuts,
    violated_vectors,
)
from safe_sysid.model import inertia
from safe_sysid.simulate.random_arm import random_body


def exact(numbers):
    return [Fraction(float(x)) for x in numbers]


def dot(a, b):
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def points_body(masses, points):
    """Exact ten parameters of point masses: sums of products of rationals."""
    phi = [Fraction(0)] * 10
    for mass, point in zip(exact(masses), map(exact, points), strict=True):
        x, y, z = point
        terms = (
            1, x, y, z,
            y * y + z * z, -x * y, x * x + z * z, -x * z, -y * z, x * x + y * y,
        )  # fmt: skip
        phi = [entry + mass * term for entry, term in zip(phi, terms, strict=True)]
    return phi


def quadratic_form(masses, points, v):
    """v' J v of point masses by its meaning: sum of m (u . r + w)^2, in exact arithmetic."""
    *u, w = exact(v)
    return sum(
        mass * (dot(u, exact(point)) + w) ** 2
        for mass, point in zip(exact(masses), points, strict=True)
    )


def cloud(rng, count=5, spread=0.2):
    return rng.uniform(0.01, 2.0, size=count), rng.normal(scale=spread, size=(count, 3))


def test_a_cut_is_the_quadratic_form_to_within_its_rounding(rng):
    for _ in range(100):
        masses, points = cloud(rng)
        body = points_body(masses, points)
        v = rng.normal(size=4) * 10.0 ** rng.uniform(-3, 3, size=4)
        largest = np.array([float(abs(x)) for x in body]) * (1 + 1e-15)
        slack = Fraction(float(cut_rounding(v, largest)))
        value = dot(exact(cut(v)), body)
        assert abs(value - quadratic_form(masses, points, v)) <= slack
        assert slack <= Fraction(1, 10**12) * Fraction(float(np.abs(v).sum() ** 2 * largest.sum()))


def test_every_body_satisfies_every_cut(rng):
    # flat bodies too: one to three points, for which v' J v = 0 is reached
    for _ in range(100):
        masses, points = cloud(rng, count=int(rng.integers(1, 6)))
        body = points_body(masses, points)
        largest = np.array([float(abs(x)) for x in body]) * (1 + 1e-15)
        J = inertia.pseudo_inertia(np.array([float(x) for x in body]))
        null = np.linalg.eigh(J)[1][:, 0]
        for v in [*first_vectors(), *rng.normal(size=(5, 4)), null]:
            slack = Fraction(float(cut_rounding(v, largest)))
            assert dot(exact(cut(v)), body) >= -slack


def test_without_its_rounding_a_cut_can_lose_a_body(rng):
    lost = 0
    for _ in range(100):
        masses, points = cloud(rng, count=1)
        w = -float(points[0] @ [1.0, 2.0, 3.0])
        v = np.array([1.0, 2.0, 3.0, w])  # a plane through the point, but for rounding
        lost += dot(exact(cut(v)), points_body(masses, points)) < 0
    assert lost > 0


def test_cuts_of_many_vectors_are_those_of_each(rng):
    vectors = rng.normal(size=(6, 4))
    np.testing.assert_array_equal(cut(vectors), [cut(v) for v in vectors])
    np.testing.assert_array_equal(
        cut_rounding(vectors, np.ones(10)), [cut_rounding(v, np.ones(10)) for v in vectors]
    )


def test_the_first_cuts_are_the_ones_a_reader_would_write_down():
    rows = cut(first_vectors())
    assert len(rows) == 16
    unit = np.eye(10)
    m, Ixx, Ixy, Iyy, Izz = unit[0], unit[4], unit[5], unit[6], unit[9]
    for expected in (
        LENGTH**2 * m,  # mass
        0.5 * (Iyy + Izz - Ixx),  # triangle inequality
        0.5 * (Ixx + Izz - Iyy),
        0.5 * (Ixx + Iyy - Izz),
        Izz + 2 * Ixy,  # products of inertia, |2 Ixy| <= Izz
        Izz - 2 * Ixy,
    ):
        assert np.isclose(rows, expected, atol=1e-15).all(axis=1).any(), expected


def inconsistent(rng):
    """A body with one moment taken away until it is no body any more."""
    J = inertia.pseudo_inertia(random_body(rng))
    values, vectors = np.linalg.eigh(J)
    values[rng.integers(4)] *= -rng.uniform(0.01, 2.0)
    return inertia.from_pseudo_inertia(vectors * values @ vectors.T)


def test_a_point_that_is_no_body_is_cut_off(rng):
    for _ in range(200):
        phi = inconsistent(rng)
        vectors = violated_vectors(phi[None])
        assert len(vectors) > 0
        values = cut(vectors) @ phi
        assert (values < -cut_rounding(vectors, np.abs(phi))).all()


def test_the_most_violated_comes_first_over_all_points(rng):
    points = np.array([inconsistent(rng) for _ in range(5)] + [random_body(rng)])
    vectors = violated_vectors(points)
    scale = np.array([1.0, 1.0, 1.0, LENGTH])
    # per unit of v in the units of the eigenvalues, each in the point it belongs to
    worst = [
        min((cut(v) @ points.T) / (LENGTH**2 * np.sum((v / scale) ** 2))) for v in vectors[:1]
    ]
    unscaled = scale / LENGTH
    eigenvalues = [
        np.linalg.eigvalsh(inertia.pseudo_inertia(p) * unscaled * unscaled[:, None])[0]
        for p in points
    ]
    assert worst[0] == pytest.approx(min(eigenvalues))


def test_bodies_are_not_cut(rng):
    bodies = np.array([random_body(rng) for _ in range(200)])
    assert len(violated_vectors(bodies)) == 0


def test_bodies_within_reach_satisfy_the_reach_cuts(rng):
    for _ in range(300):
        reach = float(rng.uniform(0.05, 2.0))
        masses, points = cloud(rng, count=int(rng.integers(1, 6)), spread=reach)
        size = np.linalg.norm(points, axis=1, keepdims=True)
        points *= np.minimum(1.0, reach * (1 - 1e-14) / size)
        assert all(dot(exact(p), exact(p)) <= Fraction(reach) ** 2 for p in points)
        body = points_body(masses, points)
        largest = np.array([float(abs(x)) for x in body]) * (1 + 1e-15)
        # the rounding that ParameterPolytope allows these rows
        slack = cut_rounding(np.array([1.0, 1.0, 1.0, max(1.0, reach)]), largest)
        for row in reach_cuts(reach):
            assert dot(exact(row), body) >= -Fraction(float(slack))


def test_a_point_mass_at_the_end_of_the_reach_lies_on_the_cuts():
    # by hand: 2 kg at 0.5 m along x; m r = mcx = 1, m r^2 = 1/2 tr I = 0.5
    body = np.array([2.0, 1.0, 0, 0, 0, 0, 0.5, 0, 0, 0.5])
    values = reach_cuts(0.5) @ body
    np.testing.assert_allclose(np.sort(values), [0, 0, 1, 1, 1, 1, 2], atol=1e-15)


@pytest.mark.parametrize('axis', range(3))
@pytest.mark.parametrize('side', [-1, 1])
def test_a_point_mass_out_of_reach_is_cut_off(axis, side):
    point = np.zeros((1, 3))
    point[0, axis] = side * 0.51
    body = np.array([float(x) for x in points_body(np.array([2.0]), point)])
    values = reach_cuts(0.5) @ body
    assert (values[:6] < -1e-3).sum() == 1  # the side it sticks out at
    assert values[6] < -1e-3


def test_cuts_that_are_nearly_the_same_are_made_once(rng):
    known = first_vectors()
    new = rng.normal(size=(5, 4))
    repeated = np.concatenate([new, -2.0 * new, new * (1 + 1e-6), known])
    np.testing.assert_array_equal(distinct(repeated, known), new)
