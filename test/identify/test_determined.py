"""What a motion has not determined is known as such, and what is handed on is a compact body."""

import numpy as np
import pytest

from safe_sysid.identify.determined import NAMES, determined, determined_about_com, handed_on
from safe_sysid.identify.payload_in_frame import Body
from safe_sysid.model import inertia
from safe_sysid.model.inertia import LABELS
from safe_sysid.sets.interval import Interval
from safe_sysid.simulate.random_arm import random_body

SOLID = inertia.from_mass_com_inertia(
    np.array(1.5), np.array([0.05, 0.01, 0.12]), np.diag([0.004, 0.006, 0.005])
)


def body_with(width, **changes):
    """Bounds around a solid body, some entries with others."""
    lower, upper = SOLID - width * np.abs(SOLID), SOLID + width * np.abs(SOLID)
    nominal = SOLID.copy()
    for name, (low, value, high) in changes.items():
        i = LABELS.index(name)
        lower[i], nominal[i], upper[i] = low, value, high
    return Body('flange', nominal, Interval(lower, upper))


def test_what_is_known_closely_is_determined():
    body = body_with(0.002)
    assert determined(body.bounds).all() and determined_about_com(body).all()


def test_a_wide_entry_is_not_determined_nor_what_is_measured_by_it():
    body = body_with(0.001, Ixx=(0.001, 0.288, 0.4))
    assert [LABELS[i] for i in np.flatnonzero(~determined(body.bounds))] == ['Ixx']
    unknown = [NAMES[i] for i in np.flatnonzero(~determined_about_com(body))]
    assert unknown == ['Ixx', 'Ixy', 'Ixz']


def test_a_mass_that_may_be_zero_determines_nothing_about_the_centre():
    body = body_with(1.0)
    assert not determined_about_com(body).any()


def test_an_inertia_nobody_knows_becomes_that_of_a_compact_body():
    """The moment in the middle of its bounds was 72 times too large."""
    body = handed_on(body_with(0.001, Ixx=(0.001, 0.288, 0.4)))
    moments = body.inertia
    assert moments[0, 0] < 0.01
    assert moments[1, 1] == pytest.approx(0.006, rel=1e-6)
    assert body.mass == 1.5 and inertia.is_consistent(body.nominal)


@pytest.mark.slow
def test_no_needle_is_handed_on(rng):
    for _ in range(200):
        phi = random_body(rng)
        mass, com, _ = inertia.mass_com_inertia(phi)
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        needle = 0.01 * mass * (np.eye(3) - np.outer(axis, axis)) + 1e-12 * np.eye(3)
        nominal = inertia.from_mass_com_inertia(mass, com, needle)
        wide = Interval(nominal - 0.1 * np.abs(phi) - 0.5, nominal + 0.1 * np.abs(phi) + 0.5)
        moments = handed_on(Body('flange', nominal, wide)).inertia
        second = np.linalg.eigvalsh(0.5 * np.trace(moments) * np.eye(3) - moments)
        assert second[0] >= 0.0099 * second[-1]


def test_entries_that_are_determined_stay_in_their_bounds(rng):
    for _ in range(100):
        phi = random_body(rng)
        body = Body('flange', phi, Interval.from_center_radius(phi, 1e-4 * np.abs(phi)))
        bounds, known = body.inertia_bounds, determined_about_com(body)[4:]
        found = inertia.symmetric_entries(handed_on(body).inertia)
        assert (bounds.lower - 1e-12 <= found)[known].all()
        assert (found <= bounds.upper + 1e-12)[known].all()


def test_bounds_that_no_moment_is_in_do_not_make_a_rod():
    """A difference of wide statistical intervals had zz about the centre from -74 to -0.06."""
    phi = inertia.from_mass_com_inertia(
        np.array(1.5), np.array([0.45, 0.0, 0.001]), np.diag([0.0, 0.004, 0.0])
    )
    phi[[4, 9]] = 0.0, 1e-9  # the prior, about the origin
    half = np.array([0.2, 0.015, 9.8, 0.005, 0.196, 0.196, 0.007, 0.196, 0.196, 0.196])
    body = Body('flange', phi, Interval(phi - half, phi + half))
    assert body.inertia_bounds.upper[5] < 0.0
    moments = handed_on(body).inertia
    sphere = 0.4 * 1.5 * (0.75 * 1.5 / (1000.0 * np.pi)) ** (2.0 / 3.0)
    assert np.diag(moments) == pytest.approx(sphere, rel=0.5)
    assert moments[0, 1] == moments[0, 2] == moments[1, 2] == 0.0


def test_what_is_determined_about_the_origin_stays_in_its_bounds():
    """It was replaced, as no bound about the centre follows from it where the mass is wide."""
    phi = inertia.from_mass_com_inertia(
        np.array(2.5), np.array([0.37, 0.0, 0.0]), np.diag([0.03, 0.048, 0.03])
    )
    half = np.array([0.6, 0.1, 0.01, 0.01, 0.5, 0.1, 0.007, 0.1, 0.1, 0.5])
    body = Body('', phi, Interval(phi - half, phi + half))
    at = LABELS.index('Iyy')
    assert determined(body.bounds)[at] and not determined_about_com(body)[at]
    found = handed_on(body).nominal
    assert body.bounds.lower[at] <= found[at] <= body.bounds.upper[at]
    assert inertia.is_consistent(found)


def test_nothing_that_is_determined_is_replaced(rng):
    for _ in range(200):
        phi = random_body(rng)
        half = np.abs(phi) * 10.0 ** rng.uniform(-4.0, 0.5, 10)
        body = Body('', phi, Interval(phi - half, phi + half))
        about, known = determined_about_com(body)[4:], determined(body.bounds)
        found = handed_on(body)
        moments = inertia.symmetric_entries(found.inertia)
        inside = (body.bounds.lower - 1e-9 <= found.nominal) & (
            found.nominal <= body.bounds.upper + 1e-9
        )
        assert inside[known].all()
        bounds = body.inertia_bounds
        assert ((bounds.lower - 1e-9 <= moments) & (moments <= bounds.upper + 1e-9))[about].all()
