"""Bodies have columns for all that joints up to them depend on, and for nothing else."""

from dataclasses import replace

import numpy as np
import pytest
from reach.reach_samples import random_error, random_horizon

from safe_sysid.model.parameters import ratio_bounds
from safe_sysid.reach import body_columns as module
from safe_sysid.reach import newton_euler
from safe_sysid.reach.body_columns import body_columns, columns_of, slots, table_of
from safe_sysid.reach.joint_reach import joint_reach
from safe_sysid.reach.newton_euler import rigid_body_torque
from safe_sysid.sets.monomials import monomials
from safe_sysid.simulate.random_arm import random_tree

N = 5


def reach_of(rng, model, degree=2):
    horizon = random_horizon(rng, model.n, 0.2, 8, degree)
    return joint_reach(model, horizon, random_error(rng, model.n))


def with_errors(reach, linear):
    """The same joint states, with these coefficients of error variables."""
    M = reach.monomials.count
    rows = np.concatenate([reach.rows[..., :M], linear, reach.rows[..., M:]], axis=-1)
    return replace(reach, rows=np.ascontiguousarray(rows))


def in_disorder(rng, reach):
    """Joint states some of which depend on variables of other joints, and on all errors."""
    rows = reach.rows.copy()
    for joint in rng.integers(N, size=2):
        which = rng.integers(1, reach.monomials.count)
        rows[:-1, rng.integers(8), joint, which] += 0.01
    linear = 0.01 * rng.normal(size=(*rows.shape[:-1], 2 * N))
    linear *= rng.random((N, 2 * N)) < 0.2
    return with_errors(replace(reach, rows=rows), linear)


def every_column(reach, _kinds):
    """Columns for all variables, of every body."""
    _, _, n, width = reach.rows.shape
    d, errors = reach.monomials.variables, (width - 1 - reach.monomials.count) // 2
    return module._body_columns(reach.monomials, (d,) * n, (errors,) * n, width - 1)


@pytest.mark.parametrize('degree', [1, 2, 3])
def test_a_body_of_a_chain_has_the_variables_of_the_joints_up_to_it(degree, rng):
    reach = reach_of(rng, random_tree(rng, N, serial=True), degree)
    triangle = np.zeros((*reach.rows.shape[:-1], 2 * N))
    for j in range(N):
        triangle[:, 3, j, : j + 1] = triangle[:, 5, j, N : N + j + 1] = 0.1
    for each, errors in ((reach, 0), (with_errors(reach, triangle), 1)):
        columns = body_columns(each, newton_euler.STATE)
        for i in range(N):
            own = monomials(i + 1, degree)
            count = own.count + 2 * errors * (i + 1) + 1
            assert len(columns_of(columns, i)) == count
            np.testing.assert_array_equal(table_of(columns, i), own.kernel)
            exponents = each.monomials.exponents[columns_of(columns, i)[: own.count]]
            np.testing.assert_array_equal(exponents[:, : i + 1], own.exponents)


def test_torques_are_those_of_bodies_with_every_column(rng, monkeypatch):
    for serial in (True, False, True, False):
        model = random_tree(rng, N, serial)
        bounds = ratio_bounds(model.theta, 0.05)
        for reach in (reach_of(rng, model), in_disorder(rng, reach_of(rng, model))):
            torque = rigid_body_torque(model, reach, model.theta, bounds)
            with monkeypatch.context() as patch:
                patch.setattr(newton_euler, 'body_columns', every_column)
                whole = rigid_body_torque(model, reach, model.theta, bounds)
            for part, same in zip(torque, whole, strict=True):
                size = np.abs(same).max()
                np.testing.assert_allclose(part, same, rtol=1e-9, atol=1e-12 * size)


def test_what_is_known_of_a_body_stays_until_its_last_child(rng):
    for _ in range(20):
        parent = random_tree(rng, 9, serial=False).tree.parent
        slot = slots(parent)
        for i, up in enumerate(parent):
            if up >= 0:
                assert slot[up] not in slot[up + 1 : i + 1]
    assert slots(np.arange(-1, 8)).max() == 1
