"""Layout of theta, and estimates that contain their nominal value."""

import numpy as np
import pytest

from safe_sysid.errors import BoundError
from safe_sysid.model.friction import friction_torque
from safe_sysid.model.parameters import ParameterEstimate, ParameterLayout, ratio_bounds

LAYOUT = ParameterLayout(('a', 'b', 'c'), tip=2)


def test_every_entry_has_a_place_a_label_and_a_unit():
    assert LAYOUT.size == len(LAYOUT.labels) == len(LAYOUT.units) == 42
    assert LAYOUT.labels[LAYOUT.end_effector][:2] == ('c.m', 'c.mcx')
    assert LAYOUT.labels[LAYOUT.joint_entries('Ia')] == ('a.Ia', 'b.Ia', 'c.Ia')
    assert LAYOUT.units[LAYOUT.joint_entries('Fc')] == ('N m',) * 3
    rest = [LAYOUT.labels[i] for i in LAYOUT.rest]
    assert len(rest) == 32
    assert not any(label.startswith('c.I') and label != 'c.Ia' for label in rest)


def test_friction_rows_give_the_friction_torque():
    theta = np.arange(42.0)
    torque = friction_torque(LAYOUT.friction(theta), np.array([1.0, -2, 0]), np.array([1.0, 1, 1]))
    # Fc = 30..32, Fv = 33..35, Ia = 36..38, beta = 39..41
    np.testing.assert_allclose(torque, [30 + 33 + 36 + 39, -31 - 68 + 37 + 40, 38 + 41])


def test_a_nominal_value_outside_its_bounds_is_refused():
    bounds = ratio_bounds(np.ones(42), 0.1)
    theta = np.ones(42)
    ParameterEstimate(LAYOUT, theta, bounds)
    theta[21] = 1.2
    with pytest.raises(BoundError, match=r'c\.mcx = 1\.2 is outside its bounds \[0\.8999'):
        ParameterEstimate(LAYOUT, theta, bounds)


def test_ratio_bounds_contain_the_extreme_values(rng):
    theta = rng.normal(size=42)
    bounds = ratio_bounds(theta, 0.05, 0.01)
    assert (bounds.lower <= theta - 0.05 * np.abs(theta) - 0.01 + 1e-15).all()
    assert (bounds.upper >= theta + 0.05 * np.abs(theta) + 0.01 - 1e-15).all()


def test_an_estimate_prints_what_the_end_effector_is():
    theta = np.arange(42.0)
    said = str(ParameterEstimate(LAYOUT, theta, ratio_bounds(theta, 0.5))).splitlines()
    assert said[0] == 'Everything that c moves, in its frame:'
    assert said[1].split() == ['lower', 'nominal', 'upper']
    assert said[2].split() == ['m', '10.0000', '20.0000', '30.0000', 'kg']
    assert said[-1].split() == ['Izz', '14.5000', '29.0000', '43.5000', 'kg', 'm^2']
    assert len(said) == 12
