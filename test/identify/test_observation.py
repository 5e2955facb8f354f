"""An observation refuses what is not one, and its rows can be chosen, stacked and solved for."""

from dataclasses import fields, replace

import numpy as np
import pytest

from safe_sysid.errors import MeasurementError
from safe_sysid.identify.observation import Observation, stacked


def observation(rng, m=7, rest=18):
    start = rng.uniform(size=m)
    return Observation(
        Y_e=rng.normal(size=(m, 10)),
        Y_r=rng.normal(size=(m, rest)),
        b=rng.normal(size=m),
        delta=rng.uniform(0.1, 1.0, size=m),
        joint=np.arange(m) % 2,
        start=start,
        end=start + 0.1,
    )


def same(a, b):
    return all(np.array_equal(getattr(a, f.name), getattr(b, f.name)) for f in fields(Observation))


def test_chosen_rows_are_whole_rows(rng):
    whole = observation(rng)
    kept = whole.rows(np.array([4, 1]))
    assert len(kept) == 2
    for field in fields(Observation):
        expected = [getattr(whole, field.name)[4], getattr(whole, field.name)[1]]
        np.testing.assert_array_equal(getattr(kept, field.name), expected)
    assert same(whole.rows(whole.joint == 0), whole.rows(np.array([0, 2, 4, 6])))
    assert same(whole.rows(slice(None)), whole)


def test_stacked_parts_give_the_whole(rng):
    whole = observation(rng)
    assert same(stacked([whole.rows(slice(0, 3)), whole.rows(slice(3, 7))]), whole)


def test_response_is_what_the_end_effector_has_to_match(rng):
    whole = observation(rng)
    theta_e, theta_r = rng.normal(size=10), rng.normal(size=18)
    exact = replace(whole, b=whole.Y_e @ theta_e + whole.Y_r @ theta_r)
    np.testing.assert_allclose(exact.response(theta_r), whole.Y_e @ theta_e, atol=1e-12)


@pytest.mark.parametrize('name', ['Y_e', 'Y_r', 'delta', 'joint', 'start', 'end'])
def test_fields_of_different_length_are_refused(rng, name):
    whole = observation(rng)
    with pytest.raises(MeasurementError, match=f'{name} has 6 rows, b has 7'):
        replace(whole, **{name: getattr(whole, name)[:6]})


@pytest.mark.parametrize(
    ('name', 'value'),
    [
        ('b', np.nan),
        ('b', np.inf),
        ('delta', 0.0),
        ('delta', -1.0),
        ('delta', np.nan),
        ('Y_e', np.nan),
        ('Y_r', np.inf),
    ],
)
def test_numbers_that_bind_nothing_are_refused(rng, name, value):
    whole = observation(rng)
    changed = getattr(whole, name).copy()
    changed[3] = value
    with pytest.raises(MeasurementError, match='row 3 has an entry'):
        replace(whole, **{name: changed})
