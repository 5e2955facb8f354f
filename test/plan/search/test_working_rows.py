"""Rows are chosen by how near their boundary is, and grow by those that are broken."""

import numpy as np

from safe_sysid.plan.search.working_rows import nearest_rows, with_broken_rows


def test_nearest_rows_are_those_a_small_step_can_break(rng):
    values, jacobian = rng.uniform(0.1, 5.0, 50), rng.normal(size=(50, 3))
    rows = nearest_rows(values, jacobian, 10)
    steps = values / np.linalg.norm(jacobian, axis=1)  # shortest step that reaches the boundary
    assert len(rows) == 10
    assert steps[rows].max() < np.delete(steps, rows).min()


def test_broken_rows_come_first_and_constant_ones_last():
    values = np.array([1.0, -1.0, 0.0, 2.0, 1e-9])
    jacobian = np.array([[1.0], [1.0], [0.0], [0.0], [1.0]])
    assert list(nearest_rows(values, jacobian, 2)) == [1, 2]
    assert list(nearest_rows(values, jacobian, 4)) == [0, 1, 2, 4]
    assert list(nearest_rows(values, jacobian, 9)) == [0, 1, 2, 3, 4]
    assert len(nearest_rows(np.zeros(0), np.zeros((0, 3)), 5)) == 0


def test_only_broken_rows_are_added_the_worst_first():
    values = np.array([-1.0, -3.0, 0.0, -2.0, 5.0])
    assert list(with_broken_rows(np.array([0, 4]), values, 1)) == [0, 1, 4]
    assert list(with_broken_rows(np.array([0, 4]), values, 9)) == [0, 1, 3, 4]
    assert list(with_broken_rows(np.array([0, 1, 3]), values, 9)) == [0, 1, 3]
