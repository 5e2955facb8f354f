"""What bodies count as is never above the energy of a body that can exist within the bounds."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from reach.light_arms import UR5_HOME, problem_of, ur5
from reach.test_plan_error import Pushed

from safe_sysid.model import inertia
from safe_sysid.reach import inertia_floors as module
from safe_sysid.reach.inertia_floors import Counts, InertiaFloors, inertia_floors
from safe_sysid.reach.joint_inertia import spatial_inertia
from safe_sysid.reach.plan_error import nominal_inverse, plan_error
from safe_sysid.sets.interval import Interval

UR5 = ur5()
TIP = UR5.layout.end_effector


def with_tip(low, high):
    """Bounds of a UR5 with these of its last body."""
    lower, upper = UR5.theta.copy(), UR5.theta.copy()
    lower[TIP], upper[TIP] = low, high
    return Interval(lower, upper)


def random_body(rng):
    """Centre of mass and parameters of a body that can exist, often a flat or thin one."""
    m, c = rng.uniform(0.1, 5.0), rng.uniform(-0.3, 0.3, 3)
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    spread = m * rng.uniform(0.0, 0.02, 3) * rng.integers(0, 2, 3)
    I_c = turn @ np.diag(spread.sum() - spread) @ turn.T
    return c, inertia.from_mass_com_inertia(np.array(m), c, I_c)


def bounds_around(rng, body):
    """Some bounds of a body, with it in them."""
    away = rng.uniform(0.0, 1.0, (2, 10)) * np.array([0.3 * body[0], *(0.1,) * 3, *(0.1,) * 6])
    return body - away[0], body + away[1]


def exactly(m, c):
    """Parameters of a point, in rational numbers."""
    m, (x, y, z) = Fraction(m), (Fraction(each) for each in c)
    each = (m, m * x, m * y, m * z, m * (y * y + z * z), -m * x * y, m * (x * x + z * z))
    return [*each, -m * x * z, -m * y * z, m * (x * x + y * y)]


def test_the_point_of_the_least_mass_at_the_true_centre_is_within_its_bounds(rng):
    for _ in range(200):
        c, body = random_body(rng)
        low, high = bounds_around(rng, body)
        point = inertia_floors(UR5, with_tip(low, high)).point
        point = Interval.from_center_radius(point.middle[-1], point.radius[-1])
        if low[0] < 1e-6:
            assert not np.any(point.magnitude)
            continue
        centre = [Fraction(h) / Fraction(body[0]) for h in body[1:4]]
        exact = exactly(low[0], centre)
        assert all(
            Fraction(a) <= x <= Fraction(b)
            for a, x, b in zip(point.lower, exact, point.upper, strict=True)
        )
        apart = spatial_inertia(Interval.of(body)).center
        apart = apart - spatial_inertia(Interval.of([float(x) for x in exact])).center
        assert np.linalg.eigvalsh(apart).min() > -1e-12
        assert np.allclose(c, [float(x) for x in centre])


def test_a_point_of_the_largest_mass_is_noticed(rng, monkeypatch):
    """It is above bodies that are lighter."""

    def heaviest(bodies):
        lower = bodies.lower.copy()
        lower[:, 0] = bodies.upper[:, 0]
        return points(Interval(lower, bodies.upper))

    points = module._points
    monkeypatch.setattr(module, '_points', heaviest)
    with pytest.raises(AssertionError):
        test_the_point_of_the_least_mass_at_the_true_centre_is_within_its_bounds(rng)


def held(moments):
    """A dumbbell held by a UR5, whose moments of inertia are known to a width [kg m^2]."""
    body = inertia.from_mass_com_inertia(
        np.array(4.2), np.array([0.0, 0.0, 0.065]), np.diag([0.012, 0.012, 0.002])
    )
    away = np.array([0.23, 0.002, 0.002, 0.04, *(moments,) * 6])
    return body, with_tip(body - away, body + away)


@pytest.fixture(scope='module')
def problem():
    model = ur5()
    theta = model.theta.copy()
    theta[model.layout.joint_entries('Ia')] = 0.05
    return problem_of(model.with_parameters(theta), UR5_HOME, 1e-3, move=0.5)


def holding(problem, moments, tip=None):
    """Plans with the dumbbell in hand, for its bounds or for one body of them."""
    body, box = held(moments)
    lower, upper = problem.bounds.bounds.lower.copy(), problem.bounds.bounds.upper.copy()
    lower[TIP], upper[TIP] = (box.lower[TIP], box.upper[TIP]) if tip is None else (tip, tip)
    theta = problem.bounds.theta.copy()
    theta[TIP] = body if tip is None else tip
    bounds = replace(problem.bounds, theta=theta, bounds=Interval(lower, upper))
    return replace(problem, bounds=bounds)


def test_a_payload_of_known_mass_counts_as_a_point_and_bounds_the_error_so(problem, rng):
    """Even where it is one: nobody knows its moments to be any."""
    known = holding(problem, 0.03)
    floors = inertia_floors(known.model, known.bounds.bounds)
    assert floors.energy_gap[-1] > 4.0

    error, plain = plan_error(known), floors.of(floors.plain)
    assert not plain.middle[-1].any()
    without = replace(known.bounds, bounds=nothing_held(known.bounds.bounds))
    wider = plan_error(replace(known, bounds=without))
    assert np.log(error.position).sum() < np.log(wider.position).sum() - 0.1

    lightest = [float(x) for x in exactly(4.2 - 0.23, (0.0, 0.0, (4.2 * 0.065 - 0.04) / 4.2))]
    for c in np.eye(6)[[0, 2, 4]]:
        pushed = Pushed(rng, holding(problem, 0.03, np.array(lightest)), c)
        found = pushed.excess(error, np.zeros(6), 2.0)
        assert np.all(found <= 1.0 + 1e-3) and found[1] > 0.3


def nothing_held(bounds):
    """Return bounds of an end effector whose mass may be next to nothing."""
    lower, upper = bounds.lower.copy(), bounds.upper.copy()
    lower[TIP] = np.minimum(lower[TIP], 0.0)
    return Interval(lower, upper)


def test_what_counts_as_less_than_its_bounds_has_to_be_able_to_exist(problem):
    known = holding(problem, 0.03)
    error = plan_error(known)
    assert nominal_inverse(known, error) is not None
    theta = known.bounds.theta.copy()
    theta[TIP.start + 4] -= 0.029  # Ixx: less than a point at its centre has
    impossible = replace(known, bounds=replace(known.bounds, theta=theta))
    assert nominal_inverse(impossible, error) is None


def test_the_way_that_is_the_smallest_is_found_for_each_body_that_is_not_known():
    floors = inertia_floors(UR5, held(0.03)[1])
    floors = replace_gap(floors, [0.1, 0.4, 0.2, 9.0, np.inf, np.inf])
    floors.point.middle[4, 0] = 0.0  # nothing is known of its mass
    asked = []

    def size(bodies):
        counts = tuple(
            next(way for way in Counts if np.array_equal(one(floors, way, k), bodies.middle[k]))
            for k in range(6)
        )
        asked.append(counts)
        wanted = [Counts.BOUNDED, Counts.POINT, Counts.BOUNDED, Counts.POINT, 2, Counts.POINT]
        return sum(a != b for a, b in zip(counts, wanted, strict=True))

    assert list(floors.closest(size)) == [0, 1, 0, 1, 2, 1]
    assert not {(0, 0, 0, 2, 0, 2), (0, 0, 0, 2, 1, 2), (0, 0, 0, 2, 2, 0)} & set(asked)


def one(floors, way, body):
    """Middle of the parameters that a body has where it counts so."""
    return {0: floors.bounded.middle[body], 1: floors.point.middle[body], 2: np.zeros(10)}[way]


def replace_gap(floors, gap):
    point = floors.point._replace(middle=floors.point.middle.copy())
    return InertiaFloors(floors.bounded, point, np.array(gap))


@pytest.mark.parametrize('mass', [-1.0, 0.0, 5e-324, 1e-200, 1e-9])
def test_next_to_no_mass_counts_for_nothing(mass):
    low, high = held(0.03)[1].lower[TIP], held(0.03)[1].upper[TIP]
    floors = inertia_floors(UR5, with_tip([mass, *low[1:]], high))
    assert not np.any(floors.point.middle[-1]) and not np.any(floors.point.radius[-1])


def test_a_box_whose_middle_is_no_body_counts_as_a_point(problem):
    """So that an arm without armature has a bound of its error at all."""
    theta = problem.model.theta.copy()
    theta[problem.model.layout.joint_entries('Ia')] = 0.0
    bare = problem_of(problem.model.with_parameters(theta), UR5_HOME, 1e-3)
    known = holding(bare, 0.02)
    tip = known.bounds.bounds
    lower, upper = tip.lower.copy(), tip.upper.copy()
    lower[TIP.start + 9] -= 0.05  # Izz
    upper[TIP.start + 9] -= 0.01
    wide = replace(known.bounds, bounds=Interval(lower, upper))
    floors = inertia_floors(known.model, wide.bounds)
    assert floors.energy_gap[-1] == np.inf
    assert plan_error(replace(known, bounds=wide)).tube is not None
